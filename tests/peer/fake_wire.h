#pragma once

#include <utility>
#include <vector>

#include "hearsay/net/wire.h"

namespace hearsay::peer {

/// Keeps what it is told to do, and does nothing.
class FakeWire final : public net::Wire {
 public:
  void want(std::span<const std::uint32_t> peers) override {
    wanted.assign(peers.begin(), peers.end());
  }
  bool send(std::uint32_t peer, net::EncodedFrame frame) override {
    sent.emplace_back(peer, frame.joined());
    return true;
  }
  void close(std::uint32_t peer, const net::Bye& bye) override {
    closed.emplace_back(peer, bye.reason);
  }
  bool reliable() const override { return is_reliable; }
  double now() const override { return time; }

  double time = 0;
  bool is_reliable = true;
  std::vector<std::uint32_t> wanted;
  std::vector<std::pair<std::uint32_t, Bytes>> sent;
  std::vector<std::pair<std::uint32_t, net::ByeReason>> closed;
};

}  // namespace hearsay::peer
