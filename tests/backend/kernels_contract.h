#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "backend/device.h"
#include "backend/mixing_graphs.h"
#include "hearsay/core/random.h"

/// Every kernel of kernels.h against a plain loop in double, on odd sizes, with poisoned outputs;
/// those that mix are in mixing_contract.h.
/// Included by one source per kind of device, which lists the cases.
namespace hearsay::backend {

struct Case {
  std::string device;
  std::size_t rows, dim, threads;
};

inline void PrintTo(const Case& c, std::ostream* out) {
  *out << c.rows << "x" << c.dim << " on " << c.device << " with " << c.threads;
}

inline std::string case_name(const ::testing::TestParamInfo<Case>& test) {
  return std::to_string(test.param.rows) + "x" + std::to_string(test.param.dim) + "on" +
         std::to_string(test.param.threads);
}

class KernelTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    kernels_ = kernels_if_any(GetParam().device, pool_);
    if (kernels_ == nullptr) GTEST_SKIP() << "no CUDA device";
  }

  std::size_t rows() const { return GetParam().rows; }
  std::size_t dim() const { return GetParam().dim; }

  Array block_of(const std::vector<float>& floats) {
    Array block = kernels_->allocate(rows(), dim());
    for (std::size_t i = 0; i < rows(); ++i) {
      kernels_->upload(std::span(floats).subspan(i * dim(), dim()), block, i);
    }
    return block;
  }

  std::vector<float> random_floats(std::uint32_t stream) const {
    Random random(1, Purpose::kTest, stream);
    std::vector<float> floats(rows() * dim());
    for (float& value : floats) value = static_cast<float>(random.normal());
    return floats;
  }
  Array random_block(std::uint32_t stream) { return block_of(random_floats(stream)); }

  Array poisoned() {
    return block_of(std::vector<float>(rows() * dim(), std::numeric_limits<float>::quiet_NaN()));
  }

  std::vector<float> values(ConstBlock block) {
    std::vector<float> all(block.size());
    for (std::size_t i = 0; i < block.rows; ++i) {
      kernels_->download(block, i, std::span(all).subspan(i * block.dim, block.dim));
    }
    return all;
  }

  template <class Formula>
  void expect_each(const Array& result, const Formula& formula) {
    const std::vector<float> found = values(result);
    for (std::size_t i = 0; i < rows(); ++i) {
      for (std::size_t k = 0; k < dim(); ++k) {
        const double expected = formula(i, i * dim() + k);
        ASSERT_NEAR(found[i * dim() + k], expected, 2e-6 * (1 + std::abs(expected)))
            << i << "," << k;
      }
    }
  }

  ThreadPool pool_{GetParam().threads};
  std::unique_ptr<Kernels> kernels_;
};

TEST_P(KernelTest, AllocateGivesZeros) {
  const Array block = kernels_->allocate(rows(), dim());
  expect_each(block, [](std::size_t, std::size_t) { return 0.0; });
}

TEST_P(KernelTest, CopiesIndicesAsTheyAre) {
  std::vector<std::uint32_t> indices(dim());
  for (std::size_t k = 0; k < dim(); ++k) {  // many of them are NaN as floats
    indices[k] = static_cast<std::uint32_t>(~std::uint64_t{0} - 0x10007 * k);
  }
  const Array array = upload_indices(*kernels_, indices);
  EXPECT_EQ(array.type(), ElementType::kU32);
  EXPECT_EQ(download(*kernels_, array.as<std::uint32_t>().row(0)), indices);
  const std::vector<std::uint32_t> first(indices.begin(), indices.begin() + dim() / 2);
  const Array longer = kernels_->allocate(1, dim(), ElementType::kU32);
  kernels_->upload(first, longer.as<std::uint32_t>(), 0);
  const auto found = download(*kernels_, longer.as<std::uint32_t>().row(0));
  for (std::size_t k = 0; k < dim(); ++k) EXPECT_EQ(found[k], k < first.size() ? first[k] : 0u);
}

TEST_P(KernelTest, ElementwiseFormulas) {
  const Array x = random_block(1);
  const auto xs = values(x);
  EXPECT_EQ(xs, random_floats(1));
  Array y = random_block(2);
  const auto ys = values(y);
  kernels_->axpy(0.3f, x, y);
  expect_each(y, [&](std::size_t, std::size_t k) { return 0.3 * xs[k] + ys[k]; });

  Array z = random_block(2);
  kernels_->axpby(-2.0f, x, 0.5f, z);
  expect_each(z, [&](std::size_t, std::size_t k) { return -2.0 * xs[k] + 0.5 * ys[k]; });

  Array copy = poisoned();
  kernels_->copy(x, copy);
  EXPECT_EQ(values(copy), xs);
  kernels_->fill(-0.5f, copy);
  EXPECT_EQ(values(copy), std::vector<float>(rows() * dim(), -0.5f));

  std::vector<double> u;
  for (std::size_t i = 0; i < rows(); ++i) u.push_back(0.8 + 0.1 * static_cast<double>(i));
  Array quotient = poisoned();
  kernels_->divide_rows(x, u, quotient);
  expect_each(quotient, [&](std::size_t i, std::size_t k) { return xs[k] / u[i]; });
}

/// Rows of a larger block begin anywhere, so a device cannot rely on alignment.
TEST_P(KernelTest, BlocksMayBeginAtAnyRow) {
  if (rows() < 2) return;
  const auto xs = random_floats(1), ys = random_floats(2);
  const Array x = block_of(xs), y = block_of(ys);
  const auto tail = [&](const Array& a) { return Block{a.row(1).data(), rows() - 1, dim()}; };
  kernels_->axpy(2.0f, tail(x), tail(y));
  expect_each(y, [&](std::size_t i, std::size_t k) { return ys[k] + (i > 0 ? 2.0 * xs[k] : 0.0); });

  const std::vector<double> u(rows() - 1, 1.75);
  Array quotient = block_of(ys);
  kernels_->divide_rows(tail(x), u, {quotient.row(0).data(), rows() - 1, dim()});
  expect_each(quotient, [&](std::size_t i, std::size_t k) {
    return i + 1 < rows() ? xs[k + dim()] / 1.75 : static_cast<double>(ys[k]);
  });
}

TEST_P(KernelTest, Adam) {
  std::vector<float> squares = random_floats(2);
  for (float& v : squares) v = std::abs(v);
  Array m = random_block(1), v = block_of(squares), g = random_block(3);
  const auto ms = values(m), vs = values(v), gs = values(g);
  kernels_->adam({0.9f, 0.99f, 1e-3f, 0.19f, 0.02f}, m, v, g);
  expect_each(m, [&](std::size_t, std::size_t k) { return 0.9 * ms[k] + 0.1 * gs[k]; });
  expect_each(v, [&](std::size_t, std::size_t k) { return 0.99 * vs[k] + 0.01 * gs[k] * gs[k]; });
  const auto found = values(g);
  for (std::size_t k = 0; k < rows() * dim(); ++k) {
    const double first = 0.9 * ms[k] + 0.1 * gs[k], second = 0.99 * vs[k] + 0.01 * gs[k] * gs[k];
    const double expected = first / 0.19 / (std::sqrt(second / 0.02) + 1e-3);
    ASSERT_NEAR(found[k], expected, 1e-4 * (1 + std::abs(expected))) << k;
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
    EXPECT_NEAR(norms[i], expected, 1e-9 * (1 + expected)) << i;
  }
  kernels_->mean_rows(x);
  expect_each(x, [&](std::size_t, std::size_t k) {
    double sum = 0;
    for (std::size_t i = 0; i < rows(); ++i) sum += xs[i * dim() + k % dim()];
    return sum / static_cast<double>(rows());
  });
}

TEST_P(KernelTest, SumsInDouble) {
  const Array x = random_block(1);
  const auto xs = values(x);
  std::vector<double> sums(dim(), std::numeric_limits<double>::quiet_NaN());
  kernels_->sum_rows(x, 0, sums);
  for (std::size_t k = 0; k < dim(); ++k) {
    double expected = 0;
    for (std::size_t i = 0; i < rows(); ++i) expected += static_cast<double>(xs[i * dim() + k]);
    ASSERT_EQ(sums[k], expected) << k;  // rows ascending, on every device
  }
  std::vector<double> rest(dim() / 3, std::numeric_limits<double>::quiet_NaN());
  kernels_->sum_rows(x, dim() - rest.size(), rest);
  ASSERT_TRUE(std::ranges::equal(rest, std::span(sums).last(rest.size())));
  std::vector<VectorView> views;
  for (std::size_t i = 0; i < rows(); ++i) views.push_back({x.row(i).data()});
  // A sparse vector contributes its stored entries only.
  const Array index = upload_indices(*kernels_, {0, 2}), value = kernels_->allocate(1, 2);
  kernels_->fill(-3.0f, value);
  if (dim() > 2) views.push_back({nullptr, index.as<std::uint32_t>().row(0), value.row(0)});
  double expected = dim() > 2 ? 6 : 0;
  for (const float v : xs) expected += std::abs(static_cast<double>(v));
  EXPECT_NEAR(kernels_->magnitude(views, dim()), expected, 1e-10 * (1 + expected));
}

/// A host may be many rounds ahead: results stay valid until result buffers are requested again.
TEST_P(KernelTest, ResultsOfManyRoundsStandAfterOneSynchronize) {
  Array x = random_block(1);
  for (int repeat = 0; repeat < 2; ++repeat) {
    std::vector<std::span<double>> norms;
    for (int round = 0; round < 70; ++round) {
      kernels_->fill(static_cast<float>(round), x);
      norms.push_back(kernels_->results<double>(rows()));
      kernels_->squared_norms(x, norms.back());
      kernels_->submit();
    }
    kernels_->synchronize();
    for (int round = 0; round < 70; ++round) {
      const double expected = static_cast<double>(dim()) * round * round;
      for (const double norm : norms[round]) ASSERT_EQ(norm, expected) << round;
    }
  }
}

TEST_P(KernelTest, ClippingShortensRowsThatAreTooLong) {
  Array x = random_block(1);
  const auto xs = values(x);
  const double most = 0.5 * std::sqrt(static_cast<double>(dim()));
  kernels_->clip_rows(most, x);
  std::vector<double> factor;
  for (std::size_t i = 0; i < rows(); ++i) {
    double square = 0;
    for (std::size_t k = 0; k < dim(); ++k) square += std::pow(xs[i * dim() + k], 2.0);
    factor.push_back(std::min(1.0, most / std::sqrt(square)));
  }
  expect_each(x, [&](std::size_t i, std::size_t k) { return xs[k] * factor[i]; });
}

TEST_P(KernelTest, NormsShowWhatIsNotFinite) {
  if (dim() == 0) return;
  for (float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> floats = random_floats(1);
    floats.back() = bad;
    const Array x = block_of(floats);
    const auto norms = kernels_->results<double>(rows());
    kernels_->squared_norms(x, norms);
    kernels_->synchronize();
    for (std::size_t i = 0; i < rows(); ++i) EXPECT_EQ(std::isfinite(norms[i]), i + 1 < rows());
  }
}

/// Ten streams, more than the CUDA kernels have, each with its own block and norms.
TEST_P(KernelTest, StreamsDoWhatWouldHappenOneAfterTheOther) {
  constexpr std::size_t kStreams = 10;
  const std::vector<float> floats = random_floats(1);
  const auto calls = [&](bool side_by_side) {
    std::vector<Array> blocks;
    for (std::size_t k = 0; k < kStreams; ++k) blocks.push_back(block_of(floats));
    for (std::size_t k = 1; k < kStreams; ++k) {
      kernels_->axpy(0.1f * static_cast<float>(k), blocks[0], blocks[k]);
    }
    std::vector<double> found;
    for (int round = 0; round < 3; ++round) {
      std::vector<std::span<double>> norms;
      kernels_->axpy(0.5f, blocks[1], blocks[0]);
      for (std::size_t k = 0; k < kStreams; ++k) {
        if (side_by_side) kernels_->use_stream(k + 1);
        norms.push_back(kernels_->results<double>(rows()));
        kernels_->squared_norms(blocks[k], norms.back());
        kernels_->clip_rows(0.1 * static_cast<double>(1 + k), blocks[k]);
      }
      if (side_by_side) kernels_->use_stream(0);
      for (std::size_t k = 1; k < kStreams; ++k) kernels_->axpy(1.0f, blocks[k], blocks[0]);
      kernels_->synchronize();
      for (const auto& each : norms) found.insert(found.end(), each.begin(), each.end());
    }
    const std::vector<float> sum = values(blocks[0]);
    found.insert(found.end(), sum.begin(), sum.end());
    return found;
  };
  EXPECT_EQ(calls(true), calls(false));
}

/// The same calls on a second Kernels object of the device, on the CPU with another number of
/// threads.
TEST_P(KernelTest, ResultsAreTheSameBitByBit) {
  ThreadPool one(1);
  const auto other = make_kernels(GetParam().device, one);
  Array x = random_block(1), y = random_block(1);
  std::vector<VectorView> qx, qy;
  for (std::size_t i = 0; i < rows() + 2; ++i) {
    qx.push_back({x.row(i % rows()).data()});
    qy.push_back({y.row(i % rows()).data()});
  }
  const auto both = [&](auto call) {
    call(*kernels_, x, qx);
    kernels_->synchronize();
    call(*other, y, qy);
    other->synchronize();
    EXPECT_EQ(values(x), values(y));
  };
  const Neighbourhood near(rows());
  using Views = std::vector<VectorView>;
  both([&](Kernels& k, Array& a, Views& q) { k.mix(near.mixing(), q, a); });
  const Array sent = random_block(4);
  Views of_sent;
  for (std::size_t i = 0; i < rows() + 2; ++i) of_sent.push_back({sent.row(i % rows()).data()});
  Array low[] = {kernels_->allocate(rows(), dim()), kernels_->allocate(rows(), dim())};
  both([&, turn = 0](Kernels& k, Array& a, Views&) mutable {
    k.mix_compensated(near.mixing(), of_sent, 0.9f, a, low[turn++]);
  });
  EXPECT_EQ(values(low[0]), values(low[1]));
  both([&](Kernels& k, Array& a, Views&) { k.mean_rows(a); });
  const Array addend = random_block(2);
  both([&](Kernels& k, Array& a, Views&) { k.axpby(0.3f, addend, -0.7f, a); });
  Array m[] = {random_block(3), random_block(3)};
  Array v[] = {kernels_->allocate(rows(), dim()), kernels_->allocate(rows(), dim())};
  both([&, turn = 0](Kernels& k, Array& a, Views&) mutable {
    k.adam({0.9f, 0.99f, 1e-3f, 0.19f, 0.02f}, m[turn], v[turn], a);
    ++turn;
  });
  std::vector<double> sums(dim()), other_sums(dim());
  kernels_->sum_rows(x, 0, sums);
  other->sum_rows(y, 0, other_sums);
  EXPECT_EQ(sums, other_sums);
}

}  // namespace hearsay::backend
