#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include <Eigen/Dense>

#include "algorithm/world.h"

/// Every method against its formula, written with dense matrices in double: one row per peer.
namespace hearsay::algorithm {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr int kPeers = 5;
constexpr int kDim = 6;
constexpr int kRounds = 13;

double rate(int t) { return t < 6 ? 0.2 : 0.05; }

/// The direction at given models; the same formula for floats and doubles.
double direction(std::size_t peer, std::size_t k, double x) {
  return (1.0 + 0.1 * static_cast<double>(peer)) *
         (x - std::sin(static_cast<double>(5 * peer + k)));
}
Matrix directions(const Matrix& z) {
  Matrix d = z;
  for (int i = 0; i < z.rows(); ++i) {
    for (int k = 0; k < z.cols(); ++k) {
      d(i, k) = direction(static_cast<std::size_t>(i), static_cast<std::size_t>(k), z(i, k));
    }
  }
  return d;
}

Matrix mean_of(const Matrix& x) { return Vector::Ones(x.rows()) * x.colwise().mean(); }
Matrix debiased(const Matrix& x, const Vector& u) { return u.cwiseInverse().asDiagonal() * x; }

/// Row by row, the `k` largest magnitudes.
Matrix top(const Matrix& v, int k) {
  Matrix q = Matrix::Zero(v.rows(), v.cols());
  for (int i = 0; i < v.rows(); ++i) {
    std::vector<int> order(static_cast<std::size_t>(v.cols()));
    for (int c = 0; c < v.cols(); ++c) order[static_cast<std::size_t>(c)] = c;
    std::ranges::stable_sort(order,
                             [&](int a, int b) { return std::abs(v(i, a)) > std::abs(v(i, b)); });
    for (int c = 0; c < k; ++c) {
      const int at = order[static_cast<std::size_t>(c)];
      q(i, at) = v(i, at);
    }
  }
  return q;
}

/// The models after kRounds from x0, by the formula; W(t) is the matrix of round t.
using Recursion = std::function<Matrix(Matrix x, const std::function<Matrix(int)>& W)>;

struct Case {
  std::string algorithm, graph, compressor;
  Recursion formula;
};

Matrix identity() { return Matrix::Identity(kPeers, kPeers); }

Matrix error_feedback(Matrix x, const std::function<Matrix(int)>& W, double eta, int k) {
  Vector u = Vector::Ones(kPeers);
  Matrix delta = Matrix::Zero(kPeers, kDim);
  for (int t = 0; t < kRounds; ++t) {
    x -= rate(t) * directions(debiased(x, u));
    const Matrix v = x + delta, q = top(v, k);
    delta = v - q;
    x += eta * (W(t) - identity()) * q;
    u += eta * (W(t) - identity()) * u;
  }
  return debiased(x, u);
}

Matrix difference_compression(Matrix x, const std::function<Matrix(int)>& W, double eta, int k) {
  Vector u = Vector::Ones(kPeers);
  Matrix hat = Matrix::Zero(kPeers, kDim);
  for (int t = 0; t < kRounds; ++t) {
    x -= rate(t) * directions(debiased(x, u));
    hat += top(x - hat, k);
    x += eta * (W(t) - identity()) * hat;
    u += eta * (W(t) - identity()) * u;
  }
  return debiased(x, u);
}

/// Quasi-global momentum around the above, b = 0.7 and mu = 0.2; m is the movement of the models z.
Matrix quasi_global(Matrix x, const std::function<Matrix(int)>& W, double eta, int k,
                    bool nesterov) {
  Vector u = Vector::Ones(kPeers);
  Matrix hat = Matrix::Zero(kPeers, kDim), m = hat;
  for (int t = 0; t < kRounds; ++t) {
    const Matrix z = debiased(x, u), d = directions(z);
    const Matrix step = 0.7 * u.asDiagonal() * m + d;
    x -= rate(t) * (nesterov ? Matrix(d + 0.7 * step) : step);
    hat += top(x - hat, k);
    x += eta * (W(t) - identity()) * hat;
    u += eta * (W(t) - identity()) * u;
    m = 0.8 * m + 0.2 * (z - debiased(x, u)) / rate(t);
  }
  return debiased(x, u);
}

Matrix exact_diffusion(Matrix x, const Matrix& W) {
  Matrix x_old = x, d_old;
  for (int t = 0; t < kRounds; ++t) {
    const Matrix d = directions(x);
    const Matrix half = t == 0 ? Matrix(x - rate(t) * d)
                               : Matrix(x - rate(t) * ((x_old - x) / rate(t - 1) + d - d_old));
    x_old = x;
    d_old = d;
    x = W * half;
  }
  return x;
}

Matrix periodic(Matrix x, const std::function<Matrix(int)>& W, int period, bool gossip) {
  for (int t = 0; t < kRounds; ++t) {
    x -= rate(t) * directions(x);
    if ((t + 1) % period == 0) {
      x = mean_of(x);
    } else if (gossip) {
      x = W(t) * x;
    }
  }
  return x;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"psgd", "ring", "identity",
       [](Matrix x, const auto& W) { return periodic(x, W, 1, false); }},
      {"dsgd", "one-peer-exponential", "identity",
       [](Matrix x, const auto& W) {
         for (int t = 0; t < kRounds; ++t) x = W(t) * (x - rate(t) * directions(x));
         return x;
       }},
      {"dsgd:order=awc", "exponential", "identity",
       [](Matrix x, const auto& W) {
         for (int t = 0; t < kRounds; ++t) x = W(t) * x - rate(t) * directions(x);
         return x;
       }},
      {"sgp", "random:p=0.4,every=2", "identity",
       [](Matrix x, const auto& W) {
         Vector u = Vector::Ones(kPeers);
         for (int t = 0; t < kRounds; ++t) {
           x = W(t) * (x - rate(t) * directions(debiased(x, u)));
           u = W(t) * u;
         }
         return debiased(x, u);
       }},
      {"sgp:overlap=1", "random:p=0.4", "identity",
       [](Matrix x, const auto& W) {
         Vector u = Vector::Ones(kPeers);
         for (int t = 0; t < kRounds; ++t) {
           x = W(t) * x - rate(t) * directions(debiased(x, u));
           u = W(t) * u;
         }
         return debiased(x, u);
       }},
      {"deep-squeeze:eta=0.3", "exponential", "topk:keep=0.34",
       [](Matrix x, const auto& W) { return error_feedback(x, W, 0.3, 2); }},
      {"sparse-push:eta=0.3", "random:p=0.4,every=3", "topk:keep=0.34",
       [](Matrix x, const auto& W) { return error_feedback(x, W, 0.3, 2); }},
      {"scsp:eta=0.2", "random:p=0.4", "topk:keep=0.5",
       [](Matrix x, const auto& W) { return error_feedback(x, W, 0.2, 3); }},
      {"choco:eta=0.3", "ring", "topk:keep=0.34",
       [](Matrix x, const auto& W) { return difference_compression(x, W, 0.3, 2); }},
      {"quant-sgp:eta=0.3", "random:p=0.4", "topk:keep=0.34",
       [](Matrix x, const auto& W) { return difference_compression(x, W, 0.3, 2); }},
      {"dcd", "ring", "topk:keep=0.5",
       [](Matrix x, const auto& W) {
         for (int t = 0; t < kRounds; ++t) {  // the model is the own hat
           const Matrix half = W(t) * x - rate(t) * directions(x);
           x += top(half - x, 3);
         }
         return x;
       }},
      {"ecd", "ring", "topk:keep=0.5",
       [](Matrix x, const auto& W) {
         Matrix hat = x;
         for (int t = 1; t <= kRounds; ++t) {
           const Matrix next = W(t - 1) * hat - rate(t - 1) * directions(x);
           hat = (1 - 2.0 / t) * hat + 2.0 / t * top((1 - t / 2.0) * x + t / 2.0 * next, 3);
           x = next;
         }
         return x;
       }},
      {"exact-diffusion", "ring", "identity",
       [](Matrix x, const auto& W) { return exact_diffusion(x, (identity() + W(0)) / 2); }},
      {"d2", "ring", "identity", [](Matrix x, const auto& W) { return exact_diffusion(x, W(0)); }},
      {"nids", "ring", "identity",
       [](Matrix x, const auto& W) { return exact_diffusion(x, W(0)); }},
      {"extra", "ring", "identity",
       [](Matrix x, const auto& W) {
         Matrix x_old = x, d_old = Matrix::Zero(kPeers, kDim);
         const Matrix half = (identity() + W(0)) / 2;
         for (int t = 0; t < kRounds; ++t) {
           const Matrix d = directions(x);
           const Matrix next = half * (2 * x - x_old) - rate(t) * (d - d_old);
           x_old = x;
           d_old = d;
           x = next;
         }
         return x;
       }},
      {"gradient-tracking", "one-peer-exponential", "identity",
       [](Matrix x, const auto& W) {
         Matrix y = Matrix::Zero(kPeers, kDim), d_old = y;
         for (int t = 0; t < kRounds; ++t) {
           const Matrix d = directions(x);
           y += d - d_old;
           d_old = d;
           x = W(t) * (x - rate(t) * y);
           y = W(t) * y;
         }
         return x;
       }},
      {"push-diging", "random:p=0.4,every=2", "identity",
       [](Matrix x, const auto& W) {
         Matrix y = Matrix::Zero(kPeers, kDim), d_old = y;
         Vector u = Vector::Ones(kPeers);
         for (int t = 0; t < kRounds; ++t) {
           const Matrix d = directions(debiased(x, u));
           y += d - d_old;
           d_old = d;
           x = W(t) * (x - rate(t) * y);
           y = W(t) * y;
           u = W(t) * u;
         }
         return debiased(x, u);
       }},
      {"dmsgd:beta=0.7", "exponential", "identity",
       [](Matrix x, const auto& W) {
         Matrix m = Matrix::Zero(kPeers, kDim);
         for (int t = 0; t < kRounds; ++t) {
           const Matrix d = directions(x);
           x = W(t) * (x - rate(t) * m);
           m = W(t) * (0.7 * m + d);
         }
         return x;
       }},
      {"dmsgd:beta=0.7,vanilla=1", "exponential", "identity",
       [](Matrix x, const auto& W) {
         Matrix m = Matrix::Zero(kPeers, kDim);
         for (int t = 0; t < kRounds; ++t) {
           m = 0.7 * m + directions(x);
           x = W(t) * (x - rate(t) * m);
         }
         return x;
       }},
      {"qg-dmsgd:beta=0.7,mu=0.2", "exponential", "identity",
       [](Matrix x, const auto& W) {
         Matrix m = Matrix::Zero(kPeers, kDim);
         for (int t = 0; t < kRounds; ++t) {
           const Matrix next = W(t) * (x - rate(t) * (0.7 * m + directions(x)));
           m = 0.8 * m + 0.2 * (x - next) / rate(t);
           x = next;
         }
         return x;
       }},
      {"qg-dmsgd:beta=0.7,mu=0.2,nesterov=1", "exponential", "identity",
       [](Matrix x, const auto& W) {
         Matrix m = Matrix::Zero(kPeers, kDim);
         for (int t = 0; t < kRounds; ++t) {
           const Matrix d = directions(x);
           const Matrix next = W(t) * (x - rate(t) * (d + 0.7 * (0.7 * m + d)));
           m = 0.8 * m + 0.2 * (x - next) / rate(t);
           x = next;
         }
         return x;
       }},
      {"qg-choco:eta=0.3,beta=0.7,mu=0.2", "ring", "topk:keep=0.34",
       [](Matrix x, const auto& W) { return quasi_global(x, W, 0.3, 2, false); }},
      {"qg-quant-sgp:eta=0.3,beta=0.7,mu=0.2", "random:p=0.4", "topk:keep=0.34",
       [](Matrix x, const auto& W) { return quasi_global(x, W, 0.3, 2, false); }},
      {"qg-quant-sgp:eta=0.3,beta=0.7,mu=0.2,nesterov=1", "random:p=0.4", "topk:keep=0.34",
       [](Matrix x, const auto& W) { return quasi_global(x, W, 0.3, 2, true); }},
      {"slowmo:period=3,beta=0.5,alpha=0.8", "random:p=0.4", "identity",
       [](Matrix x, const auto& W) {
         Matrix y = x, b = Matrix::Zero(kPeers, kDim);
         Vector u = Vector::Ones(kPeers);
         for (int t = 0; t < kRounds; ++t) {
           x -= rate(t) * directions(debiased(x, u));
           if ((t + 1) % 3 == 0) {
             b = 0.5 * b + (y - mean_of(x)) / rate(t);
             y -= 0.8 * rate(t) * b;
             x = y;
             u.setOnes();
           } else {
             x = W(t) * x;
             u = W(t) * u;
           }
         }
         return debiased(x, u);
       }},
      {"pga:period=4", "exponential", "identity",
       [](Matrix x, const auto& W) { return periodic(x, W, 4, true); }},
      {"local-sgd:period=4", "ring", "identity",
       [](Matrix x, const auto& W) { return periodic(x, W, 4, false); }},
      {"aga:period=4", "exponential", "identity",  // a constant loss does not change the period
       [](Matrix x, const auto& W) { return periodic(x, W, 4, true); }},
      {"silent", "ring", "identity",
       [](Matrix x, const auto& W) { return periodic(x, W, kRounds + 1, false); }},
  };
  return all;
}

class Reference : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Reference, TheMethodIsItsFormula) {
  const Case& c = cases()[GetParam()];
  World world({.algorithm = c.algorithm,
               .graph = c.graph,
               .peers = kPeers,
               .compressor = c.compressor,
               .dim = kDim});
  // All peers start from the same model: public copies, SlowMo and ECD assume it.
  world.start_random(true);
  Matrix x0(kPeers, kDim);
  for (std::size_t i = 0; i < kPeers; ++i) {
    for (std::size_t k = 0; k < kDim; ++k) {
      x0(static_cast<int>(i), static_cast<int>(k)) = static_cast<double>(world.model(i)[k]);
    }
  }
  const auto schedule = graph::make_schedule(c.graph, {kPeers, 1});
  const auto weights = [&](int t) {
    const graph::Weights& w =
        schedule->at(static_cast<std::uint64_t>(t), static_cast<std::uint64_t>(t));
    Matrix dense = Matrix::Zero(kPeers, kPeers);
    for (int i = 0; i < kPeers; ++i) dense(i, i) = w.self(static_cast<std::size_t>(i));
    for (const graph::Edge& edge : w.edges()) {
      dense(static_cast<int>(edge.receiver), static_cast<int>(edge.sender)) = edge.weight;
    }
    return dense;
  };
  const Matrix expected = c.formula(x0, weights);
  for (int t = 0; t < kRounds; ++t) {
    world.run_round(static_cast<float>(rate(t)),
                    [](std::size_t peer, std::span<const float> at, std::span<float> out) {
                      for (std::size_t k = 0; k < at.size(); ++k) {
                        out[k] = static_cast<float>(direction(peer, k, static_cast<double>(at[k])));
                      }
                    });
  }
  for (std::size_t i = 0; i < kPeers; ++i) {
    for (std::size_t k = 0; k < kDim; ++k) {
      EXPECT_NEAR(world.model(i)[k], expected(static_cast<int>(i), static_cast<int>(k)), 2e-5)
          << i << "," << k;
    }
  }
}

TEST(Reference, EveryMethodOfTheRegistryHasItsFormulaHere) {
  for (const Entry& entry : registry()) {
    EXPECT_TRUE(std::ranges::any_of(cases(), [&](const Case& c) {
      return spec_name(c.algorithm) == entry.name;
    })) << entry.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Reference, ::testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& test) {
                           std::string name = cases()[test.param].algorithm;
                           for (char& c : name) {
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace hearsay::algorithm
