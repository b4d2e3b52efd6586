#include "hearsay/graph/spectrum/spectrum.h"

#include <cmath>

#include <gtest/gtest.h>

#include "graph/matrices.h"
#include "hearsay/core/random.h"
#include "hearsay/graph/properties.h"
#include "hearsay/graph/spectrum/fourier.h"
#include "hearsay/graph/spectrum/shift_invert.h"

namespace hearsay::graph {
namespace {

std::vector<Weights> period_of(std::string_view spec, std::size_t peers) {
  return make_schedule(spec, {.peers = peers, .seed = 11})->period();
}

struct Sample {
  const char* spec;
  std::size_t peers;
};

/// The dense solver is the reference for the two others.
TEST(Circulants, AgreeWithTheDenseSolver) {
  const Sample samples[] = {{"ring", 12},
                            {"ring", 13},
                            {"ring:directed", 15},
                            {"torus:3x5", 15},
                            {"torus:4x6", 24},
                            {"torus:2x7", 14},
                            {"exponential", 24},
                            {"exponential", 25},
                            {"one-peer-exponential", 12},
                            {"complete", 7},
                            {"one-peer-exponential", 11},
                            {"cycle:ring+exponential", 18}};
  for (const Sample& sample : samples) {
    const auto period = period_of(sample.spec, sample.peers);
    const auto circulants = Circulants::of(period);
    ASSERT_TRUE(circulants) << sample.spec;
    const Spectrum reference = dense_spectrum(period), found = circulants->spectrum();
    EXPECT_NEAR(found.rho, reference.rho, 1e-12) << sample.spec << ' ' << sample.peers;
    EXPECT_NEAR(found.second_modulus, reference.second_modulus, 1e-7) << sample.spec;
    if (is_symmetric(period.front()) && period.size() == 1) {
      EXPECT_NEAR(circulants->smallest_real_part(), dense_lambda_min(period.front()), 1e-12);
    }
  }
}

TEST(Circulants, AreFoundOnlyWhereTheyAre) {
  for (const char* spec : {"star", "grid:3x4", "random", "sparse-push:a", "cycle:ring+star"}) {
    const std::size_t peers = spec == std::string_view("sparse-push:a") ? 4 : 12;
    EXPECT_FALSE(Circulants::of(period_of(spec, peers))) << spec;
  }
}

TEST(Circulants, CountRoundsLikeDoingThem) {
  for (const Sample& sample :
       {Sample{"ring", 20}, Sample{"one-peer-exponential", 11}, Sample{"torus:3x7", 21}}) {
    const auto period = period_of(sample.spec, sample.peers);
    Random random(4, Purpose::kTest);
    std::vector<double> x(sample.peers), next(sample.peers);
    double mean = 0;
    for (double& entry : x) mean += (entry = random.normal()) / static_cast<double>(sample.peers);
    const auto spread = [&](const std::vector<double>& values) {
      double sum = 0;
      for (double value : values) sum += (value - mean) * (value - mean);
      return std::sqrt(sum);
    };
    const double first = spread(x);
    const std::size_t predicted = Circulants::of(period)->rounds_to_average(x, 1e-3);
    std::size_t rounds = 0;
    for (; spread(x) > 1e-3 * first; ++rounds) {
      period[rounds % period.size()].multiply(x, next);
      x.swap(next);
    }
    EXPECT_EQ(predicted, rounds) << sample.spec;
  }
}

TEST(Krylov, AgreesWithTheDenseSolver) {
  const Sample samples[] = {{"grid:12x13", 156},
                            {"grid:12x13,weights=uniform", 156},
                            {"grid:1x200", 200},
                            {"grid:1x200,weights=uniform", 200},
                            {"star", 150},
                            {"star:weights=uniform", 150},
                            {"ring", 151},
                            {"ring:directed", 150},
                            {"exponential", 130},
                            {"random:p=0.1", 160},
                            {"random:p=0.5", 200},
                            {"random:p=0.1,symmetric=1", 160},
                            {"random:p=0.2,every=1", 120},
                            {"cycle:grid:10x15+star", 150},
                            {"cycle:ring:directed+grid:1x150", 150}};
  for (const Sample& sample : samples) {
    const auto period = period_of(sample.spec, sample.peers);
    const Spectrum reference = dense_spectrum(period), found = krylov_spectrum(period).value();
    EXPECT_NEAR(found.rho, reference.rho, 1e-9) << sample.spec;
    EXPECT_NEAR(found.second_modulus, reference.second_modulus, 1e-7) << sample.spec;
    if (is_symmetric(period.front())) {
      EXPECT_NEAR(krylov_lambda_min(period.front()).value(), dense_lambda_min(period.front()), 1e-9)
          << sample.spec;
    }
  }
}

TEST(Krylov, GivesZeroForAnExactAverage) {
  const auto period = period_of("cycle:star+complete", 40);
  EXPECT_LT(krylov_spectrum(period)->rho, 1e-15);
  EXPECT_LT(krylov_spectrum(period)->second_modulus, 1e-15);
}

TEST(Krylov, IsRightWhereMixingIsSlow) {
  // The path with weights 1/3 has eigenvalues (1 + 2 cos(pi k / n)) / 3, k = 0 ... n-1.
  const auto path = period_of("grid:1x4096", 4096);
  const double step = std::acos(-1.0) / 4096;
  EXPECT_NEAR(krylov_spectrum(path)->rho, (1 + 2 * std::cos(step)) / 3, 1e-12);
  EXPECT_NEAR(krylov_lambda_min(path.front()).value(), (1 + 2 * std::cos(4095 * step)) / 3, 1e-12);
}

TEST(Krylov, GivesUpWhereTooMuchWorkIsNeeded) {
  const auto symmetric = period_of("grid:1x2000", 2000);
  EXPECT_FALSE(krylov_spectrum(symmetric, 1e5));
  EXPECT_TRUE(krylov_spectrum(symmetric));
  EXPECT_FALSE(krylov_spectrum(period_of("cycle:grid:1x2000+star", 2000), 1e5));
}

TEST(Fourier, TransformsAnyLength) {
  for (const std::size_t n : {1, 2, 3, 7, 8, 12, 97, 128, 210}) {
    Random random(n, Purpose::kTest);
    std::vector<Fourier::Complex> x(n);
    for (auto& entry : x) entry = {random.normal(), random.normal()};
    std::vector<Fourier::Complex> found = x;
    Fourier fourier(n);
    fourier.transform(found);
    for (std::size_t f = 0; f < n; ++f) {
      Fourier::Complex sum = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const double turn = static_cast<double>(k * f % n) / static_cast<double>(n);
        sum += x[k] * std::polar(1.0, -2 * std::acos(-1.0) * turn);
      }
      EXPECT_NEAR(std::abs(found[f] - sum), 0, 1e-12 * static_cast<double>(n)) << n << ' ' << f;
    }
  }
}

TEST(ShiftInvert, AgreesWithTheDenseSolver) {
  const auto grid = period_of("grid:9x11,weights=uniform", 99);
  EXPECT_NEAR(*modulus_by_inverse(sparse_of(grid.front())), dense_spectrum(grid).second_modulus,
              1e-12);
  const auto ring = period_of("ring:directed", 99);
  EXPECT_NEAR(*modulus_by_inverse(sparse_of(ring.front())), std::cos(std::acos(-1.0) / 99), 1e-12);
}

}  // namespace
}  // namespace hearsay::graph
