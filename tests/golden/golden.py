"""Writes the golden files of golden_test.cpp: losses and gradients by PyTorch, in double precision.

Run once, with PyTorch 1.13:  python3 tests/golden/golden.py

Weights, images and labels are a hash of their place, so a file holds results only. Each network is
written here a second time, by PyTorch's own operations and from the papers' descriptions, so that
what agrees is the meaning of a model's name and not only its arithmetic.

A relu (a maximum, a range) whose input is near its kink may go either way in single precision,
which alone would change gradients by percents. So the images are the best of many draws: those
whose distance to the nearest kink is largest. The file states it.

A gradient of more than 64 entries is kept as its 2-norm and 16 sums with random signs. If a tensor
g is off by e, the signed sums are off by |e| in root mean square. Their mean square over 16 draws
is distributed nearly as |e|^2 chi^2_16 / 16, which is below |e|^2 / 4 once in a thousand cases: a
test that allows a root mean square of r/2 |g| finds an error of r |g| with probability 0.999.
"""

import functools
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)

FULL = 64  # tensors up to this size are kept entry by entry
SIGNS = 16


def mix(x):
    """Chris Wellons' lowbias32, on arrays of 32-bit integers."""
    x = np.asarray(x, np.uint32)
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def hashes(stream, n):
    with np.errstate(over="ignore"):
        return mix(mix([stream])[0] + np.arange(n, dtype=np.uint32))


def numbers(stream, shape, scale, offset):
    """Uniform in offset +- scale with 16 random bits, exact in single precision."""
    steps = (hashes(stream, math.prod(shape)) >> np.uint32(16)).astype(np.float64) - 32768
    return torch.from_numpy((steps / 32768 * scale + offset).reshape(shape))


class Net:
    """A network's tensors, made when first used, and the distance to the nearest kink so far."""

    def __init__(self):
        self.tensors, self.starts, self.buffers = {}, {}, {}
        self.training, self.margin = True, 1.0  # farther than 1 is as good as 1

    def tensor(self, name, shape):
        if name not in self.tensors:
            scale, offset = 0.25, float(not name.endswith("bias"))  # norms near 1, biases near 0
            if len(shape) in (2, 4):  # variance about 2 / fan-in
                scale, offset = 2.0 ** round(math.log2(6 / math.prod(shape[1:])) / 2), 0.0
            self.starts[name] = scale, offset
            value = numbers(len(self.tensors) + 1, shape, scale, offset)
            self.tensors[name] = value.requires_grad_()
        return self.tensors[name]

    def kink(self, distance):
        self.margin = min(self.margin, distance.detach().abs().min().item())

    def conv(self, name, x, out, kernel=3, stride=1, padding=None, bias=False):
        weight = self.tensor(name + ".weight", (out, x.shape[1], kernel, kernel))
        offset = self.tensor(name + ".bias", (out,)) if bias else None
        padding = kernel // 2 if padding is None else padding
        return F.conv2d(x, weight, offset, stride, padding)

    def linear(self, name, x, out):
        return F.linear(x, self.tensor(name + ".weight", (out, x.shape[1])),
                        self.tensor(name + ".bias", (out,)))

    def affine(self, name, shape):
        return self.tensor(name + ".weight", shape), self.tensor(name + ".bias", shape)

    def batch_norm(self, name, x):
        weight, bias = self.affine(name, (x.shape[1],))
        mean = self.buffers.setdefault(name + ".running_mean", torch.zeros(x.shape[1]))
        var = self.buffers.setdefault(name + ".running_var", torch.ones(x.shape[1]))
        return F.batch_norm(x, mean, var, weight, bias, self.training, 0.1, 1e-5)

    def evo_norm(self, name, x, groups=8):
        weight, bias = self.affine(name, (x.shape[1],))
        v = self.tensor(name + ".v", (x.shape[1],))
        shape = (1, -1, 1, 1)
        grouped = x.reshape(x.shape[0], groups, -1)
        deviation = (grouped.var(2, unbiased=False, keepdim=True) + 1e-5).sqrt()
        y = x * torch.sigmoid(v.view(shape) * x)
        y = (y.reshape(grouped.shape) / deviation).reshape(x.shape)
        return y * weight.view(shape) + bias.view(shape)

    def range_evo_norm(self, name, x, groups=8, hard=True):
        weight, bias = self.affine(name, (x.shape[1],))
        v = self.tensor(name + ".v", (x.shape[1],))
        shape = (1, -1, 1, 1)
        grouped = x.reshape(x.shape[0], groups, -1)
        runs = grouped.reshape(x.shape[0], groups, 16, -1)
        ordered = runs.sort(3)[0]
        self.kink(ordered[..., -1] - ordered[..., -2])
        self.kink(ordered[..., 1] - ordered[..., 0])
        extent = runs.amax(3).mean(2, keepdim=True) - runs.amin(3).mean(2, keepdim=True)
        kappa = 0.175 * (1 + math.sqrt(math.pi * math.log(4)))
        kappa /= math.sqrt(2 * math.log(runs.shape[3]))
        t = v.view(shape) * x
        if hard:
            self.kink(t + 3)
            self.kink(t - 3)
        y = x * (torch.clamp(t / 6 + 0.5, 0, 1) if hard else torch.sigmoid(t))
        y = (y.reshape(grouped.shape) / (kappa * extent + 1e-5)).reshape(x.shape)
        return y * weight.view(shape) + bias.view(shape)

    def relu(self, x):
        self.kink(x)
        return F.relu(x)

    def max_pool(self, x):
        windows = F.unfold(x.reshape(-1, 1, *x.shape[2:]), 2, stride=2).sort(1)[0]
        gap = windows[:, -1] - windows[:, -2]
        self.kink(gap[windows[:, -1] > 0])  # among zeros of a relu the choice does not matter
        return F.max_pool2d(x, 2)


def cnn(net, x):
    x = net.relu(net.conv("conv1", x, 16, bias=True))
    x = net.relu(net.conv("conv2", x, 32, stride=2, bias=True))
    return net.linear("linear", x.flatten(1), 10)


def lenet5(net, x):
    x = net.max_pool(net.relu(net.conv("conv1", x, 6, 5, padding=2, bias=True)))
    x = net.max_pool(net.relu(net.conv("conv2", x, 16, 5, padding=0, bias=True)))
    x = net.relu(net.linear("fc1", x.flatten(1), 120))
    return net.linear("fc3", net.relu(net.linear("fc2", x, 84)), 10)


def resnet20(net, x, evo):
    """Batch norm with shortcut A, or EvoNorm with shortcut B."""
    norm = net.evo_norm if evo else net.batch_norm
    relu = (lambda y: y) if evo else net.relu
    x = relu(norm("bn1", net.conv("conv1", x, 16)))
    for stage, planes in enumerate((16, 32, 64), 1):
        for block in range(3):
            name, stride = f"layer{stage}.{block}.", 2 if stage > 1 and block == 0 else 1
            y = relu(norm(name + "bn1", net.conv(name + "conv1", x, planes, stride=stride)))
            y = norm(name + "bn2", net.conv(name + "conv2", y, planes))
            if stride == 2 and evo:
                x = net.conv(name + "shortcut.0", x, planes, 1, stride=2)
                x = norm(name + "shortcut.1", x)
            elif stride == 2:
                x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, planes // 4, planes // 4))
            x = relu(y + x)
    return net.linear("linear", x.mean((2, 3)), 10)


def zoo(net, x):
    """What the other networks lack."""
    x = net.conv("a", x, 16, bias=True)
    x = F.gelu(F.group_norm(x, 2, *net.affine("b", (16,)), 1e-5))
    x = net.range_evo_norm("d", net.conv("c", x, 32, stride=2, bias=True))
    x = net.range_evo_norm("g", x, hard=False)
    x = F.layer_norm(x, x.shape[1:], *net.affine("e", tuple(x.shape[1:])), 1e-5)
    x = (x + x) + x  # a value added to itself, and read by two additions
    return net.linear("f", x.flatten(1), 10)


def summary(place, values):
    values = values.detach().numpy().reshape(-1)
    if values.size <= FULL:
        return " ".join(f"{v:.12g}" for v in values)
    bits = hashes(2**20 + place, values.size)
    sums = [((1 - 2.0 * ((bits >> np.uint32(j)) & np.uint32(1))) * values).sum()
            for j in range(SIGNS)]
    return " ".join(f"{v:.12g}" for v in [np.linalg.norm(values), *sums])


def mlp(net, x):
    x = net.relu(net.linear("fc1", x.flatten(1), 24))
    return net.linear("fc3", net.relu(net.linear("fc2", x, 12)), 3)


def narrow_cnn(net, x):
    x = net.relu(net.conv("conv1", x, 16, bias=True))
    x = net.relu(net.conv("conv2", x, 32, stride=2, bias=True))
    return net.linear("linear", x.flatten(1), 2)


def write(spec, model, shape, batch, draws, loss_name=None, outputs=10):
    """loss_name: None for cross-entropy, mse or huber:delta=...; targets are then numbers."""
    net = Net()
    labels = torch.from_numpy((hashes(999, batch) % np.uint32(10)).astype(np.int64))
    targets = numbers(998, (batch, outputs), 2.0, 0.0)

    def loss_of(y):
        if loss_name is None:
            return F.cross_entropy(y, labels)
        if loss_name == "mse":
            return F.mse_loss(y, targets)
        delta = float(loss_name.split("=")[1])
        net.kink((y - targets).abs() - delta)
        return F.huber_loss(y, targets, delta=delta)

    def margin(seed):
        net.margin, net.buffers = 1.0, {}
        with torch.no_grad():
            loss_of(model(net, numbers(1000 + seed, (batch, *shape), 1.0, 0.0)))
        return net.margin

    seed = max(range(draws), key=margin)
    distance = margin(seed)
    assert distance > 1e-4, (spec, distance)

    net.buffers = {}
    images = numbers(1000 + seed, (batch, *shape), 1.0, 0.0)
    loss = loss_of(model(net, images))
    loss.backward()
    net.training = False
    with torch.no_grad():
        logits = model(net, images)

    head = [f"spec {spec}"]
    if loss_name is not None:
        head += [f"outputs {outputs}", f"of {loss_name}"]
    lines = [*head, "input " + " ".join(map(str, shape)), f"batch {batch}",
             f"images {1000 + seed}", f"margin {distance:.3g}", f"loss {loss.item():.15g}",
             "logits " + " ".join(f"{v:.12g}" for v in logits.reshape(-1).tolist())]
    for place, (name, tensor) in enumerate(net.tensors.items()):
        scale, offset = net.starts[name]
        facts = summary(place, tensor.grad)
        lines.append(f"tensor {name} {tensor.numel()} {scale} {offset} {facts}")
    for place, (name, buffer) in enumerate(net.buffers.items()):
        lines.append(f"buffer {name} {buffer.numel()} {summary(place, buffer)}")
    name = spec.split(":")[0] + ("_evonorm" if "evonorm" in spec else "")
    name += "" if loss_name is None else "_" + loss_name.split(":")[0]
    path = pathlib.Path(__file__).parent / (name + ".txt")
    path.write_text("\n".join(lines) + "\n")
    print(f"{path.name}: images {1000 + seed}, {distance:.2g} from a kink, loss {loss.item():.6f}")


if __name__ == "__main__":
    write("cnn", cnn, (1, 8, 8), 4, 500)
    write("lenet5", lenet5, (1, 28, 28), 2, 500)
    batch, evo = functools.partial(resnet20, evo=False), functools.partial(resnet20, evo=True)
    write("resnet20", batch, (3, 8, 8), 4, 2000)
    write("resnet20:shortcut=B,norm=evonorm", evo, (3, 8, 8), 2, 1)
    write("zoo", zoo, (3, 8, 8), 3, 2000)
    write("mlp:hidden=24+12", mlp, (5, 1, 1), 6, 500, "mse", 3)
    write("cnn", narrow_cnn, (1, 8, 8), 4, 500, "huber:delta=0.5", 2)
