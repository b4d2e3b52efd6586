// One peer, whose neighbours are made up.
#include "hearsay/peer/peer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hearsay/compress/code/message.h"
#include "hearsay/core/error.h"
#include "hearsay/net/record.h"
#include "peer/fake_wire.h"
#include "support/scratch.h"

namespace hearsay::peer {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Peer 0 of four.
class OnePeer {
 public:
  explicit OnePeer(Settings settings = {}) : options(options_with(std::move(settings))) {
    peer.neighbours().use({.wire = wire});
  }

  void connect(std::uint32_t other) {
    EXPECT_FALSE(peer.neighbours().judge(other, {.incarnation = 7, .next = 1, .slot = other}));
  }
  /// `from` tells what is known of a peer.
  void pulse(std::uint32_t from, net::Record record) {
    record.incarnation = 7;
    record.beat = ++beat_;
    const Bytes frame = net::encode_frame(std::vector{record});
    peer.neighbours().frame(from, net::decode_frame(frame, peer.neighbours().limits()));
  }
  /// A round, `seconds` after the last one: the headers of its messages, by receiver.
  std::vector<std::pair<std::uint32_t, compress::MessageHeader>> run_round(double seconds = 1) {
    wire.time += seconds;
    wire.sent.clear();
    peer.run_round();
    return messages();
  }
  std::vector<std::pair<std::uint32_t, compress::MessageHeader>> messages() const {
    std::vector<std::pair<std::uint32_t, compress::MessageHeader>> all;
    for (const auto& [receiver, bytes] : wire.sent) {
      const net::Frame frame = net::decode_frame(bytes, peer.neighbours().limits());
      if (frame.header.type != net::FrameType::kData) continue;
      ByteReader body(frame.body, "data");
      all.emplace_back(receiver, compress::read_header(body));
      if ((frame.header.flags & net::kUncompressedFlag) == 0) continue;
      std::vector<float> values(body.left() / sizeof(float));
      body.read(std::span(values));
      EXPECT_TRUE(std::ranges::all_of(values, [](float value) { return std::isfinite(value); }));
    }
    return all;
  }
  std::vector<std::uint32_t> receivers_of_a_round() {
    std::vector<std::uint32_t> all;
    for (const auto& [receiver, header] : run_round()) all.push_back(receiver);
    return all;
  }

  train::RunOptions options;
  train::RunParts own_parts;
  WholeGraph graph = whole_graph(options, own_parts);
  std::vector<std::string> log;
  FakeWire wire;
  Peer peer{{.options = options,
             .own_parts = own_parts,
             .self = 0,
             .incarnation = 5,
             .graph = graph,
             .log = [this](const std::string& what) { log.push_back(what); }}};

 private:
  static train::RunOptions options_with(Settings settings) {
    Settings all{{"timing", "asynchronous"},      {"peers", "4"},
                 {"graph", "complete"},           {"algorithm", "sgp"},
                 {"data", "least-squares:dim=8"}, {"rounds", "100"}};
    all.insert(all.end(), settings.begin(), settings.end());
    return support::config_of(all);
  }

  std::uint64_t beat_ = 0;
};

TEST(Peer, HasTheThreadsItIsGivenOrAllCores) {
  OnePeer one;
  EXPECT_EQ(one.peer.threads(), 1u) << "of many in one process";
  const Peer on_a_device({.options = one.options,
                          .own_parts = one.own_parts,
                          .incarnation = 5,
                          .graph = one.graph,
                          .threads = 0});
  EXPECT_EQ(on_a_device.threads(), gossip::Machine("cpu", 0).pool().threads());
}

TEST(Peer, EntersAtTheClockOfTheFleet) {
  OnePeer one;
  one.peer.enter({}, 40);
  EXPECT_EQ(one.peer.first_round(), 40u);
  EXPECT_EQ(one.peer.driver().round(), 40u);
  EXPECT_EQ(one.peer.clock(), 40);
  one.run_round();
  EXPECT_EQ(one.peer.driver().round(), 41u);
  EXPECT_EQ(one.peer.clock(), 41);
}

TEST(Peer, ScalesStepsAndSharesByTheRateOfTheFleet) {
  OnePeer one({{"algorithm", "sparse-push:eta=0.3"}, {"lr", "0.01"}, {"compressor", "identity"}});
  for (const std::uint32_t other : {1, 2, 3}) one.connect(other);
  one.peer.enter();
  for (int round = 0; round < 4; ++round) {
    for (std::uint32_t other = 1; other < 4; ++other) one.pulse(other, {.slot = other, .rate = 2});
    one.run_round();
  }
  const auto messages = one.run_round();
  EXPECT_DOUBLE_EQ(one.peer.rate(), 1);
  EXPECT_DOUBLE_EQ(one.peer.scale(), 7.0 / 4);
  ASSERT_FALSE(messages.empty());
  for (const auto& [receiver, header] : messages) {
    EXPECT_FLOAT_EQ(header.weight, 0.25f * 0.3f * 1.75f);
  }
  EXPECT_FLOAT_EQ(one.peer.step(), 0.01f * 1.75f);
}

TEST(Peer, KeepsItsWeightAboveTheFloorAndTurnsWhomItSkips) {
  OnePeer one;
  for (const std::uint32_t other : {1, 2, 3}) one.connect(other);
  one.peer.enter();
  // A quarter stays, so the floor is an eighth: 1 -> 1/4 with three messages -> 1/8 with two.
  EXPECT_EQ(one.receivers_of_a_round(), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(one.peer.floor(), 0.125);
  EXPECT_DOUBLE_EQ(one.peer.push_sum(), 0.25);
  EXPECT_EQ(one.receivers_of_a_round(), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_DOUBLE_EQ(one.peer.push_sum(), 0.125);
  EXPECT_TRUE(one.receivers_of_a_round().empty());
  EXPECT_EQ(one.peer.counts().sent, 5u);
  EXPECT_EQ(one.peer.counts().skipped, 4u);

  OnePeer sparse(Settings{{"graph", "ring:directed"}});
  sparse.connect(1);
  sparse.peer.enter();
  sparse.run_round();
  EXPECT_EQ(sparse.peer.floor(), 0.25) << "it keeps a half";
}

TEST(Peer, SendsNoModelThatIsNotFinite) {
  for (const char* algorithm : {"sgp", "sgp:overlap=1"}) {
    for (const char* lr : {"1e25", "1e38"}) {
      OnePeer one({{"lr", lr}, {"algorithm", algorithm}});
      for (const std::uint32_t other : {1, 2, 3}) one.connect(other);
      one.peer.enter();
      const auto run = [&] {
        for (int round = 0; round < 5; ++round) one.run_round();
      };
      EXPECT_THROW(run(), RunFailed);
      one.messages();  // expects finite values
    }
  }
}

TEST(Peer, MixesWithoutAGradientWhenTrainingIsOver) {
  for (const char* algorithm : {"sgp", "sgp:overlap=1"}) {
    OnePeer one({{"algorithm", algorithm}, {"rounds", "2"}});
    one.connect(2);
    one.peer.enter();
    while (one.peer.stage() == Stage::kTraining) {
      one.pulse(2, {.slot = 2, .status = net::Status::kEntering});
      one.pulse(2, {.slot = 1});  // lives, and cannot be sent to
      one.run_round();
    }
    const std::vector<float> trained = one.peer.numerator();
    one.run_round();
    EXPECT_EQ(one.peer.stage(), Stage::kFinished);
    EXPECT_EQ(one.peer.numerator(), trained) << algorithm;
  }
}

TEST(Peer, WaitsForFinalRoundsAsLongAsTheSlowestNeedsForFive) {
  OnePeer one({{"algorithm", "scsp:final=2"}, {"compressor", "identity"}, {"rounds", "1"}});
  one.connect(2);
  one.peer.enter();
  one.run_round();
  const auto until = [&](double seconds) {
    while (one.wire.time < seconds) {
      // Peer 2 has no model yet, but knows of a slow peer 1, to which there is no connection.
      one.pulse(2, {.slot = 2, .status = net::Status::kEntering});
      one.pulse(2, {.slot = 1, .rate = 0.02f});
      one.run_round(4);
    }
  };
  until(240);
  EXPECT_EQ(one.peer.stage(), Stage::kFinal);
  EXPECT_TRUE(one.log.empty() || one.log.back().find("left out") == std::string::npos);
  until(264);
  EXPECT_EQ(one.peer.stage(), Stage::kFinished);
  EXPECT_NE(one.log.back().find("2 of 2 final rounds are left out"), std::string::npos);
}

TEST(Peer, EstimatesStatisticsThatItsInitDoesNotHave) {
  support::Scratch scratch;
  const Settings network{{"data", "digits"}, {"model", "cnn:norm=batch"}, {"batch", "16"}};
  const OnePeer other(network);
  const engine::Objective& objective = other.peer.objective();
  ASSERT_GT(objective.buffer_layout().dim(), 0u);
  std::vector<float> model(objective.layout().dim());
  objective.initial_model(0, model);
  train::write_safetensors(scratch / "bare.safetensors", objective.layout(), model);

  Settings with_init = network;
  with_init.emplace_back("init", (scratch / "bare.safetensors").string());
  OnePeer one(with_init);
  one.peer.enter();
  EXPECT_EQ(one.peer.objective().buffers(0), one.peer.objective().estimate_buffers(model));
  EXPECT_NE(one.peer.objective().buffers(0), objective.buffers(0));
}

}  // namespace
}  // namespace hearsay::peer
