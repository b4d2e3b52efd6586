#include <gtest/gtest.h>

#include <algorithm>

#include "data/files.h"
#include "hearsay/core/error.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/source/sources.h"

namespace hearsay::data {
namespace {

void put(const std::filesystem::path& path, std::size_t at, std::uint8_t byte) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(byte));
}

/// One set of files for all tests: a test restores what it changes.
class Cifar : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = new Scratch;
    write_cifar10(*scratch_ / "ten");
    write_cifar100(*scratch_ / "hundred/cifar-100-binary");
  }
  static void TearDownTestSuite() { delete scratch_; }

  static std::filesystem::path ten(const char* name) { return *scratch_ / "ten" / name; }
  static std::string spec10() { return "cifar10:" + (*scratch_ / "ten").string(); }
  static std::string spec100() { return "cifar100:" + (*scratch_ / "hundred").string(); }

  static inline Scratch* scratch_ = nullptr;
};

TEST_F(Cifar, KeepsRecordsInOrderWithPlanarPixels) {
  // The last pixel of the last record, and the first of the second file.
  put(ten("data_batch_5.bin"), 10000 * 3073 - 1, 77);
  put(ten("data_batch_2.bin"), 1, 78);
  const auto cifar = make_dataset(spec10());
  put(ten("data_batch_5.bin"), 10000 * 3073 - 1, 0);
  put(ten("data_batch_2.bin"), 1, 0);
  EXPECT_EQ(cifar->train.size(), 50000u);
  EXPECT_EQ(cifar->test.size(), 10000u);
  EXPECT_EQ(cifar->channels, 3u);
  EXPECT_EQ(cifar->height, 32u);
  EXPECT_EQ(cifar->classes, 10u);
  EXPECT_EQ(cifar->train.inputs.as<std::uint8_t>().back(), 77);
  EXPECT_EQ(cifar->train.inputs.as<std::uint8_t>()[10000 * 3072], 78);
  EXPECT_EQ(std::ranges::count(cifar->train.inputs.as<std::uint8_t>(), 0),
            std::ssize(cifar->train.inputs.as<std::uint8_t>()) - 2);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(cifar->train.labels()[20000 + i], i < 10 ? i : 0) << "in the third file";
  }
  EXPECT_EQ(cifar->mean, (std::vector<float>{0.4914f, 0.4822f, 0.4465f}));
  EXPECT_EQ(cifar->deviation, (std::vector<float>{0.2023f, 0.1994f, 0.2010f}));
}

TEST_F(Cifar, OfAHundredClassesTakesTheFineLabels) {
  const auto cifar = make_dataset(spec100());
  EXPECT_EQ(cifar->train.size(), 50000u);
  EXPECT_EQ(cifar->test.size(), 10000u);
  EXPECT_EQ(cifar->classes, 100u);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(cifar->train.labels()[i], i);
  EXPECT_EQ(cifar->mean, (std::vector<float>{0.5071f, 0.4867f, 0.4408f}));
  EXPECT_EQ(cifar->deviation, (std::vector<float>{0.2675f, 0.2565f, 0.2761f}));
}

TEST_F(Cifar, SaysWhichFileIsMissingAndWhereItIsPublished) {
  std::filesystem::rename(ten("data_batch_4.bin"), ten("away"));
  EXPECT_EQ(message_of([] { make_dataset(spec10()); }),
            "[cifar10] " + ten("data_batch_4.bin").string() + " does not exist; published by " +
                std::string(kCifarSource));
  std::filesystem::create_directory(ten("data_batch_4.bin"));
  EXPECT_EQ(message_of([] { make_dataset(spec10()); }),
            "[cifar10] " + ten("data_batch_4.bin").string() + " is not a file; published by " +
                std::string(kCifarSource));
  std::filesystem::remove(ten("data_batch_4.bin"));
  std::filesystem::rename(ten("away"), ten("data_batch_4.bin"));
}

TEST_F(Cifar, SaysTheSizeThatWasExpected) {
  for (const std::size_t size : {0ul, 3073ul, 30729999ul, 30730001ul}) {
    std::filesystem::resize_file(ten("data_batch_1.bin"), size);
    EXPECT_EQ(message_of<CorruptData>([] { make_dataset(spec10()); }),
              "[cifar10] " + ten("data_batch_1.bin").string() + " has " + std::to_string(size) +
                  " bytes; it must have 30730000 (10000 records of 3073); published by " +
                  std::string(kCifarSource));
  }
  write_cifar10(*scratch_ / "ten");
}

TEST_F(Cifar, RefusesLabelsThatAreNone) {
  put(ten("test_batch.bin"), 5 * 3073, 10);
  const std::string text = message_of<CorruptData>([] { make_dataset(spec10()); });
  put(ten("test_batch.bin"), 5 * 3073, 5);
  EXPECT_EQ(text.find("[cifar10] " + ten("test_batch.bin").string() +
                      " has label 10 in record 5; labels are 0 to 9"),
            0u)
      << text;
}

}  // namespace
}  // namespace hearsay::data
