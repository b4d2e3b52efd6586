#include "hearsay/compress/code/message.h"

#include <cmath>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::compress {

namespace {

constexpr std::size_t kCheckAt = 2;

/// CRC-16/CCITT (polynomial 0x1021, start 0xffff) of a header without its checksum field.
std::uint16_t checksum(ByteView header) {
  std::uint32_t crc = 0xffff;
  for (std::size_t i = 0; i < kHeaderBytes; ++i) {
    if (i == kCheckAt || i == kCheckAt + 1) continue;
    crc ^= std::uint32_t{header[i]} << 8;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
  }
  return static_cast<std::uint16_t>(crc);
}

}  // namespace

void append_header(const MessageHeader& header, Bytes& out) {
  const std::size_t at = out.size();
  append(out, kMessageVersion);
  append(out, static_cast<std::uint8_t>(header.kind));
  append(out, std::uint16_t{0});
  append(out, header.sender);
  append(out, header.round);
  append(out, header.weight);
  append(out, header.push_sum);
  const std::uint16_t check = checksum(ByteView(out).subspan(at));
  std::memcpy(out.data() + at + kCheckAt, &check, sizeof check);
}

MessageHeader read_header(ByteReader& in) {
  const ByteView bytes = in.take(kHeaderBytes);
  ByteReader fields(bytes, in.what());
  const auto version = fields.read<std::uint8_t>();
  if (version != kMessageVersion) {
    throw CorruptData(fmt::format("[{}] message version {}; this build reads version {}", in.what(),
                                  version, kMessageVersion));
  }
  const auto kind = fields.read<std::uint8_t>();
  if (kind != static_cast<std::uint8_t>(MessageKind::kModel) &&
      kind != static_cast<std::uint8_t>(MessageKind::kAuxiliary)) {
    throw CorruptData(fmt::format("[{}] message kind {}; there are 1 and 2", in.what(), kind));
  }
  if (fields.read<std::uint16_t>() != checksum(bytes)) {
    throw CorruptData(fmt::format("[{}] message header is damaged: wrong check", in.what()));
  }
  MessageHeader header;
  header.kind = static_cast<MessageKind>(kind);
  header.sender = fields.read<std::uint32_t>();
  header.round = fields.read<std::uint32_t>();
  header.weight = fields.read<float>();
  header.push_sum = fields.read<double>();
  if (!(header.weight > 0 && std::isfinite(header.weight)) ||
      !(header.push_sum > 0 && std::isfinite(header.push_sum))) {
    throw CorruptData(fmt::format("[{}] message weights {} and {}; both are positive and finite",
                                  in.what(), header.weight, header.push_sum));
  }
  return header;
}

}  // namespace hearsay::compress
