#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "engine/run_program.h"
#include "hearsay/backend/cuda/context.h"
#include "hearsay/backend/cuda/devices.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/engine/cuda/program.h"

namespace hearsay::engine {

/// A test that needs a GPU.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (backend::cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

/// The nearest bfloat16, ties to even; no NaN.
inline std::uint16_t to_bfloat16(double x) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float from_bfloat16(std::uint16_t x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
}

/// The kernels of one precision ("fp32") and access to their memory for tests.
class Gpu {
 public:
  explicit Gpu(const std::string& precision)
      : kernels_(backend::make_kernels("cuda:precision=" + precision, pool_)),
        half_(precision == "bf16") {}

  backend::Kernels& kernels() { return *kernels_; }
  backend::cuda::Context& context() { return backend::cuda::context_of(*kernels_); }
  bool half() const { return half_; }

  /// The entries of a tensor for all peers, converted from and to the order sample, channel, row,
  /// column.
  void write(const cuda::Tensor& tensor, const std::vector<double>& values) {
    std::vector<std::byte> bytes(tensor.size() * width());
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::byte* to = bytes.data() + place(tensor, i) * width();
      const auto value = static_cast<float>(values[i]);
      const std::uint16_t rounded = to_bfloat16(values[i]);
      half_ ? std::memcpy(to, &rounded, 2) : std::memcpy(to, &value, 4);
    }
    copy(tensor.data, bytes.data(), bytes.size());
  }
  std::vector<float> read(const cuda::Tensor& tensor) {
    std::vector<std::byte> bytes(tensor.size() * width());
    copy(bytes.data(), tensor.data, bytes.size());
    std::vector<float> values(tensor.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::byte* from = bytes.data() + place(tensor, i) * width();
      std::uint16_t rounded = 0;
      if (!half_) std::memcpy(&values[i], from, 4);
      if (half_) std::memcpy(&rounded, from, 2), values[i] = from_bfloat16(rounded);
    }
    return values;
  }

  /// Waits for the device, then copies in either direction.
  void copy(void* to, const void* from, std::size_t bytes) {
    kernels_->synchronize();
    ASSERT_EQ(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), cudaSuccess);
  }

 private:
  std::size_t width() const { return half_ ? 2 : 4; }
  static std::size_t place(const cuda::Tensor& tensor, std::size_t i) {
    const std::size_t size = tensor.shape.size(), pixels = tensor.shape.pixels();
    const std::size_t channel = i % size / pixels, pixel = i % pixels;
    return i / size * size + pixel * tensor.shape.channels + channel;
  }

  ThreadPool pool_{1};
  std::unique_ptr<backend::Kernels> kernels_;
  bool half_;
};

/// Runs a program on the examples of its peers, one each. The dropout of peer i uses Random(3,
/// kDropout, i, 2), also if it runs alone with `first` = i. Result buffers are poisoned first.
class GpuProgram {
 public:
  GpuProgram(const model::Network& net, std::vector<Example> examples, const std::string& precision,
             std::uint32_t first = 0)
      : net_(net),
        gpu_(precision),
        program_(cuda::make_program(net, examples.size(), batch_of(net, examples.front()),
                                    cuda::Program::Use::kTraining, gpu_.context(),
                                    examples.front().samples.loss)),
        first_(first),
        parameters_(gpu_.kernels().allocate(peers(), net.layout().dim())),
        gradient_(gpu_.kernels().allocate(peers(), net.layout().dim())),
        buffers_(gpu_.kernels().allocate(peers(), std::max<std::size_t>(net.buffers().dim(), 1))) {
    place(examples);
  }

  static Random stream(std::uint32_t peer) { return Random(3, Purpose::kDropout, peer, 2); }

  void place(const std::vector<Example>& examples) {
    std::vector<double> images;
    std::vector<std::uint16_t> labels;
    std::vector<float> numbers;
    for (std::size_t i = 0; i < peers(); ++i) {
      const auto& samples = examples[i].samples;
      images.insert(images.end(), samples.images.begin(), samples.images.end());
      labels.insert(labels.end(), samples.labels.begin(), samples.labels.end());
      numbers.insert(numbers.end(), samples.numbers.begin(), samples.numbers.end());
      gpu_.kernels().upload(to_floats(examples[i].parameters), parameters_, i);
      const std::vector<float> buffers = to_floats(examples[i].buffers);
      if (!buffers.empty()) gpu_.kernels().upload(buffers, buffers_, i);
    }
    gpu_.write(program_->images(), images);
    if (numbers.empty()) {
      gpu_.copy(program_->labels(), labels.data(), labels.size() * sizeof labels[0]);
    } else {
      gpu_.copy(program_->numbers(), numbers.data(), numbers.size() * sizeof numbers[0]);
    }
  }

  std::vector<ProgramOutcome> gradient() {
    gpu_.kernels().fill(std::numeric_limits<float>::quiet_NaN(), gradient_);
    const auto losses = gpu_.kernels().results<double>(peers());
    std::vector<StreamKey> keys;
    std::vector<double*> targets;
    for (std::size_t i = 0; i < peers(); ++i) {
      keys.push_back({3, first_ + static_cast<std::uint32_t>(i), 2});
      targets.push_back(&losses[i]);
    }
    program_->gradient(rows<const float>(parameters_), rows<float>(buffers_), keys,
                       rows<float>(gradient_), targets);
    gpu_.kernels().synchronize();
    std::vector<ProgramOutcome> outcomes(peers());
    for (std::size_t i = 0; i < peers(); ++i) outcomes[i].loss = losses[i];
    for (std::size_t i = 0; i < peers(); ++i) {
      outcomes[i].gradient.resize(net_.layout().dim());
      gpu_.kernels().download(gradient_, i, outcomes[i].gradient);
      outcomes[i].buffers = buffers(i);
    }
    return outcomes;
  }

  /// Of all peers, one after the other.
  std::vector<float> logits() {
    program_->outputs(rows<const float>(parameters_), rows<const float>(buffers_));
    return gpu_.read(program_->outputs());
  }

  void observe(double momentum) {
    program_->observe(rows<const float>(parameters_), rows<float>(buffers_), momentum);
  }

  std::vector<float> buffers(std::size_t i) {
    std::vector<float> values(net_.buffers().dim());
    if (!values.empty()) gpu_.kernels().download(buffers_, i, values);
    return values;
  }

 private:
  static std::size_t batch_of(const model::Network& net, const Example& example) {
    return example.samples.images.size() / net.shape(net.input()).size();
  }
  std::size_t peers() const { return program_->peers(); }
  template <class Float>
  std::vector<Float*> rows(const backend::Array& array) const {
    std::vector<Float*> addresses;
    for (std::size_t i = 0; i < peers(); ++i) addresses.push_back(array.row(i).data());
    return addresses;
  }

  const model::Network& net_;
  Gpu gpu_;
  std::unique_ptr<cuda::Program> program_;
  std::uint32_t first_;
  backend::Array parameters_, gradient_, buffers_;
};

/// Examples of m peers, each with a model and samples of its own.
///
/// Below fp32, images are exact in bfloat16 and a lens (operation_cases.h) passes them on
/// unchanged. So an operation sees the same values as in the reference, and picks the same maximum
/// or side of a kink; only its own rounding remains.
inline std::vector<Example> gpu_examples(const model::Network& net, std::size_t peers,
                                         std::size_t batch, const std::string& precision) {
  std::vector<Example> examples;
  for (std::size_t i = 0; i < peers; ++i) {
    examples.push_back(model::make_example(net, batch, 1 + i));
    if (precision == "fp32") continue;
    for (double& x : examples.back().samples.images) {
      x = static_cast<double>(from_bfloat16(to_bfloat16(x)));
    }
    for (const Segment& segment : net.layout().segments()) {
      if (!segment.name.starts_with("lens")) continue;
      const bool weight = segment.shape.size() > 1;
      for (std::size_t k = 0; k < segment.size; ++k) {
        const bool diagonal = weight && k / segment.shape[1] == k % segment.shape[1];
        examples.back().parameters[segment.offset + k] = diagonal ? 1 : 0;
      }
    }
  }
  return examples;
}

/// |x - reference| / |reference| that the precision allows over a handful of operations: floats
/// have a unit roundoff of 6e-8 and sums here some thousand terms; tf32 has 5e-4, which averages
/// out over a sum's terms; bf16 has 4e-3, for every stored value.
inline double tolerance_of(const std::string& precision) {
  return precision == "fp32" ? 1e-5 : precision == "tf32" ? 1e-3 : 2e-2;
}

/// Checks a peer's results in training against the reference, tensor by tensor.
inline void expect_reference(const model::Network& net, const Example& example,
                             const Random& random, const ProgramOutcome& found, double tolerance) {
  Doubles buffers = example.buffers;
  const model::Outcome reference = model::reference_gradient(
      net, example.parameters, buffers, example.samples, model::dropped_by(net, random));
  EXPECT_NEAR(found.loss, reference.loss, tolerance * reference.loss);
  for (const Segment& segment : net.layout().segments()) {
    const auto expected = std::span(reference.gradient).subspan(segment.offset, segment.size);
    const auto made = std::span(found.gradient).subspan(segment.offset, segment.size);
    // A bias right before a norm has gradient 0: only rounding remains, which is relative to its
    // terms and not to their sum.
    const double scale = std::max(norm(expected), 0.1 * norm(reference.gradient));
    const double error = distance(made, expected);
    if (error <= tolerance * scale) continue;
    std::size_t worst = 0;
    for (std::size_t k = 0; k < made.size(); ++k) {
      const auto apart = [&](std::size_t at) {
        return std::abs(static_cast<double>(made[at]) - expected[at]);
      };
      if (!(apart(k) <= apart(worst))) worst = k;
    }
    ADD_FAILURE() << segment.name << ": relative error " << error / scale << ", allowed "
                  << tolerance << "; worst at " << worst << " of " << segment.size << ": "
                  << made[worst] << " for " << expected[worst];
  }
  EXPECT_LE(distance(found.buffers, buffers), tolerance * norm(buffers)) << "buffers";
}

/// Two peers have the gradients of the reference, and each alone gives the same bits.
inline void expect_gradients(const model::Network& net, std::size_t batch,
                             const std::string& precision) {
  const auto examples = gpu_examples(net, 2, batch, precision);
  const auto together = GpuProgram(net, examples, precision).gradient();
  for (std::uint32_t i = 0; i < 2; ++i) {
    SCOPED_TRACE("peer " + std::to_string(i));
    expect_reference(net, examples[i], GpuProgram::stream(i), together[i], tolerance_of(precision));
    EXPECT_EQ(GpuProgram(net, {examples[i]}, precision, i).gradient().front(), together[i]);
  }
}

}  // namespace hearsay::engine
