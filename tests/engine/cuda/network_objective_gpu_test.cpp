#include <gtest/gtest.h>

#include <algorithm>

#include "engine/bank.h"
#include "engine/cuda/gpu.h"

namespace hearsay::engine {
namespace {

double relative(std::span<const float> found, std::span<const float> expected) {
  const Doubles reference(expected.begin(), expected.end());
  return distance(found, reference) / std::max(norm(reference), 1e-30);
}

/// The network objective of a bank on the GPU, in fp32, with its models and gradients there.
class GpuBank {
 public:
  GpuBank(std::string_view spec, const BankOptions& options) : GpuBank(spec, options, nullptr) {}
  /// Shares the GPU of another one.
  GpuBank(std::string_view spec, const BankOptions& options, Gpu* gpu)
      : own_(gpu ? nullptr : std::make_unique<Gpu>("fp32")),
        gpu_(gpu ? *gpu : *own_),
        rows_(options.rows == 0 ? options.peers : options.rows),
        objective_(make_objective(spec, {.peers = options.peers,
                                         .first = options.first,
                                         .rows = rows_,
                                         .seed = options.seed,
                                         .pool = pool_,
                                         .kernels = gpu_.kernels(),
                                         .model = options.model,
                                         .task = options.task,
                                         .loss = options.loss,
                                         .partition = options.partition,
                                         .augment = options.augment,
                                         .validation = options.validation,
                                         .batch = options.batch})),
        x(gpu_.kernels().allocate(rows_, dim())),
        g(gpu_.kernels().allocate(rows_, dim())) {
    std::vector<float> start(dim());
    for (std::size_t i = 0; i < rows_; ++i) {
      objective_->initial_model(static_cast<std::uint32_t>(options.first + i), start);
      gpu_.kernels().upload(start, x, i);
    }
  }

  Objective* operator->() { return objective_.get(); }
  Gpu& gpu() { return gpu_; }
  std::size_t dim() const { return objective_->layout().dim(); }
  std::size_t rows() const { return rows_; }

  std::vector<double> gradients(std::uint32_t round) {
    const auto losses = gpu_.kernels().results<double>(rows_);
    objective_->gradients(round, x, g, losses);
    gpu_.kernels().synchronize();
    return {losses.begin(), losses.end()};
  }

  std::vector<float> download(const backend::Array& array) {
    std::vector<float> all(array.block().size()), row(dim());
    for (std::size_t i = 0; i < rows_; ++i) {
      gpu_.kernels().download(array, i, row);
      std::ranges::copy(row, all.begin() + static_cast<std::ptrdiff_t>(i * dim()));
    }
    return all;
  }

  void place(const std::vector<float>& models) {
    for (std::size_t i = 0; i < rows_; ++i) {
      gpu_.kernels().upload(std::span(models).subspan(i * dim(), dim()), x, i);
    }
  }

 private:
  ThreadPool pool_{1};
  std::unique_ptr<Gpu> own_;
  Gpu& gpu_;
  std::size_t rows_;
  std::unique_ptr<Objective> objective_;

 public:
  backend::Array x, g;
};

struct Case {
  std::string name, data;
  BankOptions options;
  std::uint32_t rounds = 20;
};

std::ostream& operator<<(std::ostream& out, const Case& test) { return out << test.name; }

constexpr const char* kPictures = "synthetic:shape=3x32x32,classes=10,samples=120";

std::vector<Case> cases() {
  return {
      {"Logistic", "digits", {.peers = 3, .partition = "skew:0.8"}},
      {"CnnBatchNorm",
       "digits",
       {.peers = 3, .model = "cnn:norm=batch", .augment = "crop-flip:padding=1", .batch = 8}},
      {"HeldOut",
       "digits",
       {.peers = 4, .first = 1, .rows = 2, .model = "cnn:norm=group", .validation = 0.25}},
      {"Resnet20",
       kPictures,
       {.peers = 2, .model = "resnet20", .augment = "crop-flip", .batch = 4}},
      {"Regression",
       "synthetic:shape=1x6x6,targets=3,samples=200",
       {.peers = 3,
        .model = "mlp",
        .task = "regression",
        .partition = "skew:0.8",
        .validation = 0.25,
        .batch = 7}},
      {"Huber",
       "synthetic:shape=2x8x8,targets=40,samples=150",
       {.peers = 2, .model = "cnn:norm=batch", .task = "regression", .loss = "huber:delta=0.5"}},
      {"Resnet20EvoNorm", kPictures, {.peers = 2, .model = "resnet20:norm=evonorm", .batch = 4}},
  };
}

/// Its 9 million parameters take the host half a second per gradient, and as long to draw.
std::vector<Case> cases_and_vgg11() {
  std::vector<Case> all = cases();
  all.push_back({"Vgg11", kPictures, {.peers = 1, .model = "vgg11", .batch = 4}, 3});
  return all;
}

class GpuNetworkObjective : public GpuTest, public ::testing::WithParamInterface<Case> {};
class GpuGradients : public GpuNetworkObjective {};

/// Each round both are at the same model, so that errors are those of one gradient, some 20 layers
/// deep.
///
/// Most gradients agree to rounding. But if a value is within rounding of a relu's kink, its whole
/// gradient is present or not: on the host alone, perturbing ResNet-20's model by 1e-7 of itself
/// changes 33 of 40 such gradients by at most 2e-6, and the others by 2e-4 to 4e-3. So the median
/// must agree to rounding (except for VGG-11, all of whose three gradients may have such values),
/// and each gradient within the effect of a few such values.
TEST_P(GpuGradients, AreThoseOfTheHostRoundAfterRound) {
  Bank host(GetParam().data, GetParam().options);
  GpuBank device(GetParam().data, GetParam().options);
  EXPECT_EQ(device.download(device.x), host.x) << "the models before the first round";
  std::vector<double> errors;
  for (std::uint32_t round = 0; round < GetParam().rounds; ++round) {
    device.place(host.x);
    host.gradients(round);
    const std::vector<double> losses = device.gradients(round);
    const std::vector<float> g = device.download(device.g);
    for (std::size_t i = 0; i < host.rows(); ++i) {
      const auto found = std::span(g).subspan(i * host.dim(), host.dim());
      const auto expected = std::span<const float>(host.g).subspan(i * host.dim(), host.dim());
      errors.push_back(relative(found, expected));
      EXPECT_LE(errors.back(), 2e-2) << "round " << round << ", row " << i;
      EXPECT_NEAR(losses[i], host.losses[i], 1e-5 * host.losses[i]) << round << ", " << i;
    }
    for (std::size_t k = 0; k < host.x.size(); ++k) host.x[k] -= 0.05f * host.g[k];
  }
  std::ranges::sort(errors);
  if (GetParam().rounds >= 20) {
    EXPECT_LE(errors[errors.size() / 2], 2e-5);
  }
  for (std::size_t i = 0; i < host.rows(); ++i) {
    EXPECT_LE(relative(device->buffers(i), host->buffers(i)), 1e-4) << "statistics of row " << i;
  }
}

TEST_P(GpuNetworkObjective, ScoresModelsAsTheHostDoes) {
  Bank host(GetParam().data, GetParam().options);
  GpuBank device(GetParam().data, GetParam().options);
  for (std::uint32_t round = 0; round < 3; ++round) {
    host.gradients(round);
    for (std::size_t k = 0; k < host.x.size(); ++k) host.x[k] -= 0.05f * host.g[k];
  }
  device.place(host.x);
  const auto check = [](const Score& found, const Score& expected) {
    EXPECT_NEAR(found.loss, expected.loss, 1e-4 * expected.loss);
    if (expected.values.size() == 2) {  // RMSE and R2
      EXPECT_NEAR(found.values.at(0), expected.values[0], 1e-4 * expected.values[0]);
      EXPECT_NEAR(found.values.at(1), expected.values[1], 1e-4);
    } else {
      EXPECT_NEAR(found.values.at(0), expected.values.at(0), 0.5) << "a tie may fall apart";
    }
    ASSERT_EQ(found.validation_loss.has_value(), expected.validation_loss.has_value());
    if (!found.validation_loss) return;
    EXPECT_NEAR(*found.validation_loss, *expected.validation_loss,
                1e-4 * *expected.validation_loss);
    for (std::size_t k = 0; k < expected.validation_values.size(); ++k) {
      const double tolerance = expected.values.size() == 2 ? 1e-3 : 0.5;
      EXPECT_NEAR(found.validation_values.at(k), expected.validation_values[k], tolerance);
    }
  };
  for (std::size_t i = 0; i < host.rows(); ++i) device->set_buffers(i, host->buffers(i));
  const std::vector<Score> scores = device->scores(device.x);
  for (std::size_t i = 0; i < host.rows(); ++i) {
    const std::span<const float> model(host.x.data() + i * host.dim(), host.dim());
    const Score expected = host->evaluate(model, host->buffers(i));
    check(scores[i], expected);
    check(device->evaluate(model, host->buffers(i)), expected);
  }
  const std::span<const float> first(host.x.data(), host.dim());
  const std::vector<float> estimate = host->estimate_buffers(first);
  EXPECT_LE(relative(device->estimate_buffers(first), estimate), 1e-4);
}

TEST_P(GpuNetworkObjective, ObservesWhatGradientsWould) {
  GpuBank seen(GetParam().data, GetParam().options), trained(GetParam().data, GetParam().options);
  seen->observe(3, seen.x);
  trained.gradients(3);
  for (std::size_t i = 0; i < seen.rows(); ++i) EXPECT_EQ(seen->buffers(i), trained->buffers(i));
}

TEST_P(GpuGradients, HaveTheSameBitsAgainAndAmongOthers) {
  BankOptions options = GetParam().options, other = options;
  other.seed = 8;
  GpuBank alone(GetParam().data, options), others(GetParam().data, other);
  Gpu gpu("fp32");
  GpuBank one(GetParam().data, options, &gpu), two(GetParam().data, other, &gpu);
  for (const std::uint32_t round : {0u, 5u, 6u}) {
    const auto first = gpu.kernels().results<double>(one.rows());
    const auto second = gpu.kernels().results<double>(two.rows());
    const GradientRequest requests[] = {{one.operator->(), round, one.x, one.g, first},
                                        {two.operator->(), round, two.x, two.g, second}};
    one->gradients_together(requests);
    gpu.kernels().synchronize();
    const std::vector<double> losses(first.begin(), first.end());
    const std::vector<double> other_losses(second.begin(), second.end());
    EXPECT_EQ(losses, alone.gradients(round));
    EXPECT_EQ(other_losses, others.gradients(round));
    EXPECT_EQ(one.download(one.g), alone.download(alone.g));
    EXPECT_EQ(two.download(two.g), others.download(others.g));
    EXPECT_EQ(one->buffers(0), alone->buffers(0));
    EXPECT_EQ(two->buffers(two.rows() - 1), others->buffers(two.rows() - 1));
  }
}

/// There are two recorded launch lists: for rounds that need the order of a new pass, and for
/// others.
TEST_P(GpuNetworkObjective, ReplaysItsRounds) {
  GpuBank bank(GetParam().data, GetParam().options);
  for (std::uint32_t round = 0; round < 40; ++round) bank.gradients(round);
  EXPECT_EQ(bank.gpu().context().recorder.captures(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Cases, GpuGradients, ::testing::ValuesIn(cases_and_vgg11()),
                         [](const auto& test) { return test.param.name; });
INSTANTIATE_TEST_SUITE_P(Cases, GpuNetworkObjective, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearsay::engine
