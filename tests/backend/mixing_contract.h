#pragma once

#include "backend/kernels_contract.h"

/// Kernels::mix and mix_compensated, dense and sparse, against plain loops in double. Included by
/// one source per kind of device.
namespace hearsay::backend {

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

TEST_P(KernelTest, CompensatedMixingFollowsItsFormula) {
  std::vector<float> small = random_floats(3);
  for (float& value : small) value *= 1e-8f;
  Array x = random_block(1), low = block_of(small);
  const Array sent = random_block(2), far = random_block(4);
  const auto xs = values(x), qs = values(sent), fs = values(far);
  const Neighbourhood near(rows());
  std::vector<VectorView> q;
  for (std::size_t i = 0; i < rows(); ++i) q.push_back({sent.row(i).data()});
  q.push_back({far.row(0).data()});
  q.push_back({far.row(rows() - 1).data()});
  kernels_->mix_compensated(near.mixing(), q, 0.7f, x, low);
  expect_each(x, [&](std::size_t i, std::size_t k) {
    double sum = static_cast<double>(0.7f) * xs[k] - near.debit[i] * qs[k];
    for (std::uint32_t e = near.begin[i]; e < near.begin[i + 1]; ++e) {
      const std::size_t j = near.source[e], column = k % dim();
      const double value = j < rows()    ? qs[j * dim() + column]
                           : j == rows() ? fs[column]
                                         : fs[(rows() - 1) * dim() + column];
      sum += static_cast<double>(near.weight[e]) * value;
    }
    return sum;
  });
  const auto high = values(x), rest = values(low);
  for (std::size_t k = 0; k < rest.size(); ++k) {
    ASSERT_EQ(high[k] + rest[k], high[k]) << "low is what x cannot hold, at " << k;
  }
}

/// Methods that integrate x would accumulate the rounding errors of plain mixing.
TEST_P(KernelTest, CompensatedMixingConservesTheSumFarBeyondFloats) {
  Array x = random_block(1), low = kernels_->allocate(rows(), dim());
  std::vector<Array> sent;
  for (std::uint32_t k = 0; k < 5; ++k) sent.push_back(random_block(10 + k));
  const Ring ring(rows());
  const auto mass = [&] {
    std::vector<double> sums(dim()), rest(dim());
    kernels_->sum_rows(x, 0, sums);
    kernels_->sum_rows(low, 0, rest);
    for (std::size_t k = 0; k < dim(); ++k) sums[k] += rest[k];
    return sums;
  };
  const std::vector<double> before = mass();
  for (int round = 0; round < 30; ++round) {
    std::vector<VectorView> q;
    for (std::size_t i = 0; i < rows(); ++i) q.push_back({sent[round % 5].row(i).data()});
    kernels_->mix_compensated(ring.mixing(), q, 1.0f, x, low);
  }
  const std::vector<double> after = mass();
  const double rounding = 1e-12 * static_cast<double>(rows());
  for (std::size_t k = 0; k < dim(); ++k) ASSERT_NEAR(after[k], before[k], rounding) << k;
}

TEST_P(KernelTest, SparseMixingEqualsDenseMixing) {
  const std::size_t vectors = rows() + 2;
  Random random(3, Purpose::kTest);
  std::vector<Array> memory;
  std::vector<VectorView> dense_views, sparse_views;
  for (std::size_t j = 0; j < vectors; ++j) {
    std::vector<std::uint32_t> index;
    std::vector<float> dense(dim(), 0.0f), value;
    for (std::size_t k = 0; k < dim(); k += 1 + random.below(9)) {
      index.push_back(static_cast<std::uint32_t>(k));
      value.push_back(static_cast<float>(random.normal()));
      dense[k] = value.back();
    }
    const auto upload = [&](const std::vector<float>& floats) {
      memory.push_back(kernels_->allocate(1, floats.size()));
      kernels_->upload(floats, memory.back(), 0);
      return memory.back().row(0);
    };
    dense_views.push_back({upload(dense).data()});
    memory.push_back(upload_indices(*kernels_, index));
    const auto places = memory.back().as<std::uint32_t>().row(0);
    sparse_views.push_back({nullptr, places, upload(value)});
  }
  const Neighbourhood near(rows());
  Array from_dense = random_block(1), from_sparse = random_block(1);
  kernels_->mix(near.mixing(), dense_views, from_dense);
  kernels_->mix(near.mixing(), sparse_views, from_sparse);
  auto expected = values(from_dense);
  expect_each(from_sparse, [&](std::size_t, std::size_t k) { return expected[k]; });

  kernels_->accumulate(-0.5f, std::span(dense_views).first(rows()), from_dense);
  kernels_->accumulate(-0.5f, std::span(sparse_views).first(rows()), from_sparse);
  expected = values(from_dense);
  expect_each(from_sparse, [&](std::size_t, std::size_t k) { return expected[k]; });
}

TEST_P(KernelTest, MixingLeavesPeersThatAgreeToTheBit) {
  std::vector<float> before = random_floats(1);
  for (std::size_t k = dim(); k < before.size(); ++k) before[k] = before[k - dim()];
  Array x = block_of(before);
  const Ring ring(rows());
  std::vector<VectorView> q;
  for (std::size_t i = 0; i < rows(); ++i) q.push_back({x.row(i).data()});
  kernels_->mix(ring.mixing(), q, x);
  EXPECT_EQ(values(x), before);
}

}  // namespace hearsay::backend
