#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>

#include <cuda_runtime_api.h>

namespace hearsay::backend::cuda {

/// Throws RunFailed with CUDA's words and `what` was attempted, unless `status` is a success.
void check(cudaError_t status, const char* what);

/// How many blocks of such launches the current device holds at the same time.
int blocks_at_once(const void* kernel, int threads, std::size_t shared_bytes);

/// The launch recorder: a list of kernel launches that is captured once as a CUDA graph and
/// replayed whenever the same list is recorded again: same kernels, grids and arguments. What
/// changes from round to round (edges, weights, rates, counters, addresses of rows) is not an
/// argument but in the StagingBuffer, device memory that every `submit` refills. So the
/// host runs its plain code each round, and the device gets one graph launch.
///
///   recorder.launch(scale, grid, block, 0, recorder.put(std::span(factors)), y, size);
///   recorder.submit();
///
/// The first statement of every kernel is begin_launch() (launch.cuh): the next launch of a stream
/// is scheduled while the one before still runs.
///
/// Launches happen in order, save on side streams: `fork(stream)` lets that stream start after
/// all that stream 0 holds so far, `use(stream)` directs the next launches to it, `join(stream)`
/// lets stream 0 wait for it. Every stream is joined by `submit`, after which stream 0 is current.
class LaunchRecorder {
 public:
  static constexpr int kStreams = 8;

  LaunchRecorder();
  ~LaunchRecorder();
  LaunchRecorder(const LaunchRecorder&) = delete;
  LaunchRecorder& operator=(const LaunchRecorder&) = delete;

  /// Copies `values` to this submission's staging buffer, and returns where kernels will find them.
  /// The address depends only on the sizes put before since the last submit.
  template <class T>
  const T* put(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    return static_cast<const T*>(put_bytes(values.data(), values.size_bytes()));
  }
  template <class T>
  requires(!requires(const T& value) { value.size_bytes(); })  // a span must be of const
      const T* put(const T& value) {
    return put(std::span<const T>(&value, 1));
  }

  /// The same for lists whose length changes from round to round: where kernels will find the
  /// address of the list. It does not move what is put before or after.
  template <class T>
  const T* const* put_list(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    return static_cast<const T* const*>(put_list_bytes(values.data(), values.size_bytes()));
  }

  /// Arguments are compared byte by byte: a struct with padding may be captured more often than
  /// needed.
  template <class... Parameters>
  void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
              const std::type_identity_t<Parameters>&... arguments) {
    static_assert((std::is_trivially_copyable_v<Parameters> && ...));
    const void* pointers[] = {static_cast<const void*>(&arguments)..., nullptr};
    const std::size_t sizes[] = {(std::is_empty_v<Parameters> ? 0 : sizeof(Parameters))..., 0};
    record(reinterpret_cast<const void*>(kernel), grid, block, shared_bytes, pointers, sizes,
           sizeof...(Parameters));
  }

  /// Before anything else is recorded, a launch, a change of stream or the end of a submission,
  /// `record` is called once: it records the launches that the caller holds back for as long as
  /// later requests may join them. So they are in their place for all others. One caller at a time:
  /// the next call replaces `record`.
  void postpone(std::function<void()> record);

  /// Record what is postponed.
  void flush();

  void fork(int stream);
  void use(int stream);
  void join(int stream);
  void join_all();
  int current_stream() const;

  void submit();
  void synchronize();  ///< submit, wait; throws RunFailed if a launch failed

  cudaStream_t stream() const;  ///< stream 0, for copies between submissions

  /// How many lists were new, and had to be captured.
  std::size_t captures() const;

  /// How many launches were recorded.
  std::size_t launches() const;

 private:
  const void* put_bytes(const void* values, std::size_t bytes);
  const void* put_list_bytes(const void* values, std::size_t bytes);
  void record(const void* kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
              const void* const* arguments, const std::size_t* sizes, std::size_t count);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hearsay::backend::cuda
