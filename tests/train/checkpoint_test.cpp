#include "hearsay/train/checkpoint.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/core/thread_pool.h"
#include "train/scratch.h"

namespace hearsay::train {
namespace {

namespace fs = std::filesystem;

/// One of every kind of state, small enough to damage every byte of its checkpoint.
class State {
 public:
  explicit State(std::size_t rows = 2, std::size_t dim = 3)
      : kernels_(backend::make_cpu_kernels(pool_)),
        rows_(kernels_->allocate(rows, dim)),
        doubles_(rows, 0.0) {
    list_.per_peer("rows", rows_);
    list_.per_peer("absent", absent_);
    list_.per_peer("doubles", doubles_);
    list_.scalar("count", count_);
    list_.scalar("real", real_);
  }

  void set(int value) {
    for (std::size_t k = 0; k < rows_.block().size(); ++k) {
      rows_.block().data[k] = static_cast<float>(value) + 0.1f * static_cast<float>(k);
    }
    doubles_.assign(doubles_.size(), value / 3.0);
    count_ = 0x8000000000000000u + static_cast<std::uint64_t>(value);
    real_ = -value * 1e-300;
  }

  void expect(int value) {
    for (std::size_t k = 0; k < rows_.block().size(); ++k) {
      EXPECT_EQ(rows_.block().data[k], static_cast<float>(value) + 0.1f * static_cast<float>(k));
    }
    EXPECT_TRUE(absent_.empty());
    EXPECT_EQ(doubles_, std::vector<double>(doubles_.size(), value / 3.0));
    EXPECT_EQ(count_, 0x8000000000000000u + static_cast<std::uint64_t>(value));
    EXPECT_EQ(real_, -value * 1e-300);
  }

  const backend::StateList& list() const { return list_; }
  backend::Kernels& kernels() { return *kernels_; }

 private:
  ThreadPool pool_{1};
  std::unique_ptr<backend::Kernels> kernels_;
  backend::Array rows_, absent_;
  std::vector<double> doubles_;
  std::uint64_t count_ = 0;
  double real_ = 0;
  backend::StateList list_;
};

class Checkpoints : public ::testing::Test {
 protected:
  static constexpr const char* kNine = "round-000000000009.ckpt";
  static constexpr const char* kTen = "round-000000000010.ckpt";

  void save(int value) {
    state_.set(value);
    store_.save(static_cast<std::uint64_t>(value), state_.list(), state_.kernels());
  }
  std::optional<std::uint64_t> restore() {
    damaged_.clear();
    return store_.restore_newest(state_.list(), state_.kernels(), damaged_);
  }
  std::string corruption() {
    try {
      restore();
    } catch (const CorruptData& error) {
      return error.what();
    }
    return "no error";
  }

  Scratch scratch_;
  fs::path directory_ = scratch_ / "checkpoint";
  CheckpointStore store_{directory_, "hash"};
  State state_;
  std::vector<std::string> damaged_;
};

TEST_F(Checkpoints, RestoresEveryKindOfStateBitForBit) {
  save(9);
  state_.set(1);
  EXPECT_EQ(restore(), 9u);
  state_.expect(9);
  EXPECT_TRUE(damaged_.empty());
}

TEST_F(Checkpoints, TellsWhenThereIsNone) {
  state_.set(1);
  EXPECT_EQ(restore(), std::nullopt);
  fs::create_directories(directory_);
  EXPECT_EQ(restore(), std::nullopt);
  state_.expect(1);
}

TEST_F(Checkpoints, KeepsTheNewestTwo) {
  for (int round : {8, 9, 10}) save(round);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 2);
  EXPECT_TRUE(fs::exists(directory_ / kNine));
  EXPECT_TRUE(fs::exists(directory_ / kTen));
  state_.set(1);
  EXPECT_EQ(restore(), 10u);
  state_.expect(10);
}

TEST_F(Checkpoints, UsesTheOlderIfTheNewestIsDamagedAndNamesIt) {
  save(9);
  save(10);
  write_text(directory_ / kTen, read_text(directory_ / kTen) + "x");
  state_.set(1);
  EXPECT_EQ(restore(), 9u);
  state_.expect(9);
  EXPECT_EQ(damaged_, std::vector<std::string>{"[checkpoint] " + (directory_ / kTen).string() +
                                               " is damaged: its checksum does not match"});
}

TEST_F(Checkpoints, SaysSoIfAllAreDamaged) {
  save(9);
  save(10);
  write_text(directory_ / kNine, "");
  write_text(directory_ / kTen, "nonsense");
  EXPECT_EQ(corruption(), "[checkpoint] all 2 checkpoints in " + directory_.string() +
                              " are damaged; the first: [checkpoint] " +
                              (directory_ / kTen).string() + " is too short for a checkpoint");
}

TEST_F(Checkpoints, IgnoresWhatACrashLeftUnfinished) {
  save(9);
  write_text(directory_ / (std::string(kTen) + ".tmp"), "half a checkpo");
  EXPECT_EQ(restore(), 9u);
  EXPECT_TRUE(damaged_.empty());
  save(10);
  EXPECT_EQ(restore(), 10u);
}

TEST_F(Checkpoints, AreRefusedWhereverTheyAreCutOff) {
  save(9);
  const std::string whole = read_text(directory_ / kNine);
  state_.set(1);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_text(directory_ / kNine, whole.substr(0, length));
    EXPECT_THROW(restore(), CorruptData) << length;
  }
  state_.expect(1);
}

TEST_F(Checkpoints, AreRefusedWhicheverBitFlips) {
  save(9);
  const std::string whole = read_text(directory_ / kNine);
  state_.set(1);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    write_text(directory_ / kNine, flipped);
    EXPECT_THROW(restore(), CorruptData) << at;
  }
  state_.expect(1);
}

TEST_F(Checkpoints, OfAnotherConfigAreRefused) {
  CheckpointStore(directory_, "other").save(9, state_.list(), state_.kernels());
  EXPECT_EQ(corruption(), "[checkpoint] " + (directory_ / kNine).string() +
                              " belongs to a run with other settings");
}

TEST_F(Checkpoints, OfAnotherShapeAreRefused) {
  State wider(2, 4);
  store_.save(9, wider.list(), wider.kernels());
  EXPECT_EQ(corruption(), "[checkpoint] " + (directory_ / kNine).string() +
                              " holds 'rows' as 2 x 4, and this run has 2 x 3");
  State more(3, 3);
  store_.save(9, more.list(), more.kernels());
  EXPECT_EQ(corruption(), "[checkpoint] " + (directory_ / kNine).string() +
                              " holds 'rows' as 3 x 3, and this run has 2 x 3");
}

TEST_F(Checkpoints, OfOtherArraysAreRefused) {
  std::uint64_t count = 0;
  double real = 0;
  backend::StateList one;
  one.scalar("count", count);
  store_.save(9, one, state_.kernels());
  EXPECT_EQ(corruption(),
            "[checkpoint] " + (directory_ / kNine).string() + " holds other arrays than this run");
  const auto message_for = [&](const backend::StateList& list) -> std::string {
    try {
      store_.restore_newest(list, state_.kernels(), damaged_);
    } catch (const CorruptData& error) {
      return error.what();
    }
    return "no error";
  };
  backend::StateList renamed, retyped;
  renamed.scalar("number", count);
  retyped.scalar("count", real);
  EXPECT_EQ(message_for(renamed), "[checkpoint] " + (directory_ / kNine).string() +
                                      " holds 'count' where this run has 'number'");
  EXPECT_EQ(message_for(retyped),
            "[checkpoint] " + (directory_ / kNine).string() + " holds 'count' as another kind");
}

TEST_F(Checkpoints, ASaveThatFailsLeavesTheEarlierOnes) {
  save(9);
  fs::create_directories(directory_ / (std::string(kTen) + ".tmp"));  // nobody can write there
  EXPECT_THROW(save(10), RunFailed);
  EXPECT_EQ(restore(), 9u);
  state_.expect(9);
}

}  // namespace
}  // namespace hearsay::train
