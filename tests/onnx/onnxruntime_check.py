"""ONNX Runtime computes what hearsay computes, for every file that hearsay exports.

    python3 onnxruntime_check.py HEARSAY

ONNX Runtime is not in Debian: this runs where Python can import it, and fails where it cannot.
"""

import sys
import tempfile

import onnxruntime

from cases import cases, compare


def main():
    with tempfile.TemporaryDirectory() as folder:
        worst = 0
        for name, path, inputs, ours in cases(sys.argv[1], folder):
            (theirs,) = onnxruntime.InferenceSession(str(path)).run(None, {"input": inputs})
            worst = max(worst, compare(name, ours, theirs))
    print(f"all within {worst:.1e} of hearsay, by ONNX Runtime {onnxruntime.__version__}")


main()
