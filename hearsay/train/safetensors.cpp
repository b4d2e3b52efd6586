#include "hearsay/train/safetensors.h"

#include <nlohmann/json.hpp>

#include "hearsay/train/durable_file.h"

namespace hearsay::train {

void write_safetensors(const std::filesystem::path& path, const Layout& layout,
                       std::span<const float> model) {
  nlohmann::ordered_json header;
  for (const Segment& segment : layout.segments()) {
    header[segment.name] = {
        {"dtype", "F32"},
        {"shape", segment.shape},
        {"data_offsets", {4 * segment.offset, 4 * (segment.offset + segment.size)}}};
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // the format aligns the data
  const std::uint64_t length = text.size();
  DurableFile file(path);
  file.write(&length, sizeof length);
  file.write(text);
  file.write(model.data(), model.size_bytes());
  file.commit();
}

}  // namespace hearsay::train
