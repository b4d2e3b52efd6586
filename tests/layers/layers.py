#!/usr/bin/env python3
"""Fails on an include against the order of the layers:   layers.py ROOT

The order stands in ROOT/hearsay/CMakeLists.txt, lowest first. A file of hearsay/LAYER may include headers of its own
layer and of those before it, and nothing of cli/ or tests/, however it writes the include: "hearsay/graph/edge.h",
<hearsay/graph/edge.h> or "../graph/edge.h". A layer that the list does not have is an error too.
"""
import pathlib
import posixpath
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
OUTSIDE = ("cli", "tests", "benchmarks", "examples")


def order_of(root):
    text = (root / "hearsay/CMakeLists.txt").read_text()
    return re.search(r"foreach\(layer\s+([^)]*)\)", text)[1].split()


def file_of(root, name, included):
    """The included file, relative to ROOT; None if it is not ours."""
    from_root = posixpath.normpath(included)
    if from_root.split("/")[0] in ("hearsay", *OUTSIDE):
        return from_root
    relative = posixpath.normpath(posixpath.join(posixpath.dirname(name), included))
    return relative if not relative.startswith("..") and (root / relative).is_file() else None


def main(root):
    order = order_of(root)
    rank = {layer: k for k, layer in enumerate(order)}
    mistakes, files, includes = [], 0, 0
    for path in sorted((root / "hearsay").rglob("*")):
        if path.suffix not in (".h", ".cpp", ".cu", ".cuh"):
            continue
        name = path.relative_to(root).as_posix()
        layer = name.split("/")[1]
        files += 1
        if layer not in rank:
            mistakes.append(f"{name}: hearsay/CMakeLists.txt has no layer '{layer}'")
            continue
        for included in INCLUDE.findall(path.read_text()):
            file = file_of(root, name, included)
            if file is None:
                continue
            includes += 1
            parts = file.split("/")
            if parts[0] != "hearsay":
                mistakes.append(f"{name} includes {included}, which is not of the library")
            elif rank.get(parts[1], len(order)) > rank[layer]:
                mistakes.append(f"{name} includes {included}: {layer} is below {parts[1]}")
    for mistake in mistakes:
        print(mistake)
    print(f"{files} files, {includes} includes of ours, {len(mistakes)} against the order: {' < '.join(order)}")
    return 1 if mistakes or not includes else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
