#include <cstring>
#include <initializer_list>
#include <string>

#include <fmt/format.h>

#include "hearsay/data/source/source_file.h"
#include "hearsay/data/source/sources.h"

namespace hearsay::data {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPixels = 3 * 32 * 32;
constexpr std::size_t kPiece = 100;  // records; every file holds a multiple of this

/// A binary version: records of label bytes, of which the last is used, and a planar image.
struct Format {
  std::string_view name;
  const char* archive;  ///< the folder inside the published archive
  std::size_t label_bytes;
  std::size_t classes;
};

/// Append the records of a file, which must have exactly `count`.
void read_batch(const Format& format, const fs::path& path, std::size_t count, Samples& part) {
  const SourceFile file{format.name, path, kCifarSource};
  const std::size_t record = format.label_bytes + kPixels;
  std::size_t size = 0;
  std::ifstream in = file.open(size);
  if (size != count * record) {
    file.corrupt(fmt::format("has {} bytes; it must have {} ({} records of {})", size,
                             count * record, count, record));
  }
  const std::size_t before = part.size();
  part.labels().resize(before + count);
  std::vector<std::uint8_t>& pixels = part.inputs.as<std::uint8_t>();
  pixels.resize((before + count) * kPixels);
  Bytes piece(kPiece * record);  // small, so that it stays in the cache
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kPiece == 0) file.read_next(in, piece);
    const std::uint8_t* at = piece.data() + i % kPiece * record;
    const std::uint8_t label = at[format.label_bytes - 1];
    if (label >= format.classes) {
      file.corrupt(fmt::format("has label {} in record {}; labels are 0 to {}", label, i,
                               format.classes - 1));
    }
    part.labels()[before + i] = label;
    std::memcpy(pixels.data() + (before + i) * kPixels, at + format.label_bytes, kPixels);
  }
}

Dataset read_all(const Format& format, const Arguments& arguments,
                 std::initializer_list<const char*> train, std::size_t each, const char* test) {
  fs::path folder = arguments.text("path");
  std::error_code error;
  if (fs::is_directory(folder / format.archive, error)) folder /= format.archive;
  Dataset cifar{.name = std::string(format.name),
                .channels = 3,
                .height = 32,
                .width = 32,
                .classes = format.classes,
                .scale = 1.0f / 255};
  cifar.train.inputs.as<std::uint8_t>().reserve(train.size() * each * kPixels);
  for (const char* name : train) read_batch(format, folder / name, each, cifar.train);
  read_batch(format, folder / test, 10000, cifar.test);
  return cifar;
}

}  // namespace

std::shared_ptr<const Dataset> make_cifar10(const Arguments& arguments) {
  Dataset cifar = read_all({"cifar10", "cifar-10-batches-bin", 1, 10}, arguments,
                           {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                            "data_batch_4.bin", "data_batch_5.bin"},
                           10000, "test_batch.bin");
  cifar.mean = {0.4914f, 0.4822f, 0.4465f};
  cifar.deviation = {0.2023f, 0.1994f, 0.2010f};
  return std::make_shared<const Dataset>(std::move(cifar));
}

std::shared_ptr<const Dataset> make_cifar100(const Arguments& arguments) {
  // The label bytes are the superclass and the class.
  Dataset cifar = read_all({"cifar100", "cifar-100-binary", 2, 100}, arguments, {"train.bin"},
                           50000, "test.bin");
  cifar.mean = {0.5071f, 0.4867f, 0.4408f};
  cifar.deviation = {0.2675f, 0.2565f, 0.2761f};
  return std::make_shared<const Dataset>(std::move(cifar));
}

}  // namespace hearsay::data
