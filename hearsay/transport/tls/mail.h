#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>

#include "hearsay/net/frame.h"
#include "hearsay/transport/transport.h"

/// The messages between two processes over one connection, without I/O.
///
/// Message k of a connection, k = 1, 2, ..., is one or more DATA frames with the number k: the
/// first begins with lane u8, bytes of the head u8, 0 u16, round u32, bytes of the body u64, and
/// the head; what follows, there and in the others, is the body. Frames of different messages do
/// not mix. An ACK with the number k says that the receiver has taken that message.
namespace hearsay::transport {

inline constexpr std::size_t kPieceBytes = 1u << 20;  ///< of a body in one frame, at most
inline constexpr std::size_t kLongestFrame = kPieceBytes + 16 + kMostHeadBytes;
/// The lane of the last message of a process: nothing more comes.
inline constexpr auto kLastLane = static_cast<Lane>(2);

/// Messages to the other process.
class OutMail {
 public:
  /// `body` is read until the message is taken, or dropped.
  void add(Label label, ByteView head, ByteView body);
  /// Makes frames, and hands them to `send` until it refuses one or none is left.
  void pump(const std::function<bool(Bytes)>& send);

  /// The other has taken message `number`. Throws CorruptData if it was not sent.
  void taken(std::uint64_t number);
  /// Whether all messages of that lane up to that round have been taken.
  bool all_taken(Label label) const;
  /// The other is gone.
  void drop();

 private:
  struct Message {
    std::uint64_t number = 0;
    Label label{};
    Bytes head;
    ByteView body;
    std::size_t done = 0;  ///< of the body
    bool begun = false;
  };
  static Bytes next_frame(const Message& message, std::size_t piece);

  std::uint64_t sent_ = 0;
  std::deque<Message> waiting_;
  std::map<std::uint64_t, Label> untaken_;
};

/// Messages from the other process.
class InMail {
 public:
  struct Message {
    std::uint64_t number = 0;
    Label label{};
    Bytes head;
    std::span<std::uint8_t> body;
  };
  /// Gives memory for the body of a message that begins to arrive.
  using Room = std::function<std::span<std::uint8_t>(Label label, std::size_t bytes)>;

  /// A DATA frame: the message of which it is the last one. Throws CorruptData.
  std::optional<Message> take(const net::Frame& frame, const Room& room);

 private:
  void begin(std::uint64_t number, ByteReader& body, const Room& room);

  Message message_;
  std::size_t done_ = 0;  ///< of its body
  bool begun_ = false;
};

}  // namespace hearsay::transport
