#include "hearsay/net/tls/outbox.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace hearsay::net {

namespace {

constexpr std::size_t kShort = 16u << 10;  ///< frames up to this are joined
constexpr std::size_t kJoined = 64u << 10;
constexpr std::size_t kOther = 2;         ///< kind of frames that are neither DATA nor MODEL
constexpr std::size_t kTypeAt = 5;        ///< in the header of a frame
constexpr std::size_t kWindowFrames = 8;  ///< of an edge

std::size_t kind_of(const EncodedFrame& frame) {
  switch (static_cast<FrameType>(frame.begin[kTypeAt])) {
    case FrameType::kData:
      return 0;
    case FrameType::kModel:
      return 1;
    default:
      return kOther;
  }
}

}  // namespace

Outbox::Outbox(const FrameLimits& limits)
    : most_{kWindow + limits.longest(FrameType::kData) + (kWindowFrames + 1) * kFrameHeaderBytes,
            kMostOther, kMostOther} {}

Outbox::Put Outbox::put(EncodedFrame frame) {
  assert(frame.begin.size() >= kFrameHeaderBytes);
  const std::size_t kind = kind_of(frame);
  const std::lock_guard lock(mutex_);
  if (discarding_) return Put::kQueued;
  if (waiting_[kind] + frame.size() > most_[kind]) {
    refused_ = true;
    return Put::kFull;
  }
  waiting_[kind] += frame.size();
  (kind == kOther ? short_ : long_).push_back(std::move(frame));
  return std::exchange(idle_, false) ? Put::kFirst : Put::kQueued;
}

Outbox::Chunk Outbox::take() {
  Chunk chunk;
  const std::lock_guard lock(mutex_);
  idle_ = short_.empty() && long_.empty();
  while (!short_.empty() || !long_.empty()) {
    std::deque<EncodedFrame>& frames = short_.empty() ? long_ : short_;
    EncodedFrame& next = frames.front();
    const bool joins = next.size() <= kShort && chunk.bytes.size() + next.size() <= kJoined;
    if (!chunk.bytes.empty() && !joins) break;
    chunk.kinds[kind_of(next)] += next.size();
    if (joins) {
      append(chunk.bytes, ByteView(next.begin));
      if (next.rest) append(chunk.bytes, ByteView(*next.rest));
    } else {
      chunk.bytes = std::move(next.begin);
      chunk.rest = std::move(next.rest);
    }
    frames.pop_front();
    if (!joins) break;
  }
  return chunk;
}

bool Outbox::written(Chunk& chunk, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  for (std::size_t kind = 0; kind < waiting_.size(); ++kind) {
    const std::size_t part = std::min(bytes, chunk.kinds[kind]);
    chunk.kinds[kind] -= part;
    waiting_[kind] -= part;
    bytes -= part;
  }
  return std::exchange(refused_, false);
}

void Outbox::discard() {
  const std::lock_guard lock(mutex_);
  discarding_ = true;
  short_.clear();
  long_.clear();
}

}  // namespace hearsay::net
