"""The operators that hearsay's ONNX files use, in double precision, as ONNX defines them in operator set 13."""

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper


def conv(a, x, w, b=None):
    top, left, bottom, right = a["pads"]
    x = F.pad(torch.tensor(x), (left, right, top, bottom))
    return F.conv2d(x, torch.tensor(w), None if b is None else torch.tensor(b), stride=a["strides"]).numpy()


def max_pool(a, x):
    top, left, bottom, right = a["pads"]
    x = F.pad(torch.tensor(x), (left, right, top, bottom), value=-np.inf)
    return F.max_pool2d(x, a["kernel_shape"], a["strides"]).numpy()


def gemm(a, x, w, b=0.0):
    assert a == {"transB": 1}
    return x @ w.T + b


def batch_norm(a, x, weight, bias, mean, variance):
    wide = [v.reshape(-1, 1, 1) for v in (weight, bias, mean, variance)]
    return wide[0] * (x - wide[2]) / np.sqrt(wide[3] + a["epsilon"]) + wide[1]


def instance_norm(a, x, weight, bias):
    pixels = tuple(range(2, x.ndim))
    shape = (-1,) + (1,) * len(pixels)
    normal = (x - x.mean(pixels, keepdims=True)) / np.sqrt(x.var(pixels, keepdims=True) + a["epsilon"])
    return weight.reshape(shape) * normal + bias.reshape(shape)


def reshape(a, x, shape):
    return x.reshape([x.shape[k] if extent == 0 else extent for k, extent in enumerate(shape)])


def pad(a, x, pads):
    return np.pad(x, list(zip(pads[: x.ndim], pads[x.ndim :])))


def strided(a, x, starts, ends, axes, steps):
    where = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps):
        where[axis] = slice(start, min(end, x.shape[axis]), step)
    return x[tuple(where)]


def reduced(function):
    return lambda a, x: function(x, axis=tuple(a["axes"]), keepdims=bool(a["keepdims"]))


OPERATORS = {
    "Add": lambda a, x, y: x + y,
    "BatchNormalization": batch_norm,
    "Conv": conv,
    "Div": lambda a, x, y: x / y,
    "Erf": lambda a, x: torch.erf(torch.tensor(x)).numpy(),
    "Flatten": lambda a, x: x.reshape(len(x), -1),
    "Gemm": gemm,
    "GlobalAveragePool": lambda a, x: x.mean((2, 3), keepdims=True),
    "HardSigmoid": lambda a, x: np.clip(a["alpha"] * x + a["beta"], 0, 1),
    "Identity": lambda a, x: x,
    "InstanceNormalization": instance_norm,
    "MaxPool": max_pool,
    "Mul": lambda a, x, y: x * y,
    "Pad": pad,
    "ReduceMax": reduced(np.max),
    "ReduceMean": reduced(np.mean),
    "ReduceMin": reduced(np.min),
    "Relu": lambda a, x: np.maximum(x, 0),
    "Reshape": reshape,
    "Sigmoid": lambda a, x: 1 / (1 + np.exp(-x)),
    "Slice": strided,
    "Sqrt": lambda a, x: np.sqrt(x),
    "Sub": lambda a, x, y: x - y,
}


def interpret(model, inputs):
    """The one output of a model for its one input."""
    def number(tensor):
        values = numpy_helper.to_array(tensor)
        return values.astype(np.float64) if values.dtype == np.float32 else values

    values = {tensor.name: number(tensor) for tensor in model.graph.initializer}
    (given,) = model.graph.input
    values[given.name] = inputs.astype(np.float64)
    for node in model.graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        values[node.output[0]] = OPERATORS[node.op_type](attributes, *(values[name] for name in node.input))
    (wanted,) = model.graph.output
    return values[wanted.name]
