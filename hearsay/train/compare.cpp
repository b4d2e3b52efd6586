#include "hearsay/train/compare.h"

#include <fmt/format.h>

#include "hearsay/train/durable_file.h"

namespace hearsay::train {

std::vector<Control> controls(const Config& config) {
  std::vector<Control> all{{"silence", config}, {"full", config}};
  all[0].config.set("algorithm", "silent");
  all[1].config.set("algorithm", "sgp");
  for (Control& control : all) {
    control.config.set("compressor", "identity");
    control.config.set("compare", "no");
  }
  return all;
}

namespace {

Config config_of_run(const std::filesystem::path& out) {
  Config config;
  config.read_toml(read_file(out / "config.toml"), (out / "config.toml").string());
  return config;
}

}  // namespace

bool wants_controls(const std::filesystem::path& out) {
  return config_of_run(out).text("compare") == "yes";
}

bool run_controls(const std::filesystem::path& out, std::uint64_t threads, Observer& observer) {
  Config config = config_of_run(out);
  if (threads > 0) config.set("threads", fmt::format("{}", threads));
  for (const Control& control : controls(config)) {
    const std::filesystem::path directory = out / "compare" / control.name;
    if (std::filesystem::exists(directory / "summary.json")) continue;
    const bool begun = std::filesystem::exists(directory / "config.toml");
    const Outcome outcome =
        begun ? resume(directory, threads, observer) : run(control.config, directory, observer);
    if (!outcome.finished) return false;
  }
  return true;
}

}  // namespace hearsay::train
