#include <algorithm>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/compress/cuda/scales.cuh"

namespace hearsay::compress::cuda {

namespace {

struct Magnitude {
  __device__ double operator()(double x) const { return fabs(x); }
};

struct Mean {
  __device__ float operator()(double sum, std::uint32_t size) const {
    return static_cast<float>(sum / size);
  }
};

/// out = scale of the tensor with the sign of v, by bits. Grid (stretches, rows), 256 threads, up
/// to 16 entries per thread. No shared memory. Bound by memory bandwidth: 8 bytes per entry; not
/// measured.
__global__ void scaled_signs(const Stretch* stretches, const float* v, std::size_t dim,
                             const float* scales, std::size_t tensors, float* out) {
  backend::cuda::begin_launch();
  const Stretch stretch = stretches[blockIdx.x];
  const std::size_t begin = blockIdx.y * dim + stretch.begin;
  const unsigned scale = __float_as_uint(scales[blockIdx.y * tensors + stretch.tensor]);
  for (unsigned i = threadIdx.x; i < stretch.size; i += blockDim.x) {
    const unsigned minus = __float_as_uint(v[begin + i]) & ~0x7fffffffu;
    out[begin + i] = __uint_as_float(scale ^ minus);
  }
}

/// One bit per entry behind the scales; a warp packs 32 by a ballot. The scales are not negative,
/// so the sign of a result is that of the entry. Grid (ceil(dim / 256), rows), 256 threads, one
/// entry per thread; no shared memory, no atomics. Bound by memory bandwidth: 4 bytes per entry;
/// not measured.
__global__ void write_signs(const float* decoded, std::size_t dim, std::uint32_t* words,
                            std::size_t stride, std::size_t first_word) {
  backend::cuda::begin_launch();
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  const bool minus = i < dim && __float_as_uint(decoded[blockIdx.y * dim + i]) >> 31 != 0;
  const unsigned word = __ballot_sync(kAllLanes, minus);
  if (lane() == 0 && i < dim) words[blockIdx.y * stride + first_word + i / kWarp] = word;
}

class SignRows final : public DenseRows {
 public:
  SignRows(Context& context, const Layout& layout)
      : DenseRows(context, layout), tensor_table_(std::span<const Tensor>(tensors_)) {}

  void compress(const float* v, std::size_t rows, std::uint32_t, std::span<std::uint64_t> bytes,
                std::vector<backend::VectorView>& q, bool) override {
    view(rows, q);
    std::ranges::fill(bytes, most_bytes());
    if (empty()) return;
    backend::cuda::LaunchRecorder& recorder = context_.recorder;
    const auto tensors = static_cast<std::uint32_t>(tensors_.size());
    recorder.launch(sum_stretches<Magnitude>, grid(), kThreads, 0, Magnitude{}, stretches_.data(),
                    v, dim_, partial_.data());
    recorder.launch(find_scales<Mean>, static_cast<unsigned>(rows), kThreads, 0, Mean{},
                    tensor_table_.data(), first_stretch_.data(), tensors,
                    static_cast<std::uint32_t>(stretches_.size()), partial_.data(), scales_.data());
    recorder.launch(scaled_signs, grid(), kThreads, 0, stretches_.data(), v, dim_, scales_.data(),
                    tensors_.size(), dense_.data());
  }

  std::size_t most_bytes() const override { return 4 * tensors_.size() + (dim_ + 7) / 8; }

  void encode(std::uint32_t* words, std::size_t stride) override {
    if (empty()) return;
    const auto rows = static_cast<unsigned>(rows_);
    const auto tensors = static_cast<std::uint32_t>(tensors_.size());
    context_.recorder.launch(write_scales, rows, kThreads, 0, scales_.data(), tensors, words,
                             stride);
    const dim3 grid(static_cast<unsigned>((dim_ + kThreads - 1) / kThreads), rows);
    context_.recorder.launch(write_signs, grid, kThreads, 0, dense_.data(), dim_, words, stride,
                             tensors_.size());
  }

 private:
  backend::cuda::Memory<Tensor> tensor_table_;
};

}  // namespace

std::unique_ptr<Rows> make_sign(Context& context, const Layout& layout) {
  return std::make_unique<SignRows>(context, layout);
}

}  // namespace hearsay::compress::cuda
