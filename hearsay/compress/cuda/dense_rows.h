#pragma once

#include "hearsay/backend/cuda/memory.h"
#include "hearsay/compress/cuda/rows.h"

namespace hearsay::compress::cuda {

/// A non-empty tensor of the layout.
struct Tensor {
  std::uint32_t begin, size;
};

/// A stretch of a tensor that one block handles.
struct Stretch {
  std::uint32_t tensor, begin, size;
};

/// What operators on tensors share: d floats per row as receivers decode them, and one scale per
/// row and tensor. A stretch has at most 4,096 entries, all of one tensor.
class DenseRows : public Rows {
 public:
  DenseRows(Context& context, const Layout& layout);

 protected:
  static constexpr unsigned kThreads = 256;

  /// Views of the rows' results; allocates memory for them first.
  void view(std::size_t rows, std::vector<backend::VectorView>& q);

  dim3 grid() const;  ///< (stretches, rows): one block each
  bool empty() const { return rows_ == 0 || dim_ == 0; }

  Context& context_;
  std::size_t dim_;
  std::size_t rows_ = 0;
  std::vector<Tensor> tensors_;
  backend::cuda::Memory<Stretch> stretches_;
  backend::cuda::Memory<std::uint32_t> first_stretch_;  ///< [tensor], and one past the last
  backend::cuda::Memory<float> dense_;                  ///< [row][entry]
  backend::cuda::Memory<float> scales_;                 ///< [row][tensor]
  backend::cuda::Memory<double> partial_;               ///< [row][stretch]

 private:
  std::size_t capacity_ = 0;  ///< rows
};

}  // namespace hearsay::compress::cuda
