#include "hearsay/run/run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/train/safetensors.h"
#include "hearsay/train/trainer.h"
#include "support/every_algorithm.h"
#include "support/world.h"

namespace hearsay::run {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Interrupted {};

/// Ends a run after a round, as a crash would: by an exception that the library does not expect.
class Interrupt : public Observer {
 public:
  explicit Interrupt(std::uint64_t round) : round_(round) {}
  void progressed(const train::RunView& run) override {
    if (run.round() == round_) throw Interrupted();
  }

 private:
  std::uint64_t round_;
};

/// Records the observer calls of a resumed run.
class Listener : public Observer {
 public:
  void resumed(std::uint64_t round, const std::vector<std::string>& damaged) override {
    round_ = round;
    damaged_ = damaged;
  }
  void started(const train::RunView& run, const train::RunOptions&) override {
    EXPECT_NO_THROW(dynamic_cast<const train::Trainer&>(run).check_finite());
  }
  std::uint64_t round_ = ~std::uint64_t{0};
  std::vector<std::string> damaged_;
};

class RunOf : public support::EveryAlgorithm {};

/// Evaluations are at 0, 4, 8, ...; the checkpoint that is used is that of round 10.
TEST_P(RunOf, GoesOnFromACheckpointAsIfNothingHadHappened) {
  support::Scratch scratch;
  Observer silent;
  run(settings(), scratch / "unbroken", silent);
  Interrupt interrupt(13);
  EXPECT_THROW(run(settings(), scratch / "broken", interrupt), Interrupted);
  EXPECT_EQ(support::metrics_of(scratch / "broken").size(), 4u);

  Listener listener;
  resume(scratch / "broken", 2, listener);
  EXPECT_EQ(listener.round_, 10u);
  EXPECT_TRUE(listener.damaged_.empty());
  support::expect_same_run(scratch / "unbroken", scratch / "broken");
}

TEST_P(RunOf, GoesOnWithoutTheFileThatItStartedFrom) {
  support::Scratch scratch;
  Observer silent;
  train::RunOptions config = settings();
  const fs::path file = scratch / "start.safetensors";
  train::write_safetensors(file, Layout(10), std::vector<float>(10, 0.5f));
  config.init = file.string();
  config = train::resolve(config);
  run(config, scratch / "unbroken", silent);
  Interrupt early(3), late(13);
  EXPECT_THROW(run(config, scratch / "young", early), Interrupted);
  EXPECT_THROW(run(config, scratch / "broken", late), Interrupted);
  fs::remove(file);
  resume(scratch / "broken", 1, silent);
  support::expect_same_run(scratch / "unbroken", scratch / "broken");
  try {
    resume(scratch / "young", 1, silent);
    FAIL() << "it has no checkpoint yet";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.what(),
              "[init] " + file.string() + " is gone since it was set; put back the file");
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, RunOf, ::testing::ValuesIn(algorithm::registry()),
                         support::name_of);

TEST(Resume, GoesOnWithADatasetAndAdamAsWell) {
  support::Scratch scratch;
  const train::RunOptions config = support::config_of({{"algorithm", "sgp"},
                                                       {"optimizer", "adam"},
                                                       {"lr", "cosine:0.01,warmup=1"},
                                                       {"graph", "random:p=0.5,every=3"},
                                                       {"peers", "4"},
                                                       {"rounds", "40"},
                                                       {"checkpoint", "7"}});
  Observer silent;
  Interrupt interrupt(33);
  run(config, scratch / "unbroken", silent);
  EXPECT_THROW(run(config, scratch / "broken", interrupt), Interrupted);
  resume(scratch / "broken", 0, silent);
  support::expect_same_run(scratch / "unbroken", scratch / "broken");
}

TEST(Resume, BeginsAnewIfThereIsNoCheckpointYet) {
  support::Scratch scratch;
  const train::RunOptions config =
      support::quadratics({{"algorithm", "dsgd"}, {"rounds", "30"}, {"checkpoint", "20"}});
  Observer silent;
  Interrupt interrupt(11);
  run(config, scratch / "unbroken", silent);
  EXPECT_THROW(run(config, scratch / "broken", interrupt), Interrupted);
  Listener listener;
  resume(scratch / "broken", 1, listener);
  EXPECT_EQ(listener.round_, 0u);
  support::expect_same_run(scratch / "unbroken", scratch / "broken");
}

TEST(Resume, OfAFinishedRunChangesNothing) {
  support::Scratch scratch;
  Observer silent;
  run(support::quadratics({{"rounds", "20"}}), scratch / "run", silent);
  const Json before = support::summary_of(scratch / "run");
  const auto metrics = support::metrics_of(scratch / "run");
  resume(scratch / "run", 1, silent);
  EXPECT_EQ(support::lasting(support::summary_of(scratch / "run")), support::lasting(before));
  EXPECT_EQ(support::metrics_of(scratch / "run"), metrics);
}

TEST(Resume, PassesOverADamagedCheckpointAndNamesIt) {
  support::Scratch scratch;
  const train::RunOptions config = support::quadratics({{"rounds", "30"}, {"checkpoint", "5"}});
  Observer silent;
  Interrupt interrupt(17);
  run(config, scratch / "unbroken", silent);
  EXPECT_THROW(run(config, scratch / "broken", interrupt), Interrupted);
  support::write_text(scratch / "broken/checkpoint/round-000000000015.ckpt", "nonsense");
  Listener listener;
  resume(scratch / "broken", 1, listener);
  EXPECT_EQ(listener.round_, 10u);
  ASSERT_EQ(listener.damaged_.size(), 1u);
  EXPECT_TRUE(
      listener.damaged_[0].ends_with("round-000000000015.ckpt is too short for a checkpoint"));
  support::expect_same_run(scratch / "unbroken", scratch / "broken");
}

TEST(Resume, RefusesCheckpointsOfOtherSettings) {
  support::Scratch scratch;
  Observer silent;
  run(support::quadratics({{"rounds", "10"}}), scratch / "run", silent);
  std::string text = support::read_text(scratch / "run/config.toml");
  text.replace(text.find("seed = 1"), 8, "seed = 2");
  support::write_text(scratch / "run/config.toml", text);
  EXPECT_THROW(resume(scratch / "run", 1, silent), CorruptData);
}

TEST(Resume, RefusesMetricsThatAreShorterThanTheCheckpointSays) {
  support::Scratch scratch;
  Observer silent;
  run(support::quadratics({{"rounds", "10"}}), scratch / "run", silent);
  support::write_text(scratch / "run/metrics.jsonl", "{}\n");
  EXPECT_THROW(resume(scratch / "run", 1, silent), CorruptData);
  EXPECT_EQ(support::read_text(scratch / "run/metrics.jsonl"), "{}\n");
}

TEST(Resume, RefusesADirectoryWithoutARun) {
  support::Scratch scratch;
  Observer silent;
  EXPECT_THROW(resume(scratch.path(), 1, silent), InvalidArgument);
  EXPECT_THROW(resume(scratch / "missing", 1, silent), InvalidArgument);
  EXPECT_TRUE(support::contents(scratch.path()).empty());
}

TEST(Run, RefusesADirectoryThatHoldsARunAndChangesNothingInIt) {
  support::Scratch scratch;
  Observer silent;
  run(support::quadratics({{"rounds", "10"}}), scratch / "run", silent);
  const auto before = support::contents(scratch.path());
  EXPECT_THROW(run(support::quadratics({{"rounds", "20"}}), scratch / "run", silent),
               InvalidArgument);
  EXPECT_EQ(support::contents(scratch.path()), before);
}

TEST(Run, LeavesNoDirectoryBehindIfTheSettingsAreWrong) {
  support::Scratch scratch;
  Observer silent;
  const train::RunOptions misfit =
      support::quadratics({{"algorithm", "dsgd"}, {"graph", "star:weights=uniform"}});
  EXPECT_THROW(run(misfit, scratch / "a/b", silent), InvalidArgument);
  EXPECT_TRUE(support::contents(scratch.path()).empty());
}

/// A directory with the short name would be taken for one of an older version.
TEST(Run, RefusesTheShortNameOfANormInItsDirectory) {
  const support::Scratch scratch;
  train::RunOptions config =
      support::config_of({{"model", "cnn:norm=range-evonorm"}, {"rounds", "1"}});
  config.model = "cnn:norm=range-evonorm";
  Observer observer;
  EXPECT_THROW(run(config, scratch / "run", observer), InvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(scratch / "run"));
}

TEST(Run, WritesTheResolvedConfigAndEverythingElse) {
  support::Scratch scratch;
  Observer silent;
  const train::RunOptions config =
      support::quadratics({{"algorithm", "dsgd"}, {"rounds", "10"}, {"evaluate", "5"}});
  const Outcome outcome = run(config, scratch / "deep/run", silent);
  const fs::path directory = scratch / "deep/run";
  EXPECT_EQ(support::read_text(directory / "config.toml"), config.to_toml());
  EXPECT_EQ(support::read_text(directory / "summary.json"), outcome.summary_json);
  EXPECT_EQ(support::metrics_of(directory).size(), 3u);  // rounds 0, 5, 10
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(fs::exists(directory / "models" / ("peer-" + std::to_string(i) + ".safetensors")));
  }
  EXPECT_TRUE(fs::exists(directory / "models/average.safetensors"));
  EXPECT_EQ(outcome.last.round, support::summary_of(directory)["rounds"]);
}

TEST(Run, StopsWhenAModelIsNotFiniteAndKeepsTheLastGoodCheckpoint) {
  support::Scratch scratch;
  Observer silent;
  const train::RunOptions config = support::quadratics(
      {{"algorithm", "dsgd"}, {"lr", "1e6"}, {"rounds", "100"}, {"checkpoint", "1"}});
  try {
    run(config, scratch / "run", silent);
    FAIL() << "it converged";
  } catch (const RunFailed& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(" of peer "), std::string::npos) << text;
    EXPECT_NE(text.find(" round "), std::string::npos) << text;
  }
  EXPECT_FALSE(fs::exists(scratch / "run/summary.json"));
  Listener listener;
  EXPECT_THROW(resume(scratch / "run", 1, listener), RunFailed) << "it fails in the same way";
  EXPECT_GT(listener.round_, 0u) << "but begins from a good checkpoint";
  EXPECT_LT(listener.round_, 100u);
}

TEST(Run, WarnsWhereItEndsFarWorseThanItBegan) {
  support::Scratch scratch;
  Observer silent;
  const auto warning = [&](const char* eta) {
    const std::string algorithm = std::string("sparse-push:eta=") + eta;
    const Outcome outcome =
        run(support::config_of(
                {{"algorithm", algorithm}, {"data", "consensus:dim=300"}, {"rounds", "300"}}),
            scratch / eta, silent);
    return outcome.warnings.empty() ? "" : outcome.warnings.front().text();
  };
  EXPECT_TRUE(warning("1").starts_with("the run diverged: distance_to_optimum is "))
      << warning("0.9");
  EXPECT_EQ(warning("0.001"), "");
}

TEST(Run, RefusesADirectoryWithPartsOfAnotherRun) {
  for (const char* part : {"metrics.jsonl", "summary.json", "checkpoint", "models", "compare"}) {
    support::Scratch scratch;
    Observer silent;
    fs::create_directories(scratch / "run" / part);
    try {
      run(support::quadratics({{"algorithm", "dsgd"}, {"rounds", "4"}}), scratch / "run", silent);
      FAIL() << part;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.what(),
                fmt::format("[train] {} holds {} of another run, without its config.toml; "
                            "use another --out",
                            (scratch / "run").string(), part));
    }
  }
}

TEST(Resume, RefusesAnEdgeListThatHasChanged) {
  support::Scratch scratch;
  support::write_text(scratch / "edges", "0 1\n1 2\n2 0\n");
  const train::RunOptions config =
      support::config_of({{"algorithm", "sgp"},
                          {"data", "least-squares"},
                          {"graph", "file:" + (scratch / "edges").string()},
                          {"rounds", "20"},
                          {"checkpoint", "5"}});
  Interrupt interrupt(13);
  EXPECT_THROW(run(config, scratch / "run", interrupt), Interrupted);
  support::write_text(scratch / "edges", "0 1 0.3\n1 2 0.5\n2 0 0.5\n");
  Observer silent;
  EXPECT_THROW(resume(scratch / "run", 1, silent), CorruptData);
  support::write_text(scratch / "edges", "0 1\n1 2\n2 0\n");
  EXPECT_NO_THROW(resume(scratch / "run", 1, silent));
}

TEST(Resume, RefusesDataThatHaveChanged) {
  support::Scratch scratch;
  const auto write = [&](const char* last) {
    std::string table = "a,b,label\n";
    for (int k = 0; k < 40; ++k) table += fmt::format("{},{},{}\n", k, k * k % 7, k % 2);
    support::write_text(scratch / "table.csv", table + last);
  };
  write("1,1,0\n");
  const train::RunOptions config =
      support::config_of({{"data", "csv:" + (scratch / "table.csv").string()},
                          {"model", "logistic"},
                          {"batch", "2"},
                          {"rounds", "20"},
                          {"checkpoint", "5"}});
  Interrupt interrupt(13);
  EXPECT_THROW(run(config, scratch / "run", interrupt), Interrupted);
  write("1,2,0\n");
  Observer silent;
  const auto before = support::contents(scratch / "run");
  try {
    resume(scratch / "run", 1, silent);
    FAIL() << "it went on";
  } catch (const CorruptData& error) {
    EXPECT_TRUE(std::string(error.what())
                    .ends_with("is of a run on other files: those of --data or --graph have "
                               "changed since; put them back"))
        << error.what();
  }
  EXPECT_EQ(support::contents(scratch / "run"), before);
  write("1,1,0\n");
  EXPECT_NO_THROW(resume(scratch / "run", 1, silent));
  EXPECT_EQ(support::summary_of(scratch / "run")["class_names"],
            (std::vector<std::string>{"0", "1"}));
}

TEST(Run, TakesADirectoryForItselfAlone) {
  support::Scratch scratch;
  std::atomic<int> ran = 0, refused = 0;
  std::vector<std::thread> threads;
  for (const char* seed : {"1", "2", "3", "4"}) {
    threads.emplace_back([&, seed] {
      Observer silent;
      const train::RunOptions config = support::quadratics({{"rounds", "300"}, {"seed", seed}});
      try {
        run(config, scratch / "run", silent);
        EXPECT_EQ(support::read_text(scratch / "run/config.toml"), config.to_toml());
        ++ran;
      } catch (const AlreadyExists&) {
        ++refused;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(refused, 3);
}

TEST(WriteNewFile, NeverReplacesOne) {
  support::Scratch scratch;
  EXPECT_TRUE(write_new_file(scratch / "a", "first"));
  EXPECT_FALSE(write_new_file(scratch / "a", "second"));
  using Files = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(support::contents(scratch.path()), (Files{{"a", "first"}}));
  EXPECT_THROW(write_new_file(scratch / "nowhere/a", "text"), RunFailed);
}

TEST(Run, WarnsOfNothingIfItsFirstLineIsDamaged) {
  struct Damage : Observer {
    fs::path file;
    void progressed(const train::RunView& run) override {
      if (run.round() != 5) return;
      std::string text = support::read_text(file);
      text[0] = '?';
      support::write_text(file, text);
    }
  } damage;
  support::Scratch scratch;
  damage.file = scratch / "run/metrics.jsonl";
  const Outcome outcome = run(support::quadratics({{"rounds", "10"}}), scratch / "run", damage);
  EXPECT_TRUE(outcome.finished);
  EXPECT_TRUE(outcome.warnings.empty());
}

}  // namespace
}  // namespace hearsay::run
