#include "hearsay/algorithm/local_peers.h"

#include <gtest/gtest.h>

#include <array>

#include "hearsay/core/error.h"

namespace hearsay::algorithm {
namespace {

constexpr std::array kStart = {3.0f, 1.0f, 4.0f, 1.0f, 5.0f};

std::unique_ptr<Algorithm> start(LocalPeers& peers, const char* spec) {
  auto method = make_algorithm(spec, peers.bank());
  for (std::size_t i = 0; i < peers.peers(); ++i) method->initial().row(i)[0] = kStart[i];
  method->start();
  return method;
}

TEST(LocalPeers, RoundIsOneStepThenOneProductWithW) {
  LocalPeers peers({.graph = "ring:directed", .peers = 5, .dim = 1});
  const auto method = start(peers, "dsgd");
  // The direction is the model itself, so the step halves it.
  const auto own_model = [](std::size_t, std::span<const float> at, std::span<float> direction) {
    direction[0] = at[0];
  };
  peers.run_round(*method, 0.5f, own_model);
  EXPECT_EQ(peers.round(), 1u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_FLOAT_EQ(method->point().row(i)[0], 0.25f * kStart[i] + 0.25f * kStart[(i + 4) % 5]);
  }
}

TEST(LocalPeers, WithoutDirectionOnlyAverages) {
  LocalPeers peers({.graph = "complete", .peers = 5, .dim = 1});
  const auto method = start(peers, "dsgd");
  EXPECT_DOUBLE_EQ(disagreement(method->point()), 1.6);
  peers.run_round(*method, 0.5f);
  EXPECT_LT(disagreement(method->point()), 1e-6);
  EXPECT_NEAR(method->point().row(0)[0], 2.8, 1e-6);
}

TEST(LocalPeers, CountsHeaderAndCodeOnceADirectedEdge) {
  LocalPeers peers({.graph = "ring", .peers = 5, .dim = 1});
  const auto method = start(peers, "dsgd");
  peers.run_round(*method);
  EXPECT_EQ(peers.bytes_sent(), 10u * (24 + 4));
}

TEST(LocalPeers, CountsAGlobalAverageAsARingAllReduce) {
  LocalPeers peers({.graph = "ring", .peers = 5, .dim = 1});
  const auto method = start(peers, "psgd");
  peers.run_round(*method);
  EXPECT_EQ(peers.bytes_sent(), 2u * 4 * 4);
  EXPECT_FLOAT_EQ(method->point().row(3)[0], 2.8f);
}

TEST(LocalPeers, SpecsThatAreNoneThrow) {
  EXPECT_THROW(LocalPeers({.graph = "rnig"}), InvalidArgument);
  EXPECT_THROW(LocalPeers({.compressor = "topk:keep=2"}), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::algorithm
