#include "hearsay/engine/gradient_owners.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/chains.h"
#include "hearsay/model/models.h"

namespace hearsay::engine {
namespace {

using model::Value;

std::vector<Value> owners_of(const model::Network& net) { return gradient_owners(net, fuse(net)); }

Value value_of(const model::Network& net, std::string_view name) {
  const auto found = std::ranges::find(net.operations(), name, &model::Operation::name);
  EXPECT_NE(found, net.operations().end()) << name;
  return static_cast<Value>(found - net.operations().begin());
}

model::Network chain(const std::string& name) {
  const auto chains = model::chains();
  return model::chain_network(*std::ranges::find(chains, name, &model::Chain::name));
}

/// Simulates the array accesses of a backward pass: no step may find another value's gradient where
/// it expects one. A step reads that of its output, which is dead from then on, and writes those of
/// its inputs.
void expect_nothing_is_overwritten(const model::Network& net) {
  const std::vector<Fused> steps = fuse(net);
  const std::vector<Value> owners = gradient_owners(net, steps);
  std::vector<Value> holds(owners.size(), steps.back().output);  // by owner
  std::vector<bool> given(owners.size(), false);
  given[steps.back().output] = true;
  for (std::size_t k = steps.size(); k-- > 0;) {
    const Value y = steps[k].output;
    EXPECT_TRUE(given[y] && holds[owners[y]] == y) << "lost: " << net.operations()[y].name;
    std::set<Value> inputs{net.operations()[steps[k].operation].inputs[0]};
    if (steps[k].residual) inputs.insert(*steps[k].residual);
    inputs.erase(net.input());
    for (const Value x : inputs) {
      // The array is free, or holds this gradient, or that of y, which is passed on unchanged.
      EXPECT_TRUE(!given[x] || holds[owners[x]] == x) << net.operations()[x].name;
      EXPECT_TRUE(owners[x] != owners[y] || (steps[k].residual == x && !given[x]));
      given[x] = true;
      holds[owners[x]] = x;
    }
  }
}

TEST(GradientOwners, LoseNoGradient) {
  for (const model::Chain& each : model::chains()) {
    SCOPED_TRACE(each.name);
    expect_nothing_is_overwritten(model::chain_network(each));
  }
  for (const char* spec : {"resnet20", "resnet20:shortcut=B", "resnet20:norm=group", "vgg11"}) {
    SCOPED_TRACE(spec);
    expect_nothing_is_overwritten(model::make_model(spec, {3, 32, 32}, 10));
  }
}

TEST(GradientOwners, ShareAlongAChainOfBlocks) {
  const model::Network net = chain("ResidualChain");
  const std::vector<Value> owners = owners_of(net);
  for (const char* name : {"conv", "a.relu", "b.relu", "c.relu"}) {
    EXPECT_EQ(owners[value_of(net, name)], value_of(net, "c.relu")) << name;
  }
  EXPECT_EQ(owners[value_of(net, "b")], value_of(net, "b"));
}

TEST(GradientOwners, ShareOnlyWithTheLastThatReadsAValue) {
  const model::Network after = chain("ResidualReadAfter");
  EXPECT_EQ(owners_of(after)[value_of(after, "norm")], value_of(after, "norm"));
  const model::Network before = chain("ResidualReadBefore");
  EXPECT_EQ(owners_of(before)[value_of(before, "conv")], value_of(before, "a.relu"));
  const model::Network two = chain("ResidualReadByTwoSums");
  EXPECT_EQ(owners_of(two)[value_of(two, "norm")], value_of(two, "b.relu"));
  EXPECT_EQ(owners_of(two)[value_of(two, "a.relu")], value_of(two, "c.relu"));
}

TEST(GradientOwners, ShareNothingOfImagesNorOfWhatIsNormed) {
  const model::Network images = chain("ResidualOfImages");
  EXPECT_EQ(owners_of(images)[images.input()], images.input());
  const model::Network normed = chain("ResidualThatIsNormed");
  EXPECT_EQ(owners_of(normed)[value_of(normed, "conv")], value_of(normed, "conv"));
}

TEST(GradientOwners, ShareOneArrayAStageOfAResidualNetwork) {
  const model::Network net = model::make_model("resnet20", {3, 32, 32}, 10);
  const std::vector<Value> owners = owners_of(net);
  const auto owner = [&](std::string_view name) { return owners[value_of(net, name)]; };
  EXPECT_EQ(owner("bn1.relu"), value_of(net, "layer1.2.relu"));
  EXPECT_EQ(owner("layer1.2.relu"), value_of(net, "layer1.2.relu"));
  EXPECT_EQ(owner("layer2.0.shortcut"), value_of(net, "layer2.2.relu"));
}

}  // namespace
}  // namespace hearsay::engine
