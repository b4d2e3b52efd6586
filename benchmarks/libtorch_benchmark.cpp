/// ResNet-20 training steps against LibTorch, batch 32 of CIFAR's size, one thread: forward and
/// backward of the same network, alternating in one process. Built if LibTorch is found.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include <torch/torch.h>

#include "hearsay/core/random.h"
#include "hearsay/engine/cpu/float_program.h"
#include "hearsay/model/models.h"

namespace {

namespace nn = torch::nn;
using torch::MemoryFormat;

constexpr std::int64_t kBatch = 32;

nn::Conv2d conv3x3(std::int64_t in, std::int64_t out, std::int64_t stride) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false));
}

struct BlockImpl : nn::Module {
  BlockImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
      : extra((out - in) / 2),
        conv1(register_module("conv1", conv3x3(in, out, stride))),
        conv2(register_module("conv2", conv3x3(out, out, 1))),
        bn1(register_module("bn1", nn::BatchNorm2d(out))),
        bn2(register_module("bn2", nn::BatchNorm2d(out))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    namespace F = torch::nn::functional;
    using torch::indexing::Slice;
    torch::Tensor shortcut = x;
    if (extra > 0) {
      const auto every_second = Slice(torch::indexing::None, torch::indexing::None, 2);
      shortcut = F::pad(x.index({Slice(), Slice(), every_second, every_second}),
                        F::PadFuncOptions({0, 0, 0, 0, extra, extra}));
    }
    const auto y = torch::relu(bn1(conv1(x)));
    return torch::relu(bn2(conv2(y)) + shortcut);
  }

  std::int64_t extra;
  nn::Conv2d conv1, conv2;
  nn::BatchNorm2d bn1, bn2;
};
TORCH_MODULE(Block);

struct ResNet20Impl : nn::Module {
  ResNet20Impl()
      : conv1(register_module("conv1", conv3x3(3, 16, 1))),
        bn1(register_module("bn1", nn::BatchNorm2d(16))),
        linear(register_module("linear", nn::Linear(64, 10))) {
    std::int64_t in = 16;
    for (std::int64_t out : {16, 32, 64}) {
      for (int k = 0; k < 3; ++k) {
        blocks->push_back(Block(in, out, in == out ? 1 : 2));
        in = out;
      }
    }
    register_module("blocks", blocks);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto features = blocks->forward(torch::relu(bn1(conv1(x))));
    return linear(features.mean({2, 3}));
  }

  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Sequential blocks;
  nn::Linear linear;
};
TORCH_MODULE(ResNet20);

template <class Work>
double seconds_of(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

void resnet20(benchmark::State& state) {
  torch::set_num_threads(1);
  ResNet20 theirs;
  for (auto& parameter : theirs->parameters()) {
    if (parameter.dim() == 4) {
      parameter.set_data(parameter.contiguous(MemoryFormat::ChannelsLast));
    }
  }
  const auto images = torch::randn({kBatch, 3, 32, 32}).contiguous(MemoryFormat::ChannelsLast);
  const auto labels = torch::randint(10, {kBatch});

  const auto network = hearsay::model::make_model("resnet20", {3, 32, 32}, 10);
  std::vector<float> x(network.layout().dim()), gradient(x.size());
  std::vector<float> buffers(network.buffers().dim());
  network.initialize(1, x);
  network.initialize_buffers(buffers);
  hearsay::engine::cpu::FloatProgram program(network, kBatch);
  std::vector<std::uint16_t> classes(kBatch, 3);
  const hearsay::engine::StreamKey key{.seed = 1};

  std::vector<double> ours, reference;
  for (auto _ : state) {
    std::copy_n(images.data_ptr<float>(), images.numel(), program.images().data());
    ours.push_back(
        seconds_of([&] { program.gradient(x, buffers, {.labels = classes}, key, gradient); }));
    reference.push_back(seconds_of([&] {
      theirs->zero_grad();
      torch::nn::functional::cross_entropy(theirs(images), labels).backward();
    }));
  }
  state.counters["images/s"] = static_cast<double>(kBatch) / median(ours);
  state.counters["libtorch_images/s"] = static_cast<double>(kBatch) / median(reference);
  state.counters["ratio"] = median(reference) / median(ours);
}
BENCHMARK(resnet20)->MinTime(10)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
