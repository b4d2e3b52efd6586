#include <gtest/gtest.h>

#include <cstring>

#include "algorithm/variants.h"

/// Bit-identical models for any number of threads, with models large enough that every kernel
/// splits its work: several chunks, several tiles.
namespace hearsay::algorithm {
namespace {

class Threads : public ::testing::TestWithParam<Variant> {};

TEST_P(Threads, DoNotChangeABit) {
  World::Setup setup = setup_for(GetParam());
  setup.dim = 40'009;
  std::vector<float> first;
  for (std::size_t threads : {1u, 2u, 3u}) {
    setup.threads = threads;
    World world(setup);
    world.start_random(true);
    for (int t = 0; t < 13; ++t) world.run_round(0.05f, pull_apart);
    if (threads == 1) first = world.models();
    EXPECT_EQ(std::memcmp(first.data(), world.models().data(), first.size() * sizeof(float)), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Threads, ::testing::ValuesIn(variants()), name_of);

}  // namespace
}  // namespace hearsay::algorithm
