#include "hearsay/backend/cuda/page.h"

#include <algorithm>
#include <cstring>

namespace hearsay::backend::cuda {

Page::Sheet::Sheet(std::size_t bytes) : device(bytes) {
  void* data = nullptr;
  check(cudaHostAlloc(&data, kCopies * bytes, cudaHostAllocDefault), "allocating pinned memory");
  host.reset(static_cast<std::byte*>(data));
}

Page::Page() {
  sheets_.emplace_back(kSheetBytes);
  for (cudaEvent_t& event : copied_) {
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
  }
}

Page::~Page() {
  for (cudaEvent_t event : copied_) cudaEventDestroy(event);
}

std::byte* Page::host(std::size_t sheet, std::size_t offset) {
  return sheets_[sheet].host.get() + copy_ * sheets_[sheet].device.size() + offset;
}

std::pair<std::size_t, std::size_t> Page::reserve(std::size_t bytes) {
  if (fresh_) check(cudaEventSynchronize(copied_[copy_]), "waiting for the page");
  fresh_ = false;
  bytes = std::max((bytes + kAlignment - 1) / kAlignment, std::size_t{1}) * kAlignment;
  while (sheets_[current_].used + bytes > sheets_[current_].device.size()) {
    ++current_;
    if (current_ == sheets_.size()) {
      sheets_.emplace_back(std::max(bytes, 2 * sheets_.back().device.size()));
    }
  }
  const std::size_t offset = sheets_[current_].used;
  sheets_[current_].used += bytes;
  return {current_, offset};
}

const void* Page::put(const void* values, std::size_t bytes) {
  const auto [sheet, offset] = reserve(bytes);
  if (bytes > 0) std::memcpy(host(sheet, offset), values, bytes);
  return sheets_[sheet].device.data() + offset;
}

const void* Page::put_list(const void* values, std::size_t bytes) {
  const auto [sheet, slot] = reserve(sizeof(void*));
  if (list_count_ == lists_.size()) lists_.emplace_back();
  List& list = lists_[list_count_++];
  const auto* begin = static_cast<const std::byte*>(values);
  list.sheet = sheet;
  list.slot = slot;
  list.values.assign(begin, begin + bytes);
  return sheets_[sheet].device.data() + slot;
}

void Page::send(cudaStream_t stream) {
  for (std::size_t k = 0; k < list_count_; ++k) {
    const List& list = lists_[k];
    const void* address = put(list.values.data(), list.values.size());
    std::memcpy(host(list.sheet, list.slot), &address, sizeof address);
  }
  for (std::size_t k = 0; k <= current_; ++k) {
    if (sheets_[k].used == 0) continue;
    check(cudaMemcpyAsync(sheets_[k].device.data(), host(k, 0), sheets_[k].used,
                          cudaMemcpyHostToDevice, stream),
          "copying to the device");
  }
  if (!fresh_) {
    check(cudaEventRecord(copied_[copy_], stream), "recording an event");
    copy_ = (copy_ + 1) % kCopies;
  }
  forget();
}

void Page::forget() {
  for (std::size_t k = 0; k <= current_; ++k) sheets_[k].used = 0;
  current_ = 0;
  list_count_ = 0;
  fresh_ = true;
}

}  // namespace hearsay::backend::cuda
