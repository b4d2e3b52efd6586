#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/compress/qsgd.h"

#include <cmath>

#include "hearsay/compress/cuda/bits.cuh"
#include "hearsay/compress/cuda/scales.cuh"
#include "hearsay/core/random.h"

namespace hearsay::compress::cuda {

namespace {

struct Square {
  __device__ double operator()(double x) const { return x * x; }
};

struct Root {
  __device__ float operator()(double sum, std::uint32_t) const {
    return static_cast<float>(sqrt(sum));
  }
};

/// What `quantize` reads and writes besides the rows.
struct Quantizer {
  const Stretch* stretches;
  const float* scales;     ///< [row][tensor]
  const double* divisors;  ///< [tensor]: level 1 is scale / divisor
  const Random* streams;   ///< [row]
  float* out;
  std::uint32_t* codes;  ///< [row][entry], the level with the sign above it; null: none
  unsigned* nonzero;     ///< [row], zero before and after
  unsigned* tickets;
  std::uint64_t* const* bytes;
  std::uint64_t fixed_bits;  ///< of a code without signs
  std::size_t dim;
  std::uint32_t tensors, bits;
};

/// As Qsgd::quantize: level = floor(t) or floor(t) + 1, t = |x| (2^bits - 1) / scale, rounded up
/// with probability t - floor(t); out = sign level scale / divisor. Also (*bytes)[row], the length
/// of the row's code, which is fixed but for one sign bit per level that is not 0.
///
/// Grid (stretches, rows), 256 threads; a stretch is up to 4,096 entries of one tensor. A thread
/// takes four entries at a time, for which one Philox block of the row's stream serves, aligned to
/// multiples of four of the row, so random words do not depend on the stretches. Shared memory: 128
/// bytes of block_total. The count of levels that are not 0 is an integer sum by atomics (order
/// does not matter); the last block of a row, by ticket, writes the length to host memory and
/// clears it. Levels are computed in double. 8 bytes per entry (12 with codes) move; not measured.
__global__ void quantize(Quantizer to, const float* v) {
  backend::cuda::begin_launch();
  const Stretch stretch = to.stretches[blockIdx.x];
  const std::size_t row = blockIdx.y, base = row * to.dim;
  const float scale = to.scales[row * to.tensors + stretch.tensor];
  const bool undefined = isnan(scale);
  const auto step = static_cast<float>(static_cast<double>(scale) / to.divisors[stretch.tensor]);
  const double levels = static_cast<double>((1u << to.bits) - 1);
  const double per_unit = scale > 0 ? levels / static_cast<double>(scale) : 0;
  const Random random = to.streams[row];
  const std::uint32_t end = stretch.begin + stretch.size;
  unsigned nonzero = 0;
  for (std::uint32_t four = stretch.begin / 4 + threadIdx.x; four <= (end - 1) / 4;
       four += blockDim.x) {
    const std::array<std::uint32_t, 4> words = random.words(four);
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      const std::uint32_t i = 4 * four + j;
      if (i < stretch.begin || i >= end) continue;
      const unsigned x = __float_as_uint(v[base + i]);
      std::uint32_t level = 0;
      if (per_unit > 0) {
        const double magnitude = static_cast<double>(__uint_as_float(x & 0x7fffffffu));
        const double t = fmin(__dmul_rn(per_unit, magnitude), levels);
        level = static_cast<std::uint32_t>(t);
        if (static_cast<double>(to_unit_float(words[j])) < t - level) ++level;
      }
      const std::uint32_t minus = level > 0 ? x >> 31 : 0;
      const unsigned value = __float_as_uint(__fmul_rn(static_cast<float>(level), step));
      to.out[base + i] = __uint_as_float(undefined ? kQuietNan : value ^ minus << 31);
      if (to.codes != nullptr) to.codes[base + i] = minus << to.bits | level;
      nonzero += level > 0 ? 1 : 0;
    }
  }
  // The length of the code: the last block of a row has the count of all.
  nonzero = block_total(nonzero);
  if (threadIdx.x == 0) atomicAdd(to.nonzero + row, nonzero);
  if (!comes_last(to.tickets + row, gridDim.x) || threadIdx.x > 0) return;
  const std::uint64_t bits = to.fixed_bits + atomicExch(to.nonzero + row, 0u);
  (*to.bytes)[row] = 4 * std::uint64_t{to.tensors} + (bits + 7) / 8;
}

/// The levels of all rows, each with its sign bit unless it is 0.
struct LevelCodes {
  const std::uint32_t* codes;
  std::size_t size;
  std::uint64_t bits;

  __device__ BitCode operator()(unsigned row, std::size_t i) const {
    const std::uint32_t code = codes[row * size + i];
    const bool signed_code = (code & ((1u << bits) - 1)) > 0;
    return {0, code, static_cast<std::uint32_t>(bits) + (signed_code ? 1 : 0)};
  }
};

class QsgdRows final : public DenseRows {
 public:
  QsgdRows(Context& context, const QsgdKind& kind, const Layout& layout, const Streams& streams)
      : DenseRows(context, layout),
        kind_(kind),
        streams_(streams),
        tensor_table_(std::span<const Tensor>(tensors_)) {
    const double levels = std::ldexp(1.0, static_cast<int>(kind.bits)) - 1;
    std::vector<double> divisors;
    for (const Tensor& tensor : tensors_) {
      divisors.push_back(levels * (kind.unbiased ? 1 : qsgd_tau(levels, tensor.size)));
    }
    divisors_ = backend::cuda::Memory<double>(std::span<const double>(divisors));
  }

  void compress(const float* v, std::size_t rows, std::uint32_t round,
                std::span<std::uint64_t> bytes, std::vector<backend::VectorView>& q,
                bool coded) override {
    view(rows, q);
    std::ranges::fill(bytes, 0);
    if (empty()) return;
    reserve(coded);
    std::vector<Random> randoms;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::uint32_t peer = streams_.first + static_cast<std::uint32_t>(i);
      randoms.emplace_back(streams_.seed, Purpose::kRounding, peer, round);
    }
    backend::cuda::LaunchRecorder& recorder = context_.recorder;
    const auto tensors = static_cast<std::uint32_t>(tensors_.size());
    recorder.launch(sum_stretches<Square>, grid(), kThreads, 0, Square{}, stretches_.data(), v,
                    dim_, partial_.data());
    recorder.launch(find_scales<Root>, static_cast<unsigned>(rows), kThreads, 0, Root{},
                    tensor_table_.data(), first_stretch_.data(), tensors,
                    static_cast<std::uint32_t>(stretches_.size()), partial_.data(), scales_.data());
    const Quantizer quantizer{.stretches = stretches_.data(),
                              .scales = scales_.data(),
                              .divisors = divisors_.data(),
                              .streams = recorder.put(std::span<const Random>(randoms)),
                              .out = dense_.data(),
                              .codes = coded ? codes_.data() : nullptr,
                              .nonzero = nonzero_.data(),
                              .tickets = tickets_.data(),
                              .bytes = recorder.put(bytes.data()),
                              .fixed_bits = kind_.bits * std::uint64_t{dim_},
                              .dim = dim_,
                              .tensors = tensors,
                              .bits = kind_.bits};
    recorder.launch(quantize, grid(), kThreads, 0, quantizer, v);
  }

  std::size_t most_bytes() const override {
    return 4 * tensors_.size() + ((kind_.bits + 1) * dim_ + 7) / 8;
  }

  void encode(std::uint32_t* words, std::size_t stride) override {
    if (empty()) return;
    const auto rows = static_cast<unsigned>(rows_);
    const auto tensors = static_cast<std::uint32_t>(tensors_.size());
    const LevelCodes codes{codes_.data(), dim_, kind_.bits};
    const dim3 grid(pieces(), rows);
    context_.recorder.launch(write_scales, rows, kThreads, 0, scales_.data(), tensors, words,
                             stride);
    context_.recorder.launch(measure_codes<LevelCodes>, grid, kCodeThreads, 0, codes,
                             lengths_.data());
    context_.recorder.launch(write_codes<LevelCodes>, grid, kCodeThreads, 0, codes, lengths_.data(),
                             words, stride, 32 * std::uint64_t{tensors});
  }

 private:
  unsigned pieces() const { return static_cast<unsigned>((dim_ + kCodePiece - 1) / kCodePiece); }

  void reserve(bool coded) {
    const bool small = nonzero_.size() < rows_, code_small = coded && codes_.size() < rows_ * dim_;
    if (small || code_small) context_.recorder.submit();  // what was recorded with the old memory
    if (small) {
      nonzero_ = backend::cuda::Memory<unsigned>(rows_);
      tickets_ = backend::cuda::Memory<unsigned>(rows_);
    }
    if (code_small) {
      codes_ = backend::cuda::Memory<std::uint32_t>(rows_ * dim_);
      lengths_ = backend::cuda::Memory<std::uint64_t>(rows_ * pieces());
    }
  }

  QsgdKind kind_;
  Streams streams_;
  backend::cuda::Memory<Tensor> tensor_table_;
  backend::cuda::Memory<double> divisors_;
  backend::cuda::Memory<unsigned> nonzero_, tickets_;
  backend::cuda::Memory<std::uint32_t> codes_;  ///< [row][entry], if codes are wanted
  backend::cuda::Memory<std::uint64_t> lengths_;
};

}  // namespace

std::unique_ptr<Rows> make_qsgd(Context& context, const QsgdKind& kind, const Layout& layout,
                                const Streams& streams) {
  return std::make_unique<QsgdRows>(context, kind, layout, streams);
}

}  // namespace hearsay::compress::cuda
