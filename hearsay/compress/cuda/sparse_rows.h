#pragma once

#include "hearsay/backend/cuda/memory.h"
#include "hearsay/compress/cuda/rice.h"
#include "hearsay/compress/cuda/rows.h"

namespace hearsay::compress::cuda {

/// What sparse operators share: lists of kept entries, and the code of sparse_code.h for them.
class SparseRows : public Rows {
 public:
  SparseRows(Context& context, std::vector<Unit> units, std::size_t dim, ValueFormat format);

  void compress(const float* v, std::size_t rows, std::uint32_t round,
                std::span<std::uint64_t> bytes, std::vector<backend::VectorView>& q,
                bool coded) final;
  std::size_t most_bytes() const final;
  void encode(std::uint32_t* words, std::size_t stride) final;

 protected:
  /// Fill the lists of all rows, and for q8 the scales.
  virtual void select(const float* v, std::size_t rows, std::uint32_t round) = 0;

  Context& context_;
  std::vector<Unit> units_;
  std::size_t dim_;
  ValueFormat format_;
  std::size_t keep_;  ///< entries per row
  std::size_t rows_ = 0;
  backend::cuda::Memory<std::uint32_t> index_;  ///< [row][entry]
  backend::cuda::Memory<float> value_;
  backend::cuda::Memory<float> scales_;  ///< [row][unit], of q8

 private:
  void reserve(std::size_t rows);
  bool sends_indices() const { return keep_ < dim_; }

  std::size_t value_bytes_;
  std::size_t capacity_ = 0;  ///< rows
  backend::cuda::Memory<std::uint32_t> unit_end_;
  backend::cuda::Memory<unsigned> sums_, tickets_;
  backend::cuda::Memory<RicePlan> plans_;
  backend::cuda::Memory<std::uint64_t> lengths_;
};

}  // namespace hearsay::compress::cuda
