#include "hearsay/run/peer/settings.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "support/scratch.h"

namespace hearsay::run {
namespace {

TEST(PeerSettings, AreReadAsTheyWereWritten) {
  support::Scratch scratch;
  EXPECT_FALSE(is_of_peer(scratch.path()));
  EXPECT_THROW(read_peer_settings(scratch.path()), InvalidArgument);
  const PeerSettings all{.fleet = "/a/it's.toml",
                         .identity = "/b/pi 3.pem",
                         .listen = net::Address{"fd00::1", 7420},
                         .data = "csv:x.csv,label=y",
                         .least_round = 0.05,
                         .wait_for = 5};
  support::write_text(scratch / "peer.toml", all.to_toml());
  EXPECT_TRUE(is_of_peer(scratch.path()));
  const PeerSettings read = read_peer_settings(scratch.path());
  EXPECT_EQ(read.fleet, all.fleet);
  EXPECT_EQ(read.identity, all.identity);
  EXPECT_EQ(read.listen, all.listen);
  EXPECT_EQ(read.data, all.data);
  EXPECT_EQ(read.least_round, all.least_round);
  EXPECT_EQ(read.wait_for, all.wait_for);
  support::write_text(scratch / "peer.toml", PeerSettings{"f", "i"}.to_toml());
  EXPECT_FALSE(read_peer_settings(scratch.path()).listen);
  EXPECT_EQ(read_peer_settings(scratch.path()).least_round, 0);
  support::write_text(scratch / "peer.toml", "fleet = 'f'\nidentty = 'i'\n");
  EXPECT_THROW(read_peer_settings(scratch.path()), InvalidArgument);
}

TEST(PlaceInRun, StandsWithTheSettings) {
  support::Scratch scratch;
  EXPECT_FALSE(read_place_in_run(scratch.path()));
  const auto write = [&](const std::string& text) {
    support::write_text(scratch / "peer.toml", text);
  };
  write(PeerSettings{"f", "i"}.to_toml());
  EXPECT_FALSE(read_place_in_run(scratch.path())) << "as older versions wrote it";
  const PlaceInRun place{std::string(64, 'f'), "it's pi \"3\"", 3};
  write(PeerSettings{"f", "i"}.to_toml() + place.to_toml());
  EXPECT_EQ(read_peer_settings(scratch.path()).fleet, "f");
  const auto read = read_place_in_run(scratch.path());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, place.id);
  EXPECT_EQ(read->name, place.name);
  EXPECT_EQ(read->slot, 3u);
  for (const PlaceInRun& foreign :
       {PlaceInRun{"../..", "pi", 0}, PlaceInRun{std::string(64, 'G'), "pi", 0},
        PlaceInRun{place.id, "", 0}, PlaceInRun{place.id, "a\nb", 0},
        PlaceInRun{place.id, "pi", 1024}}) {
    write(foreign.to_toml());
    EXPECT_FALSE(read_place_in_run(scratch.path())) << foreign.to_toml();
  }
  for (const char* text : {"run = 3", "[run", "[run]\nid = 3", "[[run]]"}) {
    write(text);
    EXPECT_FALSE(read_place_in_run(scratch.path())) << text;
  }
}

TEST(PeerSettings, MakeARunOfThoseOfTheFleet) {
  net::Fleet fleet{.peers = {{.name = "a", .id = {1}}, {.name = "b", .id = {2}}}, .train = ""};
  fleet.train = "algorithm = 'sgp'\ncompressor = 'identity'\n";
  const train::RunOptions options =
      options_of_fleet(fleet, {.fleet = "f.toml", .identity = "i.pem"});
  EXPECT_EQ(options.peers, 2u);
  EXPECT_EQ(options.timing, "asynchronous");
  EXPECT_EQ(options.compare, train::Compare::kNo);
  EXPECT_EQ(options.algorithm, "sgp");
  EXPECT_EQ(options.data, "digits");
  EXPECT_EQ(
      options_of_fleet(fleet, {.fleet = "f.toml", .identity = "i.pem", .data = "synthetic"}).data,
      "synthetic");
}

}  // namespace
}  // namespace hearsay::run
