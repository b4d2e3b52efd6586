// Checkpoints of a run whose peers live in several processes, which are threads here.
#include <gtest/gtest.h>

#include <regex>

#include "checkpoint/checkpoint_world.h"
#include "support/scratch.h"

namespace hearsay::checkpoint {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr std::size_t kPeers = 5;

class CheckpointsOfProcesses : public ::testing::Test {
 protected:
  /// Calls body(process) in every process of a run of five peers.
  template <class Body>
  void run(std::size_t processes, const Body& body) {
    in_threads(processes, [&](transport::Transport& transport) {
      Process process(transport, kPeers, directory_);
      body(process);
    });
  }
  /// The same; returns what each of them threw.
  template <class Body>
  Names failures(std::size_t processes, const Body& body) {
    Names thrown(processes);
    run(processes,
        [&](Process& process) { thrown[process.me()] = thrown_by([&] { body(process); }); });
    return thrown;
  }
  void expect_restored(std::size_t processes, int round, const Names& damaged = {}) {
    run(processes, [&](Process& process) {
      EXPECT_EQ(process.restore(), static_cast<std::uint64_t>(round));
      process.state().expect(round);
      Names found;
      for (const std::string& text : process.damaged()) found.push_back(without_process(text));
      EXPECT_EQ(found, damaged);
    });
  }
  /// Which process reads a file depends on their number.
  static std::string without_process(const std::string& text) {
    return std::regex_replace(text, std::regex("process [0-9]+: "), "");
  }
  std::string path(const char* name) const { return (directory_ / name).string(); }
  Names names() const {
    Names names;
    for (const auto& [name, bytes] : support::contents(directory_)) names.push_back(name);
    return names;
  }

  support::Scratch scratch_;
  fs::path directory_ = scratch_ / "checkpoint";
};

/// The number of processes that save, and the number that resume.
class CheckpointsMove : public CheckpointsOfProcesses,
                        public ::testing::WithParamInterface<std::tuple<std::size_t, std::size_t>> {
};

TEST_P(CheckpointsMove, ToAnyNumberOfProcesses) {
  const auto [before, after] = GetParam();
  for (int round : {8, 9}) {  // without and with replicas
    run(before, [&](Process& process) { process.save(round); });
    expect_restored(after, round);
  }
  run(after, [&](Process& process) {
    process.restore();
    process.save(10);
    process.save(11);
  });
  EXPECT_EQ(names().size(), 2 * (1 + after)) << "what the others left is gone";
  expect_restored(before, 11);
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<std::size_t, std::size_t>>& of) {
  const auto [before, after] = of.param;
  return "From" + std::to_string(before) + "To" + std::to_string(after);
}

INSTANTIATE_TEST_SUITE_P(Processes, CheckpointsMove,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4),
                                            ::testing::Values(1, 2, 3, 4)),
                         name_of);

TEST_F(CheckpointsOfProcesses, HaveAFileForEach) {
  run(3, [](Process& process) { process.save(7); });
  EXPECT_EQ(names(),
            (Names{"round-000000000007.ckpt", "round-000000000007.p0000of0003.part",
                   "round-000000000007.p0001of0003.part", "round-000000000007.p0002of0003.part"}));
}

TEST_F(CheckpointsOfProcesses, TakeScalarsOfProcess0) {
  run(2, [](Process& process) {
    process.state().set(process.me() == 0 ? 7 : 2);
    process.store().save(7, process.state().list(), process.state().kernels());
  });
  run(2, [](Process& process) {
    EXPECT_EQ(process.restore(), 7u);
    const std::uint64_t restored = process.state().count();
    process.state().set(7);
    EXPECT_EQ(restored, process.state().count());
  });
}

TEST_F(CheckpointsOfProcesses, AreTheOlderForAllIfOneFindsDamage) {
  run(3, [](Process& process) {
    process.save(8);
    process.save(10);
  });
  const char* part = "round-000000000010.p0001of0003.part";
  const std::string whole = support::read_text(directory_ / part);
  support::write_text(directory_ / part, whole.substr(1));
  const Names damaged{"[checkpoint] " + path(part) + " is damaged: its checksum does not match"};
  for (std::size_t processes : {1, 2, 3, 4}) expect_restored(processes, 8, damaged);
  fs::remove(directory_ / part);
  for (std::size_t processes : {1, 2, 3, 4}) {
    expect_restored(processes, 8, {"[checkpoint] " + path(part) + " is missing"});
  }
  support::write_text(directory_ / part, whole);
  expect_restored(2, 10);
}

TEST_F(CheckpointsOfProcesses, AreNotPutTogetherFromPartsOfTwoSaves) {
  run(2, [](Process& process) {
    process.save(8);
    process.save(10);
  });
  support::Scratch other;
  in_threads(2, [&](transport::Transport& transport) {
    Process(transport, kPeers, other.path()).save(10, 11);
  });
  const char* part = "round-000000000010.p0001of0002.part";
  fs::copy_file(other / part, directory_ / part, fs::copy_options::overwrite_existing);
  expect_restored(2, 8,
                  {"[checkpoint] " + path(part) + " is damaged: its checksum does not match"});
}

TEST_F(CheckpointsOfProcesses, ThatAreAllDamagedAreRefusedByAll) {
  run(2, [](Process& process) { process.save(9); });
  fs::remove(directory_ / "round-000000000009.p0001of0002.part");
  const std::string expected = "CorruptData: [checkpoint] all 1 checkpoints in " +
                               directory_.string() + " are damaged; the first: [checkpoint] " +
                               path("round-000000000009.p0001of0002.part") + " is missing";
  for (const std::string& text : failures(3, [](Process& process) { process.restore(); })) {
    EXPECT_EQ(without_process(text), expected);
  }
}

TEST_F(CheckpointsOfProcesses, OfAnotherConfigAreRefusedByAll) {
  run(2, [](Process& process) { process.save(9); });
  Names thrown(3);
  in_threads(3, [&](transport::Transport& transport) {
    Process process(transport, kPeers, directory_, "other");
    thrown[process.me()] = thrown_by([&] { process.restore(); });
  });
  EXPECT_EQ(thrown, Names(3, "CorruptData: [checkpoint] " + path("round-000000000009.ckpt") +
                                 " belongs to a run with other settings"));
}

/// Killed after the parts were written, but before the manifest was.
TEST_F(CheckpointsOfProcesses, WithoutAManifestAreNone) {
  run(3, [](Process& process) {
    process.save(8);
    process.save(9);
  });
  fs::remove(directory_ / "round-000000000009.ckpt");
  for (std::size_t processes : {1, 3}) expect_restored(processes, 8);
  run(2, [](Process& process) { process.save(10); });
  EXPECT_EQ(names(),
            (Names{"round-000000000008.ckpt", "round-000000000008.p0000of0003.part",
                   "round-000000000008.p0001of0003.part", "round-000000000008.p0002of0003.part",
                   "round-000000000010.ckpt", "round-000000000010.p0000of0002.part",
                   "round-000000000010.p0001of0002.part"}));
}

TEST_F(CheckpointsOfProcesses, ThatOneCannotWriteFailForAllAndLeaveTheEarlier) {
  run(3, [](Process& process) { process.save(9); });
  const auto before = support::contents(directory_);
  const fs::path blocked = directory_ / "round-000000000010.p0001of0003.part.tmp";
  fs::create_directories(blocked);
  const Names thrown = failures(3, [](Process& process) { process.save(10); });
  EXPECT_EQ(thrown, Names(3, "RunFailed: process 1: [files] cannot create " + blocked.string() +
                                 ": Is a directory"));
  fs::remove(blocked);
  EXPECT_EQ(support::contents(directory_), before);
  expect_restored(3, 9);
}

TEST_F(CheckpointsOfProcesses, NeedADirectoryThatAllSee) {
  support::Scratch host;  // of rank 2
  const auto in_own_directory = [&](const auto& body) {
    Names thrown(3);
    in_threads(3, [&](transport::Transport& transport) {
      Process process(transport, kPeers,
                      transport.seat().process == 2 ? host / "checkpoint" : directory_);
      thrown[process.me()] = thrown_by([&] { body(process); });
    });
    return thrown;
  };
  const Names expected(3, "RunFailed: process 2: [checkpoint] there is no " +
                              (host / "checkpoint").string() +
                              " here; --out must be on a file system that all hosts share");
  EXPECT_EQ(in_own_directory([](Process& process) { process.save(9); }), expected);
  EXPECT_TRUE(fs::is_empty(directory_)) << "the parts of the others are gone";
  run(3, [](Process& process) { process.save(9); });
  EXPECT_EQ(in_own_directory([](Process& process) { process.restore(); }), expected);
}

TEST_F(CheckpointsOfProcesses, OfARunThatLosesAProcessStayWhole) {
  run(3, [](Process& process) { process.save(9); });
  transport::Hub hub(3);
  std::vector<std::unique_ptr<transport::Transport>> transports;
  for (std::size_t p = 0; p < 3; ++p) transports.push_back(hub.join(p));
  hub.kill(1);
  std::vector<std::jthread> others;
  for (std::size_t p : {0, 2}) {
    others.emplace_back([&, p] {
      Process process(*transports[p], kPeers, directory_);
      EXPECT_TRUE(thrown_by([&] { process.save(10); }).starts_with("RunFailed: [transport] "));
    });
  }
  others.clear();
  expect_restored(4, 9);
  run(2, [](Process& process) { process.save(10); });
  EXPECT_EQ(names().size(), (1 + 3u) + (1 + 2)) << "of rounds 9 and 10";
}

}  // namespace
}  // namespace hearsay::checkpoint
