#include "hearsay/net/hello.h"

#include <cstring>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/net/frame.h"

namespace hearsay::net {

void encode(const Hello& hello, Bytes& out) {
  for (const std::byte byte : hello.run) append(out, static_cast<std::uint8_t>(byte));
  for (const std::uint64_t value : {hello.incarnation, hello.known, hello.rounds, hello.next,
                                    hello.highest, hello.arrived, hello.refused}) {
    append(out, value);
  }
  append(out, hello.slot);
  append(out, hello.port);
  append(out, std::uint16_t{0});
}

Bytes encode_frame(const Hello& hello) {
  Bytes body;
  encode(hello, body);
  return encode_frame(FrameType::kHello, 0, 0, body);
}

Hello decode_hello(ByteView body) {
  if (body.size() != kHelloBytes) {
    throw CorruptData(fmt::format("[hello] {} bytes; it has {}", body.size(), kHelloBytes));
  }
  ByteReader in(body, "hello");
  Hello hello;
  std::memcpy(hello.run.data(), in.take(hello.run.size()).data(), hello.run.size());
  for (std::uint64_t* value : {&hello.incarnation, &hello.known, &hello.rounds, &hello.next,
                               &hello.highest, &hello.arrived, &hello.refused}) {
    *value = in.read<std::uint64_t>();
  }
  hello.slot = in.read<std::uint32_t>();
  hello.port = in.read<std::uint16_t>();
  if (const auto zero = in.read<std::uint16_t>(); zero != 0) {
    throw CorruptData(fmt::format("[hello] {:#x} at its end; that is 0", zero));
  }
  if (hello.incarnation == 0) throw CorruptData("[hello] incarnation 0; it is 1 or more");
  if (hello.slot >= kMostPeers) {
    throw CorruptData(
        fmt::format("[hello] slot {}; a fleet has at most {} peers", hello.slot, kMostPeers));
  }
  return hello;
}

}  // namespace hearsay::net
