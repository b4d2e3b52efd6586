#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hearsay/core/random.h"
#include "hearsay/transport/transport.h"

namespace hearsay::transport {

inline Label gossip(std::uint32_t round) { return {Lane::kGossip, round}; }
inline Label control(std::uint32_t round) { return {Lane::kControl, round}; }

/// One process of a world, as a test sees it. `round` is the first round a test may use: earlier
/// tests may have run in the same world.
struct Process {
  Transport& transport;
  std::uint32_t round;

  std::size_t me() const { return transport.seat().process; }
  std::size_t count() const { return transport.seat().processes; }
  std::size_t next() const { return (me() + 1) % count(); }
  std::size_t previous() const { return (me() + count() - 1) % count(); }

  /// Receive, with a timeout far beyond any normal delay.
  Arrival receive(Label label) const {
    if (auto arrival = transport.receive(label, std::chrono::seconds(30))) return *arrival;
    throw std::runtime_error("no message of round " + std::to_string(label.round - round));
  }
  void flush(Label label) const {
    if (!transport.flush(label, std::chrono::seconds(30))) {
      throw std::runtime_error("round " + std::to_string(label.round - round) + " is not taken");
    }
  }
};

/// Processes with a transport: threads of this program, or the ranks of an mpirun.
struct World {
  std::string name;
  /// Calls the body in every process, and returns when all processes of this program are done.
  std::function<void(const std::function<void(const Process&)>&)> run;
};

inline std::ostream& operator<<(std::ostream& out, const World& world) { return out << world.name; }

/// The worlds of this test program.
std::vector<World> worlds();

inline std::string name_of(const auto& info) { return info.param.name; }

/// Bytes that are unique to each message.
inline Bytes bytes_like(std::size_t size, std::size_t from, std::size_t to, std::uint32_t round,
                        std::uint32_t part = 0) {
  Random random(part, Purpose::kTest, static_cast<std::uint32_t>(from * 1000 + to), round);
  std::uint64_t word = random.next();
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; i += sizeof word, word = word * 0x5851F42D4C957F2Du + 1) {
    std::memcpy(bytes.data() + i, &word, std::min(sizeof word, size - i));
  }
  return bytes;
}

inline bool same(ByteView a, ByteView b) { return std::ranges::equal(a, b); }

/// A ring in which every process sends before it receives.
inline void send_around(const Process& process, std::size_t size, std::uint32_t round,
                        bool expected) {
  Bytes buffer(expected ? size : 0);
  if (expected) process.transport.expect(process.previous(), gossip(round), buffer);
  const Bytes head = {1, 2, 3};
  const Bytes body = bytes_like(size, process.me(), process.next(), round);
  EXPECT_TRUE(process.transport.send(process.next(), gossip(round), head, body));
  const Arrival arrival = process.receive(gossip(round));
  EXPECT_EQ(arrival.process, process.previous());
  EXPECT_EQ(arrival.head, head);
  EXPECT_TRUE(same(arrival.body, bytes_like(size, process.previous(), process.me(), round)));
  if (expected && size > 0) {
    EXPECT_EQ(arrival.body.data(), buffer.data());
  }
  process.flush(gossip(round));
}

}  // namespace hearsay::transport
