#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "hearsay/backend/cuda/memory.h"

namespace hearsay::backend::cuda {

/// The staging buffer: device memory that the host refills for every submission of a
/// LaunchRecorder.
///
/// What is put lies at an address that depends only on the sizes put before since the last `send`:
/// the buffer grows by further chunks (256 KB at first), and those it has stay where they are. The
/// host writes to pinned memory, one of `kCopies` in turn, so it waits only if it is that many
/// submissions ahead.
class StagingBuffer {
 public:
  static constexpr std::size_t kAlignment = 16;

  StagingBuffer();
  ~StagingBuffer();
  StagingBuffer(const StagingBuffer&) = delete;
  StagingBuffer& operator=(const StagingBuffer&) = delete;

  const void* put(const void* values, std::size_t bytes);
  const void* put_list(const void* values, std::size_t bytes);

  /// Copy what was put to the device, in the order of `stream`, and start over.
  void send(cudaStream_t stream);

  /// Start over: what was put is dropped.
  void forget();

 private:
  static constexpr std::size_t kCopies = 16;
  static constexpr std::size_t kChunkBytes = 1 << 18;

  struct FreeHost {
    void operator()(std::byte* data) const { cudaFreeHost(data); }
  };
  struct Chunk {
    explicit Chunk(std::size_t bytes);
    Memory<std::byte> device;
    std::unique_ptr<std::byte, FreeHost> host;  ///< kCopies times the size of `device`
    std::size_t used = 0;
  };
  struct List {
    std::size_t chunk, slot;  ///< where its address goes
    std::vector<std::byte> values;
  };

  /// The chunk and offset of `bytes` fresh bytes.
  std::pair<std::size_t, std::size_t> reserve(std::size_t bytes);
  std::byte* host(std::size_t chunk, std::size_t offset);

  std::vector<Chunk> chunks_;
  std::size_t current_ = 0;  ///< the chunk in use; those before it are full
  std::vector<List> lists_;
  std::size_t list_count_ = 0;  ///< `lists_` keeps its memory from round to round
  std::array<cudaEvent_t, kCopies> copied_{};
  std::size_t copy_ = 0;
  bool fresh_ = true;  ///< nothing was put since the last send
};

}  // namespace hearsay::backend::cuda
