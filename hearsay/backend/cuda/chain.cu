#include "hearsay/backend/cuda/chain.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "hearsay/backend/cuda/block_sum.cuh"
#include "hearsay/backend/cuda/comes_last.cuh"
#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/backend/cuda/quad.cuh"

namespace hearsay::backend::cuda {

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kQuads = 2;  // groups of four entries that a thread has at once
constexpr unsigned kMostArrays = Chain::kMostArrays, kMostFormulas = Chain::kMostFormulas;

/// y = a; y = x; y = a x + b y; sum += x^2.
enum class Kind : std::uint16_t { kFill, kCopy, kBlend, kSquare };

/// x and y are numbers of arrays.
struct Formula {
  Kind kind;
  std::uint16_t x, y, unused;
};

/// What a launch does to each row, blockIdx.y. Bit k of `loads`: array k is read before the first
/// formula; of `stores`: it is written after the last.
struct Program {
  float* arrays[kMostArrays];
  Formula formulas[kMostFormulas];
  std::size_t dim;
  std::uint32_t count, loads, stores;
  std::uint32_t offset;  ///< entries from a multiple of 16 bytes to where the arrays begin
  std::uint32_t wide;    ///< all arrays begin so; else entries are read one by one
  std::uint32_t sums;    ///< there is a square
  Chain::Scratch scratch;
};
static_assert(
    std::has_unique_object_representations_v<Program>);  // the launch recorder compares bytes

/// A thread's 8 entries of one array, in registers.
struct Entries {
  float of[kQuads][4] = {};

  __device__ float& operator[](unsigned k) { return of[k / 4][k % 4]; }
  __device__ float operator[](unsigned k) const { return of[k / 4][k % 4]; }
};

/// use(entries[number]), by comparisons rather than an address, as registers cannot be indexed. The
/// number is the same in all threads, so branches do not diverge.
template <unsigned K = 0, class Use>
__device__ void with_array(Entries (&entries)[kMostArrays], unsigned number, const Use& use) {
  if (number == K) {
    use(entries[K]);
  } else if constexpr (K + 1 < kMostArrays) {
    with_array<K + 1>(entries, number, use);
  }
}

/// One formula on a thread's entries; products are rounded as Kernels::axpby says: b y first, then
/// an FMA.
__device__ void apply(Kind kind, float2 factors, const Entries& x, Entries& y) {
#pragma unroll
  for (unsigned k = 0; k < 4 * kQuads; ++k) {
    const float blend = __fmaf_rn(factors.x, x[k], __fmul_rn(factors.y, y[k]));
    y[k] = kind == Kind::kFill ? factors.x : kind == Kind::kCopy ? x[k] : blend;
  }
}

/// Applies up to 12 formulas (y = a, y = x, y = a x + b y, sum += x^2) in order to each entry of up
/// to 5 arrays of rows x dim: optimizer steps, error feedback and norms as one launch.
///
/// Grid (pieces of a row, rows), 256 threads; ceil(dim / 2,048) pieces, at most 512, each a
/// contiguous range of groups of 4 entries. Per iteration a thread has 2 such groups of every array
/// in registers (5 x 8 floats): all loads of 16 bytes first, then the formulas, then the stores.
/// The formulas are interpreted: kind and arrays are kernel arguments, the factors, which change
/// from round to round, are in the staging buffer. Shared memory: 12 float2 (96 bytes), and 256 of
/// block_sum. Launch bounds: 3 blocks per multiprocessor.
///
/// (*norms)[row] becomes the sum of squares, if there is one, in double: a thread's entries
/// ascending, block_sum, then the last block of a row, by ticket, adds up its pieces, also in a
/// fixed order.
///
/// Bound by memory bandwidth: every array is read once and written once. axpy reaches 3.4 TB/s; the
/// optimizer, feedback and de-biasing of VGG-11 1.3 GB in 399 us (docs/performance.md).
__global__ void __launch_bounds__(kThreads, 3)
    run_chain(Program program, const float2* factors, double* const* norms) {
  begin_launch();
  __shared__ float2 factor[kMostFormulas];
  if (threadIdx.x < program.count) factor[threadIdx.x] = factors[threadIdx.x];
  __syncthreads();
  const std::size_t begin = program.offset + blockIdx.y * program.dim, end = begin + program.dim;
  const std::size_t first = begin / 4, last = (end + 3) / 4;  // the row's quads
  const std::size_t piece = (last - first + gridDim.x - 1) / gridDim.x;
  const std::size_t stop = min(last, first + (blockIdx.x + 1) * piece);
  double sum = 0;
  for (std::size_t base = first + blockIdx.x * piece; base < stop; base += kQuads * kThreads) {
    Quad quads[kQuads];
    Entries values[kMostArrays];
#pragma unroll
    for (unsigned q = 0; q < kQuads; ++q) {
      const std::size_t number = base + q * kThreads + threadIdx.x;
      quads[q] = Quad(number, begin, min(end, 4 * stop), program.offset);
    }
#pragma unroll
    for (unsigned j = 0; j < kMostArrays; ++j) {
      if ((program.loads >> j & 1) == 0) continue;
#pragma unroll
      for (unsigned q = 0; q < kQuads; ++q) {
        quads[q].load(program.arrays[j], program.wide, values[j].of[q]);
      }
    }
    // The formulas in order, on registers; the same for all threads, so without divergence.
    for (unsigned f = 0; f < program.count; ++f) {
      const Formula formula = program.formulas[f];
      Entries x;
      with_array(values, formula.x, [&](const Entries& entries) { x = entries; });
      if (formula.kind == Kind::kSquare) {
#pragma unroll
        for (unsigned k = 0; k < 4 * kQuads; ++k) {
          const double entry = static_cast<double>(x[k]);
          if (quads[k / 4].present >> k % 4 & 1) sum += entry * entry;
        }
      } else {
        with_array(values, formula.y, [&](Entries& y) { apply(formula.kind, factor[f], x, y); });
      }
    }
#pragma unroll
    for (unsigned j = 0; j < kMostArrays; ++j) {
      if ((program.stores >> j & 1) == 0) continue;
#pragma unroll
      for (unsigned q = 0; q < kQuads; ++q) {
        quads[q].store(values[j].of[q], program.wide, program.arrays[j]);
      }
    }
  }
  // The sum of squares: this piece's, then by the last block of the row that of all pieces.
  if (!program.sums) return;
  sum = block_sum(sum);
  double* partial = program.scratch.partial + std::size_t{blockIdx.y} * gridDim.x;
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  if (!comes_last(program.scratch.tickets + blockIdx.y, gridDim.x)) return;
  sum = 0;
  for (unsigned k = threadIdx.x; k < gridDim.x; k += kThreads) sum += __ldcg(partial + k);
  sum = block_sum(sum);
  if (threadIdx.x == 0) (*norms)[blockIdx.y] = sum;
}

}  // namespace

/// A formula on blocks of `rows` x `dim`. It reads y if it is a blend, and x unless it is a fill,
/// where x is y; of a square y is x.
struct Chain::Request {
  Kind kind;
  const float* x;
  const float* y;
  std::size_t rows, dim;
  float2 factors;

  bool reads_x() const { return kind != Kind::kFill; }
  bool reads_y() const { return kind == Kind::kBlend; }
  bool writes() const { return kind != Kind::kSquare; }
};

struct Chain::Pending {
  Program program{};
  float2 factors[kMostFormulas] = {};
  std::size_t rows = 0;
  std::size_t arrays = 0;
  std::size_t summed = 0;  ///< the array of the square
  double* norms = nullptr;

  std::size_t find(const float* array) const {
    return static_cast<std::size_t>(std::find(program.arrays, program.arrays + arrays, array) -
                                    program.arrays);
  }

  bool overlaps_in_part(const float* array) const {
    const std::size_t size = rows * program.dim;
    return std::any_of(program.arrays, program.arrays + arrays, [&](const float* other) {
      return other != array && array < other + size && other < array + size;
    });
  }

  bool takes(const Request& request) const {
    if (program.count == 0) return true;
    const std::size_t fresh = (find(request.x) == arrays ? 1 : 0) +
                              (request.y != request.x && find(request.y) == arrays ? 1 : 0);
    return request.rows == rows && request.dim == program.dim && program.count < kMostFormulas &&
           arrays + fresh <= kMostArrays && !overlaps_in_part(request.x) &&
           !overlaps_in_part(request.y) && !(request.kind == Kind::kSquare && program.sums);
  }

  std::uint16_t number_of(const float* array, bool read) {
    const std::size_t number = find(array);
    if (number == arrays) {
      program.arrays[arrays++] = const_cast<float*>(array);  // written only if `stores` says so
      if (read) program.loads |= 1u << number;
    }
    return static_cast<std::uint16_t>(number);
  }

  void add(const Request& request) {
    rows = request.rows;
    program.dim = request.dim;
    const std::uint16_t x = number_of(request.x, request.reads_x());
    const std::uint16_t y = number_of(request.y, request.reads_y());
    if (request.writes()) program.stores |= 1u << y;
    factors[program.count] = request.factors;
    program.formulas[program.count++] = {request.kind, x, y, 0};
  }
};

Chain::Chain(LaunchRecorder& recorder)
    : recorder_(recorder), pending_(std::make_unique<Pending>()) {}
Chain::~Chain() = default;

std::size_t Chain::pieces(std::size_t dim) {
  constexpr std::size_t kLeast = 4 * kQuads * kThreads, kMostPieces = 512;
  return std::clamp<std::size_t>((dim + kLeast - 1) / kLeast, 1, kMostPieces);
}

void Chain::add(const Request& request) {
  if (!pending_->takes(request)) recorder_.flush();
  pending_->add(request);
  recorder_.postpone([this] { launch(); });
}

void Chain::launch() {
  const Pending now = *pending_;
  *pending_ = {};  // whatever happens below
  Program program = now.program;
  program.offset = offset_of(program.arrays[now.summed]);
  program.wide = std::all_of(program.arrays, program.arrays + now.arrays, [&](const float* array) {
    return offset_of(array) == program.offset;
  });
  const dim3 grid(static_cast<unsigned>(pieces(program.dim)), static_cast<unsigned>(now.rows));
  const std::span<const float2> factors(now.factors, program.count);
  recorder_.launch(run_chain, grid, kThreads, 0, program, recorder_.put(factors),
                   recorder_.put(now.norms));
}

void Chain::fill(float value, Block y) {
  add({Kind::kFill, y.data, y.data, y.rows, y.dim, {value, 0}});
}

void Chain::copy(ConstBlock x, Block y) {
  add({Kind::kCopy, x.data, y.data, y.rows, y.dim, {0, 0}});
}

void Chain::axpby(float a, ConstBlock x, float b, Block y) {
  add({Kind::kBlend, x.data, y.data, y.rows, y.dim, {a, b}});
}

void Chain::discard(Block y) {
  if (y.rows != pending_->rows || y.dim != pending_->program.dim) return;
  const std::size_t number = pending_->find(y.data);
  if (number < pending_->arrays) pending_->program.stores &= ~(1u << number);
}

void Chain::squared_norms(ConstBlock x, const Scratch& scratch, double* out) {
  add({Kind::kSquare, x.data, x.data, x.rows, x.dim, {0, 0}});
  pending_->program.scratch = scratch;
  pending_->program.sums = 1;
  pending_->summed = pending_->find(x.data);
  pending_->norms = out;
}

}  // namespace hearsay::backend::cuda
