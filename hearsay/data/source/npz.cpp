#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/memory.h"
#include "hearsay/core/text.h"
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
    check_npy(unzip_beginning(bytes_, *member, kMostNpyHeader + 12, file_), member->size, name,
              file_);
    require_memory(static_cast<double>(member->size), "npz",
                   fmt::format("array {} of {} has so many bytes", name, file_.path.string()));
    return parse_npy(unzip(bytes_, *member, file_), name, file_);
  }

  Array get(std::string_view name) const {
    std::optional<Array> array = find(name);
    if (array) return std::move(*array);
    std::vector<std::string> names;
    for (const ZipMember& member : members_) names.push_back(member.name);
    file_.refuse(
        fmt::format("has no array {}; it must have x and y, and may have x_test and "
                    "y_test; it has {}",
                    name, name_list(names)));
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
                    "one per sample; to predict numbers use --task regression",
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

/// All entries of an array as floats, which must be finite.
std::vector<float> read_floats(const Array& array, std::string_view name, const SourceFile& file) {
  std::vector<float> values(array.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(number(array, i));
    if (!std::isfinite(values[i])) {
      file.corrupt(fmt::format("has {} at entry {} of {}; entries must be finite floats",
                               number(array, i), i, name));
    }
  }
  return values;
}

/// Sets the targets of a regression: y of shape (N) or (N, targets).
void read_numbers(const Array& y, std::string_view name, const SourceFile& file, Samples& part) {
  if (y.shape.empty() || y.shape.size() > 2 || y.size() == 0) {
    file.corrupt(
        fmt::format("has {} of shape ({}); numbers to predict must be samples, or samples "
                    "by targets",
                    name, fmt::join(y.shape, ", ")));
  }
  part.targets_each = y.shape.size() == 2 ? y.shape[1] : 1;
  part.targets = TypedArray(read_floats(y, name, file));
}

/// The samples of x and y. One-byte integers stay bytes.
Samples read_part(const Archive& archive, const Array& x, std::string_view x_name,
                  std::string_view y_name, Task task) {
  const SourceFile& file = archive.file();
  Samples part;
  if (task == Task::kClassification) {
    part.labels() = read_labels(archive.get(y_name), y_name, file);
  } else {
    read_numbers(archive.get(y_name), y_name, file, part);
  }
  const std::size_t count = x.shape.empty() ? 0 : x.shape[0];
  if (count == 0 || x.size() == 0 || x.shape.size() < 2 || x.shape.size() > 4) {
    file.corrupt(
        fmt::format("has {} of shape ({}); it must be samples by features, by height by "
                    "width, or by channels by height by width",
                    x_name, fmt::join(x.shape, ", ")));
  }
  if (part.size() != count) {
    file.corrupt(fmt::format("has {} samples in {} and {} {} in {}", count, x_name, part.size(),
                             task == Task::kClassification ? "labels" : "targets", y_name));
  }
  if (x.kind == 'u' && x.width == 1) {
    part.inputs =
        TypedArray(Bytes(x.bytes.begin() + static_cast<std::ptrdiff_t>(x.begin), x.bytes.end()));
  } else {
    part.inputs = TypedArray(read_floats(x, x_name, file));
  }
  return part;
}

constexpr std::size_t kFirstAuto = 0;  // of `first`

/// Classes are 0 to the largest label; with `from_smallest` the smallest to the largest, which are
/// their names unless the smallest is 0.
void number_classes(Dataset& own, bool from_smallest) {
  std::uint16_t smallest = kMostClasses - 1, largest = 0;
  for (const Samples* part : {&own.train, &own.test}) {
    for (const std::uint16_t label : part->labels()) {
      smallest = std::min(smallest, label);
      largest = std::max(largest, label);
    }
  }
  const std::uint16_t first = from_smallest ? smallest : std::uint16_t{0};
  own.classes = std::size_t{largest} - first + 1;
  if (first == 0) return;
  for (std::size_t name = first; name <= largest; ++name) {
    own.class_names.push_back(fmt::format("{}", name));
  }
  for (Samples* part : {&own.train, &own.test}) {
    for (std::uint16_t& label : part->labels()) label = static_cast<std::uint16_t>(label - first);
  }
}

std::shared_ptr<const Dataset> read(const Arguments& arguments, Task task) {
  const SourceFile file{"npz", arguments.text("path")};
  const Archive archive(file);
  const Array x = archive.get("x");
  Dataset own{.name = "npz"};
  own.train = read_part(archive, x, "x", "y", task);
  const bool bytes = own.train.inputs.type() == ElementType::kU8;
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
    own.test = read_part(archive, *x_test, "x_test", "y_test", task);
    if (own.test.targets_each != own.train.targets_each) {
      file.corrupt(fmt::format("has {} targets per sample in y_test; y has {}",
                               own.test.targets_each, own.train.targets_each));
    }
  }
  if (task == Task::kClassification) number_classes(own, arguments.choice("first") == kFirstAuto);
  complete(own, arguments);
  return std::make_shared<const Dataset>(std::move(own));
}

}  // namespace

std::shared_ptr<const Dataset> make_npz(const Arguments& arguments) {
  return read(arguments, Task::kClassification);
}

std::shared_ptr<const Dataset> make_npz_regression(const Arguments& arguments) {
  return read(arguments, Task::kRegression);
}

std::size_t samples_of_npz(const Arguments& arguments) {
  const SourceFile file{"npz", arguments.text("path")};
  const Archive archive(file);
  const Array y = archive.get("y");
  const std::size_t count = y.shape.empty() ? 0 : y.shape[0];
  if (archive.find("y_test")) return count;
  return training_part(count, arguments);
}

}  // namespace hearsay::data
