#include "hearsay/train/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"
#include "support/message_of.h"
#include "support/scratch.h"

namespace hearsay::train {
namespace {

TEST(Safetensors, HoldsNamesShapesOffsetsAndFloats) {
  Layout layout;
  layout.add("weight", {2, 3});
  layout.add("bias \"b\"", {2});
  layout.add("scalar", {});
  std::vector<float> model(layout.dim());
  for (std::size_t k = 0; k < model.size(); ++k) model[k] = 0.1f * static_cast<float>(k) - 0.3f;

  support::Scratch scratch;
  write_safetensors(scratch / "model.safetensors", layout, model);
  const std::string bytes = support::read_text(scratch / "model.safetensors");

  std::uint64_t length = 0;
  ASSERT_GE(bytes.size(), sizeof length);
  std::memcpy(&length, bytes.data(), sizeof length);
  EXPECT_EQ(length % 8, 0u) << "the format aligns the data";
  ASSERT_EQ(bytes.size(), 8 + length + 4 * model.size());

  const nlohmann::json header = nlohmann::json::parse(bytes.substr(8, length));
  EXPECT_EQ(header, nlohmann::json::parse(R"({
    "weight":     {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
    "bias \"b\"": {"dtype": "F32", "shape": [2],    "data_offsets": [24, 32]},
    "scalar":     {"dtype": "F32", "shape": [],     "data_offsets": [32, 36]}})"));

  std::vector<float> read(model.size());
  std::memcpy(read.data(), bytes.data() + 8 + length, 4 * read.size());
  EXPECT_EQ(read, model);
}

const model::Description kWhat{.model = "mlp",
                               .input = {2, 1, 1},
                               .mean = {0, 0},
                               .deviation = {1, 2},
                               .task = "classification",
                               .loss = "cross-entropy",
                               .outputs = 2};

/// Two tensors and, as buffers, one more.
class SavedModelFile : public ::testing::Test {
 protected:
  SavedModelFile() : file_(scratch_ / "model.safetensors") {
    layout_.add("weight", {2, 3});
    layout_.add("bias", {2});
    buffers_.add("norm.running_mean", {2});
    for (int k = 0; k < 8; ++k) model_.push_back(0.5f * static_cast<float>(k));
  }

  /// Writes a file with that header and so many zeros.
  void write(const std::string& header, std::size_t bytes) {
    const std::uint64_t length = header.size();
    std::string text(reinterpret_cast<const char*>(&length), sizeof length);
    support::write_text(file_, text + header + std::string(bytes, '\0'));
  }
  /// The error message about the file, without its name.
  std::string complaint() const {
    try {
      read_safetensors(file_, layout_, buffers_);
    } catch (const std::exception& error) {
      const std::string text = error.what(), head = "[safetensors] " + file_.string() + " ";
      EXPECT_TRUE(text.starts_with(head)) << text;
      return text.substr(head.size());
    }
    return "fits";
  }

  support::Scratch scratch_;
  std::filesystem::path file_;
  Layout layout_, buffers_;
  std::vector<float> model_;
  const std::string give_ = "; give the --model that it was saved of";
};

TEST_F(SavedModelFile, IsReadAsItWasWritten) {
  write_safetensors(file_, layout_, model_, buffers_, std::vector<float>{7, 8});
  SavedModel read = read_safetensors(file_, layout_, buffers_);
  EXPECT_EQ(read.parameters, model_);
  EXPECT_EQ(read.buffers, (std::vector<float>{7, 8}));
  write_safetensors(file_, layout_, model_);
  read = read_safetensors(file_, layout_, buffers_);
  EXPECT_EQ(read.parameters, model_);
  EXPECT_TRUE(read.buffers.empty());
}

TEST_F(SavedModelFile, MayHoldItsTensorsInAnyOrderAndPyTorchsCounter) {
  write(R"({"__metadata__": {"format": "pt"},
    "bias": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
    "norm.num_batches_tracked": {"dtype": "I64", "shape": [], "data_offsets": [8, 16]},
    "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [16, 40]}})",
        40);
  EXPECT_EQ(complaint(), "fits");
  EXPECT_EQ(read_safetensors(file_, layout_).parameters, std::vector<float>(8, 0.0f));
}

TEST_F(SavedModelFile, OfAnotherModelIsRefusedByTensorAndShape) {
  const auto saved = [&](const Layout& other) {
    write_safetensors(file_, other, std::vector<float>(other.dim()));
    return complaint();
  };
  Layout narrow, nameless, more;
  narrow.add("weight", {2, 2});
  narrow.add("bias", {2});
  EXPECT_EQ(saved(narrow),
            "has tensor 'weight' of shape [2, 2], and the model's has [2, 3]" + give_);
  nameless.add("weight", {2, 3});
  EXPECT_EQ(saved(nameless), "has no tensor 'bias', and the model has one of shape [2]" + give_);
  more = layout_;
  more.add("head", {1});
  EXPECT_EQ(saved(more), "has tensor 'head', and the model has none of that name" + give_);
  EXPECT_THROW(read_safetensors(file_, layout_), InvalidArgument);
  write(R"({"weight": {"dtype": "F16", "shape": [2, 3], "data_offsets": [0, 12]}})", 12);
  EXPECT_EQ(complaint(), "has tensor 'weight' as F16, and F32 is needed" + give_);
}

TEST_F(SavedModelFile, ThatIsNoneIsCorrupt) {
  const auto tensor = [&](const char* entry, std::size_t bytes) {
    write(std::string("{\"weight\": ") + entry + "}", bytes);
    EXPECT_THROW(read_safetensors(file_, layout_), CorruptData);
    return complaint();
  };
  support::write_text(file_, "1234567");
  EXPECT_EQ(complaint(), "is too short to be a safetensors file");
  support::write_text(file_, std::string(8, '\xff'));
  EXPECT_EQ(complaint(),
            "is no safetensors file: its header would have 18446744073709551615 bytes");
  write("[1, 2", 0);
  EXPECT_EQ(complaint(), "is no safetensors file: its header is no JSON object");
  write(std::string(100'000, '['), 0);
  EXPECT_EQ(complaint(), "is no safetensors file: its header is no JSON object");
  EXPECT_EQ(tensor("5", 0), "has tensor 'weight' with no dtype");
  EXPECT_EQ(tensor(R"({"dtype": "F32"})", 0), "has tensor 'weight' with no shape");
  EXPECT_EQ(tensor(R"({"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]})", 4),
            "has tensor 'weight' with a shape that is none");
  EXPECT_EQ(tensor(R"({"dtype": "F32", "shape": [1], "data_offsets": [0]})", 4),
            "has tensor 'weight' with no data_offsets");
  EXPECT_EQ(tensor(R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 8]})", 4),
            "has tensor 'weight' with data_offsets out of range");
  EXPECT_EQ(tensor(R"({"dtype": "F32", "shape": [1], "data_offsets": [8, 4]})", 8),
            "has tensor 'weight' with data_offsets out of range");
  EXPECT_EQ(tensor(R"({"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 8]})", 8),
            "has tensor 'weight' with data_offsets that do not suit its shape");
  EXPECT_EQ(tensor(R"({"dtype": "F32", "shape": [4294967296, 4294967296, 2],
                       "data_offsets": [0, 0]})",
                   0),
            "has tensor 'weight' with a shape too large for any file");
  EXPECT_EQ(tensor(R"({"dtype": "F32", "shape": [1], "data_offsets": [4, 8]})", 8),
            "has tensors that overlap or leave gaps");
  EXPECT_EQ(tensor(R"({"dtype": "F32", "shape": [1], "data_offsets": [0, 4]})", 9),
            "has 9 bytes of data, and its tensors take 4");
  model_[6] = std::numeric_limits<float>::quiet_NaN();
  write_safetensors(file_, layout_, model_);
  EXPECT_EQ(complaint(), "has values in tensor 'bias' that are not finite");
}

TEST_F(SavedModelFile, MayNameATensorOnce) {
  write(R"({"weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
            "bias": {"dtype": "F32", "shape": [2], "data_offsets": [24, 32]},
            "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}})",
        32);
  EXPECT_EQ(complaint(), "has tensor 'weight' twice");
}

TEST_F(SavedModelFile, HasNoLongerHeaderThanItsModelNeeds) {
  write("{\"__metadata__\": {\"note\": \"" + std::string(1 << 20, 'x') + "\"}}", 0);
  EXPECT_TRUE(complaint().starts_with("has no tensor 'weight'")) << "people may write notes";
  write(std::string(8 << 20, '['), 0);
  EXPECT_EQ(complaint(), "has a header of 8388608 bytes; that of this model has at most 4200502");
}

TEST_F(SavedModelFile, SaysWhatItIs) {
  write_safetensors(file_, layout_, model_);
  EXPECT_FALSE(read_description(file_)) << "as of older versions";
  write_safetensors(file_, layout_, model_, buffers_, std::vector<float>{7, 8}, kWhat);
  const auto said = read_description(file_);
  ASSERT_TRUE(said);
  EXPECT_EQ(model::to_json(*said), model::to_json(kWhat));
  EXPECT_EQ(complaint(), "fits") << "the tensors are where they were";
  const std::string bytes = support::read_text(file_);
  const auto header = nlohmann::json::parse(bytes.substr(8, bytes.rfind('}') - 7));
  EXPECT_EQ(header["__metadata__"], nlohmann::json({{"hearsay", model::to_json(kWhat)}}))
      << "the format allows texts only";
}

/// Readers bound the header: what would not fit is left out.
TEST_F(SavedModelFile, OfVeryManyColumnsIsReadAgain) {
  model::Description wide = kWhat;
  wide.features.assign(60'000, std::string(80, 'x'));
  write_safetensors(file_, layout_, model_, buffers_, std::vector<float>{7, 8}, wide);
  EXPECT_EQ(complaint(), "fits");
  ASSERT_TRUE(read_description(file_));
  EXPECT_TRUE(read_description(file_)->features.empty());
  EXPECT_EQ(read_description(file_)->task, kWhat.task);
}

TEST_F(SavedModelFile, WithADamagedDescriptionIsCorrupt) {
  write(R"({"__metadata__": {"hearsay": "{\"format\": 1}"}})", 0);
  EXPECT_EQ(support::message_of<CorruptData>([&] { read_description(file_); }),
            "[safetensors] " + file_.string() + " cannot be used: its description has no 'model'");
  for (const char* metadata : {R"({"format": "pt"})", "{}", "5", R"({"hearsay": 5})"}) {
    write(std::string(R"({"__metadata__": )") + metadata + "}", 0);
    EXPECT_FALSE(read_description(file_)) << metadata << " of another program";
  }
}

/// Whatever the bytes: one of our errors, or a model of the right size.
TEST_F(SavedModelFile, MayBeGarbledInAnyWay) {
  write_safetensors(file_, layout_, model_, buffers_, std::vector<float>{7, 8}, kWhat);
  const std::string whole = support::read_text(file_);
  Random random(1, Purpose::kTest);
  std::size_t refused = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::string bytes = whole;
    for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    if (random.below(4) == 0) bytes.resize(random.below(bytes.size() + 1));
    support::write_text(file_, bytes);
    try {
      EXPECT_EQ(read_safetensors(file_, layout_, buffers_).parameters.size(), layout_.dim());
      const auto said = read_description(file_);
      EXPECT_TRUE(!said || said->mean.size() == said->input.channels);
    } catch (const CorruptData&) {
      ++refused;
    } catch (const InvalidArgument&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 300u);
}

TEST(Safetensors, AppearWholeOrNotAtAll) {
  support::Scratch scratch;
  EXPECT_THROW(
      write_safetensors(scratch / "missing/model.safetensors", Layout(2), std::vector<float>{1, 2}),
      RunFailed);
  EXPECT_TRUE(support::contents(scratch.path()).empty());
}

}  // namespace
}  // namespace hearsay::train
