#include <gtest/gtest.h>

#include "peer/audited_world.h"

namespace hearsay::peer {
namespace {

TEST(WorldOnThreads, IsTheSameForAnyNumber) {
  for (const char* algorithm : {"sgp", "sparse-push:eta=0.3"}) {
    train::RunOptions options{.peers = 7};
    options.timing = "asynchronous";
    options.graph = "exponential";
    options.algorithm = algorithm;
    options.compressor = options.algorithm == "sgp" ? "identity" : "topk:keep=0.1";
    options.data = "least-squares:dim=12,noise=0.1";
    options.rounds = 40;
    options.link = "speeds=4,delay=0.05,loss=0.1,kill=2@0.3,back=0.6";
    options.threads = 1;
    AuditedWorld one(options);
    EXPECT_EQ(one.run(), "");
    options.threads = 3;
    AuditedWorld three(options);
    EXPECT_EQ(three.run(), "");
    EXPECT_EQ(one.models_sha256(), three.models_sha256());
    EXPECT_EQ(one.world().now(), three.world().now());
    options.seed += 1000;
    AuditedWorld other(options);
    EXPECT_EQ(other.run(), "");
    EXPECT_NE(one.models_sha256(), other.models_sha256());
  }
}

}  // namespace
}  // namespace hearsay::peer
