#!/usr/bin/env python3
"""Writes small datasets that can be learnt, in the formats of docs/data.md, with Python's own library.

    data.py OUT

OUT/mnist      IDX files, 2,000 + 500 images of 28x28
OUT/folder     120 PNGs of 64x64 in train/, 40 in val/; four classes
OUT/table.csv  300 rows of six numbers on very different scales, three classes

An image of a class is a smooth pattern, shifted by up to a tenth of its side, with its own contrast, plus noise.
"""
import math
import os
import random
import struct
import sys
import zlib


def pattern(rng, channels):
    """Four waves a channel, as a function of the place in [0, 1)^2."""
    waves = [[(rng.uniform(0.5, 3), rng.uniform(0, 2 * math.pi), rng.uniform(0, 2 * math.pi)) for _ in range(4)]
             for _ in range(channels)]

    def at(channel, x, y):
        return sum(math.sin(2 * math.pi * f * (x * math.cos(a) + y * math.sin(a)) + p) for f, a, p in waves[channel]) / 2
    return at


def image(rng, at, channels, side):
    dx, dy = rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1)
    contrast = rng.uniform(0.5, 1)
    return [[[max(0, min(255, int(128 + 60 * contrast * at(c, x / side + dx, y / side + dy) + rng.gauss(0, 30))))
              for x in range(side)] for y in range(side)] for c in range(channels)]


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def png(planes):
    side = len(planes[0])
    rows = b"".join(b"\0" + bytes(planes[c][y][x] for x in range(side) for c in range(3)) for y in range(side))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def write_mnist(out):
    rng = random.Random(1)
    classes = [pattern(rng, 1) for _ in range(10)]
    for prefix, count in (("train", 2000), ("t10k", 500)):
        labels = bytes(k % 10 for k in range(count))
        pixels = bytearray()
        for label in labels:
            for row in image(rng, classes[label], 1, 28)[0]:
                pixels += bytes(row)
        write(f"{out}/{prefix}-images-idx3-ubyte", struct.pack(">IIII", 0x803, count, 28, 28) + pixels)
        write(f"{out}/{prefix}-labels-idx1-ubyte", struct.pack(">II", 0x801, count) + labels)


def write_folder(out):
    rng = random.Random(2)
    for name in ("beech", "birch", "maple", "oak"):
        at = pattern(rng, 3)
        for part, count in (("train", 30), ("val", 10)):
            for k in range(count):
                write(f"{out}/{part}/{name}/{k:03}.png", png(image(rng, at, 3, 64)))


def write_table(path):
    rng = random.Random(3)
    scales = (1e-3, 1, 5, 100, 2e4, 1e6)
    centres = {name: [rng.gauss(0, 1.5) for _ in scales] for name in ("setosa", "versicolor", "virginica")}
    rows = ["a,b,c,d,e,f,label"]
    for k in range(300):
        name = sorted(centres)[k % 3]
        rows.append(",".join(f"{s * (10 + rng.gauss(m, 1)):.6g}" for s, m in zip(scales, centres[name])) + f",{name}")
    write(path, ("\n".join(rows) + "\n").encode())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = sys.argv[1]
    write_mnist(f"{out}/mnist")
    write_folder(f"{out}/folder")
    write_table(f"{out}/table.csv")


main()
