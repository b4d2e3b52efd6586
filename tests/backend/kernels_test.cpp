#include "hearsay/backend/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "hearsay/core/random.h"
#include "hearsay/core/thread_pool.h"

/// Every kernel against a plain loop in double, on odd sizes, from poisoned outputs.
namespace hearsay::backend {
namespace {

struct Case {
  std::size_t rows, dim, threads;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.rows << "x" << c.dim << " on " << c.threads;
}

class KernelTest : public ::testing::TestWithParam<Case> {
 protected:
  KernelTest() : pool_(GetParam().threads), kernels_(make_cpu_kernels(pool_)) {}

  std::size_t rows() const { return GetParam().rows; }
  std::size_t dim() const { return GetParam().dim; }

  Array random_block(std::uint32_t stream) {
    Array block = kernels_->allocate(rows(), dim());
    Random random(1, Purpose::kTest, stream);
    for (std::size_t k = 0; k < rows() * dim(); ++k) {
      block.block().data[k] = static_cast<float>(random.normal());
    }
    return block;
  }

  Array poisoned() {
    Array block = kernels_->allocate(rows(), dim());
    kernels_->fill(std::numeric_limits<float>::quiet_NaN(), block);
    return block;
  }

  std::vector<float> values(const Array& block) {
    return {block.block().data, block.block().data + rows() * dim()};
  }

  template <class Formula>
  void expect_each(const Array& result, const Formula& formula) {
    for (std::size_t i = 0; i < rows(); ++i) {
      for (std::size_t k = 0; k < dim(); ++k) {
        const double expected = formula(i, i * dim() + k);
        ASSERT_NEAR(result.row(i)[k], expected, 2e-6 * (1 + std::abs(expected))) << i << "," << k;
      }
    }
  }

  ThreadPool pool_;
  std::unique_ptr<Kernels> kernels_;
};

TEST_P(KernelTest, AllocateGivesZeros) {
  const Array block = kernels_->allocate(rows(), dim());
  expect_each(block, [](std::size_t, std::size_t) { return 0.0; });
}

TEST_P(KernelTest, ElementwiseFormulas) {
  const Array x = random_block(1);
  const auto xs = values(x);
  Array y = random_block(2);
  const auto ys = values(y);
  kernels_->axpy(0.3f, x, y);
  expect_each(y, [&](std::size_t, std::size_t k) { return 0.3 * xs[k] + ys[k]; });

  kernels_->upload(std::span(ys).first(dim()), y, 0);
  Array z = random_block(2);
  kernels_->axpby(-2.0f, x, 0.5f, z);
  expect_each(z, [&](std::size_t, std::size_t k) { return -2.0 * xs[k] + 0.5 * ys[k]; });

  Array copy = poisoned();
  kernels_->copy(x, copy);
  EXPECT_EQ(values(copy), xs);

  std::vector<double> u;
  for (std::size_t i = 0; i < rows(); ++i) u.push_back(0.8 + 0.1 * static_cast<double>(i));
  Array quotient = poisoned();
  kernels_->divide_rows(x, u, quotient);
  expect_each(quotient, [&](std::size_t i, std::size_t k) { return xs[k] / u[i]; });
}

TEST_P(KernelTest, Adam) {
  Array m = random_block(1), v = random_block(2), g = random_block(3);
  for (std::size_t k = 0; k < rows() * dim(); ++k) v.block().data[k] = std::abs(v.block().data[k]);
  const auto ms = values(m), vs = values(v), gs = values(g);
  kernels_->adam({0.9f, 0.99f, 1e-3f, 0.19f, 0.02f}, m, v, g);
  expect_each(m, [&](std::size_t, std::size_t k) { return 0.9 * ms[k] + 0.1 * gs[k]; });
  expect_each(v, [&](std::size_t, std::size_t k) { return 0.99 * vs[k] + 0.01 * gs[k] * gs[k]; });
  for (std::size_t k = 0; k < rows() * dim(); ++k) {
    const double first = 0.9 * ms[k] + 0.1 * gs[k], second = 0.99 * vs[k] + 0.01 * gs[k] * gs[k];
    const double expected = first / 0.19 / (std::sqrt(second / 0.02) + 1e-3);
    ASSERT_NEAR(g.block().data[k], expected, 1e-4 * (1 + std::abs(expected)));
  }
}

TEST_P(KernelTest, NormsAndMeans) {
  Array x = random_block(1);
  const auto xs = values(x);
  const auto norms = kernels_->results<double>(rows());
  kernels_->squared_norms(x, norms);
  kernels_->synchronize();
  for (std::size_t i = 0; i < rows(); ++i) {
    double expected = 0;
    for (std::size_t k = 0; k < dim(); ++k) expected += std::pow(xs[i * dim() + k], 2.0);
    EXPECT_NEAR(norms[i], expected, 1e-9 * (1 + expected));
  }
  kernels_->mean_rows(x);
  expect_each(x, [&](std::size_t, std::size_t k) {
    double sum = 0;
    for (std::size_t i = 0; i < rows(); ++i) sum += xs[i * dim() + k % dim()];
    return sum / static_cast<double>(rows());
  });
}

TEST_P(KernelTest, ClippingShortensRowsThatAreTooLong) {
  Array x = random_block(1);
  const auto xs = values(x);
  const double most = 0.5 * std::sqrt(static_cast<double>(dim()));
  kernels_->clip_rows(most, x);
  expect_each(x, [&](std::size_t i, std::size_t k) {
    double square = 0;
    for (std::size_t j = 0; j < dim(); ++j) square += std::pow(xs[i * dim() + j], 2.0);
    return xs[k] * std::min(1.0, most / std::sqrt(square));
  });
}

TEST_P(KernelTest, NormsShowWhatIsNotFinite) {
  if (dim() == 0) return;
  for (float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Array x = random_block(1);
    x.row(rows() - 1)[dim() - 1] = bad;
    const auto norms = kernels_->results<double>(rows());
    kernels_->squared_norms(x, norms);
    kernels_->synchronize();
    for (std::size_t i = 0; i < rows(); ++i) EXPECT_EQ(std::isfinite(norms[i]), i + 1 < rows());
  }
}

/// A ring in which row i hears from all rows below it and from two vectors of elsewhere.
struct Neighbourhood {
  std::vector<std::uint32_t> begin{0}, source;
  std::vector<float> weight;
  std::vector<double> debit;

  explicit Neighbourhood(std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < rows + 2; ++j) {
        if (j == i || (j < rows && j > i)) continue;
        source.push_back(static_cast<std::uint32_t>(j));
        weight.push_back(static_cast<float>(j + 1) / static_cast<float>((rows + 2) * (rows + 2)));
      }
      begin.push_back(static_cast<std::uint32_t>(source.size()));
      debit.push_back(static_cast<double>(i) / static_cast<double>(rows));
    }
  }
  Mixing mixing() const { return {begin, source, weight, debit}; }
};

TEST_P(KernelTest, MixingReadsRowsBeforeItOverwritesThem) {
  Array x = random_block(1);
  const Array far = random_block(2);
  const auto xs = values(x), fs = values(far);
  const Neighbourhood near(rows());
  std::vector<VectorView> q;
  for (std::size_t i = 0; i < rows(); ++i) q.push_back({x.row(i).data()});
  q.push_back({far.row(0).data()});
  q.push_back({far.row(rows() - 1).data()});
  kernels_->mix(near.mixing(), q, x);
  expect_each(x, [&](std::size_t i, std::size_t k) {
    double sum = xs[k] - near.debit[i] * xs[k];
    for (std::uint32_t e = near.begin[i]; e < near.begin[i + 1]; ++e) {
      const std::size_t j = near.source[e], column = k % dim();
      const double value = j < rows()    ? xs[j * dim() + column]
                           : j == rows() ? fs[column]
                                         : fs[(rows() - 1) * dim() + column];
      sum += static_cast<double>(near.weight[e]) * value;
    }
    return sum;
  });
}

TEST_P(KernelTest, SparseMixingEqualsDenseMixing) {
  const std::size_t vectors = rows() + 2;
  std::vector<std::vector<float>> dense(vectors, std::vector<float>(dim(), 0.0f)), value(vectors);
  std::vector<std::vector<std::uint32_t>> index(vectors);
  Random random(3, Purpose::kTest);
  std::vector<VectorView> dense_views, sparse_views;
  for (std::size_t j = 0; j < vectors; ++j) {
    for (std::size_t k = 0; k < dim(); k += 1 + random.below(9)) {
      index[j].push_back(static_cast<std::uint32_t>(k));
      value[j].push_back(static_cast<float>(random.normal()));
      dense[j][k] = value[j].back();
    }
    dense_views.push_back({dense[j].data()});
    sparse_views.push_back({nullptr, index[j], value[j]});
  }
  const Neighbourhood near(rows());
  Array from_dense = random_block(1), from_sparse = random_block(1);
  kernels_->mix(near.mixing(), dense_views, from_dense);
  kernels_->mix(near.mixing(), sparse_views, from_sparse);
  expect_each(from_sparse, [&](std::size_t, std::size_t k) { return from_dense.block().data[k]; });

  kernels_->accumulate(-0.5f, std::span(dense_views).first(rows()), from_dense);
  kernels_->accumulate(-0.5f, std::span(sparse_views).first(rows()), from_sparse);
  expect_each(from_sparse, [&](std::size_t, std::size_t k) { return from_dense.block().data[k]; });
}

TEST_P(KernelTest, ResultsDoNotDependOnTheNumberOfThreads) {
  ThreadPool one(1);
  const auto serial = make_cpu_kernels(one);
  Array x = random_block(1), y = random_block(1);
  std::vector<VectorView> qx, qy;
  for (std::size_t i = 0; i < rows() + 2; ++i) {
    qx.push_back({x.row(i % rows()).data()});
    qy.push_back({y.row(i % rows()).data()});
  }
  const Neighbourhood near(rows());
  kernels_->mix(near.mixing(), qx, x);
  serial->mix(near.mixing(), qy, y);
  EXPECT_EQ(values(x), values(y));
  kernels_->mean_rows(x);
  serial->mean_rows(y);
  EXPECT_EQ(values(x), values(y));

  const auto both = [&](auto call) {
    call(*kernels_, x);
    call(*serial, y);
    EXPECT_EQ(values(x), values(y));
  };
  const Array other = random_block(2);
  both([&](Kernels& k, Array& a) { k.axpby(0.3f, other, -0.7f, a); });
  both([&](Kernels& k, Array& a) {
    Array m = random_block(3), v = random_block(3);
    k.fill(0.0f, v);
    k.adam({0.9f, 0.99f, 1e-3f, 0.19f, 0.02f}, m, v, a);
  });
  std::vector<double> sums(dim()), serial_sums(dim());
  kernels_->sum_rows(x, sums);
  serial->sum_rows(y, serial_sums);
  EXPECT_EQ(sums, serial_sums);
}

TEST_P(KernelTest, MixingLeavesPeersThatAgreeToTheBit) {
  Array x = random_block(1);
  for (std::size_t i = 1; i < rows(); ++i) std::ranges::copy(x.row(0), x.row(i).begin());
  const auto before = values(x);
  // A ring with weights that floats cannot hold exactly; what goes out comes in.
  std::vector<std::uint32_t> begin{0}, source;
  std::vector<float> weight;
  for (std::size_t i = 0; i < rows(); ++i) {
    for (std::size_t j : {(i + 1) % rows(), (i + rows() - 1) % rows()}) {
      source.push_back(static_cast<std::uint32_t>(j));
      weight.push_back(1.0f / 3);
    }
    begin.push_back(static_cast<std::uint32_t>(source.size()));
  }
  const std::vector<double> debit(rows(), 2 * static_cast<double>(1.0f / 3));
  std::vector<VectorView> q;
  for (std::size_t i = 0; i < rows(); ++i) q.push_back({x.row(i).data()});
  kernels_->mix({begin, source, weight, debit}, q, x);
  EXPECT_EQ(values(x), before);
}

INSTANTIATE_TEST_SUITE_P(Shapes, KernelTest,
                         ::testing::Values(Case{1, 0, 1}, Case{1, 1, 1}, Case{3, 7, 1},
                                           Case{2, 33, 2}, Case{5, 1001, 2}, Case{1, 40'000, 2},
                                           Case{130, 517, 2}, Case{3, 16'385, 2}),
                         [](const auto& test) {
                           return std::to_string(test.param.rows) + "x" +
                                  std::to_string(test.param.dim) + "on" +
                                  std::to_string(test.param.threads);
                         });

}  // namespace
}  // namespace hearsay::backend
