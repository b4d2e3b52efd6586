#include "hearsay/run/directory.h"

#include <fmt/format.h>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/spec.h"
#include "hearsay/model/models.h"
#include "hearsay/run/run.h"
#include "hearsay/train/safetensors.h"

namespace hearsay::run {

namespace fs = std::filesystem;

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
}

void save_model(const fs::path& out, const std::string& name, const engine::Objective& objective,
                std::span<const float> model, std::span<const float> buffers) {
  train::write_safetensors(out / "models" / (name + ".safetensors"), objective.whole_layout(),
                           objective.whole(model), objective.buffer_layout(), buffers);
}

void write_summary(const fs::path& out, const std::string& text) {
  DurableFile file(out / "summary.json");
  file.write(text);
  file.commit();
}

void write_failure(const fs::path& out, const Warning& failure) {
  DurableFile file(out / "failure.json");
  file.write(fmt::format("{{\"warnings\": {}}}\n", to_json({&failure, 1})));
  file.commit();
}

void clear_failure(const fs::path& out) {
  std::error_code error;
  fs::remove(out / "failure.json", error);
}

}  // namespace hearsay::run
