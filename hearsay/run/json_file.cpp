#include "hearsay/run/json_file.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"

namespace hearsay::run {

namespace {

using Json = nlohmann::json;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;
constexpr int kDeepest = 5;

}  // namespace

Json read_json_file(const std::filesystem::path& file, std::string_view who) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (!error && size > kMostBytes) {
    throw CorruptData(fmt::format("[{}] {} has {} bytes; at most {} are read", who, file.string(),
                                  size, kMostBytes));
  }
  const std::string text = read_file(file);
  const auto is_shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  std::size_t at = 0;
  try {
    Json json = Json::parse(text, is_shallow);
    if (json.is_object()) return json;
  } catch (const Json::parse_error& wrong) {
    at = std::min(wrong.byte, text.size());
  }
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  throw CorruptData(
      fmt::format("[{}] {}, line {}: it is no JSON object", who, file.string(), line));
}

}  // namespace hearsay::run
