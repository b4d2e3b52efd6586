#!/usr/bin/env python3
"""layers.py finds every kind of include against the order, and fails then:   control.py"""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
EXPECTED = """\
hearsay/core/wrong.cpp includes hearsay/graph/edge.h: core is below graph
hearsay/core/wrong.cpp includes hearsay/graph/edge.h: core is below graph
hearsay/core/wrong.cpp includes ../graph/edge.h: core is below graph
hearsay/core/wrong.cpp includes hearsay/core/../graph/edge.h: core is below graph
hearsay/core/wrong.cpp includes cli/main.h, which is not of the library
hearsay/stray/file.h: hearsay/CMakeLists.txt has no layer 'stray'
4 files, 6 includes of ours, 6 against the order: core < graph
"""

done = subprocess.run([sys.executable, str(HERE / "layers.py"), str(HERE / "upside_down")], text=True,
                      capture_output=True)
if (done.returncode, done.stdout) != (1, EXPECTED):
    sys.exit(f"expected exit status 1 and\n{EXPECTED}got {done.returncode} and\n{done.stdout}{done.stderr}")
