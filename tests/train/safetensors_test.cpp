#include "hearsay/train/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "hearsay/core/error.h"
#include "train/scratch.h"

namespace hearsay::train {
namespace {

TEST(Safetensors, HoldsNamesShapesOffsetsAndFloats) {
  Layout layout;
  layout.add("weight", {2, 3});
  layout.add("bias \"b\"", {2});
  layout.add("scalar", {});
  std::vector<float> model(layout.dim());
  for (std::size_t k = 0; k < model.size(); ++k) model[k] = 0.1f * static_cast<float>(k) - 0.3f;

  Scratch scratch;
  write_safetensors(scratch / "model.safetensors", layout, model);
  const std::string bytes = read_text(scratch / "model.safetensors");

  std::uint64_t length = 0;
  ASSERT_GE(bytes.size(), sizeof length);
  std::memcpy(&length, bytes.data(), sizeof length);
  EXPECT_EQ(length % 8, 0u) << "the format aligns the data";
  ASSERT_EQ(bytes.size(), 8 + length + 4 * model.size());

  using Json = nlohmann::json;
  const Json header = Json::parse(bytes.substr(8, length));
  EXPECT_EQ(header, Json::parse(R"({
    "weight":     {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
    "bias \"b\"": {"dtype": "F32", "shape": [2],    "data_offsets": [24, 32]},
    "scalar":     {"dtype": "F32", "shape": [],     "data_offsets": [32, 36]}})"));

  std::vector<float> read(model.size());
  std::memcpy(read.data(), bytes.data() + 8 + length, 4 * read.size());
  EXPECT_EQ(read, model);
}

TEST(Safetensors, AppearWholeOrNotAtAll) {
  Scratch scratch;
  EXPECT_THROW(
      write_safetensors(scratch / "missing/model.safetensors", Layout(2), std::vector<float>{1, 2}),
      RunFailed);
  EXPECT_TRUE(contents(scratch.path()).empty());
}

}  // namespace
}  // namespace hearsay::train
