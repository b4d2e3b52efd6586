#include "hearsay/engine/cpu/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <new>
#include <numeric>

#include "hearsay/core/memory.h"

namespace hearsay::engine::cpu {

namespace {

constexpr std::size_t kAlignment = 64;  // of a buffer: a cache line
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void Arena::Free::operator()(std::byte* memory) const {
  ::operator delete[](memory, std::align_val_t{kHugePage});
}

std::size_t Arena::request(std::size_t bytes, std::size_t first, std::size_t last) {
  assert(first <= last && !memory_);
  const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  buffers_.push_back({whole, first, last, 0});
  return buffers_.size() - 1;
}

void Arena::allocate() {
  std::vector<std::size_t> order(buffers_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return buffers_[i].bytes; });
  std::vector<const Buffer*> placed;  // by offset
  for (std::size_t i : order) {
    Buffer& buffer = buffers_[i];
    std::size_t offset = 0;
    for (const Buffer* other : placed) {
      const bool meet = buffer.first <= other->last && other->first <= buffer.last;
      if (!meet) continue;
      if (offset + buffer.bytes <= other->offset) break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    buffer.offset = offset;
    bytes_ = std::max(bytes_, offset + buffer.bytes);
    placed.insert(std::ranges::upper_bound(placed, offset, {}, &Buffer::offset), &buffer);
  }
  require_memory(static_cast<double>(bytes_), "batch",
                 "these are the activations of one minibatch: take a smaller --batch or --model");
  const std::size_t whole = std::max<std::size_t>(bytes_, 1);
  memory_.reset(new (std::align_val_t{kHugePage}) std::byte[whole]);
  // Fewer page faults and TLB misses if the system grants it; harmless if not.
  madvise(memory_.get(), whole, MADV_HUGEPAGE);
}

std::byte* Arena::at(std::size_t buffer) const { return memory_.get() + buffers_[buffer].offset; }

}  // namespace hearsay::engine::cpu
