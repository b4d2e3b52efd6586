#include <initializer_list>
#include <string>

#include <fmt/format.h>

#include "hearsay/core/memory.h"
#include "hearsay/data/source/source_file.h"
#include "hearsay/data/source/sources.h"

namespace hearsay::data {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSide = 28;
constexpr std::size_t kClasses = 10;
constexpr std::size_t kMostDeflated = 1032;  // bytes that one of deflated data can stand for
constexpr std::size_t kMostSamples = 1u << 28;

/// Finds the file of that name: "train-images-idx3-ubyte", as published, or unpacked, or as
/// "train-images.idx3-ubyte", the name that some archives give it.
SourceFile find(const fs::path& folder, std::string_view name) {
  std::string dotted(name);
  dotted[dotted.find("-idx")] = '.';
  for (const fs::path& place : {folder, folder / "MNIST" / "raw"}) {
    for (const std::string& stem : {std::string(name), dotted}) {
      for (const char* ending : {"", ".gz"}) {
        fs::path path = place / (stem + ending);
        std::error_code error;
        if (fs::is_regular_file(path, error)) return {"mnist", std::move(path), kMnistSource};
      }
    }
  }
  SourceFile{"mnist", folder, kMnistSource}.refuse(
      fmt::format("has no {} (or {}.gz); the folder must hold train-images-idx3-ubyte, "
                  "train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte",
                  name, name));
}

/// The entries of an IDX file of bytes whose dimensions after the first are `inner`. Format: two
/// zeros, 8 (bytes), the number of dimensions, the dimensions as big-endian 32-bit numbers, the
/// entries.
Bytes read_idx(const SourceFile& file, std::initializer_list<std::size_t> inner) {
  Bytes bytes = file.read();
  const bool packed = bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
  const std::size_t rank = 1 + inner.size();
  const std::size_t head = 4 + 4 * rank;
  const Bytes header =
      packed ? inflate_beginning(bytes, Wrapping::kGzip, head)
             : Bytes(bytes.begin(),
                     bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), head)));
  if (packed && header.size() < head) bytes = inflate(bytes, Wrapping::kGzip, file, head);
  if (header.size() < head) {
    file.corrupt(fmt::format("has {} bytes; an IDX header has {}", header.size(), head));
  }
  const auto number = [&](std::size_t at) {
    return std::size_t{header[at]} << 24 | std::size_t{header[at + 1]} << 16 |
           std::size_t{header[at + 2]} << 8 | std::size_t{header[at + 3]};
  };
  if (number(0) != (0x800 | rank)) {
    file.corrupt(fmt::format("begins with {:#010x}; the magic number of its kind is {:#010x}",
                             number(0), 0x800 | rank));
  }
  const std::size_t count = number(4);
  std::size_t entries = 1;
  std::size_t at = 8;
  for (const std::size_t dimension : inner) {
    if (number(at) != dimension) {
      file.corrupt(fmt::format("has images of {} pixels a side; they must be {}x{}", number(at),
                               kSide, kSide));
    }
    entries *= dimension;
    at += 4;
  }
  const std::size_t whole = head + count * entries;
  const bool possible = count > 0 && count <= kMostSamples;
  if (packed && possible && whole / kMostDeflated <= bytes.size()) {
    require_memory(static_cast<double>(whole), "mnist",
                   fmt::format("{} promises {} samples", file.path.string(), count));
    bytes = inflate(bytes, Wrapping::kGzip, file, whole);
  }
  if (!possible || bytes.size() != whole) {
    file.corrupt(fmt::format("has {} bytes; its header promises {} samples, which take {}",
                             bytes.size(), count, whole));
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(head));
  return bytes;
}

Samples read_part(const fs::path& folder, std::string_view prefix) {
  const SourceFile images = find(folder, fmt::format("{}-images-idx3-ubyte", prefix));
  const SourceFile labels = find(folder, fmt::format("{}-labels-idx1-ubyte", prefix));
  Samples part;
  part.inputs = TypedArray(read_idx(images, {kSide, kSide}));
  const Bytes classes = read_idx(labels, {});
  const std::size_t count = part.inputs.size() / (kSide * kSide);
  if (classes.size() != count) {
    labels.corrupt(fmt::format("has {} labels; {} has {} images", classes.size(),
                               images.path.string(), count));
  }
  for (const std::uint8_t label : classes) {
    if (label >= kClasses) labels.corrupt(fmt::format("has a label {}; they are 0 to 9", label));
    part.labels().push_back(label);
  }
  return part;
}

}  // namespace

std::shared_ptr<const Dataset> make_mnist(const Arguments& arguments) {
  const fs::path folder = arguments.text("path");
  Dataset mnist{.name = "mnist",
                .height = kSide,
                .width = kSide,
                .classes = kClasses,
                .scale = 1.0f / 255,
                .mean = {0.1307f},
                .deviation = {0.3081f}};
  mnist.train = read_part(folder, "train");
  mnist.test = read_part(folder, "t10k");
  return std::make_shared<const Dataset>(std::move(mnist));
}

}  // namespace hearsay::data
