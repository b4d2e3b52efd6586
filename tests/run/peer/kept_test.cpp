#include "hearsay/run/peer/kept.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/train/setup.h"
#include "support/scratch.h"

namespace hearsay::run {
namespace {

using support::Scratch;

/// The objective of a network with running statistics.
struct Network {
  train::RunOptions options = support::config_of({{"model", "cnn:norm=batch"}});
  gossip::Machine machine{"cpu", 1};
  std::unique_ptr<engine::Objective> objective =
      train::make_objective(options, {}, options.peers, machine);

  train::SavedModel model(float value) const {
    return {.parameters = std::vector<float>(objective->layout().dim(), value),
            .buffers = std::vector<float>(objective->buffer_layout().dim(), value + 1)};
  }
};

TEST(Incarnation, GrowsFromLifeToLife) {
  Scratch scratch;
  const std::uint64_t first = next_incarnation(scratch.path());
  EXPECT_GT(first, 1'700'000'000'000u) << "milliseconds since 1970";
  EXPECT_GE(next_incarnation(scratch.path()), first) << "not before it is written";
  // A life that began at a time that the clock has not reached since: it was not set.
  const std::uint64_t future = first + 1'000'000'000;
  write_incarnation(scratch.path(), future);
  EXPECT_EQ(next_incarnation(scratch.path()), future + 1);
  support::write_text(scratch / "incarnation", "nonsense");
  EXPECT_GE(next_incarnation(scratch.path()), first);
}

TEST(Kept, IsReadBack) {
  Scratch scratch;
  const Network network;
  EXPECT_FALSE(read_kept(scratch.path()));
  for (int life = 0; life < 3; ++life) {
    const auto value = static_cast<float>(life);
    keep(scratch.path(), 10 + life, 2.5, *network.objective, network.model(value));
    const auto kept = read_kept(scratch.path());
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->clock, 10u + life);
    EXPECT_EQ(kept->seconds, 2.5);
    const train::SavedModel model = load_kept(*kept, *network.objective);
    EXPECT_EQ(model.parameters, network.model(value).parameters);
    EXPECT_EQ(model.buffers, network.model(value).buffers);
    EXPECT_EQ(support::contents(scratch / "checkpoint").size(), 2u) << "the old model is gone";
  }
}

TEST(Kept, SurvivesAModelThatIsHalfWritten) {
  Scratch scratch;
  const Network network;
  keep(scratch.path(), 5, 1, *network.objective, network.model(1));
  // The device lost power while it wrote the next one.
  support::write_text(scratch / "checkpoint/model-2.safetensors", "half");
  const auto kept = read_kept(scratch.path());
  EXPECT_EQ(load_kept(kept.value(), *network.objective).parameters, network.model(1).parameters);
  keep(scratch.path(), 6, 1, *network.objective, network.model(2));
  EXPECT_EQ(load_kept(read_kept(scratch.path()).value(), *network.objective).parameters,
            network.model(2).parameters);
}

TEST(Kept, IsNotUsedIfItIsDamaged) {
  Scratch scratch;
  const Network network;
  keep(scratch.path(), 5, 1, *network.objective, network.model(1));
  const Kept kept = read_kept(scratch.path()).value();
  std::string bytes = support::read_text(scratch / "checkpoint/model-1.safetensors");
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  support::write_text(scratch / "checkpoint/model-1.safetensors", bytes);
  EXPECT_THROW(load_kept(kept, *network.objective), InvalidArgument) << "another SHA-256";
  std::filesystem::remove(scratch / "checkpoint/model-1.safetensors");
  EXPECT_THROW(load_kept(kept, *network.objective), InvalidArgument);
  for (const char* text : {"", "[]", "{}", "{\"clock\": -1, \"seconds\": 1, \"model\": \"a\"}",
                           "{\"clock\": 1, \"seconds\": 1, \"model\": 3, \"sha256\": \"\"}"}) {
    support::write_text(scratch / "checkpoint/peer.json", text);
    EXPECT_THROW(read_kept(scratch.path()), CorruptData) << text;
  }
  keep(scratch.path(), 7, 1, *network.objective, network.model(2));
  EXPECT_EQ(read_kept(scratch.path())->clock, 7u) << "the next one replaces it";
}

TEST(Kept, LeadsToNoOtherFolder) {
  Scratch scratch;
  support::write_text(scratch / "secret", "x");
  std::filesystem::create_directories(scratch / "checkpoint");
  support::write_text(scratch / "checkpoint/peer.json",
                      R"({"clock": 1, "seconds": 1, "model": "../secret", "sha256": "00"})");
  EXPECT_NE(read_kept(scratch.path())->model.find("checkpoint/secret,"), std::string::npos);
}

}  // namespace
}  // namespace hearsay::run
