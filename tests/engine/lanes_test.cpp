#include "hearsay/engine/cpu/lanes.h"

#include <gtest/gtest.h>

#include "engine/bank.h"
#include "engine/chains.h"
#include "engine/run_program.h"
#include "hearsay/model/models.h"

namespace hearsay::engine {
namespace {

using backend::Precision;

constexpr std::size_t kLanesBatch = 37;  // of chunks of any size, the last is not full

/// A network whose step must have the same bits on any number of threads.
struct LanesCase {
  std::string name;
  model::Network net;
  Precision precision = Precision::kFp32;
  Loss loss{};
};
std::ostream& operator<<(std::ostream& out, const LanesCase& test) { return out << test.name; }

std::vector<LanesCase> cases() {
  std::vector<LanesCase> all;
  for (const model::Chain& chain : model::chains()) {
    all.push_back({chain.name, model::chain_network(chain)});
  }
  const auto add = [&](std::string name, const char* spec, model::Shape input,
                       Precision precision = Precision::kFp32) {
    all.push_back({std::move(name), model::make_model(spec, input, 10), precision, {}});
  };
  add("Logistic", "logistic", {1, 8, 8});
  add("Mlp", "mlp", {1, 8, 8});
  add("Cnn", "cnn", {1, 8, 8});
  add("Lenet5", "lenet5", {3, 32, 32});
  add("Resnet20", "resnet20", {3, 16, 16});
  add("Resnet20OfEvoNorm", "resnet20:norm=evonorm", {3, 16, 16});
  add("Resnet20OfRangeEvoNorm", "resnet20:norm=range-evonorm", {3, 16, 16});
  add("Vgg11", "vgg11", {3, 32, 32});
  add("CnnIn8Bits", "cnn", {1, 8, 8}, Precision::kInt8);
  add("MlpIn8Bits", "mlp", {1, 8, 8}, Precision::kInt8);
  add("Lenet5In8Bits", "lenet5", {3, 32, 32}, Precision::kInt8);
  add("Resnet20In8Bits", "resnet20:norm=range-evonorm", {3, 16, 16}, Precision::kInt8);
  all.push_back({"Regression",
                 model::make_model("mlp", {8, 1, 1}, 2),
                 Precision::kFp32,
                 {.kind = Loss::Kind::kMse}});
  return all;
}

class Threads : public ::testing::TestWithParam<LanesCase> {};

TEST_P(Threads, DoNotChangeABit) {
  const auto& [name, net, precision, loss] = GetParam();
  model::Example example = make_example(net, kLanesBatch, 1);
  example.samples.numbers.assign(loss.of_numbers() ? kLanesBatch * net.outputs() : 0, 0.5f);
  const StreamKey key{.seed = 5};
  const auto one = cpu::make_program(precision, net, kLanesBatch, loss);
  const ProgramOutcome gradient = run_gradient(*one, example, key);
  const std::vector<float> outputs = run_logits(*one, net.outputs(), example);
  for (std::size_t threads : {2u, 3u, 5u}) {
    ThreadPool pool(threads);
    const auto several = cpu::make_program(precision, net, kLanesBatch, loss, {pool, threads});
    EXPECT_EQ(run_gradient(*several, example, key), gradient) << threads;
    EXPECT_EQ(run_logits(*several, net.outputs(), example), outputs) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, Threads, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

TEST(Threads, AreSharedByThePeersOfABank) {
  const auto gradients = [](std::size_t threads) {
    BankOptions options{.peers = 3, .threads = threads, .model = "cnn", .batch = 20};
    Bank bank("digits", options);
    bank.gradients(0);
    bank.gradients(1);
    return std::pair(bank.g, bank.losses);
  };
  const auto expected = gradients(1);
  for (std::size_t threads : {2u, 5u, 8u}) EXPECT_EQ(gradients(threads), expected) << threads;
}

}  // namespace
}  // namespace hearsay::engine
