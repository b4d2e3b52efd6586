#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include "hearsay/backend/cuda/chain.h"
#include "hearsay/backend/cuda/context.h"
#include "hearsay/backend/cuda/devices.h"
#include "hearsay/backend/cuda/elementwise.cuh"
#include "hearsay/backend/cuda/memory.h"
#include "hearsay/backend/cuda/mix.cuh"
#include "hearsay/backend/cuda/reduce.cuh"
#include "hearsay/backend/cuda/result_buffers.h"
#include "hearsay/core/error.h"

namespace hearsay::backend::cuda {

namespace {

/// Shared memory of a block of mix_dense, from which its columns follow: several blocks fit on a
/// multiprocessor; beyond 8,192 rows a block has one column and more memory.
constexpr std::size_t kMixShared = 32 << 10;

unsigned mix_columns(std::size_t rows) {
  return std::clamp<unsigned>(std::bit_floor(kMixShared / sizeof(float) / rows), 1, 128);
}

/// Whether the vectors are dense, and neighbours as the rows of a block are.
bool is_block(std::span<const VectorView> q, std::size_t dim) {
  for (std::size_t i = 0; i < q.size(); ++i) {
    if (q[i].dense == nullptr || q[i].dense != q[0].dense + i * dim) return false;
  }
  return true;
}

/// c as the sum of two floats.
Share share(Source source, double c) {
  const float high = static_cast<float>(c);
  return {source, {high, static_cast<float>(c - static_cast<double>(high))}};
}

class CudaKernels final : public Kernels {
 public:
  CudaKernels(std::string isa, Precision precision, const cudaDeviceProp& properties,
              const cudaFuncAttributes& code)
      : isa_(std::move(isa)), context_(std::make_shared<Context>()) {
    context_->precision = precision;
    context_->processors = properties.multiProcessorCount;
    context_->shared_bytes = static_cast<int>(properties.sharedMemPerBlockOptin);
    constexpr int kSince = 90;  // of the card, and of the code that this build has for it
    context_->has_tma = properties.major * 10 >= kSince && code.ptxVersion >= kSince;
  }

  ~CudaKernels() override {
    // Launches recorded or running may use the scratch and the result buffers that are freed now.
    try {
      recorder().synchronize();
    } catch (const RunFailed&) {  // every later call on the device says so too
    }
  }
  CudaKernels(const CudaKernels&) = delete;
  CudaKernels& operator=(const CudaKernels&) = delete;

  Context& context() { return *context_; }

  std::string device() const override { return "cuda"; }
  std::string isa() const override { return isa_; }
  Precision precision() const override { return context_->precision; }
  bool on_host() const override { return false; }
  std::size_t lag() const override { return 64; }

  Array allocate_host(std::size_t floats) override {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, std::max<std::size_t>(floats, 1) * sizeof(float),
                        cudaHostAllocDefault),
          "allocating pinned memory");
    return Array({memory, [](void* data) { cudaFreeHost(data); }}, 1, floats, ElementType::kF32);
  }

  void submit() override { recorder().submit(); }

  /// There are fewer streams than there may be runs: those that share one are serialized.
  void use_stream(std::size_t stream) override {
    if (stream == 0) {
      recorder().join_all();
      return recorder().use(0);
    }
    const int side = 1 + static_cast<int>((stream - 1) % (LaunchRecorder::kStreams - 1));
    if (side == recorder().current_stream()) return;
    recorder().fork(side);
    recorder().use(side);
  }

  void synchronize() override {
    recorder().synchronize();
    result_buffers_.recycle();
  }

  void fill(float value, Block y) override {
    if (y.size() > 0) chain_.fill(value, y);
  }
  void copy(ConstBlock x, Block y) override {
    if (y.size() > 0) chain_.copy(x, y);
  }
  void axpy(float a, ConstBlock x, Block y) override { axpby(a, x, 1, y); }
  void axpby(float a, ConstBlock x, float b, Block y) override {
    if (y.size() > 0) chain_.axpby(a, x, b, y);
  }

  void discard(Block y) override { chain_.discard(y); }

  void clip_rows(double most, Block y) override {
    if (y.size() == 0) return;
    double* squares = sums_of(y.rows);
    sum_squares(y, squares);
    recorder().launch(shorten_rows, columns(y), kThreads, 0, recorder().put(most), squares, y.data,
                      y.dim);
  }

  void divide_rows(ConstBlock x, std::span<const double> u, Block z) override {
    if (z.size() == 0) return;
    const std::vector<float> divisors(u.begin(), u.end());
    recorder().launch(cuda::divide_rows, divide_grid(z.rows, z.dim), kThreads, 0,
                      recorder().put(std::span<const float>(divisors)), x.data, z.data, z.dim,
                      offset_of(z.data), offset_of(x.data) == offset_of(z.data));
  }

  void adam(const AdamRates& r, Block m, Block v, Block g) override {
    if (g.size() == 0) return;
    const float rates[] = {r.beta1, r.beta2, r.epsilon, r.c1, r.c2};
    recorder().launch(cuda::adam, blocks_for(g.size(), kThreads), kThreads, 0,
                      recorder().put(std::span<const float>(rates)), m.data, v.data, g.data,
                      g.size());
  }

  void accumulate(float a, std::span<const VectorView> q, Block y) override {
    if (y.size() == 0) return;
    if (is_block(q.first(y.rows), y.dim)) return axpy(a, {q[0].dense, y.rows, y.dim}, y);
    std::size_t most = 1;
    for (const VectorView& v : q) most = std::max(most, v.dense ? y.dim : v.index.size());
    const std::vector<View> views = device_views(q.first(y.rows));
    // Rounded up, so that counts that differ a little from round to round give the same grid.
    const dim3 grid(blocks_for(std::bit_ceil(most), kThreads), static_cast<unsigned>(y.rows));
    recorder().launch(accumulate_rows, grid, kThreads, 0, recorder().put(a),
                      recorder().put_list(std::span(views)), y.data, y.dim);
  }

  void mean_rows(Block x) override {
    if (x.size() == 0) return;
    recorder().launch(mean_columns, blocks_for(x.dim, kThreads), kThreads, 0, x.data, x.rows,
                      x.dim);
  }

  void sum_rows(ConstBlock x, std::size_t begin, std::span<double> out) override {
    if (out.empty()) return;
    double* sums = sums_of(out.size());
    recorder().launch(sum_columns, blocks_for(out.size(), kThreads), kThreads, 0, x.data + begin,
                      x.rows, x.dim, out.size(), sums);
    copy_to_host(sums, out.data(), out.size_bytes());
  }

  void keep_mass(ConstBlock x, ConstBlock low, double keep) override {
    if (x.dim == 0) return;
    grow(kept_mass_, x.dim);
    recorder().launch(keep_columns, blocks_for(x.dim, kThreads), kThreads, 0, x.data, low.data,
                      recorder().put(keep), x.rows, x.dim, kept_mass_.data());
  }

  std::vector<double> mass_change(ConstBlock x, ConstBlock low) override {
    if (x.dim == 0) return {};
    const unsigned blocks = blocks_for(x.dim, kMassBlock);
    std::vector<double> changes(blocks);
    double* sums = sums_of(blocks);
    recorder().launch(sum_changes, blocks, 32, 0, x.data, low.data, kept_mass_.data(), x.rows,
                      x.dim, sums);
    copy_to_host(sums, changes.data(), changes.size() * sizeof(double));
    return changes;
  }

  double magnitude(std::span<const VectorView> q, std::size_t dim) override {
    if (q.empty()) return 0;
    double* sums = sums_of(q.size());
    reserve_scratch(q.size(), pieces_of(dim));
    const std::vector<View> views = device_views(q);
    const dim3 grid(pieces_of(dim), static_cast<unsigned>(q.size()));
    recorder().launch(sum_magnitudes, grid, kSumThreads, 0, recorder().put_list(std::span(views)),
                      dim, scratch().partial.data(), scratch().tickets.data(), sums);
    std::vector<double> each(q.size());
    copy_to_host(sums, each.data(), each.size() * sizeof(double));
    return std::accumulate(each.begin(), each.end(), 0.0);
  }

  void squared_norms(ConstBlock x, std::span<double> out) override { sum_squares(x, out.data()); }

 protected:
  Array::Memory allocate_bytes(std::size_t bytes) override {
    Memory<std::byte> memory(std::max<std::size_t>(bytes, 1));
    // The launch recorder may hold launches that use the block, even after these kernels are gone:
    // so the context lives as long as its blocks, which are freed only after what was recorded.
    return {memory.release(), [context = context_](void* data) {
              try {
                context->recorder.submit();
              } catch (const RunFailed&) {  // every later call on the device says so too
              }
              cudaFree(data);
            }};
  }

  /// After all that was recorded.
  void copy_to_host(const void* from, void* to, std::size_t bytes) override {
    recorder().submit();
    if (bytes == 0) return;
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, recorder().stream()),
          "copying from the device");
    check(cudaStreamSynchronize(recorder().stream()), "running on the device");
  }

  void copy_to_device(const void* from, void* to, std::size_t bytes) override {
    recorder().submit();
    if (bytes == 0) return;
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, recorder().stream()),
          "copying to the device");
    check(cudaStreamSynchronize(recorder().stream()), "copying to the device");
  }

  void* result_buffer(std::size_t count) override { return result_buffers_.take(count); }

  void mix_rows(const Mixing& mixing, std::span<const VectorView> q, Block x) override {
    if (q.empty() || x.size() == 0) return;
    if (q.front().dense == nullptr) {
      mix_sparse_rows(mixing, q, x);
    } else {
      mix_dense_rows(mixing, q, x);
    }
  }

  void mix_rows_compensated(const Mixing& mixing, std::span<const VectorView> q, float keep,
                            Block x, Block low) override {
    if (q.empty() || x.size() == 0) return;
    const DenseMixing m = dense_mixing(mixing, q, x);
    const unsigned width = mix_columns(x.rows);
    recorder().launch(mix_dense_compensated, blocks_for(x.dim, width),
                      dim3(width, mix_height(x.rows, width)), 0,
                      recorder().put(std::span<const Share>(m.own)), recorder().put(mixing.begin),
                      recorder().put_list(std::span<const Share>(m.edges)), recorder().put(keep),
                      x.data, low.data, x.rows, x.dim);
  }

 private:
  LaunchRecorder& recorder() { return context_->recorder; }

  static dim3 columns(ConstBlock x) {
    return {blocks_for(x.dim, kThreads), static_cast<unsigned>(x.rows), 1};
  }

  void reserve_scratch(std::size_t rows, std::size_t pieces) {
    grow(scratch().partial, rows * pieces);
    grow(scratch().tickets, rows);
  }

  /// `out` is device memory or a result buffer.
  void sum_squares(ConstBlock x, double* out) {
    if (x.rows == 0) return;
    reserve_scratch(x.rows, Chain::pieces(x.dim));
    chain_.squared_norms(x, {scratch().partial.data(), scratch().tickets.data()}, out);
  }

  /// Device memory for `count` sums, reused by the next call that needs some.
  double* sums_of(std::size_t count) {
    grow(scratch().sums, count);
    return scratch().sums.data();
  }

  /// Scratch memory of a stream, which its calls use one after the other.
  struct Scratch {
    Memory<double> partial, sums;
    Memory<unsigned> tickets;
  };
  Scratch& scratch() { return scratch_[recorder().current_stream()]; }

  /// Submits what was recorded with the old memory, so nothing may have been put for later. The
  /// current stream stays the same.
  template <class T>
  void grow(Memory<T>& memory, std::size_t size) {
    if (memory.size() >= size) return;
    const int stream = recorder().current_stream();
    recorder().synchronize();
    memory = Memory<T>(std::bit_ceil(size));
    use_stream(static_cast<std::size_t>(stream));
  }

  /// Own weights and edges of each row, for the kernels that mix dense vectors.
  struct DenseMixing {
    bool in_place = false;  ///< some sources are rows of x
    std::vector<Share> own, edges;
  };
  static DenseMixing dense_mixing(const Mixing& mixing, std::span<const VectorView> q, Block x) {
    DenseMixing result;
    std::vector<Source> sources;
    sources.reserve(q.size());
    for (const VectorView& v : q) {
      const bool of_x = v.dense >= x.data && v.dense < x.data + x.size();
      sources.push_back(
          {v.dense, of_x ? (v.dense - x.data) / static_cast<std::int64_t>(x.dim) : -1});
      result.in_place = result.in_place || of_x;
    }
    for (std::size_t i = 0; i < x.rows; ++i) {
      double surplus = -mixing.debit[i];
      for (std::uint32_t e = mixing.begin[i]; e < mixing.begin[i + 1]; ++e) {
        surplus += static_cast<double>(mixing.weight[e]);
        result.edges.push_back({sources[mixing.source[e]], {mixing.weight[e], 0}});
      }
      result.own.push_back(share(sources[i], surplus));
    }
    return result;
  }

  static unsigned mix_height(std::size_t rows, unsigned width) {
    return static_cast<unsigned>(
        std::clamp<std::size_t>(std::bit_floor(rows), 1, 2 * kThreads / width));
  }

  void mix_dense_rows(const Mixing& mixing, std::span<const VectorView> q, Block x) {
    const DenseMixing m = dense_mixing(mixing, q, x);
    const unsigned width = mix_columns(x.rows);
    const std::size_t shared = m.in_place ? x.rows * width * sizeof(float) : 0;
    recorder().launch(
        mix_dense, blocks_for(x.dim, width), dim3(width, mix_height(x.rows, width)), shared,
        recorder().put(std::span<const Share>(m.own)), recorder().put(mixing.begin),
        recorder().put_list(std::span<const Share>(m.edges)), m.in_place, x.data, x.rows, x.dim);
  }

  void mix_sparse_rows(const Mixing& mixing, std::span<const VectorView> q, Block x) {
    constexpr std::size_t kLeastColumns = 4096, kMostRanges = 512;
    const std::vector<View> views = device_views(q);
    std::vector<std::uint32_t> begin{0};
    std::vector<Term> terms;
    for (std::size_t i = 0; i < x.rows; ++i) {
      const Share debit = share({}, -mixing.debit[i]);
      if (debit.weight[0] != 0) terms.push_back({views[i], {debit.weight[0], debit.weight[1]}});
      for (std::uint32_t e = mixing.begin[i]; e < mixing.begin[i + 1]; ++e) {
        terms.push_back({views[mixing.source[e]], {mixing.weight[e], 0}});
      }
      begin.push_back(static_cast<std::uint32_t>(terms.size()));
    }
    const std::size_t width = std::max(kLeastColumns, (x.dim + kMostRanges - 1) / kMostRanges);
    const dim3 grid(blocks_for(x.dim, width), static_cast<unsigned>(x.rows));
    recorder().launch(mix_sparse, grid, kThreads, 0,
                      recorder().put(std::span<const std::uint32_t>(begin)),
                      recorder().put_list(std::span<const Term>(terms)), x.data, x.dim, width);
  }

  std::string isa_;
  std::shared_ptr<Context> context_;  // shared with the blocks
  Chain chain_{context_->recorder};
  ResultBuffers result_buffers_;
  Scratch scratch_[LaunchRecorder::kStreams];
  /// From keep_mass to mass_change, between which the current stream may become another one.
  Memory<double> kept_mass_;
};

/// Throws InvalidArgument, with what a user can do, unless `status` is a success.
void check_device(cudaError_t status, const std::string& advice) {
  if (status == cudaSuccess) return;
  throw InvalidArgument(std::string("[device] cuda: ") + cudaGetErrorString(status) + "; " +
                        advice + ", or use --device cpu");
}

}  // namespace

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

Context& context_of(Kernels& kernels) { return dynamic_cast<CudaKernels&>(kernels).context(); }

}  // namespace hearsay::backend::cuda

namespace hearsay::backend {

std::unique_ptr<Kernels> make_cuda_kernels(const Arguments& arguments, ThreadPool&) {
  const auto precision = static_cast<Precision>(arguments.choice("precision"));
  const auto index = static_cast<int>(arguments.integer_in_range("index"));
  int count = 0;
  cuda::check_device(cudaGetDeviceCount(&count), "install an NVIDIA driver that knows CUDA " +
                                                     std::to_string(CUDART_VERSION / 1000) +
                                                     " and check it with nvidia-smi");
  if (index >= count) {
    arguments.reject("index", "below the number of GPUs, " + std::to_string(count));
  }
  cuda::check_device(cudaSetDevice(index), "check the GPU with nvidia-smi");
  cudaDeviceProp properties{};
  cuda::check_device(cudaGetDeviceProperties(&properties, index), "check it with nvidia-smi");
  const std::string isa =
      "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
  cudaFuncAttributes attributes{};
  const cudaError_t code = cudaFuncGetAttributes(&attributes, cuda::mean_columns);
  const bool none =
      code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction;
  cuda::check_device(code, none ? "this build has no code for " + std::string(properties.name) +
                                      " (" + isa +
                                      "): configure it with HEARSAY_CUDA_ARCHITECTURES for it"
                                : "check the GPU with nvidia-smi");
  return std::make_unique<cuda::CudaKernels>(isa, precision, properties, attributes);
}

}  // namespace hearsay::backend
