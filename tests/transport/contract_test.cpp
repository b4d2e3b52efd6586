#include <chrono>
#include <set>

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "transport/world.h"

namespace hearsay::transport {
namespace {

using namespace std::chrono_literals;

/// Every transport fulfils the contract in transport.h. The bodies of these tests run in all
/// processes at once.
class TransportContract : public ::testing::TestWithParam<World> {};

/// A barrier, to order events in a test.
void meet(const Process& process, std::uint32_t round) {
  for (std::size_t p = 0; p < process.count(); ++p) {
    if (p != process.me()) process.transport.send(p, control(round), {}, {});
  }
  for (std::size_t p = 1; p < process.count(); ++p) process.receive(control(round));
}

TEST_P(TransportContract, SeatsAreTaken) {
  GetParam().run([](const Process& process) {
    const Seat seat = process.transport.seat();
    EXPECT_LT(seat.process, seat.processes);
    EXPECT_GT(seat.cores, 0.0);
    EXPECT_FALSE(process.transport.name().empty());
    EXPECT_TRUE(process.transport.gone().empty());
  });
}

TEST_P(TransportContract, BodiesOfEverySizeArriveUnchanged) {
  GetParam().run([](const Process& process) {
    std::uint32_t round = process.round;
    for (const std::size_t size : {0, 1, 23, 2047, 2048, 2049, 4095, 4096, 4097, 70000, 1 << 20}) {
      SCOPED_TRACE(size);
      send_around(process, size, round++, false);
      send_around(process, size, round++, true);
    }
  });
}

TEST_P(TransportContract, HeadsOfEverySizeArriveUnchanged) {
  GetParam().run([](const Process& process) {
    for (std::uint32_t size = 0; size <= kMostHeadBytes; ++size) {
      const Label label = gossip(process.round + size);
      const Bytes body = {9};
      process.transport.send(process.next(), label,
                             bytes_like(size, process.me(), process.next(), size), body);
      EXPECT_EQ(process.receive(label).head,
                bytes_like(size, process.previous(), process.me(), size));
      process.flush(label);
    }
  });
}

TEST_P(TransportContract, AThousandRoundsOfBothNeighbours) {
  GetParam().run([](const Process& process) {
    std::vector<Bytes> sent(3);
    for (std::uint32_t t = 0; t < 1000; ++t) {
      const std::uint32_t round = process.round + t;
      if (t >= 3) process.flush(gossip(round - 3));
      sent[t % 3] = bytes_like(t % 400 * 10, process.me(), 0, round);
      process.transport.send(process.next(), gossip(round), {}, sent[t % 3]);
      process.transport.send(process.previous(), gossip(round), {}, sent[t % 3]);
      for (int k = 0; k < 2; ++k) {
        const Arrival arrival = process.receive(gossip(round));
        ASSERT_TRUE(same(arrival.body, bytes_like(t % 400 * 10, arrival.process, 0, round)));
      }
    }
    process.flush(gossip(process.round + 999));
  });
}

TEST_P(TransportContract, NeighboursMayChangeEveryRound) {
  GetParam().run([](const Process& process) {
    const auto sends = [&](std::size_t from, std::size_t to, std::uint32_t t) {
      return from != to &&
             Random(3, Purpose::kTest, static_cast<std::uint32_t>(from), t).word(to) % 2 == 0;
    };
    for (std::uint32_t t = 0; t < 200; ++t) {
      const Label label = gossip(process.round + t);
      const Bytes body = bytes_like(t * 30, process.me(), 0, t);
      std::set<std::size_t> senders;
      for (std::size_t p = 0; p < process.count(); ++p) {
        if (sends(process.me(), p, t)) process.transport.send(p, label, {}, body);
        if (sends(p, process.me(), t)) senders.insert(p);
      }
      while (!senders.empty()) {
        const Arrival arrival = process.receive(label);
        EXPECT_EQ(senders.erase(arrival.process), 1u);
        EXPECT_TRUE(same(arrival.body, bytes_like(t * 30, arrival.process, 0, t)));
      }
      process.flush(label);
    }
  });
}

TEST_P(TransportContract, ARoundIsReceivedWhateverWasSentBefore) {
  GetParam().run([](const Process& process) {
    // The latest round first, and large messages between small ones.
    std::vector<Bytes> bodies(4);
    for (std::uint32_t t = 0; t < 4; ++t) {
      bodies[t] = bytes_like(t % 2 == 0 ? 100 : 300000, process.me(), 0, t);
    }
    for (std::uint32_t t = 4; t-- > 0;) {
      process.transport.send(process.next(), gossip(process.round + t), {}, bodies[t]);
    }
    for (std::uint32_t t = 0; t < 4; ++t) {
      const Arrival arrival = process.receive(gossip(process.round + t));
      EXPECT_TRUE(
          same(arrival.body, bytes_like(t % 2 == 0 ? 100 : 300000, process.previous(), 0, t)));
      EXPECT_FALSE(process.transport.receive(gossip(process.round + t), 0ms));
    }
    process.flush(gossip(process.round + 3));
  });
}

TEST_P(TransportContract, SeveralMessagesOfARoundAllArriveAndStay) {
  GetParam().run([](const Process& process) {
    for (const bool expected : {false, true}) {
      const Label label = gossip(process.round + (expected ? 1 : 0));
      const auto size = [](std::uint32_t part) { return part * part * 211; };
      std::vector<Bytes> bodies, buffers;
      for (std::uint32_t part = 0; part < 20; ++part) {
        bodies.push_back(bytes_like(size(part), process.me(), 0, label.round, part));
        buffers.emplace_back(size(part));
        if (expected) process.transport.expect(process.previous(), label, buffers.back());
      }
      for (std::uint8_t part = 0; part < 20; ++part) {
        const Bytes head = {part};
        process.transport.send(process.next(), label, head, bodies[part]);
      }
      std::vector<Arrival> arrivals;
      for (int k = 0; k < 20; ++k) arrivals.push_back(process.receive(label));
      std::set<std::uint8_t> parts;
      for (const Arrival& arrival : arrivals) {
        const std::uint8_t part = arrival.head.at(0);
        parts.insert(part);
        EXPECT_TRUE(
            same(arrival.body, bytes_like(size(part), process.previous(), 0, label.round, part)));
        EXPECT_TRUE(!expected || same(buffers[part], arrival.body));
      }
      EXPECT_EQ(parts.size(), 20u);
      process.flush(label);
    }
  });
}

TEST_P(TransportContract, LanesDoNotMix) {
  GetParam().run([](const Process& process) {
    const Bytes one = {1}, two = {2};
    process.transport.send(process.next(), gossip(process.round), one, two);
    process.transport.send(process.next(), control(process.round), two, one);
    EXPECT_EQ(process.receive(control(process.round)).head, two);
    process.flush(control(process.round));
    EXPECT_EQ(process.receive(gossip(process.round)).head, one);
    process.flush(gossip(process.round));
  });
}

TEST_P(TransportContract, ASlowReceiverHoldsUpItsSenderOnly) {
  GetParam().run([](const Process& process) {
    std::uint32_t round = process.round;
    for (const std::size_t size : {0, 10, 3000, 1 << 20}) {
      const Label label = gossip(++round);
      const Bytes body = bytes_like(size, 0, 1, round);
      if (process.me() == 0) {
        process.transport.send(1, label, {}, body);
        EXPECT_FALSE(process.transport.flush(label, 30ms)) << size;
        EXPECT_TRUE(process.transport.flush(gossip(label.round - 1), 0ms));
      }
      meet(process, round);  // until here rank 1 has not received anything
      if (process.me() == 1) {
        EXPECT_TRUE(same(process.receive(label).body, body));
      }
      if (process.me() == 0) process.flush(label);
    }
    process.flush(control(round));
  });
}

TEST_P(TransportContract, NothingComesWhereNothingWasSent) {
  GetParam().run([](const Process& process) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(process.transport.receive(gossip(process.round), 20ms));
    EXPECT_GE(std::chrono::steady_clock::now() - start, 20ms);
    EXPECT_TRUE(process.transport.flush(gossip(process.round), 0ms));
  });
}

TEST_P(TransportContract, WrongCallsThrow) {
  GetParam().run([](const Process& process) {
    Transport& transport = process.transport;
    const Label label = gossip(process.round + 5);
    Bytes buffer(1);
    EXPECT_THROW(transport.send(process.me(), label, {}, {}), InvalidArgument);
    EXPECT_THROW(transport.send(process.count(), label, {}, {}), InvalidArgument);
    EXPECT_THROW(transport.send(process.next(), label, Bytes(kMostHeadBytes + 1), {}),
                 InvalidArgument);
    EXPECT_THROW(transport.expect(process.me(), label, buffer), InvalidArgument);
    EXPECT_THROW(transport.expect(process.count(), label, buffer), InvalidArgument);
    EXPECT_FALSE(transport.receive(label, 0ms));
    EXPECT_THROW(transport.expect(process.next(), label, buffer), InvalidArgument);
    EXPECT_THROW(transport.receive(gossip(label.round - 1), 0ms), InvalidArgument);
  });
}

TEST_P(TransportContract, ABodyOfAnotherLengthThanExpectedIsCorrupt) {
  GetParam().run([](const Process& process) {
    const Label label = gossip(process.round);
    Bytes buffer(10);
    const Bytes body(11);
    process.transport.expect(process.previous(), label, buffer);
    process.transport.send(process.next(), label, {}, body);
    EXPECT_THROW(process.receive(label), CorruptData);
    process.flush(label);
  });
}

TEST_P(TransportContract, AFastSumIsASumOrIsNot) {
  GetParam().run([](const Process& process) {
    std::vector<float> values(1000, static_cast<float>(process.me() + 1));
    const bool fast = process.transport.fast_sum(values);
    const std::size_t n = process.count();
    const float expected = static_cast<float>(fast ? n * (n + 1) / 2 : process.me() + 1);
    EXPECT_EQ(values, std::vector<float>(1000, expected));
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, TransportContract, ::testing::ValuesIn(worlds()),
                         name_of<::testing::TestParamInfo<World>>);

}  // namespace
}  // namespace hearsay::transport
