#include <gtest/gtest.h>

#include <cmath>

#include <Eigen/Dense>

#include "algorithm/world.h"

/// Methods that remove the bias of heterogeneous data, on noiseless heterogeneous least squares.
namespace hearsay::algorithm {
namespace {

constexpr std::size_t kDim = 5;

/// f_i(x) = (x - p_i)' H_i (x - p_i) / 2 with eigenvalues of H_i in about [0.3, 2].
class Quadratics {
 public:
  explicit Quadratics(std::size_t peers) {
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(kDim, kDim);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(kDim);
    for (std::size_t i = 0; i < peers; ++i) {
      Random random(42, Purpose::kTest, static_cast<std::uint32_t>(i));
      Eigen::MatrixXd a(12, kDim);
      Eigen::VectorXd p(kDim);
      for (auto& value : a.reshaped()) value = random.normal();
      for (auto& value : p) value = 1 + random.normal();
      h_.emplace_back(a.transpose() * a / 12);
      p_.push_back(p);
      sum += h_.back();
      right += h_.back() * p;
    }
    const Eigen::VectorXd x = sum.ldlt().solve(right);
    optimum.assign(x.begin(), x.end());
  }

  World::Direction direction() const {
    return [this](std::size_t i, std::span<const float> at, std::span<float> out) {
      Eigen::VectorXd x(kDim);
      for (std::size_t k = 0; k < kDim; ++k) x[static_cast<long>(k)] = static_cast<double>(at[k]);
      const Eigen::VectorXd g = h_[i] * (x - p_[i]);
      for (std::size_t k = 0; k < kDim; ++k) out[k] = static_cast<float>(g[static_cast<long>(k)]);
    };
  }

  double relative_error(const World& world) const {
    double norm = 0;
    for (double value : optimum) norm += value * value;
    return world.spread_around(optimum) / std::sqrt(norm);
  }

  std::vector<double> optimum;

 private:
  std::vector<Eigen::MatrixXd> h_;
  std::vector<Eigen::VectorXd> p_;
};

struct Case {
  std::string algorithm, graph;
  std::size_t peers;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.algorithm << " on " << c.graph; }

class ExactMethod : public ::testing::TestWithParam<Case> {};

TEST_P(ExactMethod, ReachesTheOptimumAndDoesNotDrift) {
  const Case& c = GetParam();
  const Quadratics problem(c.peers);
  World world({.algorithm = c.algorithm, .graph = c.graph, .peers = c.peers, .dim = kDim});
  World dsgd({.algorithm = "dsgd", .graph = "ring", .peers = c.peers, .dim = kDim});
  world.start_random(true);
  dsgd.start_random(true);
  const auto direction = problem.direction();
  const auto run_until = [&](std::uint32_t round) {
    while (world.round() < round) world.run_round(0.05f, direction);
  };
  for (int t = 0; t < 10'000; ++t) dsgd.run_round(0.05f, direction);
  run_until(10'000);
  const double at_ten_thousand = problem.relative_error(world);
  EXPECT_LT(at_ten_thousand, 1e-5);
  EXPECT_GT(problem.relative_error(dsgd), 100 * at_ten_thousand);
  run_until(40'000);
  EXPECT_LT(problem.relative_error(world), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Methods, ExactMethod,
                         ::testing::Values(Case{"exact-diffusion", "ring", 8},
                                           Case{"d2", "ring", 5}, Case{"extra", "ring", 8},
                                           Case{"gradient-tracking", "ring", 8},
                                           Case{"gradient-tracking", "one-peer-exponential", 6},
                                           Case{"push-diging", "sparse-push:a", 4},
                                           Case{"push-diging", "random:p=0.4", 7}),
                         [](const auto& test) {
                           std::string name = test.param.algorithm + "_" + test.param.graph;
                           for (char& c : name)
                             c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

/// Without gradients nothing corrects models that rounding residuals of mixing have moved.
TEST_P(ExactMethod, KeepsTheMeanInPureAveraging) {
  const Case& c = GetParam();
  const std::string graph = c.algorithm == "d2" ? "star" : c.graph;
  World world({.algorithm = c.algorithm, .graph = graph, .peers = c.peers, .dim = 20});
  world.start_random();
  const std::vector<double> mean = world.mean();
  const bool push_sum = !world.algorithm().push_sum().empty();
  while (world.round() < 40'000) world.run_round(0.05f);
  // Models are floats of about 1: 20 of them, each off by a few roundings.
  EXPECT_LT(world.spread_around(mean), push_sum ? 1e-5 : 2e-6);
  EXPECT_LT(world.drift(), 1e-7);
}

/// Set every state array to its steady-state value.
void place_at_optimum(World& world, const Quadratics& problem, float lr) {
  backend::StateList list;
  world.algorithm().state(list);
  std::vector<float> optimum(problem.optimum.begin(), problem.optimum.end());
  for (const auto& item : list.items()) {
    if (const auto* array = std::get_if<backend::Array*>(&item.place)) {
      for (std::size_t i = 0; i < world.peers(); ++i) {
        const auto row = (*array)->row(i);
        if (item.name == "x") std::ranges::copy(optimum, row.begin());
        if (item.name == "d_old" || item.name == "p") problem.direction()(i, optimum, row);
        if (item.name == "p") {
          for (float& value : row) value *= lr;
        }
        if (item.name == "y" || item.name == "v" || item.name == "low") {
          std::ranges::fill(row, 0.0f);
        }
      }
    } else if (item.name == "previous_lr") {
      *std::get<double*>(item.place) = static_cast<double>(lr);
    }
  }
  world.algorithm().restored();
}

TEST(SteadyState, ExactMethodsStayAtTheOptimumAndDsgdLeavesIt) {
  const Quadratics problem(8);
  for (const char* method : {"exact-diffusion", "extra", "gradient-tracking", "dsgd"}) {
    World world({.algorithm = method, .graph = "ring", .peers = 8, .dim = kDim});
    world.start_random(true);
    place_at_optimum(world, problem, 0.05f);
    double worst = 0;
    for (int t = 0; t < 500; ++t) {
      world.run_round(0.05f, problem.direction());
      worst = std::max(worst, problem.relative_error(world));
    }
    if (std::string(method) == "dsgd") {
      EXPECT_GT(worst, 1e-2) << "the control must leave";
    } else {
      EXPECT_LT(worst, 1e-5) << method;
    }
  }
}

TEST(SteadyState, FromTheOptimumColdTheyLeaveAndComeBack) {
  const Quadratics problem(8);
  for (const char* method : {"exact-diffusion", "extra", "gradient-tracking"}) {
    World world({.algorithm = method, .graph = "ring", .peers = 8, .dim = kDim});
    world.start_from(std::vector<std::vector<double>>(8, problem.optimum));
    double worst = 0;
    for (int t = 0; t < 5'000; ++t) {
      world.run_round(0.05f, problem.direction());
      worst = std::max(worst, problem.relative_error(world));
    }
    EXPECT_GT(worst, 1e-3) << method;
    EXPECT_LT(problem.relative_error(world), 1e-5) << method;
  }
}

TEST(ExactDiffusion, SurvivesATenfoldCutOfTheLearningRate) {
  const Quadratics problem(8);
  World world({.algorithm = "exact-diffusion", .graph = "ring", .peers = 8, .dim = kDim});
  world.start_random(true);
  for (int t = 0; t < 5'000; ++t) world.run_round(0.05f, problem.direction());
  EXPECT_LT(problem.relative_error(world), 1e-5);
  double worst = 0;
  for (int t = 0; t < 2'000; ++t) {
    world.run_round(0.005f, problem.direction());
    worst = std::max(worst, problem.relative_error(world));
  }
  EXPECT_LT(worst, 1e-5);
}

TEST(ExactDiffusion, SurvivesACutOnTheWayWhereExtraDoesNot) {
  const Quadratics problem(8);
  const auto error_after_an_early_cut = [&](const char* method) {
    World world({.algorithm = method, .graph = "ring", .peers = 8, .dim = kDim});
    world.start_random(true);
    for (int t = 0; t < 20'000; ++t) world.run_round(t < 10 ? 0.05f : 0.005f, problem.direction());
    return problem.relative_error(world);
  };
  EXPECT_LT(error_after_an_early_cut("exact-diffusion"), 1e-5);
  EXPECT_GT(error_after_an_early_cut("extra"), 0.1)
      << "made for a constant rate: the control must miss";
}

TEST(ExactDiffusion, StartsOverAfterARoundWithoutLearningRate) {
  const Quadratics problem(8);
  World world({.algorithm = "exact-diffusion", .graph = "ring", .peers = 8, .dim = kDim});
  world.start_random(true);
  for (int t = 0; t < 5'000; ++t) world.run_round(t == 100 ? 0.0f : 0.05f, problem.direction());
  EXPECT_LT(problem.relative_error(world), 1e-5);
}

}  // namespace
}  // namespace hearsay::algorithm
