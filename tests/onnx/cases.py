"""Exports every family of models with every norm, and yields the ONNX file, raw inputs and hearsay's own outputs.

The models are trained for a few rounds: every tensor has moved, and running statistics are no longer 0 and 1.
"""

import csv
import pathlib
import subprocess

import numpy as np

TESTS = 12
NORMS = ["none", "batch", "group", "evonorm", "range-evonorm", "range-evonorm-hard", "range-evonorm-sigmoid"]
TABLE = [("logistic", []), ("mlp:hidden=9+5", [])]
SMALL = [(f"cnn:norm={norm}", []) for norm in NORMS]
SMALL += [(f"resnet20:shortcut={shortcut},norm={norm}", []) for norm, shortcut in
          [("batch", "A"), ("batch", "B"), ("group", "A"), ("evonorm", "B"), ("range-evonorm", "A")]]
SMALL += [("resnet:depth=20,zero_last=1", []), ("cnn:norm=range-evonorm", ["--precision", "int8"])]
LARGE = [("lenet5", []), ("vgg11", []), ("vgg11:norm=batch", []), ("resnet18", []), ("resnet18:norm=group", [])]


def write_data(folder):
    """A table and images of two sizes, of entries far from mean 0 and deviation 1."""
    random = np.random.default_rng(7)

    def save(name, x, y):
        np.savez(folder / name, x=x[TESTS:], y=y[TESTS:], x_test=x[:TESTS], y_test=y[:TESTS])

    labels = np.arange(72) % 3
    offset = np.array([50, -3, 0.5, 1000, 2])
    table = (random.normal(0, 1, (72, 5)) + labels[:, None]) * [9, 1, 0.1, 30, 4] + offset
    save("table.npz", table.astype(np.float32), labels)
    save("numbers.npz", table.astype(np.float32), table[:, :2] * [2.0, -50.0] + [7.0, 300.0])
    for name, side in [("small.npz", 8), ("large.npz", 32)]:
        images = random.normal(90 + 30 * labels[:, None, None, None], 40, (72, 3, side, side))
        save(name, images.clip(0, 255).astype(np.uint8), labels)


def run(hearsay, folder, *words):
    return subprocess.run([hearsay, *map(str, words)], cwd=folder, check=True, text=True, capture_output=True).stdout


def outputs_of(path):
    """The logits, or the predictions, of a file of `hearsay eval --predictions`."""
    with open(path) as file:
        header, *rows = csv.reader(file)
    if header[:2] == ["label", "predicted"]:
        return np.array([row[2:] for row in rows], np.float64)
    return np.array([row[1::2] for row in rows], np.float64)


def cases(hearsay, folder):
    """(name, ONNX file, raw inputs, hearsay's outputs) of every case."""
    folder = pathlib.Path(folder)
    write_data(folder)
    of_table = ["--task", "regression"]
    every = [("table.npz", *case) for case in TABLE]
    every += [("numbers.npz", "linear", of_table), ("numbers.npz", "mlp:hidden=6", of_table)]
    every += [("small.npz", *case) for case in SMALL] + [("large.npz", *case) for case in LARGE]
    for number, (data, model, options) in enumerate(every):
        out = folder / str(number)
        run(hearsay, folder, "train", "--quiet", "--out", out, "--data", f"npz:{data}", "--model", model,
            "--peers", 2, "--algorithm", "dsgd", "--rounds", 3, "--batch", 6, "--lr", 0.05,
            "--augment", "none", *options)
        saved = out / "models/average.safetensors"
        run(hearsay, folder, "export", saved, "--onnx", out / "model.onnx")
        run(hearsay, folder, "eval", saved, "--predictions", out / "predictions.csv")
        inputs = np.load(folder / data)["x_test"].astype(np.float32)
        yield " ".join([model, *options]), out / "model.onnx", inputs, outputs_of(out / "predictions.csv")


def compare(name, ours, theirs, limit=1e-5):
    assert ours.shape == theirs.shape, f"{name}: {ours.shape} here, {theirs.shape} there"
    off = np.abs(ours - theirs).max() / max(1, np.abs(ours).max())
    assert off < limit, f"{name}: off by {off:.2g}"
    assert np.ptp(ours) > 1e-3, f"{name}: outputs that are all alike tell nothing"
    print(f"{name}: within {off:.1e}")
    return off
