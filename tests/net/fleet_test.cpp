#include "hearsay/net/fleet.h"

#include <cmath>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/toml_table.h"
#include "hearsay/net/frame.h"
#include "support/scratch.h"

namespace hearsay::net {
namespace {

Id example_id(std::uint32_t k) {
  Id id{};
  for (std::size_t i = 0; i < 4; ++i) id[i] = static_cast<std::uint8_t>(k >> 8 * i);
  return id;
}

std::string id_text(std::uint32_t k) { return to_text(example_id(k)); }

/// Peers 'p0', 'p1', ... of ids 0, 1, ..., from line 1 on, three lines each.
std::string example_peers(std::uint32_t count) {
  std::string text;
  for (std::uint32_t k = 0; k < count; ++k) {
    text += to_toml({fmt::format("p{}", k), example_id(k), {}});
  }
  return text;
}

std::string fleet_refusal(const std::string& text) {
  try {
    parse_fleet(text, "f.toml");
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Fleet, IsItsPeersInOrderAndItsSettings) {
  const Fleet fleet = parse_fleet(
      "# of the attic\n"
      "[train]  # the same everywhere\n"
      "graph = 'exponential'\n"
      "algorithm = 'scsp'\n"
      "[[peer]]\n"
      "name = 'pi-3'\n"
      "id = '" +
          id_text(3) +
          "'\n"
          "address = '10.0.0.13:7420'\n"
          "[[peer]]\n"
          "id = '" +
          id_text(1) +
          "'\n"
          "name = \"a phone's\"\n",
      "f.toml");
  const std::vector<FleetPeer> peers{{"pi-3", example_id(3), Address{"10.0.0.13", 7420}},
                                     {"a phone's", example_id(1), {}}};
  EXPECT_EQ(fleet.peers, peers);
  EXPECT_EQ(fleet.train, "\n\ngraph = 'exponential'\nalgorithm = 'scsp'\n");
  EXPECT_EQ(fleet.slot_of(example_id(3)), 0u);
  EXPECT_EQ(fleet.slot_of(example_id(1)), 1u);
  EXPECT_EQ(fleet.slot_of(example_id(2)), std::nullopt);
}

TEST(Fleet, MayHaveNoSettings) {
  EXPECT_EQ(parse_fleet(example_peers(2), "f.toml").train, "");
  EXPECT_EQ(parse_fleet("[train]\n" + example_peers(2), "f.toml").train, "");
  EXPECT_EQ(parse_fleet("train = {}\n" + example_peers(2), "f.toml").train, "");
}

TEST(Fleet, KeepsSettingsOfAllKindsWithTheirLines) {
  const std::string settings =
      "\n\n"
      "lr = 0.1\n"
      "rounds = 4000\n"
      "classes = [\n  'cat',\n  'dog', # and no more\n]\n"
      "mean = [0.5, 1e-300, -0.0, 3.0, inf, 1e22]\n"
      "data = \"it's\\tC:\\\\\\\"x\\\" \\u00e9 \\u007f\"\n"
      "compare = true\n"
      "when = [1979-05-27, 07:32:00.5, 1979-05-27T07:32:00Z, 1979-05-27T00:32:00.999-07:00]\n"
      "'an odd key' = { a = 1, b.c = [] }\n"
      "hex = 0xff\n"
      "long = '''\nfirst\nsecond'''\n"
      "least = -9223372036854775808\n";
  const Fleet fleet = parse_fleet("\n[train]" + settings.substr(1) + example_peers(2), "f.toml");
  const toml::table before = parse_toml(settings, "before"), after = parse_toml(fleet.train, "x");
  EXPECT_EQ(before, after) << fleet.train;
  for (const auto& [key, node] : before) {
    EXPECT_EQ(after.get(key.str())->source().begin.line, node.source().begin.line) << key.str();
  }
  EXPECT_TRUE(std::signbit(after["mean"][2].value<double>().value()));
}

TEST(Fleet, KeepsSettingsHoweverTheTableIsWritten) {
  for (const std::string text : {"[train]\na = 1\nb = 'x'\n", "train = { b = 'x', a = 1 }\n",
                                 "train.a = 1\ntrain.b = 'x'\n"}) {
    const Fleet fleet = parse_fleet(text + example_peers(2), "f.toml");
    EXPECT_EQ(parse_toml(fleet.train, "x"), parse_toml("a = 1\nb = 'x'", "y")) << text;
  }
}

TEST(Fleet, HasTwoTo1024Peers) {
  EXPECT_EQ(fleet_refusal(""), "[f.toml] has 0 peers; a fleet has 2 to 1024");
  EXPECT_EQ(fleet_refusal(example_peers(1)), "[f.toml] has 1 peer; a fleet has 2 to 1024");
  const Fleet most = parse_fleet(example_peers(kMostPeers), "f.toml");
  ASSERT_EQ(most.peers.size(), kMostPeers);
  EXPECT_EQ(most.slot_of(example_id(1023)), 1023u);
  EXPECT_EQ(fleet_refusal(example_peers(kMostPeers + 1)),
            "[f.toml] has 1025 peers; a fleet has 2 to 1024");
}

TEST(Fleet, NamesTheLineOfEveryMistake) {
  const std::string two = example_peers(2);  // lines 1 to 6
  const auto third = [&](const std::string& lines) {
    return fleet_refusal(two + "[[peer]]\n" + lines);
  };
  const std::string id = "id = '" + id_text(2) + "'\n", name = "name = 'p2'\n";

  EXPECT_TRUE(fleet_refusal(two + "[[peer").starts_with("[f.toml, line 7] "));
  EXPECT_EQ(
      fleet_refusal("[[peers]]\n" + two),
      "[f.toml, line 1] there is no 'peers' here (did you mean 'peer'?); there are train, peer");
  EXPECT_EQ(fleet_refusal("train = 'scsp'\n" + two), "[f.toml, line 1] train must be a table");
  EXPECT_EQ(fleet_refusal("[peer]\n" + name + id),
            "[f.toml, line 1] peer must be a list; write [[peer]] above each");
  EXPECT_EQ(fleet_refusal("peer = 3\n"), "[f.toml, line 1] peer must be a list that is not empty");
  EXPECT_EQ(fleet_refusal("\npeer = [1, 2]\n"), "[f.toml, line 2] peer must be a list of tables");
  EXPECT_EQ(third(name), "[f.toml, line 7] there is no 'id' here, and it is needed");
  EXPECT_EQ(third(id), "[f.toml, line 7] there is no 'name' here, and it is needed");
  EXPECT_EQ(third("name = 3\n" + id), "[f.toml, line 8] name must be a text");
  EXPECT_EQ(third(name + "id = 3\n"), "[f.toml, line 9] id must be a text");
  EXPECT_EQ(third(name + id + "address = 7420\n"), "[f.toml, line 10] address must be a text");
  EXPECT_EQ(
      third(name + id + "adress = 'a:1'\n"),
      "[f.toml, line 10] there is no 'adress' here (did you mean 'address'?); there are name, "
      "id, address");
  EXPECT_EQ(third(name + "id = 'hs1:abc'\n"),
            "[f.toml, line 9] 'hs1:abc' has 3 characters after hs1:; an id is hs1: and 52 of the "
            "characters a to z and 2 to 7, as hearsay identity show prints it");
  EXPECT_EQ(third(name + id + "address = '10.0.0.13'\n"),
            "[f.toml, line 10] '10.0.0.13' has no port; an address is HOST:PORT, as in "
            "10.0.0.13:7420, [fd00::13]:7420 or pi-3.local:7420");
  EXPECT_EQ(third("name = \"a\\nb\"\n" + id),
            "[f.toml, line 8] 'a\nb' has a control character; a name is 1 to 64 bytes of UTF-8 "
            "without control characters");
}

TEST(Fleet, HasNoTwoPeersOfOneNameIdOrAddress) {
  const auto third = [](const std::string& lines) {
    return fleet_refusal(example_peers(2) + "address = 'pi.local:7420'\n[[peer]]\n" + lines);
  };
  const std::string id = "id = '" + id_text(2) + "'\n", name = "name = 'p2'\n";
  EXPECT_EQ(third("name = 'p0'\n" + id),
            "[f.toml, line 9] the peer in line 1 has the name 'p0' too; each has its own");
  EXPECT_EQ(
      third(name + "id = '" + id_text(1) + "'\n"),
      "[f.toml, line 10] the peer in line 4 has the id '" + id_text(1) + "' too; each has its own");
  EXPECT_EQ(
      third(name + id + "address = 'PI.local:7420'\n"),
      "[f.toml, line 11] the peer in line 4 has the address 'pi.local:7420' too; each has its "
      "own");
  EXPECT_EQ(third(name + id + "address = 'pi.local:7421'\n"), "accepted");
}

TEST(Fleet, HasNoAddressThatCannotBeDialled) {
  for (const std::string text : {"pi.local:0", "0.0.0.0:7420", "[::]:7420", "[0::0]:7420"}) {
    EXPECT_EQ(fleet_refusal(example_peers(2) + "address = '" + text + "'\n"),
              "[f.toml, line 7] '" + text +
                  "' cannot be dialled; give the host and the port at which others reach this "
                  "peer, or no address if they cannot");
  }
}

TEST(Fleet, IsReadFromItsFile) {
  const support::Scratch scratch;
  const std::filesystem::path file = scratch / "fleet.toml";
  support::write_text(file, example_peers(3));
  EXPECT_EQ(read_fleet(file).peers.size(), 3u);
  support::write_text(file, "x = 1\n");
  const auto refusal = [](const std::filesystem::path& path) -> std::string {
    try {
      read_fleet(path);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal(file),
            "[" + file.string() + ", line 1] there is no 'x' here; there are train, peer");
  EXPECT_EQ(
      refusal(scratch / "none.toml"),
      "[files] cannot read " + (scratch / "none.toml").string() + ": No such file or directory");
}

TEST(FleetPeer, IsReadBackFromItsLines) {
  std::string text;
  std::vector<FleetPeer> peers;
  for (const char* name : {"pi-3", "it's \"quoted\" \\", "caf\xc3\xa9", " "}) {
    const auto k = static_cast<std::uint32_t>(peers.size());
    peers.push_back({name, example_id(k), {}});
    if (k % 2 == 0) peers.back().address = Address{"fd00::1", static_cast<std::uint16_t>(k + 1)};
    text += to_toml(peers.back());
  }
  EXPECT_EQ(parse_fleet(text, "f.toml").peers, peers);
  EXPECT_EQ(to_toml(peers[0]),
            "[[peer]]\nname = 'pi-3'\nid = '" + id_text(0) + "'\naddress = '[fd00::1]:1'\n");
}

TEST(FleetPeer, HasANameThatCanStandInALog) {
  const auto refusal = [](std::string_view name) -> std::string {
    try {
      check_peer_name(name);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted";
  };
  const std::string after = "; a name is 1 to 64 bytes of UTF-8 without control characters";
  EXPECT_EQ(refusal(std::string(64, 'x')), "accepted");
  EXPECT_EQ(refusal(std::string(65, 'x')),
            "[name] '" + std::string(65, 'x') + "' has 65 bytes" + after);
  EXPECT_EQ(refusal(""), "[name] '' is empty" + after);
  EXPECT_EQ(refusal("caf\xe9"), "[name] 'caf\\xe9' is not UTF-8" + after);
  EXPECT_EQ(refusal("\x1b[2J"), "[name] '\x1b[2J' has a control character" + after);
  EXPECT_EQ(refusal("a\x7f"), "[name] 'a\x7f' has a control character" + after);
}

TEST(FleetPeer, ListensOnThePortOfItsAddress) {
  const auto address = [](std::optional<Address> of_fleet) {
    return listening_address({.name = "a", .address = std::move(of_fleet)});
  };
  EXPECT_FALSE(address({}));
  EXPECT_EQ(address(Address{"10.0.0.13", 7420}), (Address{"0.0.0.0", 7420}));
  EXPECT_EQ(address(Address{"pi.local", 1}), (Address{"0.0.0.0", 1}));
  EXPECT_EQ(address(Address{"fd00::13", 7420}), (Address{"::", 7420}));
  EXPECT_EQ(address(Address{"127.3.2.1", 7}), (Address{"127.3.2.1", 7}));
  EXPECT_EQ(address(Address{"::1", 7}), (Address{"::1", 7}));
  EXPECT_EQ(address(Address{"localhost", 7}), (Address{"127.0.0.1", 7}));
}

}  // namespace
}  // namespace hearsay::net
