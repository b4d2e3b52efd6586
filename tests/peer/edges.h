#pragma once

#include <memory>

#include "hearsay/peer/edge.h"

namespace hearsay::peer {

/// A message whose header and code are that many bytes.
inline SentMessage message_of_size(std::size_t bytes, double now = 0, std::uint64_t rounds = 0) {
  return {.header = {.weight = 0.25f, .push_sum = 0.5},
          .code = std::make_shared<const Bytes>(bytes - compress::kHeaderBytes),
          .first_sent = now,
          .rounds = rounds};
}

inline net::Hello hello_of(const Edge& edge, std::uint64_t life) {
  net::Hello hello{.incarnation = life};
  edge.describe(hello);
  return hello;
}

}  // namespace hearsay::peer
