#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "hearsay/backend/precision.h"
#include "hearsay/core/element_type.h"

namespace hearsay {
class ThreadPool;
}

namespace hearsay::backend {

class MassMeter;

/// m rows of d elements, one row per peer, contiguous, on the device of the Kernels that allocated
/// them. Only kernels access the elements (on the CPU, tests and closed-form objectives may too).
template <class Element>
struct BasicBlock {
  Element* data = nullptr;
  std::size_t rows = 0;
  std::size_t dim = 0;

  std::span<Element> row(std::size_t i) const { return {data + i * dim, dim}; }
  std::size_t size() const { return rows * dim; }
  operator BasicBlock<const Element>() const { return {data, rows, dim}; }
};
using Block = BasicBlock<float>;
using ConstBlock = BasicBlock<const float>;

/// Owned device memory for a block of elements of one type. Movable, not copyable.
///
/// Models, gradients and algorithm state are f32: such an array converts to a Block.
class Array {
 public:
  using Memory = std::unique_ptr<void, std::function<void(void*)>>;

  Array() = default;
  Array(Memory memory, std::size_t rows, std::size_t dim, ElementType type)
      : memory_(std::move(memory)), rows_(rows), dim_(dim), type_(type) {}

  ElementType type() const { return type_; }
  bool empty() const { return memory_ == nullptr; }

  /// The array as a block of T, which must be its type.
  template <class T>
  BasicBlock<T> as() const {
    assert(type_ == kElementTypeOf<T>);
    return {static_cast<T*>(memory_.get()), rows_, dim_};
  }

  operator Block() const { return as<float>(); }
  operator ConstBlock() const { return as<float>(); }
  Block block() const { return as<float>(); }
  std::span<float> row(std::size_t i) const { return block().row(i); }

 private:
  Memory memory_;
  std::size_t rows_ = 0, dim_ = 0;
  ElementType type_ = ElementType::kF32;
};

/// A vector of d floats as a receiver sees it: dense, or its non-zeros.
struct VectorView {
  const float* dense = nullptr;            ///< d floats, or null: then sparse
  std::span<const std::uint32_t> index{};  ///< ascending
  std::span<const float> value{};          ///< value[k] is the entry at index[k]
};

/// The mixing weights of the m receivers of a bank, in CSR form: row i has the edges begin[i] ..
/// begin[i+1]-1, each with the index of its source vector (ascending by sender) and its weight a;
/// `debit[i]` is the sum of the weights of row i's own delivered out-edges.
struct Mixing {
  std::span<const std::uint32_t> begin;  // m + 1
  std::span<const std::uint32_t> source;
  std::span<const float> weight;
  std::span<const double> debit;  // m
};

/// The hot loops over the flat arrays of a bank of peers, each call for all m rows.
///
/// One implementation per device. All give the same results up to rounding, and each is
/// deterministic: the order of summation depends on the device, not on the number of threads.
/// Blocks of one call have the same shape and do not overlap, unless stated otherwise.
///
/// Calls execute in order, but asynchronously to the host: arguments passed by value or by span of
/// host memory are read before a call returns, and what it computes for the host goes to a buffer
/// from `results`, where it is valid after `synchronize`. So the next round can begin before the
/// results of the last are known. `download`, `sum_rows` and `magnitude` block until theirs are.
class Kernels {
 public:
  virtual ~Kernels() = default;

  /// "cpu", "cuda"; and the instruction set or architecture in use ("AVX3_DL", "sm_90").
  virtual std::string device() const = 0;
  virtual std::string isa() const = 0;

  /// How networks on this device compute their products.
  virtual Precision precision() const { return Precision::kFp32; }

  /// Whether the host may access the elements of blocks.
  virtual bool on_host() const { return true; }

  /// An array of zeros.
  Array allocate(std::size_t rows, std::size_t dim, ElementType type = ElementType::kF32) {
    return {allocate_bytes(rows * dim * size_of(type)), rows, dim, type};
  }

  /// Host memory for `floats` floats that `download` and `upload` copy from and to at full speed:
  /// page-locked where the device is a GPU. Allocating it is slow, so allocate once and reuse it.
  /// By default ordinary memory, which is right for any device.
  virtual Array allocate_host(std::size_t floats) {
    const auto release = [](void* memory) { delete[] static_cast<float*>(memory); };
    return {{new float[floats]{}, release}, 1, floats, ElementType::kF32};
  }

  /// A result buffer for `count` doubles or 64-bit counts that later calls compute for the host.
  /// Results are valid after the next `synchronize`, until the first call of `results` after that.
  /// The buffer is host memory, which the host may also write to.
  template <class Result>
  std::span<Result> results(std::size_t count) {
    static_assert(sizeof(Result) == kResultBytes);
    return {static_cast<Result*>(result_buffer(count)), count};
  }

  /// Start executing the calls made since the last submission. On a GPU this is one launch of a
  /// captured graph if the same calls were made before, even with other scalars.
  virtual void submit() {}

  /// Issue the following calls to that stream: they start after all earlier calls on stream 0
  /// and may overlap with other streams, so calls on different side streams must not access the
  /// same blocks. `use_stream(0)` joins all streams, as do `submit` and `synchronize`. Ignored by
  /// devices without concurrent streams.
  virtual void use_stream(std::size_t /*stream*/) {}

  /// `submit`, and wait until all calls have completed. Throws RunFailed if the device failed.
  virtual void synchronize() = 0;

  /// How many rounds the host may run ahead before it should `synchronize`: 1 if it never does.
  virtual std::size_t lag() const { return 1; }

  /// Copies between a row, or its beginning, and host memory; of floats or of indices.
  void download(ConstBlock from, std::size_t row, std::span<float> to) {
    download_row(from, row, to);
  }
  void download(BasicBlock<const std::uint32_t> from, std::size_t row,
                std::span<std::uint32_t> to) {
    download_row(from, row, to);
  }
  void upload(std::span<const float> from, Block to, std::size_t row) { upload_row(from, to, row); }
  void upload(std::span<const std::uint32_t> from, BasicBlock<std::uint32_t> to, std::size_t row) {
    upload_row(from, to, row);
  }

  virtual void fill(float value, Block y) = 0;                      ///< y = value
  virtual void copy(ConstBlock x, Block y) = 0;                     ///< y = x
  virtual void axpy(float a, ConstBlock x, Block y) = 0;            ///< y += a x
  virtual void axpby(float a, ConstBlock x, float b, Block y) = 0;  ///< y = a x + b y

  /// Hint that the contents of y are not read before y is written again: they become undefined, and
  /// a pending store to y may be skipped.
  virtual void discard(Block /*y*/) {}

  virtual void clip_rows(double most, Block y) = 0;  ///< y_i *= min(1, most / |y_i|); NaN stays
  virtual void divide_rows(ConstBlock x, std::span<const double> u,
                           Block z) = 0;  ///< z_i = x_i / u_i

  /// Adam (Kingma, Ba 2015): m = b1 m + (1-b1) g, v = b2 v + (1-b2) g^2,
  /// g = (m / c1) / (sqrt(v / c2) + epsilon), with the bias corrections c1, c2 given.
  struct AdamRates {
    float beta1, beta2, epsilon, c1, c2;
  };
  virtual void adam(const AdamRates& rates, Block m, Block v, Block g) = 0;

  /// y_i += a q_i, for the m vectors q.
  virtual void accumulate(float a, std::span<const VectorView> q, Block y) = 0;

  /// x_i += sum over i's edges of a_e q_source(e) - debit_i q_i.
  ///
  /// q[i] for i < m is row i's own vector; the rest are of remote peers. Dense vectors may be
  /// rows of x itself: all are read before they are overwritten. All of q are dense, or all sparse.
  ///
  /// Dense vectors are summed as differences, c_i q_i + sum of a_e (q_source(e) - q_i) with
  /// c_i = (sum of a_e) - debit_i, and x_i is rounded once: peers in consensus stay bitwise
  /// unchanged, and rounding is relative to their distance. If terms were added to x_i one by
  /// one, methods that integrate their own steps (exact-diffusion, extra) would drift by 1e-6 per
  /// round.
  void mix(const Mixing& mixing, std::span<const VectorView> q, Block x);

  /// x + low = keep (x + low) + sum over i's edges of a_e q_source(e) - debit_i q_i, where x + low
  /// is one number in two floats (compensated summation): the rounding error of x is kept in low,
  /// |low| <= ulp(x) / 2, and enters the next call. If W is symmetric, both ends of an edge add the
  /// same a (q_j - q_i), so the sum over peers of x + low is off by 1e-14 of x after any number of
  /// calls, whereas `mix` loses 1e-8 per call: for methods that integrate x.
  ///
  /// All of q are dense, and none is a row of x or low. Costs one more read and write than `mix`,
  /// of low.
  void mix_compensated(const Mixing& mixing, std::span<const VectorView> q, float keep, Block x,
                       Block low);

  /// From now on `meter` measures every mixing; null: none.
  void set_meter(MassMeter* meter) { meter_ = meter; }

  /// Every row becomes the mean of the rows (summed in double, rows ascending).
  virtual void mean_rows(Block x) = 0;

  /// out_k = sum_i x_i[begin + k], in double, rows ascending.
  virtual void sum_rows(ConstBlock x, std::size_t begin, std::span<double> out) = 0;

  /// For MassMeter, both wait for the device. Keeps the column sums of keep (x + low), as
  /// `sum_rows` would compute them; low may be empty.
  virtual void keep_mass(ConstBlock x, ConstBlock low, double keep);
  /// block_changes of what was kept and the column sums of x + low.
  virtual std::vector<double> mass_change(ConstBlock x, ConstBlock low);

  /// The sum of |q[j][k]| over vectors j and entries k, for vectors of `dim` floats.
  virtual double magnitude(std::span<const VectorView> q, std::size_t dim) = 0;

  /// out_i = |x_i|^2, in double. Not finite exactly if an entry of the row is not (or the sum
  /// overflows). `out` is a buffer from `results`.
  virtual void squared_norms(ConstBlock x, std::span<double> out) = 0;

 protected:
  /// Zeroed device memory, freed by its destructor.
  virtual Array::Memory allocate_bytes(std::size_t bytes) = 0;
  virtual void copy_to_host(const void* from, void* to, std::size_t bytes) = 0;
  virtual void copy_to_device(const void* from, void* to, std::size_t bytes) = 0;

  static constexpr std::size_t kResultBytes = 8;
  virtual void* result_buffer(std::size_t count) = 0;
  virtual void mix_rows(const Mixing& mixing, std::span<const VectorView> q, Block x) = 0;
  virtual void mix_rows_compensated(const Mixing& mixing, std::span<const VectorView> q, float keep,
                                    Block x, Block low) = 0;

 private:
  /// Of as many columns as `sums` has, from `begin` on.
  void mass_of(ConstBlock x, ConstBlock low, std::size_t begin, std::span<double> sums);

  template <class T>
  void download_row(BasicBlock<const T> from, std::size_t row, std::span<T> to) {
    assert(to.size() <= from.dim);
    copy_to_host(from.row(row).data(), to.data(), to.size_bytes());
  }
  template <class T>
  void upload_row(std::span<const T> from, BasicBlock<T> to, std::size_t row) {
    assert(from.size() <= to.dim);
    copy_to_device(from.data(), to.row(row).data(), from.size_bytes());
  }

  MassMeter* meter_ = nullptr;
  std::vector<double> kept_mass_;
};

/// Columns whose changes of mass are added up in order: sums that are distributed over processes
/// or computed on a device have the same bits.
inline constexpr std::size_t kMassBlock = 4096;

/// For each block of columns: the sum of |after - before|, columns ascending.
std::vector<double> block_changes(std::span<const double> before, std::span<const double> after);

/// The reference implementation, always built. Uses `pool` and its widest vector instructions.
/// `precision`: kFp32 or kInt8.
std::unique_ptr<Kernels> make_cpu_kernels(ThreadPool& pool, Precision precision = Precision::kFp32);

}  // namespace hearsay::backend
