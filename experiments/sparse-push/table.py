#!/usr/bin/env python3
"""The tables of the Sparse-Push paper beside what was measured.

    experiments/sparse-push/table.py RUNS...

RUNS are folders that hold the run directories of the configs here by name: one folder a seed.
Accuracies are means over peers of the last evaluation, in percent, as mean +- spread (half of
largest minus smallest) over the seeds found. SP is read off a run of SCSP before its final rounds,
which is the same run until then. A figure that misses the paper's by more than half a point is
marked with '!', a run that is not there or not finished with '-'. Bytes are those of a message, in
training and with the final rounds; the factor is of the whole run, the divergence that of SP. Runs
whose settings are not those of the config here, or whose data is not CIFAR-10, are left out and
named.

Last comes accuracy against all bytes sent, of every run of ResNet-20 for 200 epochs without skew
that the folders hold, whatever its name: runs that differ in their seed or device alone are one row,
SP and SCSP two. '*' marks the rows that no other beats in both.
"""

import json
import pathlib
import sys

# What the paper prints: table -> rows of (label, config, accuracy of SP, of SCSP); None: not printed.
TABLES = {
    "Table 2: ResNet-20, directed ring": [
        ("100 %", "top100", 92.09, None),
        ("10 %", "top10", 91.27, None),
        ("1 %", "top1", 90.68, None),
        ("0.1 %", "top0_1", 90.51, None),
        ("0 %", "silent", 85.44, None),
    ],
    "Table 3: methods at top-1 %": [
        ("CHOCO-SGD", "choco", 91.73, None),
        ("Deep-Squeeze", "deep-squeeze", 90.47, None),
        ("SP, SCSP", "top1", 90.68, 91.27),
    ],
    "Table 4: SP and SCSP": [
        ("ResNet-20, 100 %", "top100", 92.09, 92.09),
        ("ResNet-20, 1 %", "top1", 90.68, 91.27),
        ("ResNet-20, 0.1 %", "top0_1", 90.51, 91.09),
        ("VGG-11, 1 %", "vgg11-top1", 90.22, 90.49),
    ],
    "Table 6: changing graphs": [
        ("(a), (b), 100 %", "graphs-ab-top100", 91.92, 91.92),
        ("(a), (b), 1 %", "graphs-ab-top1", 90.75, 91.61),
        ("(a), (b), 0.1 %", "graphs-ab-top0_1", 90.08, 90.74),
        ("(a), (b), (c), 100 %", "graphs-abc-top100", 91.63, 91.63),
        ("(a), (b), (c), 1 %", "graphs-abc-top1", 91.00, 91.46),
        ("(a), (b), (c), 0.1 %", "graphs-abc-top0_1", 89.92, 90.53),
    ],
    "Table 7: bits": [
        ("32", "top100", 92.09, 92.09),
        ("4", "bits4", 91.17, 91.19),
        ("2", "bits2", 91.06, 91.15),
        ("1", "bits1", 90.87, 91.05),
    ],
    # Not the paper's: beside its 0.1 % on the same graphs, which sends more than twice as much.
    "A thousand times": [
        ("directed ring", "x1000", 90.51, 91.09),
        ("(a), (b)", "graphs-ab-x1000", 90.08, 90.74),
    ],
    # The paper shows these as bars; in words only the first is given.
    "Figures 6, 7: group norm": [
        ("no skew, 100 %", "group-norm-iid-top100", 88.5, None),
        ("no skew, 1 %", "group-norm-iid-top1", None, None),
        ("no skew, 0.1 %", "group-norm-iid-top0_1", None, None),
        ("skew 0.8, 100 %", "group-norm-skew-top100", None, None),
        ("skew 0.8, 1 %", "group-norm-skew-top1", None, None),
        ("skew 0.8, 0.1 %", "group-norm-skew-top0_1", None, None),
    ],
}
# What Table 2 prints besides: keep, MB an iteration, parameter divergence.
NOTES = {
    "Table 2: ResNet-20, directed ring":
        "The paper prints 1.07, 0.162, 0.016, 0.0018, 0 MB an iteration, and a divergence x 1e6 of "
        "0.01968, 3.408, 15.12, 28.45, 200.",
}
HERE = pathlib.Path(__file__).resolve().parent
HALF_A_POINT = 0.5


def settings(path):
    """The keys of a flat TOML file, values as text without their quotes."""
    lines = [line.split("=", 1) for line in path.read_text().splitlines() if not line.startswith("#")]
    return {cells[0].strip(): cells[1].strip().strip("'\"") for cells in lines if len(cells) == 2}


def difference(folder, name):
    """What makes a run another one than the config of that name; empty if nothing does."""
    run = settings(folder / "config.toml")
    if run["data"].split(":")[0] != "cifar10":
        return f"its data is {run['data']}"
    for key, value in settings(HERE / f"{name}.toml").items():
        same = run[key] == value or (key == "graph" and run[key].split("/")[-1] == value.split("/")[-1])
        if not same:
            return f"its {key} is {run[key]}, not {value}"
    return ""


class Run:
    """A finished run: its summary, and its evaluation at the end of training."""

    def __init__(self, folder):
        self.summary = json.loads((folder / "summary.json").read_text())
        lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        # Final rounds take no gradient: the epoch stands still from the last round of training on.
        self.trained = next(line for line in lines if line["epoch"] == lines[-1]["epoch"])
        edges = self.summary["messages_total"] / self.summary["rounds"]
        self.final_rounds = lines[-1]["round"] - self.trained["round"]
        self.trained_messages = self.trained["round"] * edges
        self.trained_bytes = self.trained["bytes_total"] / self.trained_messages if edges else 0.0


def runs_of(name, folders):
    runs = []
    for folder in (folder / name for folder in folders):
        if not (folder / "summary.json").exists():
            continue
        problem = difference(folder, name)
        if problem:
            print(f"table.py: {folder} is left out: {problem}", file=sys.stderr)
            continue
        runs.append(Run(folder))
    return runs


def mean(values):
    return sum(values) / len(values)


def figure(values, digits=2):
    if not values:
        return "-"
    text = f"{mean(values):.{digits}f}"
    if len(values) > 1:
        text += f" +- {(max(values) - min(values)) / 2:.{digits}f}"
    return text


def against(values, paper):
    missed = values and paper is not None and abs(mean(values) - paper) > HALF_A_POINT
    return figure(values) + (" !" if missed else "")


def row(label, name, paper_sp, paper_scsp, folders):
    runs = runs_of(name, folders)
    final = [run for run in runs if run.final_rounds]
    sp = [run.trained["accuracy_mean"] for run in runs]
    scsp = [run.summary["accuracy_mean"] for run in final]
    # Without compression the paper's SCSP is SP: nothing is left to compensate.
    if paper_scsp is not None and not final:
        scsp = sp
    show = lambda value: "" if value is None else f"{value:.2f}"
    return [
        label,
        show(paper_sp),
        against(sp, paper_sp),
        show(paper_scsp),
        against(scsp, paper_scsp) if final or paper_scsp is not None else "",
        figure([run.trained_bytes for run in runs], 0),
        figure([run.summary["bytes_per_edge_round"] for run in runs], 0),
        figure([run.summary["paper_bytes_per_edge_round"] for run in runs], 0),
        figure([run.summary.get("compression_factor", 0.0) for run in runs], 1),
        figure([run.trained["divergence_per_dim"] * 1e6 for run in runs], 3),
        str(len(runs)),
    ]


HEAD = ["", "paper SP", "SP", "paper SCSP", "SCSP", "bytes SP", "bytes in all", "paper's bytes", "factor",
        "divergence / d x 1e6", "seeds"]


# What the runs of the frontier share, and what tells its rows apart.
COMMON = {"model": "resnet20", "partition": "iid", "epochs": "200"}
APART = ["algorithm", "compressor", "graph", "optimizer", "lr", "batch", "peers", "augment", "init", "validation"]


def points(folders):
    """A dict for every setting, and another one for what it is after its final rounds, if it has any."""
    groups = {}
    for path in sorted(path for folder in folders for path in folder.glob("*/summary.json")):
        run = settings(path.parent / "config.toml")
        if run["data"].split(":")[0] == "cifar10" and all(run[key] == COMMON[key] for key in COMMON):
            groups.setdefault(tuple(run[key] for key in APART), []).append(Run(path.parent))
    for (algorithm, compressor, graph, *_), runs in groups.items():
        uncompressed = 4 * runs[0].summary["dim"]
        point = {
            "final rounds": 0,
            "bytes": mean([run.trained["bytes_total"] for run in runs]),
            "uncompressed": uncompressed * runs[0].trained_messages,
            "accuracies": [run.trained["accuracy_mean"] for run in runs],
            "names": [algorithm, compressor, graph.split("/")[-1]],
        }
        yield point
        if runs[0].final_rounds:
            yield point | {
                "final rounds": runs[0].final_rounds,
                "bytes": mean([run.summary["bytes_total"] for run in runs]),
                "uncompressed": uncompressed * runs[0].summary["messages_total"],
                "accuracies": [run.summary["accuracy_mean"] for run in runs],
            }


def frontier(folders):
    found = sorted(points(folders), key=lambda point: point["bytes"])
    rows = []
    for point in found:
        accuracy = mean(point["accuracies"])
        # The bytes of one setting differ a little from graph to graph: a percent more is not more.
        rivals = [mean(other["accuracies"]) for other in found if other["bytes"] <= 1.01 * point["bytes"]]
        rows.append([
            f"{point['bytes'] / 1e6:.0f}",
            f"{point['uncompressed'] / point['bytes']:.1f}" if point["bytes"] else "-",
            figure(point["accuracies"]) + (" *" if accuracy == max(rivals) else ""),
            *point["names"],
            str(point["final rounds"]),
            str(len(point["accuracies"])),
        ])
    return rows


FRONTIER_HEAD = ["MB in all", "factor", "accuracy", "algorithm", "compressor", "graph", "final rounds sent", "seeds"]


def markdown(title, head, rows):
    widths = [max(3, *(len(line[k]) for line in [head] + rows)) for k in range(len(head))]
    line = lambda cells: "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths)) + " |"
    rule = "| " + " | ".join("-" * w for w in widths) + " |"
    return "\n".join([f"### {title}", "", line(head), rule] + [line(cells) for cells in rows]) + "\n"


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folders = [pathlib.Path(argument) for argument in sys.argv[1:]]
    for folder in folders:
        if not folder.is_dir():
            sys.exit(f"table.py: there is no folder '{folder}'")
    for title, rows in TABLES.items():
        print(markdown(title, HEAD, [row(*cells, folders) for cells in rows]))
        if title in NOTES:
            print(NOTES[title] + "\n")
    print(markdown("Accuracy against bytes", FRONTIER_HEAD, frontier(folders)))


if __name__ == "__main__":
    main()
