"""Debian's ONNX finds the files that hearsay exports valid, and they compute what hearsay computes.

    python3 onnx_test.py HEARSAY
"""

import json
import pathlib
import sys
import tempfile

import onnx
import torch

from cases import cases, compare, run
from interpreter import OPERATORS, interpret


def check_file(name, path):
    """The file by itself; returns the model and the operators that it uses."""
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)  # shapes and types of all values agree
    assert model.producer_name == "hearsay"
    (property,) = model.metadata_props
    assert json.loads(property.value)["model"].startswith(name.split(":")[0].split(" ")[0])
    (given,) = model.graph.input
    assert given.type.tensor_type.shape.dim[0].dim_param == "N"
    return model, {node.op_type for node in model.graph.node}


def main():
    torch.set_num_threads(1)
    hearsay, used = sys.argv[1], set()
    with tempfile.TemporaryDirectory() as folder:
        for name, path, inputs, ours in cases(hearsay, folder):
            model, operators = check_file(name, path)
            used |= operators
            compare(name, ours, interpret(model, inputs))
            one = interpret(model, inputs[:1])  # N is open, and samples do not depend on each other
            compare(name + ", one sample", ours[:1], one)
        run(hearsay, folder, "export", pathlib.Path(folder) / "0/models/peer-1.safetensors", "--onnx", "peer.onnx")
        assert (pathlib.Path(folder) / "peer.onnx").read_bytes() != (pathlib.Path(folder) / "0/model.onnx").read_bytes()
    # gelu is of no model that has a name.
    assert used == set(OPERATORS) - {"Erf"}, f"not used: {set(OPERATORS) - used}"


main()
