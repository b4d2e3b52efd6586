#include "hearsay/backend/cuda/staging_buffer.h"

#include <algorithm>
#include <cstring>

namespace hearsay::backend::cuda {

StagingBuffer::Chunk::Chunk(std::size_t bytes) : device(bytes) {
  void* data = nullptr;
  check(cudaHostAlloc(&data, kCopies * bytes, cudaHostAllocDefault), "allocating pinned memory");
  host.reset(static_cast<std::byte*>(data));
}

StagingBuffer::StagingBuffer() {
  chunks_.emplace_back(kChunkBytes);
  for (cudaEvent_t& event : copied_) {
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
  }
}

StagingBuffer::~StagingBuffer() {
  for (cudaEvent_t event : copied_) cudaEventDestroy(event);
}

std::byte* StagingBuffer::host(std::size_t chunk, std::size_t offset) {
  return chunks_[chunk].host.get() + copy_ * chunks_[chunk].device.size() + offset;
}

std::pair<std::size_t, std::size_t> StagingBuffer::reserve(std::size_t bytes) {
  if (fresh_) check(cudaEventSynchronize(copied_[copy_]), "waiting for the staging buffer");
  fresh_ = false;
  bytes = std::max((bytes + kAlignment - 1) / kAlignment, std::size_t{1}) * kAlignment;
  while (chunks_[current_].used + bytes > chunks_[current_].device.size()) {
    ++current_;
    if (current_ == chunks_.size()) {
      chunks_.emplace_back(std::max(bytes, 2 * chunks_.back().device.size()));
    }
  }
  const std::size_t offset = chunks_[current_].used;
  chunks_[current_].used += bytes;
  return {current_, offset};
}

const void* StagingBuffer::put(const void* values, std::size_t bytes) {
  const auto [chunk, offset] = reserve(bytes);
  if (bytes > 0) std::memcpy(host(chunk, offset), values, bytes);
  return chunks_[chunk].device.data() + offset;
}

const void* StagingBuffer::put_list(const void* values, std::size_t bytes) {
  const auto [chunk, slot] = reserve(sizeof(void*));
  if (list_count_ == lists_.size()) lists_.emplace_back();
  List& list = lists_[list_count_++];
  const auto* begin = static_cast<const std::byte*>(values);
  list.chunk = chunk;
  list.slot = slot;
  list.values.assign(begin, begin + bytes);
  return chunks_[chunk].device.data() + slot;
}

void StagingBuffer::send(cudaStream_t stream) {
  for (std::size_t k = 0; k < list_count_; ++k) {
    const List& list = lists_[k];
    const void* address = put(list.values.data(), list.values.size());
    std::memcpy(host(list.chunk, list.slot), &address, sizeof address);
  }
  for (std::size_t k = 0; k <= current_; ++k) {
    if (chunks_[k].used == 0) continue;
    check(cudaMemcpyAsync(chunks_[k].device.data(), host(k, 0), chunks_[k].used,
                          cudaMemcpyHostToDevice, stream),
          "copying to the device");
  }
  if (!fresh_) {
    check(cudaEventRecord(copied_[copy_], stream), "recording an event");
    copy_ = (copy_ + 1) % kCopies;
  }
  forget();
}

void StagingBuffer::forget() {
  for (std::size_t k = 0; k <= current_; ++k) chunks_[k].used = 0;
  current_ = 0;
  list_count_ = 0;
  fresh_ = true;
}

}  // namespace hearsay::backend::cuda
