#!/usr/bin/env python3
"""Trains every model on every kind of small data with default settings, and prints the table of docs/defaults.md.

    table.py HEARSAY OUT [--seeds 1,2,3] [--deep]

HEARSAY is the program; OUT gets the data (data.py) and a run directory for each run. Runs that are there are not
repeated, so the command may be stopped and given again. --deep: the deep networks too, with fewer rounds than their
default, which takes about an hour on a core.
"""
import argparse
import json
import os
import subprocess
import sys

SHALLOW = ["logistic", "mlp", "cnn", "lenet5"]
# What takes long has fewer rounds than by default, which is harder: less time to warm up and to agree.
DEEP = {"resnet20": {"digits": 300, "mnist": 150, "colour": 150, "folder": 150},
        "resnet54": {"digits": 300},
        "resnet110": {"digits": 300},
        "resnet18": {"colour": 80, "folder": 80},
        "vgg11": {"colour": 150}}
UNFIT = {("lenet5", "digits"), ("lenet5", "csv")}  # images that are too small


def train(options, data, model, seed):
    rounds = DEEP.get(model, {}).get(data)
    out = f"{options.out}/{data}-{model}-{seed}"
    files = f"{options.out}/data"
    spec = {"digits": "digits", "mnist": f"mnist:{files}/mnist", "colour": "synthetic:shape=3x32x32,samples=2000",
            "folder": f"folder:{files}/folder,size=64", "csv": f"csv:{files}/table.csv"}[data]
    if not os.path.exists(f"{out}/summary.json") and not os.path.exists(f"{out}/failure.json"):
        words = [options.hearsay, "train", "--quiet", "--threads", "1", "--compare", "no", "--data", spec, "--model",
                 model, "--seed", str(seed)]
        words = words[:2] + ["--quiet", "--resume", out] if os.path.exists(out) else words + ["--out", out]
        if rounds and not os.path.exists(out):
            words += ["--rounds", str(rounds)]
        subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not os.path.exists(f"{out}/summary.json"):
        return None
    with open(f"{out}/summary.json", encoding="utf-8") as file:
        return json.load(file)


def cell(summaries):
    if not summaries:
        return "-"
    good = [s for s in summaries if s]
    text = " ".join(f"{s['accuracy_mean']:.1f}" if s else "NaN" for s in summaries)
    if any(s.get("warnings") for s in good):
        text += " (!)"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hearsay")
    parser.add_argument("out")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--deep", action="store_true")
    options = parser.parse_args()
    if not os.path.exists(f"{options.out}/data/table.csv"):
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run([sys.executable, f"{here}/data.py", f"{options.out}/data"], check=True)
    kinds = ["digits", "mnist", "colour", "folder", "csv"]
    table = {}
    for seed in options.seeds.split(","):
        for data in ["csv", "digits", "mnist", "colour", "folder"]:
            for model in SHALLOW + (list(DEEP) if options.deep else []):
                if (model, data) in UNFIT or (model in DEEP and data not in DEEP[model]):
                    continue
                table.setdefault((model, data), []).append(train(options, data, model, seed))
    print("| model | " + " | ".join(kinds) + " |\n" + "| --- " * (len(kinds) + 1) + "|")
    for model in SHALLOW + (list(DEEP) if options.deep else []):
        print(f"| `{model}` | " + " | ".join(cell(table.get((model, data))) for data in kinds) + " |")


main()
