#!/usr/bin/env python3
"""headers.py finds what it should, and nothing in a tree that only lies in a folder of such a name:   control.py COMPILER"""
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).parent / "headers.py"


def check(compiler, files, status, said):
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch) / "cuda" / "include"
        for name, text in files.items():
            path = root / "hearsay" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, str(SCRIPT), compiler, str(root)], text=True, capture_output=True)
        if done.returncode != status or said not in done.stdout:
            sys.exit(f"expected {status} and '{said}', got {done.returncode} and\n{done.stdout}{done.stderr}")


GOOD = "#pragma once\n#include <vector>\n"
check(sys.argv[1], {"good.h": GOOD, "cuda/good.h": GOOD}, 0, "2 headers, 0 problems")
check(sys.argv[1], {"good.h": GOOD, "bad.h": "#pragma once\n#include <zlib.h>\n"}, 1,
      "hearsay/bad.h needs zlib.h, which users of the library need not have")
check(sys.argv[1], {"bad.h": "#pragma once\nstd::vector<int> x();\n"}, 1, "hearsay/bad.h does not compile alone")
check(sys.argv[1], {}, 1, "0 headers")
