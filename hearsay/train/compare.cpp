#include "hearsay/train/compare.h"

#include <fmt/format.h>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/core/error.h"
#include "hearsay/core/registry.h"
#include "hearsay/train/durable_file.h"

namespace hearsay::train {

namespace {

/// "sgd:..." as "nesterov:beta=...,...", all else the same.
std::string with_momentum(std::string_view optimizer, const std::string& beta) {
  const std::string_view rest = optimizer.substr(spec_name(optimizer).size());
  return fmt::format("nesterov:{}{}beta={}", rest.empty() ? "" : rest.substr(1),
                     rest.empty() ? "" : ",", beta);
}

}  // namespace

std::vector<Control> controls(const Config& config) {
  std::vector<Control> all{{"silence", config}, {"full", config}};
  const algorithm::Entry& entry =
      find_entry(algorithm::registry(), config.text("algorithm"), "algorithm");
  if (entry.needs.own_momentum) {
    const std::string beta = Arguments(config.text("algorithm"), entry.parameters).text("beta");
    for (Control& control : all) {
      control.config.set("optimizer", with_momentum(config.text("optimizer"), beta));
    }
  }
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

ControlsOutcome run_controls(const std::filesystem::path& out, std::uint64_t threads,
                             Observer& observer) {
  ControlsOutcome result;
  Config config = config_of_run(out);
  if (threads > 0) config.set("threads", fmt::format("{}", threads));
  for (const Control& control : controls(config)) {
    const std::filesystem::path directory = out / "compare" / control.name;
    try {
      const bool begun = std::filesystem::exists(directory / "config.toml");
      if (begun && config_of_run(directory).hash() != control.config.hash()) {
        throw InvalidArgument(
            fmt::format("[train] {} holds a run of other settings; remove it", directory.string()));
      }
      if (std::filesystem::exists(directory / "summary.json")) continue;
      const Outcome outcome =
          begun ? resume(directory, threads, observer) : run(control.config, directory, observer);
      result.finished = outcome.finished;
    } catch (const std::exception& error) {
      result.warnings.push_back(fmt::format("[compare {}] {}", control.name, error.what()));
    }
    if (!result.finished) break;
  }
  return result;
}

}  // namespace hearsay::train
