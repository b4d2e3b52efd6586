#include "hearsay/engine/train_only.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/core/thread_pool.h"

namespace hearsay::engine {
namespace {

TEST(TrainOnly, MatchesNames) {
  EXPECT_TRUE(matches("*", "conv1.weight"));
  EXPECT_TRUE(matches("linear.*", "linear.bias"));
  EXPECT_TRUE(matches("a+*.bias+b", "linear.bias"));
  EXPECT_TRUE(matches("conv?.weight", "conv1.weight"));
  EXPECT_TRUE(matches("layer*.conv*.weight", "layer3.0.conv2.weight"));
  EXPECT_FALSE(matches("linear", "linear.bias"));
  EXPECT_FALSE(matches("conv?.weight", "conv10.weight"));
  EXPECT_FALSE(matches("*.bias", "linear.bias.more"));
  EXPECT_FALSE(matches("", "linear.bias"));
}

/// Two peers on digits with a network that has a norm with running statistics.
struct Digits {
  ObjectiveContext context() {
    return {.peers = 2,
            .first = 0,
            .rows = 2,
            .seed = 3,
            .pool = pool,
            .kernels = *kernels,
            .model = "cnn:norm=batch",
            .task = "classification",
            .loss = "cross-entropy",
            .partition = "iid",
            .augment = "none",
            .validation = 0,
            .batch = 16};
  }
  std::unique_ptr<Objective> make() { return make_objective("digits", context()); }
  std::unique_ptr<Objective> trained(std::string_view patterns, std::span<const float> start) {
    return train_only(make(), patterns, start, context());
  }

  ThreadPool pool{1};
  std::unique_ptr<backend::Kernels> kernels = backend::make_cpu_kernels(pool);
};

struct Gradients {
  std::vector<float> values;
  std::vector<double> losses;
};

Gradients gradients_of(Objective& objective, std::vector<float>& models) {
  const std::size_t dim = objective.layout().dim();
  Gradients result{std::vector<float>(2 * dim), std::vector<double>(2)};
  objective.gradients(0, {models.data(), 2, dim}, {result.values.data(), 2, dim}, result.losses);
  return result;
}

TEST(TrainOnly, IsPartOfTheWholeModelToTheBit) {
  Digits digits;
  const auto whole = digits.make();
  std::vector<float> start(whole->layout().dim());
  whole->initial_model(0, start);
  const auto some = digits.trained("linear.*+*.bias", start);
  const std::size_t all = whole->layout().dim(), part = some->layout().dim();
  ASSERT_LT(part, all);
  EXPECT_EQ(some->whole_layout().dim(), all);
  EXPECT_EQ(some->buffer_layout().dim(), whole->buffer_layout().dim());
  for (const Segment& segment : some->layout().segments()) {
    EXPECT_TRUE(matches("linear.*+*.bias", segment.name)) << segment.name;
  }

  // Both peers at models of their own, which differ from the start in what is trained.
  std::vector<float> trained(2 * part), models;
  for (std::size_t k = 0; k < trained.size(); ++k) trained[k] = 0.01f * static_cast<float>(k % 7);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<float> model = some->whole(std::span(trained).subspan(i * part, part));
    EXPECT_EQ(some->trained(model),
              std::vector<float>(trained.begin() + i * part, trained.begin() + (i + 1) * part));
    models.insert(models.end(), model.begin(), model.end());
  }
  const Gradients expected = gradients_of(*whole, models), found = gradients_of(*some, trained);
  EXPECT_EQ(found.losses, expected.losses);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto row = std::span(expected.values).subspan(i * all, all);
    EXPECT_EQ(some->trained(row), std::vector<float>(found.values.begin() + i * part,
                                                     found.values.begin() + (i + 1) * part));
    EXPECT_EQ(some->buffers(i), whole->buffers(i));
  }
  const auto scores = some->scores({trained.data(), 2, part});
  const auto whole_scores = whole->scores({models.data(), 2, all});
  EXPECT_EQ(scores[1].loss, whole_scores[1].loss);
  EXPECT_EQ(some->evaluate(std::span(trained).first(part), some->buffers(0)).loss, scores[0].loss);
}

TEST(TrainOnly, IsTheObjectiveItselfIfAllMatch) {
  Digits digits;
  auto whole = digits.make();
  std::vector<float> start(whole->layout().dim());
  const Objective* address = whole.get();
  const auto all = train_only(std::move(whole), "*", start, digits.context());
  EXPECT_EQ(all.get(), address);
}

TEST(TrainOnly, NamesTheTensorsIfNoneMatches) {
  Digits digits;
  std::vector<float> start(digits.make()->layout().dim());
  try {
    digits.trained("fc.*", start);
    FAIL() << "no tensor has that name";
  } catch (const InvalidArgument& error) {
    EXPECT_TRUE(
        std::string(error.what())
            .starts_with(
                "[train-only] no tensor of the model is named 'fc.*'; there are conv1.weight, "));
  }
}

}  // namespace
}  // namespace hearsay::engine
