#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "hearsay/backend/cuda/launch_recorder.h"

namespace hearsay::backend::cuda {

/// Pinned, mapped host memory that kernels write to: the result buffers of Kernels::results, in
/// pieces of 64 KB. What was handed out stays where it is until `recycle`.
class ResultBuffers {
 public:
  void* take(std::size_t count) {
    while (piece_ < pieces_.size() && used_ + count > pieces_[piece_].size) {
      ++piece_;
      used_ = 0;
    }
    if (piece_ == pieces_.size()) pieces_.emplace_back(count > kPiece ? count : kPiece);
    std::uint64_t* begin = pieces_[piece_].data.get() + used_;
    used_ += count;
    return begin;
  }

  void recycle() { piece_ = used_ = 0; }

 private:
  static constexpr std::size_t kPiece = 1 << 13;  // results of 8 bytes, 64 KB

  struct FreeHost {
    void operator()(std::uint64_t* data) const { cudaFreeHost(data); }
  };
  struct Piece {
    explicit Piece(std::size_t results) : size(results) {
      void* memory = nullptr;
      check(cudaHostAlloc(&memory, results * sizeof(std::uint64_t), cudaHostAllocMapped),
            "allocating pinned memory");
      data.reset(static_cast<std::uint64_t*>(memory));
    }
    std::unique_ptr<std::uint64_t, FreeHost> data;
    std::size_t size;
  };

  std::vector<Piece> pieces_;
  std::size_t piece_ = 0;  ///< the piece in use
  std::size_t used_ = 0;   ///< of it
};

}  // namespace hearsay::backend::cuda
