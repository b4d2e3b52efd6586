#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/compress/bank_compressor.h"

#include <cstring>

#include "hearsay/backend/cuda/memory.h"
#include "hearsay/compress/cuda/rows.h"
#include "hearsay/core/error.h"

namespace hearsay::compress {

namespace cuda {

namespace {

struct Maker {
  Context& context;
  const Layout& layout;
  Streams streams;

  std::unique_ptr<Rows> operator()(OtherKind) const {
    throw InvalidArgument(
        "[device] the CUDA backend has no such operator; use make_bank_compressor");
  }
  std::unique_ptr<Rows> operator()(IdentityKind) const { return make_identity(context, layout); }
  std::unique_ptr<Rows> operator()(SignKind) const { return make_sign(context, layout); }
  std::unique_ptr<Rows> operator()(const TopKKind& kind) const {
    return make_top_k(context, kind, layout);
  }
  std::unique_ptr<Rows> operator()(const RandomKKind& kind) const {
    return make_random_k(context, kind, layout, streams);
  }
  std::unique_ptr<Rows> operator()(const QsgdKind& kind) const {
    return make_qsgd(context, kind, layout, streams);
  }
};

/// words[i] = 0 for all rows' codes, whose bits are then set by atomicOr. Grid: ceil(count / 256),
/// 256 threads, one word per thread. Bound by memory bandwidth or launch latency; only where
/// messages are really encoded (`encode`); not measured.
__global__ void clear(std::uint32_t* words, std::size_t count) {
  backend::cuda::begin_launch();
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < count) words[i] = 0;
}

class CudaCompressor final : public BankCompressor {
 public:
  explicit CudaCompressor(const BankCompressor::Parts& parts)
      : BankCompressor(parts),
        context_(backend::cuda::context_of(parts.kernels)),
        rows_(std::visit(Maker{context_, parts.layout, {parts.seed, parts.first}},
                         parts.compressor.kind())) {}

  ~CudaCompressor() override {
    try {
      context_.recorder.submit();  // what was recorded uses memory that is freed now
    } catch (const RunFailed&) {   // every later call on the device says so too
    }
  }

 private:
  void run(backend::ConstBlock v, std::uint32_t round, std::span<std::uint64_t> bytes,
           std::vector<backend::VectorView>& q, std::vector<Bytes>* codes) override {
    if (codes == nullptr) {
      rows_->compress(v.data, v.rows, round, bytes, q, false);
    } else {
      encode(v, round, bytes, q, *codes);
    }
  }

  void encode(backend::ConstBlock v, std::uint32_t round, std::span<std::uint64_t> bytes,
              std::vector<backend::VectorView>& q, std::vector<Bytes>& wire) {
    constexpr unsigned kThreads = 256;
    // One word more: bits that end a code may be stored as two words.
    const std::size_t stride = rows_->most_bytes() / sizeof(std::uint32_t) + 2;
    const std::size_t words = v.rows * stride;
    if (words_.size() < words) {
      context_.recorder.submit();  // what was recorded with the old memory
      words_ = backend::cuda::Memory<std::uint32_t>(words);
    }
    rows_->compress(v.data, v.rows, round, bytes, q, true);
    if (words > 0) {
      context_.recorder.launch(clear, static_cast<unsigned>((words + kThreads - 1) / kThreads),
                               kThreads, 0, words_.data(), words);
      rows_->encode(words_.data(), stride);
    }
    context_.recorder.submit();
    std::vector<std::uint32_t> host(words);
    backend::cuda::check(cudaMemcpyAsync(host.data(), words_.data(), words * sizeof(std::uint32_t),
                                         cudaMemcpyDeviceToHost, context_.recorder.stream()),
                         "copying from the device");
    backend::cuda::check(cudaStreamSynchronize(context_.recorder.stream()),
                         "running on the device");
    wire.resize(v.rows);
    for (std::size_t i = 0; i < v.rows; ++i) {
      wire[i].resize(bytes[i]);
      if (bytes[i] > 0) std::memcpy(wire[i].data(), host.data() + i * stride, bytes[i]);
    }
  }

  backend::cuda::Context& context_;
  std::unique_ptr<Rows> rows_;
  backend::cuda::Memory<std::uint32_t> words_;
};

}  // namespace

}  // namespace cuda

std::unique_ptr<BankCompressor> make_cuda_bank_compressor(const BankCompressor::Parts& parts) {
  return std::make_unique<cuda::CudaCompressor>(parts);
}

}  // namespace hearsay::compress
