#!/usr/bin/python3
"""Writes digits.txt from scikit-learn's copy of the data (Debian: python3-sklearn).

One line an image, in the set's order: the label, a space, and 64 pixels in reading order, each one
character of 0123456789abcdefg for the values 0..16.
"""
import pathlib

from sklearn.datasets import load_digits

digits = load_digits()
lines = (
    f"{label} " + "".join("0123456789abcdefg"[int(pixel)] for pixel in pixels)
    for label, pixels in zip(digits.target, digits.data)
)
(pathlib.Path(__file__).parent / "digits.txt").write_text("\n".join(lines) + "\n")
