#pragma once

#include <filesystem>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace hearsay::run {

/// The JSON object in a file with arbitrary content. Values nested deeper than a few levels are
/// dropped, so that no file can exhaust the stack.
///
/// Throws CorruptData: "[WHO] runs/a/summary.json, line 3: it is no JSON object", also for files of
/// more than 64 MB; RunFailed if it cannot be read.
nlohmann::json read_json_file(const std::filesystem::path& file, std::string_view who);

}  // namespace hearsay::run
