// Whatever the bytes of a dataset file, it is read or rejected with one of our errors, and no more
// is allocated than such a file could need.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <functional>
#include <ostream>

#include "data/files.h"
#include "fuzz/mutate.h"
#include "hearsay/core/error.h"
#include "hearsay/core/random.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/image/image_file.h"

namespace hearsay::data {
namespace {

struct Format {
  const char* name;
  Bytes valid;
  std::function<void(const Scratch&, const Bytes&)> read;  ///< write the bytes and load them
};

void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

void read_mnist(const Scratch& scratch, const Bytes& bytes) {
  if (!std::filesystem::exists(scratch / "t10k-labels-idx1-ubyte")) {
    write_mnist(scratch.path(), false);
  }
  write_bytes(scratch / "train-images-idx3-ubyte", bytes);
  make_dataset("mnist:" + scratch.path().string());
}

void read_file(const char* kind, const Scratch& scratch, const Bytes& bytes) {
  write_bytes(scratch / "file", bytes);
  make_dataset(std::string(kind) + ":" + (scratch / "file").string() + ",test=0.5");
}

void read_image(const Scratch& scratch, const Bytes& bytes) {
  write_bytes(scratch / "file", bytes);
  read_picture({"folder", scratch / "file"});
}

std::vector<Format> formats() {
  using namespace std::placeholders;
  const std::vector<Member> arrays{
      {"x.npy", npy("<f4", "(4, 2)", std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8})},
      {"y.npy", npy("|u1", "(4,)", std::vector<std::uint8_t>{0, 1, 0, 1})}};
  Bytes rgb(20 * 20 * 3);
  for (std::size_t k = 0; k < rgb.size(); ++k) rgb[k] = static_cast<std::uint8_t>(k * k / 5);
  return {
      {"idx", idx({20, 28, 28}, 251), read_mnist},
      {"gzip", gzip(idx({20, 28, 28}, 251)), read_mnist},
      {"stored_npz", zip(arrays, false), std::bind(read_file, "npz", _1, _2)},
      {"deflated_npz", zip(arrays, true), std::bind(read_file, "npz", _1, _2)},
      {"csv", bytes_of("a,label,b\n1,x,2\n3,\"y\",4\n5,x,6\n7,y,9\n"),
       std::bind(read_file, "csv", _1, _2)},
      {"png", png(20, 20, rgb), read_image},
      {"jpeg", jpeg(20, 20, rgb), read_image},
  };
}

/// In kilobytes.
long peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

class Garbled : public ::testing::TestWithParam<Format> {};

TEST_P(Garbled, FilesAreReadOrRefused) {
  const Scratch scratch;
  ASSERT_NO_THROW(GetParam().read(scratch, GetParam().valid));
  const long before = peak_memory();
  Random random(1, Purpose::kTest);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    Bytes bytes = GetParam().valid;
    mutate(bytes, random);
    try {
      GetParam().read(scratch, bytes);
    } catch (const CorruptData&) {
      ++refused;
    } catch (const InvalidArgument&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
  // A picture may have up to 2^26 pixels, whatever its bytes; other files are small.
  if (GetParam().read.target_type() != typeid(&read_image)) {
    EXPECT_LT(peak_memory() - before, 64 * 1024);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Garbled, ::testing::ValuesIn(formats()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace hearsay::data
