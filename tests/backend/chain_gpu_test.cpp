#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backend/device.h"
#include "hearsay/backend/cuda/context.h"
#include "hearsay/core/random.h"

/// Elementwise formulas that the GPU fuses into one launch, compared bitwise with plain loops.
namespace hearsay::backend {
namespace {

struct Shape {
  std::size_t rows, dim;
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.rows << "x" << shape.dim; }

class ChainTest : public ::testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    kernels_ = kernels_if_any("cuda", pool_);
    if (kernels_ == nullptr) GTEST_SKIP() << "no CUDA device";
  }

  cuda::LaunchRecorder& recorder() { return cuda::context_of(*kernels_).recorder; }

  ThreadPool pool_{1};
  std::unique_ptr<Kernels> kernels_;
};

/// Blocks on the device and the same floats on the host, where calls are executed one by one.
class Twins {
 public:
  static constexpr std::size_t kPoisoned = 4;  ///< from this array on, NaN until written

  Twins(Kernels& kernels, const Shape& shape, std::size_t count)
      : kernels_(kernels), dim_(shape.dim) {
    Random random(1, Purpose::kTest);
    for (std::size_t k = 0; k < count; ++k) {
      std::vector<float> floats(shape.rows * dim_, std::numeric_limits<float>::quiet_NaN());
      if (k < kPoisoned) {
        for (float& x : floats) x = static_cast<float>(random.normal());
      }
      arrays_.push_back(kernels.allocate(shape.rows, dim_));
      for (std::size_t i = 0; i < shape.rows; ++i) {
        kernels.upload(std::span(floats).subspan(i * dim_, dim_), arrays_.back(), i);
      }
      host_.push_back(std::move(floats));
    }
  }

  /// The rows of a block from `first` on.
  struct Part {
    std::size_t array, first;
  };

  void fill(float value, Part y, std::size_t rows) {
    kernels_.fill(value, block(y, rows));
    each(y, y, rows, [&](float, float) { return value; });
  }
  void copy(Part x, Part y, std::size_t rows) {
    kernels_.copy(block(x, rows), block(y, rows));
    each(x, y, rows, [](float a, float) { return a; });
  }
  void axpy(float a, Part x, Part y, std::size_t rows) {
    kernels_.axpy(a, block(x, rows), block(y, rows));
    each(x, y, rows, [&](float u, float v) { return std::fma(a, u, v); });
  }
  void axpby(float a, Part x, float b, Part y, std::size_t rows) {
    kernels_.axpby(a, block(x, rows), b, block(y, rows));
    each(x, y, rows, [&](float u, float v) {
      volatile float product = b * v;  // rounded before it is added
      return std::fma(a, u, product);
    });
  }
  void squared_norms(Part x, std::size_t rows) {
    found_norms_.push_back(kernels_.results<double>(rows));
    kernels_.squared_norms(block(x, rows), found_norms_.back());
    for (std::size_t i = 0; i < rows; ++i) {
      long double sum = 0;
      for (std::size_t k = 0; k < dim_; ++k) {
        const long double entry = host_[x.array][(x.first + i) * dim_ + k];
        sum += entry * entry;
      }
      expected_norms_.push_back(static_cast<double>(sum));
    }
  }

  bool is_poisoned(Part part, std::size_t rows) const {
    const auto& floats = host_[part.array];
    for (std::size_t k = part.first * dim_; k < (part.first + rows) * dim_; ++k) {
      if (std::isnan(floats[k])) return true;
    }
    return false;
  }

  void expect_equal() {
    kernels_.synchronize();
    const std::vector<double> norms = found_norms();
    ASSERT_EQ(norms.size(), expected_norms_.size());
    for (std::size_t k = 0; k < norms.size(); ++k) {
      ASSERT_NEAR(norms[k], expected_norms_[k], 1e-12 * (1 + expected_norms_[k])) << "norm " << k;
    }
    for (std::size_t a = 0; a < arrays_.size(); ++a) {
      const std::vector<float> found = floats(a);
      for (std::size_t k = 0; k < found.size(); ++k) {
        if (std::isnan(found[k]) && std::isnan(host_[a][k])) continue;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(found[k]), std::bit_cast<std::uint32_t>(host_[a][k]))
            << "array " << a << ", entry " << k << ": " << found[k] << " for " << host_[a][k];
      }
    }
  }

  std::vector<float> floats(std::size_t array) {
    std::vector<float> all;
    for (std::size_t i = 0; i < arrays_[array].block().rows; ++i) {
      const std::vector<float> row = download(kernels_, arrays_[array].row(i));
      all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  }

  /// After `synchronize`.
  std::vector<double> found_norms() const {
    std::vector<double> all;
    for (const auto& norms : found_norms_) all.insert(all.end(), norms.begin(), norms.end());
    return all;
  }

 private:
  Block block(Part part, std::size_t rows) const {
    return {arrays_[part.array].row(part.first).data(), rows, dim_};
  }

  template <class Formula>
  void each(Part x, Part y, std::size_t rows, const Formula& formula) {
    for (std::size_t k = 0; k < rows * dim_; ++k) {
      float& entry = host_[y.array][y.first * dim_ + k];
      entry = formula(host_[x.array][x.first * dim_ + k], entry);
    }
  }

  Kernels& kernels_;
  std::size_t dim_;
  std::vector<Array> arrays_;
  std::vector<std::vector<float>> host_;
  std::vector<std::span<double>> found_norms_;
  std::vector<double> expected_norms_;
};

/// Random calls, on whole blocks and on parts that begin at different rows. Calls `after` after
/// each.
template <class After>
void make_calls(Twins& twins, const Shape& shape, std::uint32_t stream, const After& after) {
  constexpr int kCalls = 60;
  constexpr std::size_t kArrays = 8;
  Random random(2, Purpose::kTest, stream);
  for (int call = 0; call < kCalls; ++call) {
    const bool whole = shape.rows < 3 || random.below(4) > 0;
    const std::size_t rows = whole ? shape.rows : shape.rows - 2;
    const auto part = [&](std::size_t arrays) {
      return Twins::Part{random.below(arrays), whole ? 0 : random.below(3)};
    };
    // Mostly few arrays, so that formulas depend on earlier ones.
    const std::size_t arrays = random.below(3) > 0 ? 5 : kArrays;
    const Twins::Part x = part(arrays), y = part(arrays);
    const float a = static_cast<float>(random.uniform()) - 0.5f;
    const float b = static_cast<float>(random.uniform()) - 0.5f;
    const auto kind = random.below(5);
    if (kind == 0) {
      twins.fill(a, y, rows);
    } else if (twins.is_poisoned(x, rows)) {
      continue;
    } else if (kind == 1) {
      twins.squared_norms(x, rows);
    } else if (x.array == y.array) {
      continue;
    } else if (kind == 2 || twins.is_poisoned(y, rows)) {
      twins.copy(x, y, rows);
    } else if (kind == 3) {
      twins.axpy(a, x, y, rows);
    } else {
      twins.axpby(a, x, b, y, rows);
    }
    after();
  }
}

TEST_P(ChainTest, RandomCallsDoWhatTheyDoOneByOne) {
  const bool large = GetParam().rows * GetParam().dim > 500'000;
  for (std::uint32_t stream = 0; stream < (large ? 2u : 6u); ++stream) {
    SCOPED_TRACE(stream);
    Twins joined(*kernels_, GetParam(), 8), single(*kernels_, GetParam(), 8);
    const std::size_t before = recorder().launches();
    make_calls(joined, GetParam(), stream, [] {});
    joined.expect_equal();
    const std::vector<double> norms = joined.found_norms();  // before the result buffer is reused
    const std::size_t between = recorder().launches();
    make_calls(single, GetParam(), stream, [&] { recorder().flush(); });
    kernels_->synchronize();
    EXPECT_LT(between - before, recorder().launches() - between);
    EXPECT_EQ(norms, single.found_norms());
    for (std::size_t k = 0; k < Twins::kPoisoned; ++k) {
      EXPECT_EQ(joined.floats(k), single.floats(k)) << k;
    }
  }
}

/// As in a round: a momentum step with weight decay, its norm check, and error feedback.
TEST_P(ChainTest, AStepIsOneLaunchWhateverItsFactors) {
  enum { kX, kM, kG, kDelta };
  const std::size_t rows = GetParam().rows;
  Twins twins(*kernels_, GetParam(), 4);
  // The first norms allocate the result buffers, and submit the calls made before.
  kernels_->squared_norms(kernels_->allocate(rows, GetParam().dim),
                          kernels_->results<double>(rows));
  kernels_->synchronize();
  const std::size_t launches = recorder().launches(), captures = recorder().captures();
  constexpr std::size_t kRounds = 5;
  for (std::size_t round = 0; round < kRounds; ++round) {
    const float rate = 0.1f / static_cast<float>(1 + round);
    twins.axpy(1e-4f * rate, {kX, 0}, {kG, 0}, rows);
    twins.axpby(1.0f, {kG, 0}, 0.9f, {kM, 0}, rows);
    twins.copy({kM, 0}, {kG, 0}, rows);
    twins.squared_norms({kG, 0}, rows);
    twins.axpy(-rate, {kG, 0}, {kX, 0}, rows);
    twins.axpy(1.0f, {kX, 0}, {kDelta, 0}, rows);
    kernels_->submit();
  }
  EXPECT_EQ(recorder().launches() - launches, kRounds);
  EXPECT_EQ(recorder().captures() - captures, 1u);
  twins.expect_equal();
}

/// Formulas read a block that is discarded later, and write it again.
TEST_P(ChainTest, WhatIsDiscardedIsStillReadByTheFormulasBefore) {
  const std::size_t rows = GetParam().rows, dim = GetParam().dim;
  const Array g = kernels_->allocate(rows, dim), x = kernels_->allocate(rows, dim);
  const auto expect = [&](const Array& array, float value) {
    for (std::size_t i = 0; i < rows; ++i) {
      ASSERT_EQ(download(*kernels_, array.row(i)), std::vector<float>(dim, value));
    }
  };
  for (const bool rewritten : {false, true}) {
    kernels_->fill(1.0f, x);
    kernels_->fill(3.0f, g);
    kernels_->axpy(2.0f, g, x);
    kernels_->discard(g);
    if (rewritten) kernels_->fill(5.0f, g);
    expect(x, 7.0f);
    expect(g, rewritten ? 5.0f : 0.0f);  // it was never stored
  }
  kernels_->fill(4.0f, g);
  kernels_->submit();
  kernels_->discard(g);  // too late, and harmless
  kernels_->fill(14.0f, x);
  expect(x, 14.0f);
}

/// Deferred formulas are executed before anything that may read their results, on any stream.
TEST_P(ChainTest, StreamsAndOtherKernelsFindWhatWasAskedBefore) {
  const std::size_t rows = GetParam().rows;
  std::vector<Array> blocks;
  for (int k = 0; k < 4; ++k) blocks.push_back(kernels_->allocate(rows, GetParam().dim));
  const Array &x = blocks[0], &y = blocks[1], &v = blocks[2], &w = blocks[3];
  const auto expect = [&](const Array& array, float value, const char* where) {
    for (std::size_t i = 0; i < rows; ++i) {
      ASSERT_EQ(download(*kernels_, array.row(i)), std::vector<float>(GetParam().dim, value))
          << where;
    }
  };
  kernels_->fill(2.0f, x);
  kernels_->fill(4.0f, v);
  kernels_->use_stream(1);
  kernels_->axpy(3.0f, x, y);
  kernels_->use_stream(2);
  kernels_->axpy(1.0f, v, w);
  kernels_->use_stream(0);
  kernels_->axpy(1.0f, y, w);
  expect(y, 6.0f, "a stream");
  expect(w, 10.0f, "after both");
  kernels_->fill(1.5f, x);
  kernels_->mean_rows(x);
  kernels_->axpy(1.0f, x, y);
  expect(y, 7.5f, "another kernel");
}

INSTANTIATE_TEST_SUITE_P(Cuda, ChainTest,
                         ::testing::Values(Shape{1, 1}, Shape{3, 7}, Shape{4, 8}, Shape{5, 33},
                                           Shape{1, 2048}, Shape{4, 2051}, Shape{5, 40'001},
                                           Shape{130, 517}, Shape{1, 1'100'003}),
                         [](const auto& test) {
                           return std::to_string(test.param.rows) + "x" +
                                  std::to_string(test.param.dim);
                         });

}  // namespace
}  // namespace hearsay::backend
