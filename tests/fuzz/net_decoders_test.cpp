#include "fuzz/net_decoders.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fuzz/mutate.h"
#include "hearsay/net/fleet.h"
#include "net/examples.h"

namespace hearsay::fuzz {
namespace {

/// Mutates the seeds; returns how many of a hundred thousand were accepted.
int mutated(const std::vector<Bytes>& seeds, bool (*decode)(ByteView)) {
  for (const Bytes& bytes : seeds) EXPECT_TRUE(decode(bytes));
  Random random(1, Purpose::kTest);
  int accepted = 0;
  for (int i = 0; i < 100'000; ++i) {
    Bytes bytes = seeds[random.below(seeds.size())];
    mutate(bytes, random);
    EXPECT_NO_THROW(accepted += decode(bytes)) << "input " << i;
  }
  return accepted;
}

TEST(NetDecoders, SurviveMutatedFrames) {
  std::vector<Bytes> seeds{{3}, {100}};
  for (const Bytes& frame : net::example_frames()) {
    Bytes& one = seeds.emplace_back(1, std::uint8_t{30});
    append(one, ByteView(frame));
    append(seeds[0], ByteView(frame));
    append(seeds[1], ByteView(frame));
  }
  const int accepted = mutated(seeds, decode_frames);
  EXPECT_GT(accepted, 1000);
  EXPECT_LT(accepted, 99'000);
}

TEST(NetDecoders, SurviveMutatedHellos) {
  Bytes body;
  net::encode(net::example_hello(), body);
  EXPECT_GT(mutated({body}, decode_hello), 1000);
}

TEST(NetDecoders, SurviveMutatedRecords) {
  std::vector<Bytes> seeds(2);
  const std::vector<net::Record> records(5, net::example_record());
  net::encode({records.data(), 1}, seeds[0]);
  net::encode(records, seeds[1]);
  EXPECT_GT(mutated(seeds, decode_records), 1000);
}

TEST(NetDecoders, SurviveMutatedFleetFiles) {
  const std::string first = to_toml(net::FleetPeer{"pi-3", {1}, net::Address{"fd00::1", 7420}}),
                    second = to_toml(net::FleetPeer{"it's", {2}, net::Address{"pi.local", 1}});
  const std::string settings =
      "[train]\nrate = [0.1, -1e300, nan]\n'odd key' = {a = 'b', c.d = 2026-11-19T01:02:03.4Z}\n"
      "text = \"\"\"\n\\t \\u00e9\"\"\"\nflag = true\n";
  std::vector<Bytes> seeds;
  for (const std::string& text : {first + second, settings + first + second}) {
    seeds.emplace_back(text.begin(), text.end());
  }
  const int accepted = mutated(seeds, read_fleet);
  EXPECT_GT(accepted, 1000);
  EXPECT_LT(accepted, 99'000);
}

}  // namespace
}  // namespace hearsay::fuzz
