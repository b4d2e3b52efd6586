#include <gtest/gtest.h>

#include <cmath>

#include "hearsay/core/error.h"
#include "hearsay/peer/world/world.h"
#include "support/message_of.h"

/// Asynchronous peers and senders that lie.
namespace hearsay::peer {
namespace {

/// Least squares, 16 peers whose speeds differ by 4; frames get lost.
train::RunOptions sixteen(const std::string& graph) {
  train::RunOptions options{.peers = 16};
  options.graph = graph;
  options.algorithm = "sgp";
  options.data = "least-squares:dim=20,samples=100,noise=0.1";
  options.rounds = 400;
  options.lr = "0.05";
  options.timing = "asynchronous";
  options.link = "speeds=4,loss=0.1";
  return options;
}

/// The largest distance of an honest peer's model to the optimum, relative to that of zero.
double worst_error(const train::RunOptions& options) {
  World world({.options = train::resolve(options)});
  while (world.step()) {
  }
  double worst = 0;
  for (std::uint32_t slot = 0; slot < world.peers(); ++slot) {
    const Peer* peer = world.peer(slot);
    if (peer == nullptr || std::ranges::binary_search(world.liars(), slot)) continue;
    const std::vector<float> model = peer->model().parameters;
    double squares = 0, all = 0;
    for (std::size_t k = 0; k < model.size(); ++k) {
      const double best = peer->objective().optimum()[k];
      squares += std::pow(static_cast<double>(model[k]) - best, 2);
      all += best * best;
    }
    worst = std::max(worst, std::sqrt(squares / all));
  }
  return worst;
}

double worst_error(const std::string& graph, const std::string& robust, const std::string& liars) {
  train::RunOptions options = sixteen(graph);
  options.robust = robust;
  options.liars = liars;
  return worst_error(options);
}

TEST(RobustWorld, ProtectsItselfFromTwoOfSixteen) {
  for (const char* graph : {"exponential", "one-peer-exponential"}) {
    EXPECT_GT(worst_error(graph, "none", "sign-flip:at=0+11"), 0.5) << graph;
    EXPECT_LT(worst_error(graph, "clip", "sign-flip:at=0+11"), 0.2) << graph;
    EXPECT_LT(worst_error(graph, "clip", "constant:at=0+11"), 0.2) << graph;
    EXPECT_LT(worst_error(graph, "clip", "none"), 0.1) << graph;
  }
  EXPECT_LT(worst_error("exponential", "clip", "sign-flip:at=0+11,weight=20"), 0.3);
}

/// A wide radius: the same models to the bit, though messages were taken back.
TEST(RobustWorld, WideClippingLeavesWhatWasTakenBack) {
  const auto models = [](const std::string& robust) {
    train::RunOptions options = sixteen("exponential");
    options.robust = robust;
    options.rounds = 100;
    options.link = "speeds=4,loss=0.2,kill=4@0.3,back=0.5";
    World world({.options = train::resolve(options)});
    while (world.step()) {
    }
    EXPECT_GT(world.counts().messages.returned, 0u);
    std::vector<float> u;
    for (std::uint32_t slot = 0; slot < 16; ++slot) {
      u.push_back(static_cast<float>(world.peer(slot)->push_sum()));
    }
    EXPECT_EQ(std::isnan(world.mass_drift()), robust != "none");
    return u;
  };
  const std::vector<float> all = models("none"), clipped = models("clip:tau=1e9");
  double lost = 0;
  for (std::size_t i = 0; i < 16; ++i) lost += static_cast<double>(all[i] - clipped[i]);
  EXPECT_NEAR(lost / 16, 0, 0.2);  // more than a sender may hand over at a time
}

TEST(RobustWorld, RefusesMethodsThatDoNotSendModels) {
  train::RunOptions options = sixteen("exponential");
  options.algorithm = "scsp";
  const auto message = [&] {
    return support::message_of([&] { World world({.options = train::resolve(options)}); });
  };
  options.robust = "clip";
  EXPECT_EQ(message(),
            "[clip] is for messages that are models, and scsp sends something else or averages "
            "globally; use one of dsgd, sgp, qg-dmsgd");
  options.robust = "none";
  options.liars = "alie";
  EXPECT_EQ(message(),
            "[alie] is for messages that are models, and scsp sends something else or averages "
            "globally; use one of dsgd, sgp, qg-dmsgd");
}

}  // namespace
}  // namespace hearsay::peer
