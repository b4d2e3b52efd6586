/// Promise 1 of the design: the same run in several processes, bit for bit.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "support/every_algorithm.h"
#include "support/world.h"

namespace hearsay::run {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Train in one process and in the group: everything but the time is the same.
void expect_the_simulation(gossip::ProcessGroup& group, const train::RunOptions& config) {
  const support::SharedScratch scratch(group);
  Observer silent;
  if (group.leads()) run(config, scratch / "alone", silent);
  // The other ranks start only then: oneDNN initializes its cache in a way that the thread
  // sanitizer cannot see, and that it reports as a race if several threads of a program are the
  // first to use it.
  group.any(false);
  const Outcome outcome = run(config, scratch / "together", silent, group);
  EXPECT_TRUE(outcome.finished);
  if (!group.leads()) return;
  EXPECT_EQ(support::summary_of(scratch / "together")["processes"], group.processes());
  support::expect_same_run(scratch / "alone", scratch / "together");
}

class AlgorithmInProcesses
    : public ::testing::TestWithParam<std::tuple<support::World, algorithm::Entry>> {
 protected:
  static const support::World& world() { return std::get<0>(GetParam()); }
  static const algorithm::Entry& entry() { return std::get<1>(GetParam()); }
  static train::RunOptions settings(Settings more) {
    return support::method_on(entry(), std::move(more));
  }
};

TEST_P(AlgorithmInProcesses, HasTheBitsOfTheSimulation) {
  const train::RunOptions config = settings({{"data", "least-squares:noise=0.1"},
                                             {"rounds", "50"},
                                             {"evaluate", "11"},
                                             {"checkpoint", "13"},
                                             {"threads", "1"}});
  world().run([&](gossip::ProcessGroup& group) { expect_the_simulation(group, config); });
}

/// Peers with different initial models: copies of remote models start at those. And messages of
/// kilobytes, which transports treat differently from small ones.
TEST_P(AlgorithmInProcesses, HasTheBitsOfTheSimulationInConsensus) {
  const train::RunOptions config = settings(
      {{"data", "consensus:dim=5001"}, {"rounds", "20"}, {"evaluate", "10"}, {"threads", "2"}});
  world().run([&](gossip::ProcessGroup& group) { expect_the_simulation(group, config); });
}

std::string name_of_pair(
    const ::testing::TestParamInfo<std::tuple<support::World, algorithm::Entry>>& row) {
  std::string name(std::get<1>(row.param).name);
  std::replace(name.begin(), name.end(), '-', '_');
  return std::get<0>(row.param).name + "_" + name;
}

INSTANTIATE_TEST_SUITE_P(Registry, AlgorithmInProcesses,
                         ::testing::Combine(::testing::ValuesIn(support::worlds()),
                                            ::testing::ValuesIn(algorithm::registry())),
                         name_of_pair);

class InProcesses : public ::testing::TestWithParam<support::World> {};

TEST_P(InProcesses, GraphsChange) {
  for (const char* graph :
       {"one-peer-exponential", "random:p=0.4,every=3", "cycle:ring+star,every=2"}) {
    SCOPED_TRACE(graph);
    for (const char* algorithm : {"sgp", "sparse-push", "sgp:overlap=1", "push-diging"}) {
      SCOPED_TRACE(algorithm);
      const train::RunOptions config = support::config_of({{"algorithm", algorithm},
                                                           {"graph", graph},
                                                           {"peers", "8"},
                                                           {"data", "least-squares:noise=0.1"},
                                                           {"rounds", "50"},
                                                           {"evaluate", "20"},
                                                           {"threads", "1"}});
      GetParam().run([&](gossip::ProcessGroup& group) { expect_the_simulation(group, config); });
    }
  }
}

/// 3 peers in 2 processes, and so on; 7 never divide evenly.
TEST_P(InProcesses, PeersNeedNotBeSharedOutEvenly) {
  GetParam().run([&](gossip::ProcessGroup& group) {
    for (const std::size_t peers : {group.processes() + 1, std::size_t{7}}) {
      for (const char* algorithm : {"sparse-push", "dsgd:order=awc", "gradient-tracking"}) {
        const train::RunOptions config = support::config_of({{"algorithm", algorithm},
                                                             {"graph", "complete"},
                                                             {"peers", fmt::format("{}", peers)},
                                                             {"data", "least-squares:noise=0.1"},
                                                             {"rounds", "20"},
                                                             {"threads", "1"}});
        expect_the_simulation(group, config);
      }
    }
  });
}

TEST_P(InProcesses, NetworksTrainOnTheirOwnPartsAlone) {
  const train::RunOptions config = support::config_of({{"data", "digits"},
                                                       {"model", "cnn:norm=batch"},
                                                       {"partition", "skew:0.8"},
                                                       {"validation", "0.1"},
                                                       {"algorithm", "scsp"},
                                                       {"graph", "ring:directed"},
                                                       {"peers", "7"},
                                                       {"optimizer", "adam"},
                                                       {"rounds", "6"},
                                                       {"evaluate", "3"},
                                                       {"batch", "8"},
                                                       {"threads", "1"}});
  GetParam().run([&](gossip::ProcessGroup& group) { expect_the_simulation(group, config); });
}

TEST_P(InProcesses, NetworksInEightBits) {
  const train::RunOptions config = support::config_of({{"data", "digits"},
                                                       {"model", "cnn:norm=range-evonorm"},
                                                       {"precision", "int8"},
                                                       {"compressor", "int8"},
                                                       {"algorithm", "sparse-push"},
                                                       {"peers", "7"},
                                                       {"rounds", "6"},
                                                       {"evaluate", "3"},
                                                       {"batch", "11"},
                                                       {"threads", "1"}});
  GetParam().run([&](gossip::ProcessGroup& group) { expect_the_simulation(group, config); });
}

/// Requests a stop after a round.
class Stopper : public Observer {
 public:
  explicit Stopper(std::uint64_t round) : round_(round) {}
  void progressed(const train::RunView& run) override { now_ = run.round(); }
  bool stop_requested() override { return now_ >= round_; }

 private:
  std::uint64_t round_, now_ = 0;
};

TEST_P(InProcesses, AnotherNumberOfProcessesGoesOnFromACheckpoint) {
  for (const char* algorithm : {"choco", "dcd", "sparse-push", "slowmo", "aga:period=10"}) {
    SCOPED_TRACE(algorithm);
    const train::RunOptions config = support::quadratics({{"algorithm", algorithm},
                                                          {"optimizer", "sgd"},
                                                          {"rounds", "40"},
                                                          {"evaluate", "8"},
                                                          {"checkpoint", "5"}});
    GetParam().run([&](gossip::ProcessGroup& group) {
      const support::SharedScratch scratch(group);
      Observer silent;
      Stopper stopper(18);
      EXPECT_FALSE(run(config, scratch / "together", stopper, group).finished);
      if (group.leads()) {
        run(config, scratch / "unbroken", silent);
        Stopper early(12);
        EXPECT_FALSE(run(config, scratch / "alone", early).finished);
        EXPECT_TRUE(resume(scratch / "together", 0, silent).finished);
        support::expect_same_run(scratch / "unbroken", scratch / "together");
      }
      group.any(false);  // the single-process run has stopped
      EXPECT_TRUE(resume(scratch / "alone", 0, silent, group).finished);
      if (group.leads()) support::expect_same_run(scratch / "unbroken", scratch / "alone");
    });
  }
}

/// Only rank 0 reads back the last evaluation; the others end without one.
TEST_P(InProcesses, ARunThatIsResumedMayEndBeforeItsNextEvaluation) {
  const train::RunOptions config = support::quadratics(
      {{"algorithm", "sgp"}, {"rounds", "20"}, {"evaluate", "20"}, {"checkpoint", "3"}});
  GetParam().run([&](gossip::ProcessGroup& group) {
    const support::SharedScratch scratch(group);
    Observer silent;
    for (const std::uint64_t round : {5u, 8u}) {
      Stopper stopper(round);
      const Outcome stopped = round == 5 ? run(config, scratch / "run", stopper, group)
                                         : resume(scratch / "run", 0, stopper, group);
      EXPECT_FALSE(stopped.finished);
      EXPECT_EQ(stopped.round, round + 1);
      EXPECT_EQ(stopped.last.round, 0u);
    }
    EXPECT_TRUE(resume(scratch / "run", 0, silent, group).finished);
    const Outcome again = resume(scratch / "run", 0, silent, group);
    EXPECT_TRUE(again.finished);
    EXPECT_EQ(again.round, 20u);
    EXPECT_EQ(again.last.round, group.leads() ? 20u : 0u);
  });
}

TEST_P(InProcesses, AllThrowWhatOneFinds) {
  GetParam().run([&](gossip::ProcessGroup& group) {
    const support::SharedScratch scratch(group);
    Observer silent;
    const train::RunOptions config = support::quadratics({{"rounds", "2"}});
    run(config, scratch / "taken", silent, group);
    EXPECT_THROW(run(config, scratch / "taken", silent, group), AlreadyExists);
    EXPECT_TRUE(group.has_failed_together());

    const auto text_of = [&](const train::RunOptions& wrong) -> std::string {
      try {
        run(wrong, scratch / "wrong", silent, group);
      } catch (const InvalidArgument& error) {
        return error.what();
      }
      return "nothing was thrown";
    };
    EXPECT_EQ(text_of(support::quadratics({{"rounds", "2"}, {"link", "latency=1"}})),
              "[link] simulated links need all peers in one process; drop --link, or mpirun");
    for (const char* key : {"seed", "checkpoint"}) {
      EXPECT_EQ(text_of(support::quadratics({{"rounds", "2"}, {key, group.leads() ? "1" : "2"}})),
                "[transport] process 1 has another configuration than process 0; start the same "
                "program with the same settings everywhere");
    }
    EXPECT_FALSE(std::filesystem::exists(scratch / "wrong"));
    // All ranks are still in step, each with its own number of threads.
    train::RunOptions threaded = config;
    threaded.threads = group.leads() ? 1 : 2;
    run(threaded, scratch / "another", silent, group);
  });
}

TEST_P(InProcesses, EveryProcessHasAPeer) {
  GetParam().run([&](gossip::ProcessGroup& group) {
    const support::SharedScratch scratch(group);
    Observer silent;
    const train::RunOptions config =
        support::config_of({{"data", "least-squares"},
                            {"graph", "complete"},
                            {"algorithm", "dsgd"},
                            {"peers", fmt::format("{}", group.processes() - 1)},
                            {"rounds", "2"}});
    EXPECT_THROW(run(config, scratch / "run", silent, group), InvalidArgument);
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, InProcesses, ::testing::ValuesIn(support::worlds()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace hearsay::run
