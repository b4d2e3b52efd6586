#include "hearsay/gossip/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include "hearsay/core/error.h"
#include "hearsay/core/thread_pool.h"

namespace hearsay::gossip {

void PrintTo(const OptimizerEntry& entry, std::ostream* out) { *out << entry.name; }

namespace {

/// Makes optimizers for a bank of `rows` peers with `dim` entries each.
class Bench {
 public:
  explicit Bench(std::size_t rows = 1, std::size_t dim = 1)
      : kernels_(backend::make_cpu_kernels(pool_)),
        x_(kernels_->allocate(rows, dim)),
        g_(kernels_->allocate(rows, dim)) {}

  std::unique_ptr<Optimizer> make(std::string_view spec) {
    return make_optimizer(spec, *kernels_, x_.block().rows, x_.block().dim);
  }

  /// The direction of all rows for gradient g at x.
  std::vector<float> direction(Optimizer& optimizer, const std::vector<float>& x,
                               const std::vector<float>& g) {
    std::ranges::copy(x, x_.block().data);
    std::ranges::copy(g, g_.block().data);
    optimizer.direction(x_, g_);
    EXPECT_TRUE(std::equal(x.begin(), x.end(), x_.block().data)) << "x is only read";
    return {g_.block().data, g_.block().data + g_.block().size()};
  }

 private:
  ThreadPool pool_{1};
  std::unique_ptr<backend::Kernels> kernels_;
  backend::Array x_;
  backend::Array g_;
};

/// Every optimizer of the registry.
class OptimizerContract : public ::testing::TestWithParam<OptimizerEntry> {};

TEST_P(OptimizerContract, KeepsSoManyArrays) {
  Bench bench(2, 3);
  backend::StateList list;
  const auto optimizer = bench.make(GetParam().example);
  optimizer->state(list);
  std::size_t arrays = 0;
  for (const auto& item : list.items()) {
    arrays += std::holds_alternative<backend::Array*>(item.place);
  }
  EXPECT_EQ(arrays, GetParam().arrays);
}

TEST_P(OptimizerContract, TreatsEveryPeerAlone) {
  Bench two(2, 2);
  Bench one(1, 2);
  const std::string spec = std::string(GetParam().name) + ":weight_decay=0.1,clip=3";
  const auto both = two.make(spec);
  const auto first = one.make(spec);
  const auto second = one.make(spec);
  for (int t = 1; t <= 5; ++t) {
    const float s = static_cast<float>(t);
    const std::vector<float> x1{1, s}, x2{-s, 2}, g1{s, -1}, g2{10, 3 * s};
    const auto d1 = one.direction(*first, x1, g1);
    const auto d2 = one.direction(*second, x2, g2);
    EXPECT_EQ(two.direction(*both, {x1[0], x1[1], x2[0], x2[1]}, {g1[0], g1[1], g2[0], g2[1]}),
              (std::vector<float>{d1[0], d1[1], d2[0], d2[1]}));
  }
}

TEST_P(OptimizerContract, IsLinearInGradientsExactlyIfItSaysSo) {
  Bench bench;
  const auto plain = bench.make(GetParam().name);
  const auto doubled = bench.make(GetParam().name);
  bool same = true;
  for (float g : {1.0f, -3.0f, 0.5f}) {
    const float d = bench.direction(*plain, {0}, {g})[0];
    same = same && bench.direction(*doubled, {0}, {2 * g})[0] == 2 * d;
  }
  EXPECT_EQ(same, plain->linear());
}

TEST_P(OptimizerContract, RemembersPastGradientsExactlyIfItHasMomentum) {
  Bench bench;
  const auto optimizer = bench.make(GetParam().name);
  bench.direction(*optimizer, {0}, {1});
  EXPECT_EQ(bench.direction(*optimizer, {0}, {0})[0] != 0, optimizer->has_momentum());
}

TEST_P(OptimizerContract, ListsAllItsStateInTheSameOrder) {
  Bench bench;
  const auto optimizer = bench.make(GetParam().example);
  const auto twin = bench.make(GetParam().example);
  for (float g : {1.0f, -2.0f, 0.25f}) bench.direction(*optimizer, {0.5f}, {g});

  backend::StateList from, to;
  optimizer->state(from);
  twin->state(to);
  ASSERT_EQ(from.items().size(), to.items().size());
  for (std::size_t i = 0; i < from.items().size(); ++i) {
    EXPECT_EQ(from.items()[i].name, to.items()[i].name);
    const auto& source = from.items()[i].place;
    const auto& target = to.items()[i].place;
    if (const auto* rows = std::get_if<backend::Array*>(&source)) {
      std::ranges::copy((*rows)->row(0), std::get<backend::Array*>(target)->block().data);
    } else {
      *std::get<std::uint64_t*>(target) = *std::get<std::uint64_t*>(source);
    }
  }
  EXPECT_EQ(bench.direction(*optimizer, {0.5f}, {3}), bench.direction(*twin, {0.5f}, {3}));
}

TEST_P(OptimizerContract, PassesOnWhatIsNotFinite) {
  Bench bench(1, 2);
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF}) {
    const auto optimizer = bench.make(std::string(GetParam().name) + ":clip=1");
    EXPECT_FALSE(std::isfinite(bench.direction(*optimizer, {0, 0}, {1, bad})[1]));
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, OptimizerContract, ::testing::ValuesIn(optimizer_registry()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Sgd, AddsWeightDecayOfX) {
  Bench bench(1, 2);
  const auto sgd = bench.make("sgd:weight_decay=0.5");
  EXPECT_EQ(bench.direction(*sgd, {4, -2}, {1, 1}), (std::vector<float>{3, 0}));
}

TEST(Sgd, ClipsEachPeerBeforeWeightDecay) {
  Bench bench(3, 2);
  const auto sgd = bench.make("sgd:weight_decay=0.5,clip=5");
  EXPECT_EQ(bench.direction(*sgd, {2, 2, 2, 2, 2, 2}, {6, 8, 3, -4, 0, 0}),
            (std::vector<float>{4, 5, 4, -3, 1, 1}));
}

// beta = 1/2, lambda = 1/4, x = 4: every number below is exact in floats.
TEST(Momentum, IsHeavyBall) {
  Bench bench;
  const auto momentum = bench.make("momentum:beta=0.5,weight_decay=0.25");
  EXPECT_EQ(bench.direction(*momentum, {4}, {1})[0], 2);    // m = 1 + 1
  EXPECT_EQ(bench.direction(*momentum, {4}, {-2})[0], 0);   // m = 1 - 2 + 1
  EXPECT_EQ(bench.direction(*momentum, {4}, {0})[0], 1);    // m = 0 + 0 + 1
  EXPECT_EQ(bench.direction(*momentum, {8}, {1})[0], 3.5);  // m = 0.5 + 1 + 2
}

TEST(Nesterov, IsTorchsForm) {
  Bench bench;
  const auto nesterov = bench.make("nesterov:beta=0.5,weight_decay=0.25");
  EXPECT_EQ(bench.direction(*nesterov, {4}, {1})[0], 3);     // m = 2,   d = 2 + 1
  EXPECT_EQ(bench.direction(*nesterov, {4}, {-2})[0], -1);   // m = 0,   d = -1 + 0
  EXPECT_EQ(bench.direction(*nesterov, {4}, {0})[0], 1.5);   // m = 1,   d = 1 + 0.5
  EXPECT_EQ(bench.direction(*nesterov, {8}, {1})[0], 4.75);  // m = 3.5, d = 3 + 1.75
}

TEST(Adam, FollowsTheScalarRecursion) {
  const double beta1 = 0.8, beta2 = 0.95, epsilon = 1e-6, lambda = 0.1;
  Bench bench;
  const auto adam = bench.make("adam:beta1=0.8,beta2=0.95,epsilon=1e-6,weight_decay=0.1");
  double m = 0, v = 0;
  for (int t = 1; t <= 200; ++t) {
    const double x = std::cos(t), gradient = 3 * std::sin(0.7 * t);
    const double g = gradient + lambda * x;
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    const double expected =
        m / (1 - std::pow(beta1, t)) / (std::sqrt(v / (1 - std::pow(beta2, t))) + epsilon);
    const auto d = bench.direction(*adam, {static_cast<float>(x)}, {static_cast<float>(gradient)});
    EXPECT_NEAR(d[0], expected, 2e-6) << "step " << t;
  }
}

TEST(MakeOptimizer, SaysWhatIsWrong) {
  Bench bench;
  const auto message_of = [&](const char* spec) -> std::string {
    try {
      bench.make(spec);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message_of("momentum:1"), "[momentum] beta must be in [0, 1), got 1");
  EXPECT_EQ(message_of("sgd:clip=-1"), "[sgd] clip must be in [0, inf), got -1");
  EXPECT_EQ(message_of("sgd:beta=0.9"),
            "[sgd] has no parameter 'beta'; it takes weight_decay, clip");
  EXPECT_EQ(message_of("adm"),
            "[optimizer] no optimizer is named 'adm' (did you mean 'adam'?); there are sgd, "
            "momentum, nesterov, adam");
}

}  // namespace
}  // namespace hearsay::gossip
