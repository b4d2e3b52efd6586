#include "hearsay/model/description.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hearsay/core/error.h"
#include "hearsay/core/version.h"

namespace hearsay::model {
namespace {

const Description kPets{.model = "cnn",
                        .input = {2, 8, 9},
                        .scale = 1.0f / 255,
                        .mean = {0.1f, -3e-20f},
                        .deviation = {0.3f, 12345.678f},
                        .features = {},
                        .task = "classification",
                        .loss = "cross-entropy",
                        .outputs = 3,
                        .classes = {"cat", "d\"o\"g", "v\xc3\xb6gel"}};
const Description kHomes{.model = "linear",
                         .input = {1, 1, 1},
                         .mean = {0},
                         .deviation = {1},
                         .features = {"rooms"},
                         .task = "regression",
                         .loss = "huber:delta=2",
                         .outputs = 2,
                         .targets = {"price", "rent"},
                         .target_mean = {3, 4},
                         .target_deviation = {5, 6}};

TEST(Description, IsReadAsItWasWritten) {
  for (const Description& written : {kPets, kHomes}) {
    const Description read = parse_description(to_json(written));
    EXPECT_EQ(read.model, written.model);
    EXPECT_EQ(read.input, written.input);
    EXPECT_EQ(read.scale, written.scale) << "to the bit";
    EXPECT_EQ(read.mean, written.mean);
    EXPECT_EQ(read.deviation, written.deviation);
    EXPECT_EQ(read.features, written.features);
    EXPECT_EQ(read.task, written.task);
    EXPECT_EQ(read.loss, written.loss);
    EXPECT_EQ(read.outputs, written.outputs);
    EXPECT_EQ(read.classes, written.classes);
    EXPECT_EQ(read.targets, written.targets);
    EXPECT_EQ(read.target_mean, written.target_mean);
    EXPECT_EQ(read.target_deviation, written.target_deviation);
    EXPECT_EQ(read.version, version());
    EXPECT_EQ(to_json(read), to_json(written));
  }
}

TEST(Description, NamesItsOutputs) {
  EXPECT_EQ(kPets.output_name(1), "d\"o\"g");
  EXPECT_EQ(kHomes.output_name(0), "price");
  Description nameless = kHomes;
  nameless.targets.clear();
  EXPECT_EQ(nameless.output_name(1), "1");
}

TEST(Description, EscapesNamesThatAreNoUtf8) {
  Description latin = kPets;
  latin.classes[2] = "v\xf6gel";
  EXPECT_EQ(parse_description(to_json(latin)).classes[2], "v\\xf6gel");
}

/// What is said of kHomes' JSON with a member set to `value`, or without it if that is discarded.
std::string complaint(const char* member, const char* value) {
  nlohmann::json json = nlohmann::json::parse(to_json(kHomes));
  if (value == nullptr) {
    json.erase(member);
  } else {
    json[member] = nlohmann::json::parse(value);
  }
  try {
    parse_description(json.dump());
  } catch (const CorruptData& error) {
    const std::string text = error.what(), head = "its description ";
    EXPECT_TRUE(text.starts_with(head)) << text;
    return text.substr(head.size());
  }
  return "fits";
}

TEST(Description, TrustsNothing) {
  EXPECT_EQ(complaint("classes", "[\"of a regression they are ignored\"]"), "fits");
  EXPECT_EQ(complaint("targets", nullptr), "fits") << "not all data names them";
  EXPECT_EQ(complaint("model", nullptr), "has no 'model'");
  EXPECT_EQ(complaint("model", "5"), "has a 'model' that is no text");
  EXPECT_EQ(complaint("input", "[1, 1]"), "has a 'input' that is not channels, height and width");
  EXPECT_EQ(complaint("input", "[1, 0, 1]"), "has a 'input' that is not 1 to 2147483647");
  EXPECT_EQ(complaint("input", "[1, -1, 1]"), "has a 'input' that is not 1 to 2147483647");
  EXPECT_EQ(complaint("outputs", "1e9"), "has a 'outputs' that is not 1 to 2147483647");
  EXPECT_EQ(complaint("outputs", "3"), "has a 'targets' that is no list of 3");
  EXPECT_EQ(complaint("mean", "[1, 2]"), "has a 'mean' that is no list of 1");
  EXPECT_EQ(complaint("mean", "[\"1\"]"), "has a 'mean' that is not made of numbers");
  EXPECT_EQ(complaint("mean", "[1e300]"), "has a 'mean' that is not made of numbers");
  EXPECT_EQ(complaint("deviation", "[0]"),
            "has a 'deviation' that is not made of positive numbers");
  EXPECT_EQ(complaint("scale", "-1"), "has a 'scale' that is not made of positive numbers");
  EXPECT_EQ(complaint("target_deviation", "[1, null]"),
            "has a 'target_deviation' that is not made of positive numbers");
  EXPECT_EQ(complaint("features", "[7]"), "has a name in 'features' that is no text");
  EXPECT_EQ(complaint("task", "\"guessing\""), "has the task 'guessing'");
  EXPECT_EQ(complaint("format", "2"), "is of hearsay " + std::string(version()) + ", and this is " +
                                          std::string(version()) +
                                          "; use that version or a later one");
  EXPECT_THROW(parse_description("{"), CorruptData);
  EXPECT_THROW(parse_description("[]"), CorruptData);
}

}  // namespace
}  // namespace hearsay::model
