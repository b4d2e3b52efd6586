#include <algorithm>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/compress/cuda/dense_rows.h"

namespace hearsay::compress::cuda {

namespace {

/// to[row * stride + i] = from[row * dim + i], the bits unchanged. Grid (ceil(dim / 256), rows),
/// 256 threads, one entry per thread. No shared memory. Bound by memory bandwidth: 8 bytes per
/// entry; not measured.
__global__ void copy_rows(const float* from, std::size_t dim, std::uint32_t* to,
                          std::size_t stride) {
  backend::cuda::begin_launch();
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < dim) to[blockIdx.y * stride + i] = __float_as_uint(from[blockIdx.y * dim + i]);
}

/// A copy: the rows may change before receivers read them.
class IdentityRows final : public DenseRows {
 public:
  using DenseRows::DenseRows;

  void compress(const float* v, std::size_t rows, std::uint32_t, std::span<std::uint64_t> bytes,
                std::vector<backend::VectorView>& q, bool) override {
    view(rows, q);
    std::ranges::fill(bytes, most_bytes());
    copy(v, reinterpret_cast<std::uint32_t*>(dense_.data()), dim_);
  }

  std::size_t most_bytes() const override { return sizeof(float) * dim_; }

  void encode(std::uint32_t* words, std::size_t stride) override {
    copy(dense_.data(), words, stride);
  }

 private:
  void copy(const float* from, std::uint32_t* to, std::size_t stride) {
    if (empty()) return;
    const dim3 grid(static_cast<unsigned>((dim_ + kThreads - 1) / kThreads),
                    static_cast<unsigned>(rows_));
    context_.recorder.launch(copy_rows, grid, kThreads, 0, from, dim_, to, stride);
  }
};

}  // namespace

std::unique_ptr<Rows> make_identity(Context& context, const Layout& layout) {
  return std::make_unique<IdentityRows>(context, layout);
}

}  // namespace hearsay::compress::cuda
