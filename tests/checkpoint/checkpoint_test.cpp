// Checkpoints of a run in one process.
#include "hearsay/checkpoint/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "checkpoint/checkpoint_world.h"
#include "hearsay/core/sha256.h"
#include "hearsay/core/version.h"
#include "support/scratch.h"

namespace hearsay::checkpoint {
namespace {

namespace fs = std::filesystem;

class Checkpoints : public ::testing::Test {
 protected:
  static constexpr const char* kNine = "round-000000000009.ckpt";
  static constexpr const char* kTen = "round-000000000010.ckpt";
  static constexpr const char* kNinePart = "round-000000000009.p0000of0001.part";
  static constexpr const char* kTenPart = "round-000000000010.p0000of0001.part";

  std::string refusal() {
    return thrown_by([&] { run_.restore(); });
  }
  /// What follows a difference of items.
  static std::string advice(const std::string& writer = "hearsay " + std::string(version())) {
    return ". It was written by " + writer +
           ", which kept other state for these settings; resume with that version, or train anew "
           "into another --out";
  }
  std::string path(const char* name) const { return (directory_ / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : support::contents(directory_)) names.push_back(name);
    return names;
  }

  support::Scratch scratch_;
  fs::path directory_ = scratch_ / "checkpoint";
  transport::Alone alone_;
  Process run_{alone_, 2, directory_};
};

using Names = std::vector<std::string>;

TEST_F(Checkpoints, RestoreEveryKindOfStateBitForBit) {
  run_.save(9);
  EXPECT_EQ(run_.restore(), 9u);
  run_.state().expect(9);
  EXPECT_TRUE(run_.damaged().empty());
}

TEST_F(Checkpoints, TellWhenThereIsNone) {
  EXPECT_EQ(run_.restore(), std::nullopt);
  EXPECT_FALSE(has_checkpoints(directory_));
  fs::create_directories(directory_);
  EXPECT_EQ(run_.restore(), std::nullopt);
  EXPECT_FALSE(has_checkpoints(directory_));
  run_.state().expect(1);
  support::write_text(directory_ / kNine, "");
  EXPECT_TRUE(has_checkpoints(directory_));
}

TEST_F(Checkpoints, AreTheNewestTwo) {
  for (int round : {8, 9, 10}) run_.save(round);
  EXPECT_EQ(names(), (Names{kNine, kNinePart, kTen, kTenPart}));
  EXPECT_EQ(run_.restore(), 10u);
  run_.state().expect(10);
}

TEST_F(Checkpoints, AreTheOlderIfTheNewestIsDamagedWhichIsNamed) {
  run_.save(9);
  run_.save(10);
  support::write_text(directory_ / kTen, support::read_text(directory_ / kTen) + "x");
  EXPECT_EQ(run_.restore(), 9u);
  run_.state().expect(9);
  EXPECT_EQ(run_.damaged(),
            Names{"[checkpoint] " + path(kTen) + " is damaged: its checksum does not match"});
}

TEST_F(Checkpoints, AreTheOlderIfAPartIsMissingOrDamaged) {
  run_.save(9);
  run_.save(10);
  support::write_text(directory_ / kTenPart, support::read_text(directory_ / kTenPart) + "x");
  EXPECT_EQ(run_.restore(), 9u);
  run_.state().expect(9);
  EXPECT_EQ(run_.damaged(),
            Names{"[checkpoint] " + path(kTenPart) + " is damaged: its checksum does not match"});
  fs::remove(directory_ / kTenPart);
  EXPECT_EQ(run_.restore(), 9u);
  EXPECT_EQ(run_.damaged(), Names{"[checkpoint] " + path(kTenPart) + " is missing"});
}

/// Opening the first, or reading the other, would never end.
TEST_F(Checkpoints, AreTheOlderIfThereIsAPipeOrADevice) {
  run_.save(9);
  run_.save(10);
  fs::remove(directory_ / kTenPart);
  ASSERT_EQ(::mkfifo((directory_ / kTenPart).c_str(), 0600), 0);
  EXPECT_EQ(run_.restore(), 9u);
  EXPECT_EQ(run_.damaged(),
            Names{"[checkpoint] " + path(kTenPart) + " cannot be read: it is no regular file"});
  fs::remove(directory_ / kTenPart);
  fs::create_symlink("/dev/zero", directory_ / kTenPart);
  EXPECT_EQ(run_.restore(), 9u);
  fs::remove(directory_ / kTen);
  ASSERT_EQ(::mkfifo((directory_ / kTen).c_str(), 0600), 0);
  EXPECT_EQ(run_.restore(), 9u);
  EXPECT_EQ(run_.damaged(), Names{"[checkpoint] " + path(kTen) + " cannot be read"});
}

TEST_F(Checkpoints, SaySoIfAllAreDamaged) {
  run_.save(9);
  run_.save(10);
  support::write_text(directory_ / kNinePart, "");
  support::write_text(directory_ / kTen, "nonsense");
  EXPECT_EQ(refusal(), "CorruptData: [checkpoint] all 2 checkpoints in " + directory_.string() +
                           " are damaged; the first: [checkpoint] " + path(kTen) +
                           " is too short for a checkpoint");
}

TEST_F(Checkpoints, IgnoreWhatACrashLeftUnfinishedAndRemoveIt) {
  run_.save(9);
  support::write_text(directory_ / "round-000000000010.p0000of0001.part.tmp", "half a checkpo");
  support::write_text(directory_ / "round-000000000010.p0001of0002.part",
                      "a part of no checkpoint");
  support::write_text(directory_ / "round-000000000010.ckpt.tmp", "half a manif");
  EXPECT_EQ(run_.restore(), 9u);
  EXPECT_TRUE(run_.damaged().empty());
  run_.save(10);
  EXPECT_EQ(names(), (Names{kNine, kNinePart, kTen, kTenPart}));
  EXPECT_EQ(run_.restore(), 10u);
}

TEST_F(Checkpoints, AreRefusedWhereverTheyAreCutOff) {
  run_.save(9);
  for (const char* name : {kNine, kNinePart}) {
    const std::string whole = support::read_text(directory_ / name);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      support::write_text(directory_ / name, whole.substr(0, length));
      EXPECT_THROW(run_.restore(), CorruptData) << name << " at " << length;
    }
    support::write_text(directory_ / name, whole);
  }
  run_.state().expect(1);
}

TEST_F(Checkpoints, AreRefusedWhicheverBitFlips) {
  run_.save(9);
  for (const char* name : {kNine, kNinePart}) {
    const std::string whole = support::read_text(directory_ / name);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
      support::write_text(directory_ / name, flipped);
      EXPECT_THROW(run_.restore(), CorruptData) << name << " at " << at;
    }
    support::write_text(directory_ / name, whole);
  }
  run_.state().expect(1);
}

TEST_F(Checkpoints, OfAnotherVersionAreNamed) {
  std::string old = "HSCKPT01 and the state of all peers";
  Sha256 sha;
  sha.update(old.data(), old.size());
  for (const std::uint8_t byte : sha.finish()) old += static_cast<char>(byte);
  fs::create_directories(directory_);
  support::write_text(directory_ / kNine, old);
  EXPECT_EQ(refusal(), "CorruptData: [checkpoint] all 1 checkpoints in " + directory_.string() +
                           " are damaged; the first: [checkpoint] " + path(kNine) +
                           " is no checkpoint of this version");
}

TEST_F(Checkpoints, OfAnotherConfigOrOtherFilesAreRefused) {
  run_.save(10);
  Process other(alone_, 2, directory_, "other"), moved(alone_, 2, directory_, "hash", "changed");
  EXPECT_EQ(thrown_by([&] { other.restore(); }),
            "CorruptData: [checkpoint] " + path(kTen) + " belongs to a run with other settings");
  EXPECT_EQ(thrown_by([&] { moved.restore(); }),
            "CorruptData: [checkpoint] " + path(kTen) +
                " is of a run on other files: those of --data or --graph have changed since; put "
                "them back");
  moved.state().expect(1);
}

TEST_F(Checkpoints, OfAnotherShapeAreRefused) {
  State wider({0, 2}, 4);
  run_.store().save(9, wider.list(), wider.kernels());
  EXPECT_EQ(refusal(), "CorruptData: [checkpoint] " + path(kNine) +
                           " holds 'rows' as 4 values per peer, and this run has 3" + advice());
  Process more(alone_, 3, directory_);
  more.save(9);
  EXPECT_EQ(refusal(),
            "CorruptData: [checkpoint] " + path(kNine) + " is of 3 peers, and this run has 2");
}

TEST_F(Checkpoints, OfOtherArraysAreRefused) {
  std::uint64_t count = 0;
  double real = 0;
  backend::StateList one, renamed, retyped;
  one.scalar("count", count);
  renamed.scalar("number", count);
  retyped.scalar("count", real);
  run_.store().save(9, one, run_.state().kernels());
  EXPECT_EQ(refusal(), "CorruptData: [checkpoint] " + path(kNine) +
                           " holds other arrays than this run" + advice());
  const auto refusal_for = [&](const backend::StateList& list) {
    std::vector<std::string> damaged;
    return thrown_by([&] {
      run_.store().restore_newest(
          list, run_.state().kernels(), [](std::uint64_t) {}, damaged);
    });
  };
  EXPECT_EQ(refusal_for(renamed), "CorruptData: [checkpoint] " + path(kNine) +
                                      " holds 'count' where this run has 'number'" + advice());
  EXPECT_EQ(refusal_for(retyped), "CorruptData: [checkpoint] " + path(kNine) +
                                      " holds 'count' as another kind" + advice());
}

/// Manifests that do not say which version wrote them are still read.
TEST_F(Checkpoints, OfAFormatWithoutVersionAreRead) {
  const auto drop_version = [&] {
    std::string bytes = support::read_text(directory_ / kNine);
    ASSERT_TRUE(bytes.starts_with("HSCKMF03"));
    bytes.resize(bytes.size() - 32);
    bytes.replace(0, 16 + version().size(), "HSCKMF02");
    Sha256 sha;
    sha.update(bytes.data(), bytes.size());
    for (const std::uint8_t byte : sha.finish()) bytes += static_cast<char>(byte);
    support::write_text(directory_ / kNine, bytes);
  };
  run_.save(9);
  drop_version();
  EXPECT_EQ(run_.restore(), 9u);
  run_.state().expect(9);

  State wider({0, 2}, 4);
  fs::remove_all(directory_);
  run_.store().save(9, wider.list(), wider.kernels());
  drop_version();
  EXPECT_EQ(refusal(), "CorruptData: [checkpoint] " + path(kNine) +
                           " holds 'rows' as 4 values per peer, and this run has 3" +
                           advice("an earlier version of hearsay"));
}

TEST_F(Checkpoints, ASaveThatFailsLeavesTheEarlierOnes) {
  run_.save(9);
  const auto before = support::contents(directory_);
  fs::create_directories(directory_ / (std::string(kTen) + ".tmp"));  // blocks the temporary file
  EXPECT_THROW(run_.save(10), RunFailed);
  fs::remove(directory_ / (std::string(kTen) + ".tmp"));
  EXPECT_EQ(support::contents(directory_), before);
  EXPECT_EQ(run_.restore(), 9u);
  run_.state().expect(9);
}

/// Happens if a run is stopped in a round that it has just saved.
TEST_F(Checkpoints, OfARoundThatWasSavedAreNotWrittenOver) {
  run_.save(9);
  fs::create_directories(directory_ / (std::string(kNine) + ".tmp"));
  EXPECT_THROW(run_.save(9, 5), RunFailed);
  fs::remove(directory_ / (std::string(kNine) + ".tmp"));
  EXPECT_EQ(run_.restore(), 9u) << "from the first save";
  run_.state().expect(9);

  run_.save(9, 5);
  EXPECT_EQ(names(), (Names{kNine, "round-000000000009.p0000of0001.1.part"}));
  EXPECT_EQ(run_.restore(), 9u);
  run_.state().expect(5);
}

}  // namespace
}  // namespace hearsay::checkpoint
