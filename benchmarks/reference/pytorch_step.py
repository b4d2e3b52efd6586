#!/usr/bin/env python3
"""One training step of n peers in PyTorch: what `hearsay train --device cuda` is measured against.

    benchmarks/reference/pytorch_step.py [--peers 4] [--batch 32] [--models resnet20,vgg11,resnet110]
                                         [--precisions tf32,bf16] [--replays 200] [--json FILE]

A step is forward, backward and SGD with momentum 0.9 and weight decay 1e-4, for n models with
weights of their own, each on its own batch of random images that already lie on the device: no
augmentation, no compression, no mixing. Three ways to run it:

  streams   the whole step of all peers as one CUDA graph, one stream a peer (at most four)
  graph     the same, peers one after another on one stream
  eager     no graph

Printed is the median over replays of the time between two events on the device, in milliseconds,
and the spread: the 10 % and 90 % quantiles. Each replay is timed by itself, after a warm-up. The
models are those of hearsay: the CIFAR ResNets of He et al. with shortcuts A and batch norm, and
VGG-11 without a norm, 512 hidden features and dropout. bf16 is autocast with channels-last
activations, fp32 weights; tf32 is single precision with TF32 products, channels-last as well.
Needs PyTorch 2 with CUDA, and nothing else.
"""

import argparse
import json
import statistics
import sys

import torch
from torch import nn
from torch.nn import functional as F

CLASSES = 10
MOST_STREAMS = 4
WARM_UP = 11  # steps before anything is captured or timed


class Block(nn.Module):
    """Two 3x3 convolutions and shortcut A: every second pixel, new channels zero."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.stride = stride
        self.padding = (outputs - inputs) // 2

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.stride > 1:
            x = F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.padding, self.padding))
        return F.relu(y + x)


def resnet(depth):
    blocks = (depth - 2) // 6
    layers = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    inputs = 16
    for outputs in (16, 32, 64):
        for index in range(blocks):
            layers.append(Block(inputs, outputs, 2 if index == 0 and outputs > 16 else 1))
            inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, CLASSES))


def vgg11():
    layers, inputs = [], 3
    for outputs in (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0):
        if outputs == 0:
            layers.append(nn.MaxPool2d(2))
        else:
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU()]
            inputs = outputs
    return nn.Sequential(*layers, nn.Flatten(), nn.Dropout(), nn.Linear(512, 512), nn.ReLU(),
                         nn.Linear(512, CLASSES))


MODELS = {
    "resnet20": (lambda: resnet(20), 269_722),
    "vgg11": (vgg11, 9_488_266),
    "resnet110": (lambda: resnet(110), 1_727_962),
}


class Peer:
    """A model with its optimizer and its batch."""

    def __init__(self, make, batch, precision):
        self.precision = precision
        self.model = make().cuda().to(memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9,
                                         weight_decay=1e-4, foreach=True)
        images = torch.randn(batch, 3, 32, 32, device="cuda")
        self.images = images.contiguous(memory_format=torch.channels_last)
        self.labels = torch.randint(CLASSES, (batch,), device="cuda")

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=self.precision == "bf16",
                            cache_enabled=False):
            loss = F.cross_entropy(self.model(self.images), self.labels)
        loss.backward()
        self.optimizer.step()


def step_in_turn(peers):
    for peer in peers:
        peer.step()


def step_on_streams(peers, streams):
    """All streams begin after what the current one holds so far, and it waits for them."""
    current = torch.cuda.current_stream()
    for stream in streams:
        stream.wait_stream(current)
    for index, peer in enumerate(peers):
        with torch.cuda.stream(streams[index % len(streams)]):
            peer.step()
    for stream in streams:
        current.wait_stream(stream)


def captured(step):
    """`step` as a graph, warmed up on a side stream as capturing demands."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARM_UP):
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def milliseconds(step, replays):
    for _ in range(WARM_UP):
        step()
    torch.cuda.synchronize()
    times = []
    for _ in range(replays):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        step()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return times


def measure(name, precision, way, arguments):
    make, parameters = MODELS[name]
    torch.manual_seed(1)
    peers = [Peer(make, arguments.batch, precision) for _ in range(arguments.peers)]
    count = sum(parameter.numel() for parameter in peers[0].model.parameters())
    if count != parameters:
        sys.exit(f"pytorch_step.py: {name} has {count} parameters, not the {parameters} of hearsay's")
    if way == "streams":
        streams = [torch.cuda.Stream() for _ in range(min(MOST_STREAMS, len(peers)))]
        step = captured(lambda: step_on_streams(peers, streams))
    elif way == "graph":
        step = captured(lambda: step_in_turn(peers))
    else:
        step = lambda: step_in_turn(peers)
    times = milliseconds(step, arguments.replays)
    quantiles = statistics.quantiles(times, n=10)
    return {
        "model": name,
        "precision": precision,
        "way": way,
        "peers": arguments.peers,
        "batch": arguments.batch,
        "median_ms": round(statistics.median(times), 4),
        "p10_ms": round(quantiles[0], 4),
        "p90_ms": round(quantiles[-1], 4),
        "replays": arguments.replays,
    }


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--peers", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--models", default=",".join(MODELS), help="of " + ", ".join(MODELS))
    parser.add_argument("--precisions", default="tf32,bf16")
    parser.add_argument("--ways", default="streams,graph,eager")
    parser.add_argument("--replays", type=int, default=200)
    parser.add_argument("--json", help="write the results to this file too")
    return parser.parse_args()


def main():
    arguments = parse()
    if not torch.cuda.is_available():
        sys.exit("pytorch_step.py: PyTorch finds no CUDA device")
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}, {arguments.peers} peers x "
          f"{arguments.batch}; ms per step, median (10 % .. 90 %) of {arguments.replays}")
    results = []
    for name in arguments.models.split(","):
        for precision in arguments.precisions.split(","):
            for way in arguments.ways.split(","):
                result = measure(name, precision, way, arguments)
                results.append(result)
                print(f"{name:<10} {precision:<5} {way:<8} {result['median_ms']:8.3f}   "
                      f"({result['p10_ms']:.3f} .. {result['p90_ms']:.3f})", flush=True)
                torch.cuda.empty_cache()
    text = json.dumps({"torch": torch.__version__, "device": torch.cuda.get_device_name(),
                       "results": results})
    print(text)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
