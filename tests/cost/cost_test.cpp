#include "hearsay/cost/cost.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/cost/cost_table.h"
#include "hearsay/model/models.h"

namespace hearsay::cost {
namespace {

constexpr char kEnergy[] = "horowitz45:mac=1,word=10,power=2,rate=8";  // 2 uJ per byte

/// One convolution of 2 channels on 1x4x4 images, norm, relu, mean, linear to 3 classes.
model::Network small() {
  model::Network net({1, 4, 4});
  auto x = net.add("conv", model::Conv2d{.out = 2, .padding = 1, .bias = false}, {net.input()});
  x = net.add("norm", model::BatchNorm{}, {x});
  x = net.add("relu", model::Relu{}, {x});
  x = net.add("mean", model::GlobalAveragePool{}, {x});
  net.add("linear", model::Linear{.out = 3}, {x});
  return net;
}

TEST(Cost, FollowsTheFormulasOfItsHeader) {
  const model::Network net = small();
  const double d = 2 * 9 + 2 + 2 + 2 * 3 + 3;
  ASSERT_EQ(net.layout().dim(), d);
  const double multiplications = 2 * 9 * 16 + 6, norms = 32;
  const double activations = 32 + 32 + 2 + 3;
  const Cost cost =
      cost_of(net, {.batch = 5, .arrays = 4, .sent_bytes = 70, .received_bytes = 30}, kEnergy);
  EXPECT_DOUBLE_EQ(cost.model_bytes, 4 * 4 * d);
  EXPECT_DOUBLE_EQ(cost.activation_bytes, 4 * 5 * activations);
  EXPECT_DOUBLE_EQ(cost.memory_bytes(), cost.model_bytes + cost.activation_bytes);
  EXPECT_DOUBLE_EQ(cost.multiply_adds, 5 * (multiplications + 2 * norms));
  EXPECT_DOUBLE_EQ(cost.training_flops(), 6 * cost.multiply_adds);
  EXPECT_DOUBLE_EQ(cost.energy.compute, 3 * cost.multiply_adds * 1e-12);
  EXPECT_DOUBLE_EQ(cost.energy.memory, (5 * 5 * activations + 2 * 4 * d) * 10e-12);
  EXPECT_DOUBLE_EQ(cost.energy.radio, 100 * 2e-6);
  EXPECT_DOUBLE_EQ(cost.energy.total(),
                   cost.energy.compute + cost.energy.memory + cost.energy.radio);
}

// Fig. 3 of the Sparse-Push paper: ResNet-20, 128 samples on one device or 8 on each of 16. That it
// counts five arrays for one device too is a guess that fits.
TEST(Cost, OfResNet20IsThatOfThePaper) {
  const model::Network net = model::make_model("resnet20", {3, 32, 32}, 10);
  const std::size_t arrays = arrays_of("sparse-push", "momentum", 1);
  EXPECT_EQ(arrays, 5u) << "x, gradient, momentum, z, delta";
  const Cost one = cost_of(net, {.batch = 128, .arrays = arrays}, "horowitz45");
  const Cost sixteenth = cost_of(net, {.batch = 8, .arrays = arrays}, "horowitz45");
  EXPECT_NEAR(one.memory_bytes() * 1e-6, 243, 0.005 * 243);
  EXPECT_NEAR(sixteenth.memory_bytes() * 1e-6, 20.3, 0.005 * 20.3);
  EXPECT_NEAR(one.multiply_adds * 1e-9, 5.24, 0.005);
  EXPECT_NEAR(sixteenth.multiply_adds * 1e-9, 0.33, 0.005);
  EXPECT_EQ(one.energy.radio, 0);
}

TEST(Cost, CountsAnArrayForEveryNeighbourWhoseHatIsKept) {
  EXPECT_EQ(arrays_of("silent", "sgd", 7), 2u);
  EXPECT_EQ(arrays_of("choco", "adam:beta1=0.8", 3), 2u + 2 + 1 + 3);
}

TEST(Cost, AMessageIsAsLongAsItsCodeAndHeader) {
  const Layout layout(1000);
  EXPECT_EQ(message_bytes("sgp", "identity", layout), 24 + 4000);
  EXPECT_EQ(message_bytes("gradient-tracking", "identity", layout), 2 * (24 + 4000));
  EXPECT_EQ(message_bytes("silent", "identity", layout), 0);
  EXPECT_LT(message_bytes("sparse-push", "topk:keep=0.01", layout), 24 + 100);
}

TEST(CostTable, ShowsOneDeviceBesideOneOfMany) {
  const std::string table = cost_table({.model = "resnet20", .peers = 16, .batch = 8});
  for (const char* part :
       {"269722 parameters, 3 arrays of them alone, 5 together", "one of 16", "20.2 MB", "240 MB",
        "5.24 G", "327 M", "horowitz45:mac=4.6,word=640,power=2.1,rate=100"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part << " in\n" << table;
  }
}

TEST(CostTable, CompressesOnlyWhatTheAlgorithmDoes) {
  EXPECT_NE(cost_table({.model = "mlp", .algorithm = "sgp"}).find("sgp with identity"),
            std::string::npos);
  EXPECT_THROW(cost_table({.model = "mlp", .algorithm = "sgp", .compressor = "topk:keep=0.1"}),
               InvalidArgument);
}

TEST(CostTable, RefusesWhatItCannotRead) {
  for (const char* input : {"", "3x32", "3x32x32x1", "0x32x32", "3x-2x32", "axbxc", "3x32x99999"}) {
    EXPECT_THROW(cost_table({.model = "mlp", .input = input}), InvalidArgument) << input;
  }
  EXPECT_THROW(cost_table({.model = "mlp", .energy = "horowitz45:rate=0"}), InvalidArgument);
  EXPECT_THROW(cost_table({.model = "mlp", .energy = "solar"}), InvalidArgument);
  EXPECT_THROW(cost_table({.model = "mlp", .input = "65536x65536x65536"}), InvalidArgument);
  EXPECT_THROW(
      cost_table({.model = "mlp", .graph = "one-peer-exponential", .algorithm = "quant-sgp"}),
      InvalidArgument)
      << "as training does";
}

}  // namespace
}  // namespace hearsay::cost
