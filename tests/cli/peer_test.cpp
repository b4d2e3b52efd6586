// Fleets of `hearsay peer`, a process for each device, over TLS on 127.x.y.z.
#include <cmath>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "cli/fleet.h"

namespace hearsay::cli {
namespace {

TEST_F(Fleet, TrainsOneModelOverTls) {
  make_fleet(3, "algorithm = 'scsp'\ngraph = 'exponential'\nrounds = 200\n");
  for (std::size_t k = 0; k < 3; ++k) start(k);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(device(k).wait(), 0) << error_of(k);
  for (std::size_t k = 0; k < 3; ++k) {
    const json summary = json::parse(support::read_text(out(k) / "summary.json"));
    EXPECT_EQ(summary["transport"], "tls");
    EXPECT_GT(summary["bytes_total"], 10'000);
    // A third of the samples, most of them of a third of the classes.
    EXPECT_GT(last_line(k)["accuracy"], 85) << k;
    const std::string model = fmt::format("pi-{}/models/peer-{}.safetensors", k, k);
    EXPECT_EQ(hearsay({"eval", model}, scratch_.path()).status, 0);
    for (const char* name : {"config.toml", "peer.toml", "events.jsonl", "report.html"}) {
      EXPECT_TRUE(fs::exists(out(k) / name)) << name;
    }
  }
  const json fleet = json::parse(support::read_text(out(0) / "fleet.json"));
  EXPECT_EQ(fleet["self"], "pi-0");
  EXPECT_EQ(fleet["peers"].size(), 3u);
}

TEST_F(Fleet, GoesOnWhenHalfOfItIsKilledAndReturns) {
  make_fleet(4, "algorithm = 'sgp'\ngraph = 'exponential'\nrounds = 1500\n");
  for (std::size_t k = 0; k < 4; ++k) start(k);
  const auto has_kept = [&](std::size_t k) { return fs::exists(out(k) / "checkpoint/peer.json"); };
  ASSERT_TRUE(comes_true([&] { return has_kept(2) && has_kept(3); }));
  const double killed = now();
  for (const std::size_t k : {2u, 3u}) device(k).kill();
  for (const std::size_t k : {2u, 3u}) EXPECT_EQ(device(k).wait(), -SIGKILL);
  for (const std::size_t k : {0u, 1u}) {
    for (const char* gone : {"pi-2 is gone", "pi-3 is gone"}) {
      ASSERT_TRUE(comes_true([&] { return time_of(k, gone) > 0; })) << k << gone;
      EXPECT_LT(time_of(k, gone) - killed, 3);
    }
  }
  const std::uint64_t round = last_line(0)["round"];
  ASSERT_TRUE(comes_true([&] { return has_reached(0, round + 150); })) << "the others train on";
  for (const std::size_t k : {2u, 3u}) go_on(k);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(device(k).wait(), 0) << error_of(k);
  for (const std::size_t k : {2u, 3u}) {
    EXPECT_NE(error_of(k).find("has a model of round"), std::string::npos) << error_of(k);
    EXPECT_GT(last_line(k)["accuracy"], 85);
    // The lines of both lives, by the clock of the fleet.
    std::istringstream lines(support::read_text(out(k) / "metrics.jsonl"));
    std::uint64_t before = 0, count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      const std::uint64_t at = json::parse(line)["round"];
      EXPECT_GE(at, before);
      before = at;
    }
    EXPECT_GT(count, 5u);
  }
}

TEST_F(Fleet, LeavesOnSigtermAndGoesOn) {
  make_fleet(2, "algorithm = 'sgp'\nrounds = 500\n");
  start(0);
  start(1);
  ASSERT_TRUE(comes_true([&] { return has_reached(1, 50); }));
  device(1).signal(SIGTERM);
  EXPECT_EQ(device(1).wait(), 130);
  EXPECT_NE(error_of(1).find("go on with: hearsay peer --resume pi-1\n"), std::string::npos)
      << error_of(1);
  const Result wrong = hearsay({"train", "--resume", "pi-1"}, scratch_.path());
  EXPECT_EQ(wrong.status, 2);
  EXPECT_EQ(wrong.err,
            "hearsay: [train] pi-1 is the run directory of one peer of a fleet; go on with: "
            "hearsay peer --resume pi-1\n");
  EXPECT_FALSE(device(0).ended());
  const std::string text = support::read_text(scratch_ / "fleet.toml");
  support::write_text(scratch_ / "fleet.toml", "[train]\nlr = '0.5'\n" + text.substr(8));
  const Result changed = hearsay({"peer", "--resume", "pi-1"}, scratch_.path());
  EXPECT_EQ(changed.status, 2);
  EXPECT_NE(changed.err.find("have changed since pi-1 began"), std::string::npos) << changed.err;
  support::write_text(scratch_ / "fleet.toml", text);
  go_on(1);
  EXPECT_EQ(device(0).wait(), 0);
  EXPECT_EQ(device(1).wait(), 0) << error_of(1);
}

TEST_F(Fleet, CutsOffWhoIsRemovedFromTheFleetFile) {
  make_fleet(3, "algorithm = 'sgp'\ngraph = 'exponential'\nrounds = 3000\n");
  for (std::size_t k = 0; k < 3; ++k) start(k);
  ASSERT_TRUE(
      comes_true([&] { return has_reached(0, 150) && time_of(0, "pi-2 is connected") > 0; }));
  const std::string text = support::read_text(scratch_ / "fleet.toml");
  support::write_text(scratch_ / "fleet.toml", "nonsense");
  device(0).signal(SIGHUP);
  ASSERT_TRUE(comes_true([&] { return time_of(0, "keeps the fleet as it is") > 0; }));
  support::write_text(scratch_ / "fleet.toml", text.substr(0, text.rfind("[[peer]]")));
  device(0).signal(SIGHUP);
  EXPECT_TRUE(comes_true([&] { return time_of(0, "pi-2 is gone") > 0; }));
  EXPECT_FALSE(device(0).ended() || device(1).ended());
}

/// Two columns; class k is around (3 k, -k).
std::string table(const std::vector<std::string>& classes, const std::vector<int>& places) {
  std::string text = "x,y,animal\n";
  for (int sample = 0; sample < 60; ++sample) {
    for (std::size_t k = 0; k < classes.size(); ++k) {
      const double noise = std::sin(7.0 * sample + static_cast<double>(k));
      text += fmt::format("{:.3f},{:.3f},{}\n", 3.0 * places[k] + 0.5 * noise,
                          -places[k] + 0.3 * noise, classes[k]);
    }
  }
  return text;
}

TEST_F(Fleet, TrainsOnDataThatNeverLeavesItsDevice) {
  make_fleet(2,
             "algorithm = 'sgp'\nrounds = 400\npartition = 'own'\nmodel = 'logistic'\nlr = 0.1\n"
             "classes = ['ant', 'bee', 'cow']\nmean = [3, -1]\ndeviation = [3, 1]\n");
  // Neither has all classes, and each has them in an order of its own.
  support::write_text(scratch_ / "0.csv", table({"bee", "ant"}, {1, 0}));
  support::write_text(scratch_ / "1.csv", table({"cow", "bee"}, {2, 1}));
  support::write_text(scratch_ / "all.csv", table({"ant", "bee", "cow"}, {0, 1, 2}));
  for (std::size_t k = 0; k < 2; ++k) {
    start(k, {"--data", fmt::format("csv:{}.csv,label=animal", k)});
  }
  for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(device(k).wait(), 0) << error_of(k);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_GT(last_line(k)["accuracy"], 95);
    // Of classes that only the other had, too.
    const Result all = hearsay({"eval", fmt::format("pi-{}/models/peer-{}.safetensors", k, k),
                                "--data", "csv:all.csv,label=animal"},
                               scratch_.path());
    EXPECT_EQ(all.status, 0) << all.err;
    const std::size_t accuracy = all.out.find("accuracy");
    ASSERT_NE(accuracy, std::string::npos) << all.out;
    EXPECT_GT(std::stod(all.out.substr(accuracy + 8)), 95) << all.out;
  }
}

TEST_F(Fleet, SaysWhatIsWrongBeforeThereIsADirectory) {
  make_fleet(2, "algorithm = 'sgp'\n");
  const auto refusal = [&](const Words& words) {
    Words all{"peer"};
    all.insert(all.end(), words.begin(), words.end());
    const Result result = hearsay(all, scratch_.path());
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(fs::exists(out(0)));
    return result.err;
  };
  const Words usual{"fleet.toml", "--identity", "pi-0.pem", "--out", "pi-0"};
  const auto with = [&](const Words& more) {
    Words words = usual;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  EXPECT_EQ(refusal({}),
            "hearsay: [peer] a fleet file, --identity FILE and --out DIR are needed; or --resume "
            "DIR alone\n");
  EXPECT_EQ(refusal({"none.toml", "--identity", "pi-0.pem", "--out", "pi-0"}),
            "hearsay: [peer] there is no fleet file 'none.toml'\n");
  EXPECT_NE(refusal({"fleet.toml", "--identity", "none.pem", "--out", "pi-0"})
                .find("[identity] there is no file"),
            std::string::npos);
  EXPECT_NE(refusal(with({"--min-round", "soon"})).find("[min-round] 'soon' is no duration"),
            std::string::npos);
  EXPECT_NE(refusal(with({"--listen", "here"})).find("[address]"), std::string::npos);
  EXPECT_EQ(refusal({"--resume", "pi-0", "--out", "x"}),
            "hearsay: [peer] --resume takes its settings from pi-0/peer.toml; drop the others\n");
  EXPECT_EQ(refusal({"--resume", "pi-0", "--wait-for", "3"}),
            refusal({"--resume", "pi-0", "--out", "x"}));
  EXPECT_EQ(refusal({"--resume", "pi-0"}),
            "hearsay: [peer] pi-0 is no run directory of a peer: there is no peer.toml in it\n");
  net::Identity::generate().write_new(scratch_ / "stranger.pem");
  EXPECT_NE(refusal({"fleet.toml", "--identity", "stranger.pem", "--out", "pi-0"})
                .find("does not have the key hs1:"),
            std::string::npos);
  EXPECT_EQ(refusal(with({"--live", "soon"})),
            "hearsay: [live] a port is a number up to 65535, got soon\n");
  for (const auto& [setting, what] : std::vector<std::pair<const char*, const char*>>{
           {"timing = 'lock-step'", "wait for nobody"},
           {"link = 'loss=0.1'", "its network is a real one"},
           {"liars = 'noise'", "liars are those of a simulation"},
           {"robust = 'clip'", "clip"},
           {"peers = 3", "it lists 2 of them"},
           {"compare = true", "no baselines"},
           {"checkpoint = 20", "as often as that takes little of its time"},
           {"algorithm = 'dpsgd'", "dpsgd"},
           {"lr = 'fast'", "fast"},
           {"partition = 'own'\nepochs = 3", "give rounds"},
           {"classes = ['a']", "partition = 'own'"}}) {
    fs::remove(scratch_ / "pi-0.pem");
    fs::remove(scratch_ / "pi-1.pem");
    make_fleet(2, std::string(setting) + "\n");
    const std::string error = refusal(usual);
    EXPECT_NE(error.find(what), std::string::npos) << error;
  }
}

TEST_F(Fleet, IsNotStartedTwiceInOneDirectory) {
  make_fleet(2, "algorithm = 'sgp'\nrounds = 100\n");
  start(0);
  ASSERT_TRUE(comes_true([&] { return fs::exists(out(0) / "peer.toml"); }));
  const Result again =
      hearsay({"peer", "fleet.toml", "--identity", "pi-0.pem", "--out", "pi-0"}, scratch_.path());
  EXPECT_EQ(again.status, 2);
  EXPECT_NE(again.err.find("pi-0"), std::string::npos) << again.err;
  const Result resumed = hearsay({"peer", "--resume", "pi-0"}, scratch_.path());
  EXPECT_EQ(resumed.status, 2);
  EXPECT_NE(resumed.err.find("train"), std::string::npos) << resumed.err;
  device(0).signal(SIGTERM);
  EXPECT_EQ(device(0).wait(), 130);
}

}  // namespace
}  // namespace hearsay::cli
