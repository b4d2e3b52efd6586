#include "hearsay/train/safetensors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/input_file.h"

namespace hearsay::train {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uint64_t kMostHeader = 100'000'000;  // the limit of the format's own library
constexpr int kDeepest = 3;                         // in the header: an entry of a tensor's shape
/// Of a file whose tensors are not known before.
constexpr std::uint64_t kMostUnknownHeader = 16'000'000;
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kDescription = "hearsay";

struct Tensor {
  std::string dtype;
  std::vector<std::size_t> shape;
  std::uint64_t begin = 0, end = 0;  ///< offsets into the data that follows the header
};

std::optional<std::uint64_t> natural(const Json& value) {
  if (!value.is_number_unsigned()) return {};
  return value.get<std::uint64_t>();
}

/// The number of elements, if it fits into memory at all.
std::optional<std::uint64_t> elements(std::span<const std::size_t> shape) {
  std::uint64_t count = 1;
  for (std::size_t extent : shape) {
    if (extent > 0 && count > std::numeric_limits<std::uint64_t>::max() / 16 / extent) return {};
    count *= extent;
  }
  return count;
}

/// The bytes that the header of a file with such tensors may have: what people write beside them
/// is little, and the counters of PyTorch are no more than the buffers.
std::uint64_t most_header(const Layout& layout, const Layout& buffer_layout) {
  constexpr std::uint64_t kBeside = std::uint64_t{4} << 20, kEntry = 1024;
  std::uint64_t most = kBeside;
  for (const Layout* one : {&layout, &buffer_layout}) {
    for (const Segment& segment : one->segments()) most += 2 * (kEntry + segment.name.size());
  }
  return std::min(most, kMostHeader);
}

/// An open file whose header has been checked against the file's length.
class Reader {
 public:
  Reader(const fs::path& path, std::uint64_t most_header) : path_(path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
      throw InvalidArgument(fmt::format("[safetensors] there is no file '{}'", path.string()));
    }
    if (const std::string why = in_.open(path); !why.empty()) {
      throw RunFailed(fmt::format("[safetensors] cannot read {}: {}", path.string(), why));
    }
    const std::uint64_t size = in_.size();
    std::uint64_t length = 0;
    if (size < sizeof length) corrupt("is too short to be a safetensors file");
    read_next(&length, sizeof length);
    if (length > size - sizeof length || length > kMostHeader) {
      corrupt(fmt::format("is no safetensors file: its header would have {} bytes", length));
    }
    if (length > most_header) {
      corrupt(fmt::format("has a header of {} bytes; that of this model has at most {}", length,
                          most_header));
    }
    std::string text(length, '\0');
    read_next(text.data(), length);
    data_begin_ = sizeof length + length;
    read_header(text, size - data_begin_);
  }

  const std::map<std::string, Tensor>& tensors() const { return tensors_; }

  std::optional<model::Description> description() const {
    if (!description_) return {};
    try {
      return model::parse_description(*description_);
    } catch (const CorruptData& error) {
      corrupt(fmt::format("cannot be used: {}", error.what()));
    }
  }

  /// The tensor of a segment, which must have its shape.
  const Tensor& find(const Segment& segment) const {
    const auto found = tensors_.find(segment.name);
    if (found == tensors_.end()) {
      misfit(fmt::format("has no tensor '{}', and the model has one of shape [{}]", segment.name,
                         fmt::join(segment.shape, ", ")));
    }
    const Tensor& tensor = found->second;
    if (tensor.shape != segment.shape) {
      misfit(fmt::format("has tensor '{}' of shape [{}], and the model's has [{}]", segment.name,
                         fmt::join(tensor.shape, ", "), fmt::join(segment.shape, ", ")));
    }
    if (tensor.dtype != "F32") {
      misfit(fmt::format("has tensor '{}' as {}, and F32 is needed", segment.name, tensor.dtype));
    }
    return tensor;
  }

  /// Fill the floats of one segment.
  void read(const Segment& segment, std::span<float> out) {
    const Tensor& tensor = find(segment);
    in_.seek(data_begin_ + tensor.begin);
    read_next(out.data(), out.size_bytes());
    if (!std::ranges::all_of(out, [](float value) { return std::isfinite(value); })) {
      corrupt(fmt::format("has values in tensor '{}' that are not finite", segment.name));
    }
  }

  [[noreturn]] void corrupt(std::string_view why) const {
    throw CorruptData(fmt::format("[safetensors] {} {}", path_.string(), why));
  }
  [[noreturn]] void misfit(std::string_view why) const {
    throw InvalidArgument(fmt::format("[safetensors] {} {}; give the --model that it was saved of",
                                      path_.string(), why));
  }

 private:
  void read_next(void* to, std::size_t size) {
    if (in_.read(to, size) != size) corrupt("cannot be read");
  }

  void read_header(const std::string& text, std::uint64_t data_size) {
    std::set<std::string> names;
    std::string twice;
    const auto look = [&](int depth, Json::parse_event_t event, Json& parsed) {
      if (depth == 1 && event == Json::parse_event_t::key) {
        const auto& name = parsed.get_ref<const std::string&>();
        if (!names.insert(name).second) twice = name;
      }
      return depth <= kDeepest;
    };
    const Json header = Json::parse(text, look, false);
    if (!header.is_object()) corrupt("is no safetensors file: its header is no JSON object");
    if (!twice.empty()) corrupt(fmt::format("has tensor '{}' twice", twice));
    for (const auto& [name, entry] : header.items()) {
      if (name != kMetadata) tensors_[name] = read_entry(name, entry, data_size);
    }
    if (const auto metadata = header.find(kMetadata); metadata != header.end()) {
      if (metadata->is_object() && metadata->contains(kDescription) &&
          metadata->at(kDescription).is_string()) {
        description_ = metadata->at(kDescription).get<std::string>();
      }
    }
    // The format allows neither gaps nor overlaps, so that a file cannot hide or share data.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
    for (const auto& [name, tensor] : tensors_) places.emplace_back(tensor.begin, tensor.end);
    std::ranges::sort(places);
    std::uint64_t reached = 0;
    for (const auto& [begin, end] : places) {
      if (begin != reached) corrupt("has tensors that overlap or leave gaps");
      reached = end;
    }
    if (reached != data_size) {
      corrupt(fmt::format("has {} bytes of data, and its tensors take {}", data_size, reached));
    }
  }

  Tensor read_entry(const std::string& name, const Json& entry, std::uint64_t data_size) const {
    const auto reject = [&](const char* what) {
      corrupt(fmt::format("has tensor '{}' with {}", name, what));
    };
    const Json empty;
    const auto field = [&](const char* key) -> const Json& {
      return entry.is_object() && entry.contains(key) ? entry.at(key) : empty;
    };
    Tensor tensor;
    if (!field("dtype").is_string()) reject("no dtype");
    tensor.dtype = field("dtype").get<std::string>();
    if (!field("shape").is_array()) reject("no shape");
    for (const Json& extent : field("shape")) {
      if (!natural(extent)) reject("a shape that is none");
      tensor.shape.push_back(*natural(extent));
    }
    const Json& offsets = field("data_offsets");
    if (!offsets.is_array() || offsets.size() != 2 || !natural(offsets[0]) ||
        !natural(offsets[1])) {
      reject("no data_offsets");
    }
    tensor.begin = *natural(offsets[0]);
    tensor.end = *natural(offsets[1]);
    if (tensor.begin > tensor.end || tensor.end > data_size) reject("data_offsets out of range");
    const auto count = elements(tensor.shape);
    if (!count) reject("a shape too large for any file");
    if (tensor.dtype == "F32" && tensor.end - tensor.begin != 4 * *count) {
      reject("data_offsets that do not suit its shape");
    }
    return tensor;
  }

  fs::path path_;
  InputFile in_;
  std::uint64_t data_begin_ = 0;
  std::map<std::string, Tensor> tensors_;
  std::optional<std::string> description_;
};

std::vector<float> read_all(Reader& reader, const Layout& layout) {
  for (const Segment& segment : layout.segments()) reader.find(segment);  // before allocating
  std::vector<float> values(layout.dim());
  for (const Segment& segment : layout.segments()) {
    reader.read(segment, std::span(values).subspan(segment.offset, segment.size));
  }
  return values;
}

bool names(const Layout& layout, const std::string& tensor) {
  return std::ranges::find(layout.segments(), tensor, &Segment::name) != layout.segments().end();
}

void add_header(const Layout& layout, std::size_t begin, nlohmann::ordered_json& header) {
  for (const Segment& segment : layout.segments()) {
    const std::size_t at = begin + segment.offset;
    header[segment.name] = {{"dtype", "F32"},
                            {"shape", segment.shape},
                            {"data_offsets", {4 * at, 4 * (at + segment.size)}}};
  }
}

/// The description as it is written: readers bound headers (most_header), so the names of very many
/// columns or classes are left out, and if that is not enough, all of it. "": none.
std::string description_text(model::Description description) {
  constexpr std::size_t kMost = std::size_t{15} << 17;  // quotes may double it in the header
  std::string text = model::to_json(description);
  if (text.size() <= kMost) return text;
  description.features.clear();
  description.classes.clear();
  description.targets.clear();
  text = model::to_json(description);
  return text.size() <= kMost ? text : "";
}

}  // namespace

void write_safetensors(const fs::path& path, const Layout& layout, std::span<const float> model,
                       const Layout& buffer_layout, std::span<const float> buffers,
                       const std::optional<model::Description>& description) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  const std::string described = description ? description_text(*description) : "";
  if (!described.empty()) header[kMetadata] = {{kDescription, described}};
  add_header(layout, 0, header);
  add_header(buffer_layout, layout.dim(), header);
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // the format aligns the data
  const std::uint64_t length = text.size();
  DurableFile file(path);
  file.write(&length, sizeof length);
  file.write(text);
  file.write(model.data(), model.size_bytes());
  file.write(buffers.data(), buffers.size_bytes());
  file.commit();
}

SavedModel read_safetensors(const fs::path& path, const Layout& layout,
                            const Layout& buffer_layout) {
  Reader reader(path, most_header(layout, buffer_layout));
  SavedModel model;
  model.parameters = read_all(reader, layout);
  bool buffers = false;
  for (const auto& [name, tensor] : reader.tensors()) {
    if (names(layout, name) || name.ends_with("num_batches_tracked")) continue;
    if (!names(buffer_layout, name)) {
      reader.misfit(fmt::format("has tensor '{}', and the model has none of that name", name));
    }
    buffers = true;
  }
  if (buffers) model.buffers = read_all(reader, buffer_layout);
  return model;
}

std::optional<model::Description> read_description(const fs::path& path) {
  return Reader(path, kMostUnknownHeader).description();
}

}  // namespace hearsay::train
