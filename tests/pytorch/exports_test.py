"""Models that hearsay exports are what PyTorch makes of them: the same test accuracy, image by image.

    python3 exports_test.py HEARSAY

Trains a CNN and a ResNet with batch norm for a few rounds on images made here, loads every
exported model into an ordinary PyTorch module by name, and compares accuracy with the run record.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

TESTS = 300


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.linear = nn.Linear(32 * 4 * 4, 5)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        return self.linear(x.flatten(1))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.extra = (outputs - inputs) // 2
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.extra:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.extra, self.extra))
        return F.relu(y + x)


class ResNet20(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.layer1 = nn.Sequential(*[Block(16, 16, 1) for _ in range(3)])
        self.layer2 = nn.Sequential(Block(16, 32, 2), Block(32, 32, 1), Block(32, 32, 1))
        self.layer3 = nn.Sequential(Block(32, 64, 2), Block(64, 64, 1), Block(64, 64, 1))
        self.linear = nn.Linear(64, 5)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(F.relu(self.bn1(self.conv1(x))))))
        return self.linear(x.mean((2, 3)))


def make_images(path):
    """Five classes of 8x8 images that are not too easy; returns the test part as hearsay reads it."""
    random = np.random.default_rng(1)
    prototypes = random.integers(103, 153, (5, 3, 8, 8))
    labels = random.integers(0, 5, 400 + TESTS)
    images = prototypes[labels] + random.normal(0, 60, (len(labels), 3, 8, 8))
    images = images.clip(0, 255).astype(np.uint8)
    train, test = images[:400], images[400:]
    np.savez(path, x=train, y=labels[:400], x_test=test, y_test=labels[400:])
    scaled = train / 255.0
    mean = scaled.mean((0, 2, 3), keepdims=True)
    deviation = scaled.std((0, 2, 3), keepdims=True)
    return torch.tensor((test / 255.0 - mean) / deviation, dtype=torch.float32), labels[400:]


def read_safetensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    body = data[8 + length :]
    tensors = {}
    header.pop("__metadata__")
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = np.frombuffer(body[begin:end], "<f4").reshape(entry["shape"])
        tensors[name] = torch.tensor(values)
    return tensors


def accuracy(module, path, images, labels):
    missing, unexpected = module.load_state_dict(read_safetensors(path), strict=False)
    assert not unexpected, unexpected
    assert all(name.endswith("num_batches_tracked") for name in missing), missing
    module.eval()
    with torch.no_grad():
        guesses = module(images).argmax(1).numpy()
    return 100 * float((guesses == labels).mean())


def check(hearsay, module, model, rounds, folder):
    images, labels = make_images(folder / "images.npz")
    run = folder / model
    subprocess.run(
        [hearsay, "train", "--quiet", "--out", run, "--data", f"npz:{folder / 'images.npz'}"]
        + ["--model", model, "--rounds", str(rounds), "--batch", "16", "--lr", "cosine:0.1", "--seed", "3"]
        + ["--algorithm", "sgp", "--partition", "iid"],
        check=True,
    )
    last = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])
    reported = dict(enumerate(last["accuracy"]))
    reported["average"] = last["accuracy_of_average"]
    for who, ours in reported.items():
        name = "average" if who == "average" else f"peer-{who}"
        theirs = accuracy(module, run / "models" / f"{name}.safetensors", images, labels)
        # One image may sit so near a boundary that rounding decides.
        assert abs(ours - theirs) <= 100 / TESTS + 1e-9, f"{model}, {name}: {ours} here, {theirs} there"
        print(f"{model}, {name}: {ours:.2f} % here, {theirs:.2f} % by PyTorch")
    assert min(reported.values()) > 40, "the models have learnt too little to tell"
    assert max(reported.values()) < 100, "the task is too easy to tell"


def main():
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        check(sys.argv[1], Cnn(), "cnn", 60, pathlib.Path(folder))
        check(sys.argv[1], ResNet20(), "resnet20", 40, pathlib.Path(folder))


main()
