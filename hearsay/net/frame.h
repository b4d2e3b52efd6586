#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "hearsay/core/bytes.h"

/// What peers send each other over a network: frames, from one pinned identity to another.
namespace hearsay::net {

/// What the body of a frame holds, and what its header's `number` is.
enum class FrameType : std::uint8_t {
  kHello = 1,  ///< hello.h, the first frame of both sides; number 0
  kPulse,      ///< record.h; number 0
  kData,       ///< a gossip message (docs/wire_format.md); its number on this edge, from 1 on
  kAck,        ///< ack.h; the highest number that arrived
  kAsk,        ///< empty, "send me your model"; number 0
  kModel,      ///< model_piece.h; the bytes of the whole model
  kBye,        ///< bye.h; what the reason says
};

/// "HELLO", "PULSE", ...
std::string_view name_of(FrameType type);

/// On the wire 16 bytes, little-endian: length u32, version u8 = 1, type u8, flags u16, number u64.
struct FrameHeader {
  std::uint32_t length = 0;  ///< bytes of the body
  FrameType type = FrameType::kHello;
  std::uint16_t flags = 0;
  std::uint64_t number = 0;

  bool operator==(const FrameHeader&) const = default;
};

inline constexpr std::uint8_t kFrameVersion = 1;
inline constexpr std::size_t kFrameHeaderBytes = 16;
inline constexpr std::uint16_t kUncompressedFlag = 1;  ///< of DATA: the code is identity's
inline constexpr std::size_t kHelloBytes = 96, kRecordBytes = 60, kAckBytes = 16;
inline constexpr std::size_t kMostModelBytes = 256u << 10;  ///< the longest body of MODEL
inline constexpr std::size_t kMostRecords = 257;            ///< in a PULSE
inline constexpr std::size_t kMostPeers = 1024;             ///< in a fleet

/// A received frame; its body belongs to whoever hands it out.
struct Frame {
  FrameHeader header;
  ByteView body;
};

/// Header and body.
Bytes encode_frame(FrameType type, std::uint16_t flags, std::uint64_t number, ByteView body);

/// An encoded frame. What is long in it may be shared, so that a message to many is in memory once.
struct EncodedFrame {
  EncodedFrame() = default;
  EncodedFrame(Bytes whole) : begin(std::move(whole)) {}  // NOLINT(google-explicit-constructor)
  EncodedFrame(Bytes first, std::shared_ptr<const Bytes> last)
      : begin(std::move(first)), rest(std::move(last)) {}

  std::size_t size() const { return begin.size() + (rest ? rest->size() : 0); }
  /// A copy in one piece.
  Bytes joined() const;

  Bytes begin{};
  std::shared_ptr<const Bytes> rest{};  ///< may be null
};

/// Header and a body that begins with `body` and goes on with `rest`.
EncodedFrame encode_frame(FrameType type, std::uint16_t flags, std::uint64_t number, ByteView body,
                          std::shared_ptr<const Bytes> rest);

/// How long bodies may be in a fleet.
struct FrameLimits {
  std::size_t longest_data = 0;  ///< message header and code
  std::size_t peers = 0;         ///< of the fleet: a PULSE has no more records

  /// The longest body of a type.
  std::size_t longest(FrameType type) const;
};

/// Reads kFrameHeaderBytes bytes. Throws CorruptData on another version, an unknown type, a flag or
/// number that the type does not have, and a length that a valid body cannot have.
FrameHeader decode_frame_header(ByteView bytes, const FrameLimits& limits);

/// One whole frame: a header and exactly its body, which refers to `whole`. Throws CorruptData.
Frame decode_frame(ByteView whole, const FrameLimits& limits);

/// Cuts a stream of bytes into frames, in whatever pieces it arrives.
///
///   reader.feed(piece);
///   while (const auto frame = reader.next()) ...
///
/// Memory grows with the bytes that arrived, not with the length that a header claims. After an
/// exception the stream cannot be read on: there is no way to find the next header.
class FrameReader {
 public:
  explicit FrameReader(const FrameLimits& limits) : limits_(limits) {}

  /// Append bytes. Frames that were handed out become invalid.
  void feed(ByteView piece);

  /// The next whole frame, valid until `feed`; nullopt if more bytes are needed. Throws CorruptData
  /// as soon as a header is wrong, without waiting for its body.
  std::optional<Frame> next();

  /// The header of the frame of which a part has arrived, as of the last `next`.
  const std::optional<FrameHeader>& begun() const { return begun_; }
  /// Bytes that have not been handed out.
  std::size_t waiting() const { return buffer_.size() - read_; }

 private:
  FrameLimits limits_;
  Bytes buffer_;
  std::size_t read_ = 0;  ///< bytes of the buffer that were handed out
  std::optional<FrameHeader> begun_;
};

}  // namespace hearsay::net
