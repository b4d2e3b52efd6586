#include "hearsay/net/bye.h"

#include <array>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::net {

namespace {

constexpr std::array<std::string_view, 9> kReasons{
    "",        "left",  "wrong run", "old incarnation", "refused", "duplicate connection",
    "removed", "stuck", "corrupt"};

}  // namespace

std::string_view name_of(ByeReason reason) { return kReasons.at(static_cast<std::size_t>(reason)); }

Bytes encode_frame(ByeReason reason, std::uint64_t number) {
  const auto byte = static_cast<std::uint8_t>(reason);
  return encode_frame(FrameType::kBye, 0, number, {&byte, 1});
}

ByeReason decode_bye(ByteView body) {
  if (body.size() != 1) {
    throw CorruptData(fmt::format("[bye] {} bytes; it has 1", body.size()));
  }
  if (body[0] < 1 || body[0] >= kReasons.size()) {
    throw CorruptData(
        fmt::format("[bye] reason {}; there are 1 to {}", body[0], kReasons.size() - 1));
  }
  return static_cast<ByeReason>(body[0]);
}

}  // namespace hearsay::net
