#include "hearsay/run/directory.h"

#include <chrono>
#include <string>

#include <fmt/format.h>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/spec.h"
#include "hearsay/model/models.h"
#include "hearsay/run/run.h"
#include "hearsay/train/safetensors.h"

namespace hearsay::run {

namespace fs = std::filesystem;

namespace {

/// Whether write_new_file named a temporary file so: config.toml.XXXXXX, empty, and its .tmp.
bool is_temporary(const fs::directory_entry& entry) {
  constexpr std::string_view kBegin = "config.toml.", kEnd = ".tmp";
  constexpr std::size_t kRandom = 6;
  const std::string name = entry.path().filename().string();
  std::string_view rest = name;
  if (!rest.starts_with(kBegin)) return false;
  rest.remove_prefix(kBegin.size());
  std::error_code error;
  const bool whole = rest.size() == kRandom && entry.file_size(error) == 0;
  return whole || (rest.size() == kRandom + kEnd.size() && rest.ends_with(kEnd));
}

/// Removes what processes left that were killed when they began a run here. Younger files may be
/// those of a process that tries to begin one now.
void remove_leftovers(const fs::path& out) {
  std::error_code error;
  const auto old = fs::file_time_type::clock::now() - std::chrono::minutes(1);
  for (const auto& entry : fs::directory_iterator(out, error)) {
    if (!entry.is_regular_file(error) || !is_temporary(entry)) continue;
    if (entry.last_write_time(error) < old && !error) fs::remove(entry.path(), error);
  }
}

}  // namespace

void create_directory(const train::RunOptions& config, const fs::path& out, RunLock& lock) {
  if (with_value(config.model, model::kRange, "") != config.model) {
    throw InvalidArgument(
        fmt::format("[train] the options are not resolved (train::resolve): a run directory cannot "
                    "say '{}', which older versions understood otherwise",
                    config.model));
  }
  std::error_code error;
  fs::create_directories(out, error);
  if (error) {
    throw InvalidArgument(
        fmt::format("[train] cannot create {}: {}", out.string(), error.message()));
  }
  const auto take = [&](const fs::path& file) { lock.take(file); };
  if (!write_new_file(out / "config.toml", config.to_toml(), take)) throw directory_taken(out);
  remove_leftovers(out);
}

void save_model(const fs::path& out, const std::string& name, const engine::Objective& objective,
                std::span<const float> model, std::span<const float> buffers) {
  train::write_safetensors(out / "models" / (name + ".safetensors"), objective.whole_layout(),
                           objective.whole(model), objective.buffer_layout(), buffers,
                           objective.description());
}

void write_summary(const fs::path& out, const std::string& text) {
  DurableFile file(out / "summary.json");
  file.write(text);
  file.commit();
}

void write_failure(const fs::path& out, const Warning& failure) {
  try {
    DurableFile file(out / "failure.json");
    file.write(fmt::format("{{\"warnings\": {}}}\n", to_json({&failure, 1})));
    file.commit();
  } catch (const std::exception&) {  // the failure itself is what its user has to hear of
  }
}

void clear_failure(const fs::path& out) {
  std::error_code error;
  fs::remove(out / "failure.json", error);
}

}  // namespace hearsay::run
