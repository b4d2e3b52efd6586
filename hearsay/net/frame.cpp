#include "hearsay/net/frame.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::net {

namespace {

constexpr std::array<std::string_view, 8> kNames{"",    "HELLO", "PULSE", "DATA",
                                                 "ACK", "ASK",   "MODEL", "BYE"};

/// Lengths are u32; a fleet whose messages are longer cannot be.
constexpr std::size_t kMostLength = std::numeric_limits<std::uint32_t>::max();

/// The shortest body of a type.
std::size_t shortest(FrameType type) {
  switch (type) {
    case FrameType::kHello:
      return kHelloBytes;
    case FrameType::kPulse:
      return kRecordBytes;
    case FrameType::kAck:
      return kAckBytes;
    case FrameType::kModel:
      return sizeof(std::uint64_t) + 1;
    case FrameType::kData:
    case FrameType::kBye:
      return 1;
    case FrameType::kAsk:
      return 0;
  }
  return 0;
}

bool number_fits(FrameType type, std::uint64_t number) {
  switch (type) {
    case FrameType::kHello:
    case FrameType::kPulse:
    case FrameType::kAsk:
      return number == 0;
    case FrameType::kData:
      return number > 0;
    default:
      return true;
  }
}

}  // namespace

std::string_view name_of(FrameType type) { return kNames.at(static_cast<std::size_t>(type)); }

Bytes EncodedFrame::joined() const {
  Bytes whole;
  whole.reserve(size());
  append(whole, ByteView(begin));
  if (rest) append(whole, ByteView(*rest));
  return whole;
}

Bytes encode_frame(FrameType type, std::uint16_t flags, std::uint64_t number, ByteView body) {
  return encode_frame(type, flags, number, body, nullptr).begin;
}

EncodedFrame encode_frame(FrameType type, std::uint16_t flags, std::uint64_t number, ByteView body,
                          std::shared_ptr<const Bytes> rest) {
  const std::size_t length = body.size() + (rest ? rest->size() : 0);
  if (length > kMostLength) {
    throw InvalidArgument(
        fmt::format("[frame] a body has at most {} bytes, got {}", kMostLength, length));
  }
  Bytes out;
  out.reserve(kFrameHeaderBytes + body.size());
  append(out, static_cast<std::uint32_t>(length));
  append(out, kFrameVersion);
  append(out, static_cast<std::uint8_t>(type));
  append(out, flags);
  append(out, number);
  append(out, body);
  return {std::move(out), std::move(rest)};
}

std::size_t FrameLimits::longest(FrameType type) const {
  switch (type) {
    case FrameType::kHello:
      return kHelloBytes;
    case FrameType::kPulse:
      return kRecordBytes * std::min(peers, kMostRecords);
    case FrameType::kData:
      return std::min(longest_data, kMostLength);
    case FrameType::kAck:
      return kAckBytes;
    case FrameType::kModel:
      return kMostModelBytes;
    case FrameType::kBye:
      return 1;
    case FrameType::kAsk:
      return 0;
  }
  return 0;
}

FrameHeader decode_frame_header(ByteView bytes, const FrameLimits& limits) {
  ByteReader in(bytes, "frame");
  FrameHeader header;
  header.length = in.read<std::uint32_t>();
  const auto version = in.read<std::uint8_t>();
  if (version != kFrameVersion) {
    throw CorruptData(
        fmt::format("[frame] version {}; this build reads version {}", version, kFrameVersion));
  }
  const auto type = in.read<std::uint8_t>();
  if (type < 1 || type >= kNames.size()) {
    throw CorruptData(fmt::format("[frame] type {}; there are 1 to {}", type, kNames.size() - 1));
  }
  header.type = static_cast<FrameType>(type);
  const std::string_view name = name_of(header.type);
  header.flags = in.read<std::uint16_t>();
  const std::uint16_t known = header.type == FrameType::kData ? kUncompressedFlag : 0;
  if ((header.flags & ~known) != 0) {
    throw CorruptData(
        fmt::format("[frame] {} with flags {:#x}; it knows {:#x}", name, header.flags, known));
  }
  header.number = in.read<std::uint64_t>();
  if (!number_fits(header.type, header.number)) {
    throw CorruptData(fmt::format("[frame] {} with number {}; it has {}", name, header.number,
                                  header.type == FrameType::kData ? "1 or more" : "none"));
  }
  const std::size_t least = shortest(header.type), most = limits.longest(header.type);
  if (header.length < least || header.length > most) {
    throw CorruptData(
        fmt::format("[frame] {} of {} bytes; it has {} to {}", name, header.length, least, most));
  }
  if (header.type == FrameType::kPulse && header.length % kRecordBytes != 0) {
    throw CorruptData(
        fmt::format("[frame] PULSE of {} bytes; a record has {}", header.length, kRecordBytes));
  }
  return header;
}

Frame decode_frame(ByteView whole, const FrameLimits& limits) {
  const FrameHeader header =
      decode_frame_header(whole.first(std::min(whole.size(), kFrameHeaderBytes)), limits);
  const ByteView body = whole.subspan(kFrameHeaderBytes);
  if (body.size() != header.length) {
    throw CorruptData(
        fmt::format("[frame] {} bytes after a header that says {}", body.size(), header.length));
  }
  return {header, body};
}

void FrameReader::feed(ByteView piece) {
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(read_));
  read_ = 0;
  const std::size_t needed = buffer_.size() + piece.size();
  if (begun_ && needed > buffer_.capacity()) {  // twice as much, but no more than the frame takes
    const std::size_t whole = kFrameHeaderBytes + begun_->length;
    buffer_.reserve(std::max(needed, std::min(whole, 2 * needed)));
  }
  buffer_.insert(buffer_.end(), piece.begin(), piece.end());
}

std::optional<Frame> FrameReader::next() {
  const ByteView all = ByteView(buffer_).subspan(read_);
  if (!begun_) {
    if (all.size() < kFrameHeaderBytes) return std::nullopt;
    begun_ = decode_frame_header(all.first(kFrameHeaderBytes), limits_);
  }
  const std::size_t size = kFrameHeaderBytes + begun_->length;
  if (all.size() < size) return std::nullopt;
  const Frame frame{*begun_, all.subspan(kFrameHeaderBytes, begun_->length)};
  read_ += size;
  begun_.reset();
  return frame;
}

}  // namespace hearsay::net
