#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/compress/cuda/sparse_rows.h"

#include <algorithm>

#include "hearsay/compress/cuda/bits.cuh"
#include "hearsay/compress/cuda/rice.cuh"
#include "hearsay/compress/cuda/round.cuh"

namespace hearsay::compress::cuda {

namespace {

constexpr unsigned kThreads = 256;

unsigned blocks_for(std::size_t items, std::size_t a_block) {
  return static_cast<unsigned>((items + a_block - 1) / a_block);
}

/// The gaps of all rows, with the parameters found.
struct RiceCodes {
  const std::uint32_t* index;
  std::size_t size;
  const RicePlan* plans;

  __device__ BitCode operator()(unsigned row, std::size_t i) const {
    const std::uint32_t r = plans[row].parameter, skipped = gap(index + row * size, i);
    const std::uint32_t tail = (skipped & ((1u << r) - 1)) << 1 | 1;
    return {skipped >> r, tail, 1 + r};
  }
};

/// The byte of the Rice parameter at the front of each row's code, found by plan_rice. Grid: one
/// block of one thread per row, which sets the low bits of the row's first word. Bound by launch
/// latency; only where messages are really encoded; not measured.
__global__ void write_parameters(const RicePlan* plans, std::uint32_t* words, std::size_t stride) {
  backend::cuda::begin_launch();
  put_bits(words + blockIdx.x * stride, 0, plans[blockIdx.x].parameter);
}

/// The values of all rows behind their indices, as value_code.h packs them.
struct Values {
  const float* value;
  const float* scales;            ///< q8: [row][unit]
  const std::uint32_t* unit_end;  ///< q8: entries of a row up to each unit's last
  const RicePlan* plans;          ///< null: no indices are sent
  std::size_t keep;
  std::uint32_t units;
  ValueFormat format;

  __device__ std::uint64_t first_bit(unsigned row) const {
    return plans == nullptr ? 0 : 8 * (1 + (plans[row].bits + 7) / 8);
  }
};

/// Packs the values of a row at values.first_bit: for q8 the units' scales first. Grid (ceil(keep /
/// 256), rows), 256 threads, one value per thread, 32, 16 or 8 bits each by put_bits, since rows
/// begin at any byte. For q8 a thread searches its unit linearly and recomputes the level. No
/// shared memory. Only where messages are really encoded; not measured.
__global__ void write_values(Values values, std::uint32_t* words, std::size_t stride) {
  backend::cuda::begin_launch();
  const unsigned row = blockIdx.y;
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  std::uint32_t* out = words + row * stride;
  std::uint64_t first = values.first_bit(row);
  if (values.format == ValueFormat::kQ8) {
    if (i < values.units) {
      put_bits(out, first + 32 * i,
               __float_as_uint(values.scales[row * std::size_t{values.units} + i]));
    }
    first += 32 * std::uint64_t{values.units};
  }
  if (i >= values.keep) return;
  const float x = values.value[row * values.keep + i];
  switch (values.format) {
    case ValueFormat::kF32:
      return put_bits(out, first + 32 * i, __float_as_uint(x));
    case ValueFormat::kF16:
      return put_bits(out, first + 16 * i, to_half(x));
    case ValueFormat::kBf16:
      return put_bits(out, first + 16 * i, to_bfloat(x));
    case ValueFormat::kQ8: {
      // Decoding moved the value by less than 2^-22 of the scale: its level is recomputed exactly.
      std::size_t unit = 0;
      while (i >= values.unit_end[unit]) ++unit;
      const int level = q8_level(x, values.scales[row * std::size_t{values.units} + unit]);
      return put_bits(out, first + 8 * i, static_cast<std::uint8_t>(level));
    }
  }
}

}  // namespace

SparseRows::SparseRows(Context& context, std::vector<Unit> units, std::size_t dim,
                       ValueFormat format)
    : context_(context),
      units_(std::move(units)),
      dim_(dim),
      format_(format),
      keep_(kept(units_)),
      value_bytes_(value_bytes(format, units_)) {
  std::vector<std::uint32_t> ends;
  std::uint32_t end = 0;
  for (const Unit& unit : units_) {
    end += static_cast<std::uint32_t>(unit.keep);
    ends.push_back(end);
  }
  unit_end_ = backend::cuda::Memory<std::uint32_t>(std::span<const std::uint32_t>(ends));
}

void SparseRows::reserve(std::size_t rows) {
  if (rows <= capacity_) return;
  context_.recorder.submit();  // what was recorded with the old memory
  capacity_ = rows;
  index_ = backend::cuda::Memory<std::uint32_t>(rows * keep_);
  value_ = backend::cuda::Memory<float>(rows * keep_);
  scales_ = backend::cuda::Memory<float>(rows * units_.size());
  sums_ = backend::cuda::Memory<unsigned>(rows * kParameters);
  tickets_ = backend::cuda::Memory<unsigned>(rows);
  plans_ = backend::cuda::Memory<RicePlan>(rows);
  lengths_ = backend::cuda::Memory<std::uint64_t>(rows * blocks_for(keep_, kCodePiece));
}

void SparseRows::compress(const float* v, std::size_t rows, std::uint32_t round,
                          std::span<std::uint64_t> bytes, std::vector<backend::VectorView>& q,
                          bool) {
  reserve(rows);
  rows_ = rows;
  q.clear();
  for (std::size_t i = 0; i < rows; ++i) {
    q.push_back({nullptr, {index_.data() + i * keep_, keep_}, {value_.data() + i * keep_, keep_}});
  }
  if (rows > 0 && keep_ > 0) select(v, rows, round);
  if (!sends_indices()) {
    std::ranges::fill(bytes, value_bytes_);
  } else if (rows > 0) {
    const dim3 grid(blocks_for(keep_, kPlanPiece), static_cast<unsigned>(rows));
    context_.recorder.launch(plan_rice, grid, kThreads, 0, index_.data(), keep_, sums_.data(),
                             tickets_.data(), value_bytes_, plans_.data(),
                             context_.recorder.put(bytes.data()));
  }
}

std::size_t SparseRows::most_bytes() const {
  // With parameter 31 an index takes 32 bits, and there is at most one further zero in all.
  return value_bytes_ + (sends_indices() ? 1 + 4 * keep_ + 4 : 0);
}

void SparseRows::encode(std::uint32_t* words, std::size_t stride) {
  if (rows_ == 0 || keep_ == 0) return;
  const auto rows = static_cast<unsigned>(rows_);
  if (sends_indices()) {
    const RiceCodes codes{index_.data(), keep_, plans_.data()};
    const dim3 grid(blocks_for(keep_, kCodePiece), rows);
    context_.recorder.launch(write_parameters, rows, 1, 0, plans_.data(), words, stride);
    context_.recorder.launch(measure_codes<RiceCodes>, grid, kCodeThreads, 0, codes,
                             lengths_.data());
    context_.recorder.launch(write_codes<RiceCodes>, grid, kCodeThreads, 0, codes, lengths_.data(),
                             words, stride, std::uint64_t{8});
  }
  const Values values{.value = value_.data(),
                      .scales = scales_.data(),
                      .unit_end = unit_end_.data(),
                      .plans = sends_indices() ? plans_.data() : nullptr,
                      .keep = keep_,
                      .units = static_cast<std::uint32_t>(units_.size()),
                      .format = format_};
  context_.recorder.launch(write_values, dim3(blocks_for(keep_, kThreads), rows), kThreads, 0,
                           values, words, stride);
}

}  // namespace hearsay::compress::cuda
