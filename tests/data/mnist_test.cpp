#include <gtest/gtest.h>

#include "data/files.h"
#include "hearsay/core/error.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/source/sources.h"

namespace hearsay::data {
namespace {

constexpr const char* kImages = "train-images-idx3-ubyte";
constexpr const char* kLabels = "train-labels-idx1-ubyte";

std::string spec_of(const Scratch& scratch) { return "mnist:" + scratch.path().string(); }

TEST(Mnist, ReadsPlainAndGzippedFilesAlike) {
  for (const bool gzipped : {false, true}) {
    const Scratch scratch;
    write_mnist(scratch.path(), gzipped);
    const auto mnist = make_dataset(spec_of(scratch));
    EXPECT_EQ(mnist->train.size(), 20u);
    EXPECT_EQ(mnist->test.size(), 10u);
    EXPECT_EQ(mnist->features(), 784u);
    EXPECT_EQ(mnist->mean, std::vector<float>{0.1307f});
    EXPECT_EQ(mnist->deviation, std::vector<float>{0.3081f});
    for (std::size_t k = 0; k < mnist->train.inputs.as<std::uint8_t>().size(); ++k) {
      ASSERT_EQ(mnist->train.inputs.as<std::uint8_t>()[k], k % 251);
    }
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(mnist->train.labels()[i], i % 10);
  }
}

TEST(Mnist, FindsWhatTorchvisionAndSomeArchivesLeave) {
  const Scratch scratch;
  write_mnist(scratch / "MNIST/raw", false);
  EXPECT_EQ(make_dataset(spec_of(scratch))->train.size(), 20u);
  const auto raw = scratch / "MNIST/raw";
  std::filesystem::rename(raw / kImages, raw / "train-images.idx3-ubyte");
  EXPECT_EQ(make_dataset(spec_of(scratch))->train.size(), 20u);
}

TEST(Mnist, NamesTheMissingFileAndWhereItIsPublished) {
  const Scratch scratch;
  write_mnist(scratch.path(), false);
  std::filesystem::remove(scratch / "t10k-labels-idx1-ubyte");
  EXPECT_EQ(message_of([&] { make_dataset(spec_of(scratch)); }),
            "[mnist] " + scratch.path().string() +
                " has no t10k-labels-idx1-ubyte (or t10k-labels-idx1-ubyte.gz); the folder must "
                "hold train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte "
                "and t10k-labels-idx1-ubyte; published by " +
                std::string(kMnistSource));
}

struct Damage {
  const char* file;
  Bytes bytes;
  const char* what;
};

TEST(Mnist, SaysWhatIsWrongWithADamagedFile) {
  Bytes cut = idx({20, 28, 28}, 251);
  cut.resize(cut.size() - 1);
  Bytes long_one = idx({20, 28, 28}, 251);
  long_one.push_back(0);
  Bytes packed = gzip(idx({20, 28, 28}, 251));
  Bytes half(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(packed.size() / 2));
  Bytes twice = packed;
  twice.insert(twice.end(), packed.begin(), packed.end());
  Bytes bomb = idx({20, 28, 28}, 251);
  bomb.resize(bomb.size() + (1 << 22));
  bomb = gzip(bomb);
  Bytes vast = idx({20, 28, 28}, 251);
  for (const auto& [at, byte] : {std::pair(4, 0x0b), {5, 0xeb}, {6, 0xc2}, {7, 0x00}}) {
    vast[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(byte);
  }
  vast = gzip(vast);
  const std::string promise = "has " + std::to_string(vast.size()) +
                              " bytes; its header promises 200000000 samples, which take "
                              "156800000016";
  Bytes flipped = packed;
  flipped[packed.size() - 6] ^= 1;  // in the checksum
  const Damage damages[] = {
      {kImages, {}, "has 0 bytes; an IDX header has 16"},
      {kImages, bytes_of("GIF89a, but it is no image at all"),
       "begins with 0x47494638; the magic number of its kind is 0x00000803"},
      {kImages, idx({20}, 10),
       "begins with 0x00000801; the magic number of its kind is 0x00000803"},
      {kImages, cut, "has 15695 bytes; its header promises 20 samples, which take 15696"},
      {kImages, long_one, "has 15697 bytes; its header promises 20 samples, which take 15696"},
      {kImages, idx({20, 28, 27}, 251), "has images of 27 pixels a side; they must be 28x28"},
      {kImages, idx({0, 28, 28}, 251), "has 16 bytes; its header promises 0 samples"},
      {kImages, half, "is not validly compressed (it ends too early)"},
      {kImages, bomb, "holds more than 15696 bytes uncompressed"},
      {kImages, gzip(idx({20}, 10)),
       "begins with 0x00000801; the magic number of its kind is 0x00000803"},
      {kImages, gzip(bytes_of("short")), "has 5 bytes; an IDX header has 16"},
      {kImages, vast, promise.c_str()},
      {kImages, flipped, "is not validly compressed (incorrect data check)"},
      {kImages, twice, "goes on after its"},
      {kLabels, idx({19}, 10), "has 19 labels; "},
      {kLabels, idx({20}, 11), "has a label 10; they are 0 to 9"},
  };
  for (const Damage& damage : damages) {
    const Scratch scratch;
    write_mnist(scratch.path(), false);
    write_bytes(scratch / damage.file, damage.bytes);
    const std::string text = message_of<CorruptData>([&] { make_dataset(spec_of(scratch)); });
    EXPECT_EQ(text.find("[mnist] " + (scratch / damage.file).string() + " " + damage.what), 0u)
        << text;
    EXPECT_NE(text.find("http"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace hearsay::data
