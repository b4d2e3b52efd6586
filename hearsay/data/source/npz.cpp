#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/data/source/npy.h"
#include "hearsay/data/source/own_data.h"
#include "hearsay/data/source/sources.h"
#include "hearsay/data/source/zip.h"

namespace hearsay::data {

namespace {

constexpr std::size_t kMostClasses = 65536;

/// The arrays of one archive.
class Archive {
 public:
  explicit Archive(const SourceFile& file)
      : file_(file), bytes_(file.read()), members_(zip_members(bytes_, file)) {}

  const SourceFile& file() const { return file_; }

  std::optional<Array> find(std::string_view name) const {
    const auto member = std::ranges::find(members_, fmt::format("{}.npy", name), &ZipMember::name);
    if (member == members_.end()) return std::nullopt;
    return parse_npy(unzip(bytes_, *member, file_), name, file_);
  }

  Array get(std::string_view name) const {
    std::optional<Array> array = find(name);
    if (array) return std::move(*array);
    std::vector<std::string_view> names;
    for (const ZipMember& member : members_) names.push_back(member.name);
    file_.refuse(
        fmt::format("has no array {}; it must have x and y, and may have x_test and "
                    "y_test; it has {}",
                    name, fmt::join(names, ", ")));
  }

 private:
  const SourceFile& file_;
  Bytes bytes_;
  std::vector<ZipMember> members_;
};

std::vector<std::uint16_t> read_labels(const Array& y, std::string_view name,
                                       const SourceFile& file) {
  const bool flat = y.shape.size() == 1 || (y.shape.size() == 2 && y.shape[1] == 1);
  if (!flat || y.kind == 'f') {
    file.corrupt(
        fmt::format("has {} of type {}{} and shape ({}); labels must be whole numbers, "
                    "one per sample",
                    name, y.kind, y.width, fmt::join(y.shape, ", ")));
  }
  std::vector<std::uint16_t> labels(y.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double label = number(y, i);
    if (!(label >= 0 && label < kMostClasses)) {
      file.corrupt(
          fmt::format("has label {} in {}; labels must be 0 to {}", label, name, kMostClasses - 1));
    }
    labels[i] = static_cast<std::uint16_t>(label);
  }
  return labels;
}

/// The samples of x and y. One-byte integers stay bytes.
Samples read_part(const Archive& archive, const Array& x, std::string_view x_name,
                  std::string_view y_name) {
  const SourceFile& file = archive.file();
  Samples part;
  part.labels = read_labels(archive.get(y_name), y_name, file);
  const std::size_t count = x.shape.empty() ? 0 : x.shape[0];
  if (count == 0 || x.size() == 0 || x.shape.size() < 2 || x.shape.size() > 4) {
    file.corrupt(
        fmt::format("has {} of shape ({}); it must be samples by features, by height by "
                    "width, or by channels by height by width",
                    x_name, fmt::join(x.shape, ", ")));
  }
  if (part.labels.size() != count) {
    file.corrupt(fmt::format("has {} samples in {} and {} labels in {}", count, x_name,
                             part.labels.size(), y_name));
  }
  if (x.kind == 'u' && x.width == 1) {
    part.pixels.assign(x.bytes.begin() + static_cast<std::ptrdiff_t>(x.begin), x.bytes.end());
    return part;
  }
  part.values.resize(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    part.values[i] = static_cast<float>(number(x, i));
    if (!std::isfinite(part.values[i])) {
      file.corrupt(fmt::format("has {} at entry {} of {}; entries must be finite floats",
                               number(x, i), i, x_name));
    }
  }
  return part;
}

}  // namespace

std::shared_ptr<const Dataset> make_npz(const Arguments& arguments) {
  const SourceFile file{"npz", arguments.text("path")};
  const Archive archive(file);
  const Array x = archive.get("x");
  Dataset own{.name = "npz"};
  own.train = read_part(archive, x, "x", "y");
  const bool bytes = own.train.values.empty();
  const std::vector<std::size_t>& shape = x.shape;
  if (bytes) own.scale = 1.0f / 255;
  if (shape.size() == 2) {
    (bytes ? own.width : own.channels) = shape[1];
  } else {
    own.channels = shape.size() == 4 ? shape[1] : 1;
    own.height = shape[shape.size() - 2];
    own.width = shape.back();
  }
  if (const std::optional<Array> x_test = archive.find("x_test")) {
    const bool alike =
        std::equal(shape.begin() + 1, shape.end(), x_test->shape.begin() + !x_test->shape.empty(),
                   x_test->shape.end());
    if (!alike || x_test->kind != x.kind || x_test->width != x.width) {
      file.corrupt(fmt::format("has x_test of type {}{} and shape ({}); x has {}{} and ({})",
                               x_test->kind, x_test->width, fmt::join(x_test->shape, ", "), x.kind,
                               x.width, fmt::join(shape, ", ")));
    }
    own.test = read_part(archive, *x_test, "x_test", "y_test");
  }
  for (const Samples* part : {&own.train, &own.test}) {
    for (const std::uint16_t label : part->labels) {
      own.classes = std::max<std::size_t>(own.classes, label + 1u);
    }
  }
  complete(own, arguments);
  return std::make_shared<const Dataset>(std::move(own));
}

}  // namespace hearsay::data
