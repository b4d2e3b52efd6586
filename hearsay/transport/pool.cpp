#include "hearsay/transport/pool.h"

#include <algorithm>
#include <iterator>

namespace hearsay::transport {

std::span<std::uint8_t> Pool::take(std::size_t bytes, std::uint32_t round) {
  // The smallest buffer that is large enough; if there is none, the largest is replaced by a new
  // one.
  std::ranges::sort(free_, {}, &Buffer::size);
  auto found = std::ranges::lower_bound(free_, bytes, {}, &Buffer::size);
  Buffer buffer;
  if (found != free_.end()) {
    buffer = std::move(*found);
    free_.erase(found);
  } else {
    if (!free_.empty()) free_.pop_back();
    // Slack: the encoded length of a vector varies slightly from round to round.
    buffer.size = bytes + bytes / 8;
    buffer.bytes = std::make_unique_for_overwrite<std::uint8_t[]>(buffer.size);
  }
  buffer.round = round;
  used_.push_back(std::move(buffer));
  return {used_.back().bytes.get(), bytes};
}

void Pool::reuse(std::uint32_t round) {
  const auto old = std::partition(used_.begin(), used_.end(),
                                  [&](const Buffer& buffer) { return buffer.round >= round; });
  std::move(old, used_.end(), std::back_inserter(free_));
  used_.erase(old, used_.end());
}

}  // namespace hearsay::transport
