#include "hearsay/transport/mpi/mpi.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "transport/world.h"

namespace hearsay::transport {
namespace {

using namespace std::chrono_literals;

/// Properties of the MPI transport beyond the contract.
class MpiTransport : public ::testing::TestWithParam<World> {};

// Pairs: the even rank can flush a message although the odd one makes no call for two seconds.
TEST_P(MpiTransport, MovesBytesWhileTheReceiverComputes) {
  GetParam().run([](const Process& process) {
    Transport& transport = process.transport;
    const std::size_t size = 8u << 20;
    const bool computes = process.me() % 2 == 1;
    if (!computes && process.next() == 0) return;  // a rank without a partner
    for (const bool expected : {true, false}) {
      const Label label = gossip(process.round + (expected ? 0 : 1));
      Bytes buffer(size), body;
      if (computes) {
        if (expected) transport.expect(process.previous(), label, buffer);
        transport.send(process.previous(), label, {}, {});
        std::this_thread::sleep_for(2s);
        EXPECT_TRUE(same(process.receive(label).body,
                         bytes_like(size, process.previous(), 0, label.round)));
      } else {
        process.receive(label);  // from here on the odd rank computes
        body = bytes_like(size, process.me(), 0, label.round);
        transport.send(process.next(), label, {}, body);
        EXPECT_TRUE(transport.flush(label, 1500ms));
      }
      process.flush(label);
    }
  });
}

// A tag is the round modulo 0x8000, so tags wrap around long before rounds do.
TEST_P(MpiTransport, HasMoreRoundsThanTags) {
  GetParam().run([](const Process& process) {
    constexpr std::uint32_t kTags = 0x8000;
    const std::uint32_t again = (process.round / kTags + 1) * kTags;
    for (std::uint32_t round = again - 4; round < again + 4; ++round) {
      send_around(process, 5000, round, round % 2 == 0);
    }
  });
}

TEST_P(MpiTransport, IsOneInTheLifeOfAProcess) {
  EXPECT_THROW(make_mpi(Arguments("mpi", kMpiParameters)), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Worlds, MpiTransport, ::testing::ValuesIn(worlds()),
                         name_of<::testing::TestParamInfo<World>>);

}  // namespace
}  // namespace hearsay::transport
