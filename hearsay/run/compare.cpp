#include "hearsay/run/compare.h"

#include <fmt/format.h>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/core/error.h"

namespace hearsay::run {

namespace {

/// Turns "sgd:..." into "nesterov:beta=...,...", otherwise unchanged.
std::string with_momentum(std::string_view optimizer, const std::string& beta) {
  const std::string_view rest = optimizer.substr(spec_name(optimizer).size());
  return fmt::format("nesterov:{}{}beta={}", rest.empty() ? "" : rest.substr(1),
                     rest.empty() ? "" : ",", beta);
}

}  // namespace

std::vector<Control> controls(const train::RunOptions& config) {
  std::vector<Control> all{{"silence", "no communication", config},
                           {"full", "uncompressed", config}};
  const algorithm::Entry& entry = algorithm::registry().find(config.algorithm);
  if (entry.needs.own_momentum) {
    const std::string beta = Arguments(config.algorithm, entry.parameters).text("beta");
    for (Control& control : all) {
      control.config.optimizer = with_momentum(config.optimizer, beta);
    }
  }
  all[0].config.algorithm = "silent";
  if (config.timing != "lock-step") {  // who does not talk does not wait
    all[0].config.timing = "lock-step";
    all[0].config.link = "none";
  }
  all[1].config.algorithm = "sgp";
  for (Control& control : all) {
    control.config.compressor = "identity";
    control.config.robust = control.config.liars = "none";  // as if all were honest
    control.config.compare = train::Compare::kNo;
  }
  return all;
}

namespace {

/// The action for a baseline.
enum class Step : std::uint8_t { kNothing, kBegin, kGoOn };

Step next_step(const std::filesystem::path& directory, const train::RunOptions& config) {
  const bool begun = std::filesystem::exists(directory / "config.toml");
  if (begun && train::options_of_run(directory).hash() != config.hash()) {
    throw InvalidArgument(
        fmt::format("[train] {} holds a run of other settings; remove it", directory.string()));
  }
  if (std::filesystem::exists(directory / "summary.json")) return Step::kNothing;
  return begun ? Step::kGoOn : Step::kBegin;
}

/// As decided by rank 0: when other ranks look, it may have begun already.
Step agree_on_step(const std::filesystem::path& directory, const train::RunOptions& config,
                   gossip::ProcessGroup& group) {
  const Bytes step = group.ask_process_0(
      [&] { return Bytes{static_cast<std::uint8_t>(next_step(directory, config))}; });
  return static_cast<Step>(step.front());
}

}  // namespace

bool wants_controls(const std::filesystem::path& out) {
  return train::options_of_run(out).compare == train::Compare::kYes;
}

ControlsOutcome run_controls(const std::filesystem::path& out, std::uint64_t threads,
                             Observer& observer) {
  gossip::SingleProcess alone;
  return run_controls(out, threads, observer, alone);
}

ControlsOutcome run_controls(const std::filesystem::path& out, std::uint64_t threads,
                             Observer& observer, gossip::ProcessGroup& group) {
  ControlsOutcome result;
  train::RunOptions config = train::options_of_run(out);
  if (threads > 0) config.set("threads", fmt::format("{}", threads));
  for (const Control& control : controls(config)) {
    const std::filesystem::path directory = out / "compare" / control.name;
    try {
      const Step step = agree_on_step(directory, control.config, group);
      if (step == Step::kNothing) continue;
      const Outcome outcome = step == Step::kGoOn ? resume(directory, threads, observer, group)
                                                  : run(control.config, directory, observer, group);
      result.finished = outcome.finished;
    } catch (const std::exception& error) {
      if (!group.alone() && !group.has_failed_together()) throw;  // other ranks wait for this one
      result.warnings.push_back(fmt::format("[compare {}] {}", control.name, message_of(error)));
    }
    if (!result.finished) break;
  }
  return result;
}

}  // namespace hearsay::run
