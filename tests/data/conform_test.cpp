#include "hearsay/data/conform.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "support/message_of.h"

namespace hearsay::data {
namespace {

using Names = std::vector<std::string>;
using Labels = std::vector<std::uint16_t>;

/// Two columns of a table with a sample of each class for training, and one of the last for
/// testing.
std::shared_ptr<Dataset> table(Names classes, std::size_t count) {
  auto dataset = std::make_shared<Dataset>();
  dataset->name = "csv";
  dataset->channels = 2;
  dataset->classes = count;
  dataset->class_names = std::move(classes);
  dataset->mean = {1, 2};
  dataset->deviation = {3, 4};
  dataset->train.inputs = TypedArray(std::vector<float>(2 * count, 5.0f));
  for (std::size_t label = 0; label < count; ++label) {
    dataset->train.labels().push_back(static_cast<std::uint16_t>(label));
  }
  dataset->test.inputs = TypedArray(std::vector<float>{5, 6});
  dataset->test.labels() = {static_cast<std::uint16_t>(count - 1)};
  dataset->channel_names = {"wings", "legs"};
  return dataset;
}

model::Description pets(Names classes = {"bird", "cat", "dog"}) {
  return {.model = "mlp",
          .input = {2, 1, 1},
          .mean = {10, 20},
          .deviation = {30, 40},
          .features = {"wings", "legs"},
          .task = "classification",
          .loss = "cross-entropy",
          .outputs = 3,
          .classes = std::move(classes)};
}

std::string refusal_of(const std::shared_ptr<const Dataset>& dataset,
                       const model::Description& model) {
  return support::message_of<InvalidArgument>([&] { conform(dataset, model); });
}

TEST(Conform, TakesTheModelsNormalizationAndClasses) {
  const Conformed made = conform(table({"cat", "dog"}, 2), pets());
  EXPECT_TRUE(made.assumptions.empty());
  EXPECT_EQ(made.dataset->mean, (std::vector<float>{10, 20}));
  EXPECT_EQ(made.dataset->deviation, (std::vector<float>{30, 40}));
  EXPECT_EQ(made.dataset->classes, 3u);
  EXPECT_EQ(made.dataset->class_names, (Names{"bird", "cat", "dog"}));
  EXPECT_EQ(made.dataset->train.labels(), (Labels{1, 2}));
  EXPECT_EQ(made.dataset->test.labels(), Labels{2});
}

TEST(Conform, LeavesTheModelsOwnDataAsItIs) {
  const auto dataset = table({"bird", "cat", "dog"}, 3);
  const Conformed made = conform(dataset, describe(*dataset, "mlp", "cross-entropy"));
  EXPECT_TRUE(made.assumptions.empty());
  EXPECT_EQ(sha256_of(*made.dataset), sha256_of(*dataset));
}

TEST(Conform, MatchesLabelsWithoutNames) {
  // Labels are names, where the model has names that are numbers: class '1' is its first.
  const Conformed numbers = conform(table({}, 3), pets({"1", "2", "0"}));
  EXPECT_EQ(numbers.dataset->train.labels(), (Labels{2, 0, 1}));
  EXPECT_TRUE(numbers.assumptions.empty());
  const Conformed guessed = conform(table({}, 2), pets());
  EXPECT_EQ(guessed.dataset->train.labels(), (Labels{0, 1}));
  EXPECT_EQ(
      guessed.assumptions,
      Names{"the classes of csv have no names: labels 0, 1, ... are taken for bird, cat, dog"});
  const Conformed nameless = conform(table({"a", "b"}, 2), pets({}));
  EXPECT_EQ(nameless.dataset->train.labels(), (Labels{0, 1}));
  EXPECT_EQ(nameless.assumptions, Names{"the model's classes have no names: those of csv are taken "
                                        "in their alphabetical order, a, b"});
  const Conformed table_of_numbers = conform(table({"0", "2"}, 2), pets({}));
  EXPECT_EQ(table_of_numbers.dataset->train.labels(), (Labels{0, 2}));
  EXPECT_TRUE(table_of_numbers.assumptions.empty());
  EXPECT_EQ(refusal_of(table({}, 4), pets()),
            "[csv] has labels up to 3, and the model knows 3 classes, 0 to 2");
  // A label that no sample has needs no class: labels from 1 on leave 0 free.
  auto from_one = table({}, 4);
  from_one->train.labels() = {1, 2, 3, 3};
  EXPECT_EQ(conform(from_one, pets({"1", "2", "3"})).dataset->train.labels(), (Labels{0, 1, 2, 2}));
}

TEST(Conform, RefusesWhatTheModelDoesNotKnow) {
  EXPECT_EQ(refusal_of(table({"cat", "fish"}, 2), pets()),
            "[csv] has a class 'fish', which the model does not know; its classes are bird, cat, "
            "dog");
  auto other = table({"cat", "dog"}, 2);
  other->channel_names = {"legs", "wings"};
  EXPECT_EQ(refusal_of(other, pets()),
            "[csv] has the features legs, wings; the model was trained on wings, legs, in this "
            "order; name and order the columns so");
  other->channel_names.clear();
  EXPECT_EQ(conform(other, pets()).dataset->classes, 3u) << "arrays have no names";
  model::Description image = pets();
  image.input = {2, 4, 4};
  EXPECT_EQ(refusal_of(other, image), "[csv] has samples of 2x1x1, and the model takes 2x4x4");
}

TEST(Conform, SaysWhenEntriesMayBeInAnotherUnit) {
  model::Description bytes = pets();
  bytes.scale = 1.0f / 255;
  const Conformed made = conform(table({"cat", "dog"}, 2), bytes);
  EXPECT_EQ(made.dataset->scale, bytes.scale);
  EXPECT_EQ(made.assumptions,
            Names{"entries of csv are taken to be in the unit of the model's training data, whose "
                  "scale was 0.00392157; alone they would have 1"});
}

TEST(Conform, GivesTargetsTheModelsScale) {
  auto homes = table({}, 1);
  homes->classes = 0;
  for (Samples* part : {&homes->train, &homes->test}) {
    part->targets_each = 2;
    part->targets = TypedArray(std::vector<float>{1, 2});
  }
  homes->target_names = {"price", "rent"};
  homes->target_mean = {0, 0};
  homes->target_deviation = {1, 1};
  model::Description model = describe(*homes, "linear", "mse");
  EXPECT_TRUE(model.regression());
  EXPECT_EQ(model.outputs, 2u);
  model.target_mean = {7, 8};
  model.target_deviation = {9, 10};
  const Conformed made = conform(homes, model);
  EXPECT_EQ(made.dataset->target_mean, (std::vector<float>{7, 8}));
  EXPECT_EQ(made.dataset->target_deviation, (std::vector<float>{9, 10}));
  model.targets = {"rent", "price"};
  EXPECT_EQ(refusal_of(homes, model),
            "[csv] has the targets price, rent; the model was trained on rent, price, in this "
            "order; name and order the columns so");
  EXPECT_EQ(refusal_of(homes, pets()), "[csv] has numbers to predict, and the model tells classes");
  EXPECT_EQ(refusal_of(table({}, 2), model), "[csv] has classes, and the model predicts numbers");
  model.outputs = 1;
  EXPECT_EQ(refusal_of(homes, model), "[csv] has 2 targets per sample, and the model predicts 1");
}

}  // namespace
}  // namespace hearsay::data
