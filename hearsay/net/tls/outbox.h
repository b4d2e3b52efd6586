#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "hearsay/core/bytes.h"
#include "hearsay/net/frame.h"

namespace hearsay::net {

/// Frames on their way into one connection: any thread puts them in, one takes them out. DATA and
/// MODEL frames, which are long, keep their order; the others overtake them and keep theirs: a
/// pulse behind a queue of models would come too late to say that its sender lives.
///
/// Bounded, each kind of frame for itself, so that none keeps another out: DATA by the window of an
/// edge and one message, MODEL and all others by kMostOther each. Its lock is a leaf: nothing else
/// is locked or called under it.
class Outbox {
 public:
  static constexpr std::size_t kWindow = 8u << 20;
  static constexpr std::size_t kMostOther = 1u << 20;

  explicit Outbox(const FrameLimits& limits);

  enum class Put {
    kFull,    ///< the frame was not taken
    kQueued,  ///< whoever takes frames out is at it, and will find it
    kFirst,   ///< `take` had returned nothing: wake whoever calls it
  };
  /// A frame of at least kFrameHeaderBytes bytes.
  Put put(EncodedFrame frame);

  /// A long frame, or several short ones.
  struct Chunk {
    std::size_t size() const { return bytes.size() + (rest ? rest->size() : 0); }
    /// What follows the first `sent` bytes, as far as it is in one piece.
    ByteView after(std::size_t sent) const {
      if (sent < bytes.size()) return ByteView(bytes).subspan(sent);
      return rest ? ByteView(*rest).subspan(sent - bytes.size()) : ByteView();
    }

    Bytes bytes{};
    std::shared_ptr<const Bytes> rest{};
    std::array<std::size_t, 3> kinds{};  ///< bytes of each kind that count as waiting
  };
  /// The next; no bytes: there is nothing.
  Chunk take();
  /// So many more bytes of a chunk no longer wait. Returns whether `put` has refused a frame since
  /// the last call.
  bool written(Chunk& chunk, std::size_t bytes);

  /// Drop all frames, and from now on those that are put in, as if they had been taken.
  void discard();

 private:
  std::array<std::size_t, 3> most_;
  mutable std::mutex mutex_;
  std::deque<EncodedFrame> short_, long_;  ///< taken first; then
  std::array<std::size_t, 3> waiting_{};   ///< bytes of each kind
  bool idle_ = true;                       ///< `take` returned nothing
  bool refused_ = false;                   ///< a frame, since `written`
  bool discarding_ = false;
};

}  // namespace hearsay::net
