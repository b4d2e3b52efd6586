"""The programs of docs/models.md print what `hearsay eval` prints.

    python3 models_page_test.py HEARSAY DOCS/models.md

Runs the page's own commands and Python programs, in their order, on data made here whose entries are far from mean 0
and deviation 1. The last program needs ONNX Runtime and runs where that can be imported.
"""

import importlib.util
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import numpy as np
import torch


def write_data(folder):
    random = np.random.default_rng(2)
    labels = random.integers(0, 3, 500)
    table = random.normal(0, 1, (500, 4)) + labels[:, None] * [1, 0, -1, 0.5]
    table = table * [20, 0.01, 5, 300] + [1000, 0.3, -40, 0]
    images = random.normal(60 + 12 * labels[:, None, None, None], 45, (500, 3, 7, 6)).clip(0, 255)
    for name, x in [("mine", table.astype(np.float32)), ("pictures", images.astype(np.uint8))]:
        np.savez(folder / f"{name}.npz", x=x[:300], y=labels[:300], x_test=x[300:], y_test=labels[300:])
    np.savez(folder / "other.npz", x=table[:100].astype(np.float32), y=labels[:100])


def blocks(page):
    """(language, text) of every block of code."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page, re.M | re.S)


def main():
    hearsay, page = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).read_text()
    torch.set_num_threads(1)
    accuracies, commands, programs = [], 0, 0

    def print_here(what, accuracy):
        assert abs(accuracy - accuracies[programs]) < 1e-3, f"{what} {accuracy}; hearsay says {accuracies}"
        assert 40 < accuracy < 100, f"{what} {accuracy}: the task is too hard, or too easy, to tell"
        print(what, accuracy)

    scope = {"print": print_here}
    for language, text in blocks(page):
        if language == "python":
            if "onnxruntime" in text and importlib.util.find_spec("onnxruntime") is None:
                print("ONNX Runtime is not installed: its program is not run")
                continue
            exec(compile(text, "docs/models.md", "exec"), scope)
            programs += 1
            continue
        for line in text.splitlines():
            words = shlex.split(line)
            assert words[0] == "hearsay", line
            done = subprocess.run([hearsay, *words[1:]], check=True, text=True, capture_output=True)
            commands += 1
            if words[1] == "eval" and "--data" not in words:
                accuracies.append(float(re.search(r"^accuracy +(\S+) %", done.stdout, re.M)[1]))
            if words[1] == "export":
                accuracies.append(accuracies[-1])
    assert commands == 6 and programs >= 2, (commands, programs)


with tempfile.TemporaryDirectory() as folder:
    write_data(pathlib.Path(folder))
    sys.argv[1:] = [str(pathlib.Path(word).absolute()) for word in sys.argv[1:]]
    os.chdir(folder)
    main()
