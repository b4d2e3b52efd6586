#include "hearsay/sweep/sweep_runs.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/error.h"
#include "hearsay/core/input_file.h"
#include "hearsay/run/json_file.h"
#include "hearsay/run/run_lock.h"
#include "hearsay/train/metrics.h"

namespace hearsay::sweep {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHashDigits = 8;

/// A directory name that is easy to type: "ResNet-20, 0.1 %" becomes resnet-20-0.1.
std::string folder_name(std::string_view label) {
  constexpr std::size_t kLongest = 60;
  std::string name;
  for (const char c : label) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 || c == '.');
    if (plain) name += static_cast<char>(std::tolower(byte));
    if (!plain && !name.empty() && name.back() != '-') name += '-';
  }
  name.resize(std::min(name.size(), kLongest));
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "row" : name;
}

/// The hash of the config.toml in a directory, or empty if there is no readable one.
std::optional<std::string> hash_in(const fs::path& directory) {
  try {
    return train::options_of_run(directory).hash();
  } catch (const std::exception&) {
    return {};
  }
}

/// What summary.json says that the run was; empty if it cannot be read.
std::string hash_in_summary(const SweepRun& run) {
  try {
    const auto summary = run::read_json_file(run.out / "summary.json", "sweep");
    return summary.value("config_hash", "");
  } catch (const std::exception&) {
    return "";
  }
}

/// The existing runs in `out`, by hash.
std::map<std::string, fs::path> find_runs(const fs::path& out) {
  std::map<std::string, fs::path> found;
  std::error_code error;
  std::vector<fs::path> directories;
  for (const auto& entry : fs::directory_iterator(out, error)) directories.push_back(entry.path());
  std::ranges::sort(directories);
  for (const fs::path& directory : directories) {
    const auto hash = hash_in(directory);
    if (!hash) continue;
    if (!directory.filename().string().ends_with("-" + hash->substr(0, kHashDigits))) continue;
    found.emplace(*hash, directory);
  }
  return found;
}

std::optional<train::Metrics> last_line(const fs::path& path) {
  InputFile in;
  if (!in.open(path).empty()) return {};
  constexpr std::uint64_t kTail = 1 << 16;
  std::string text(std::min(in.size(), kTail), '\0');
  in.seek(in.size() - text.size());
  text.resize(in.read(text.data(), text.size()));
  const std::size_t end = text.rfind('\n');  // the rest is still being written
  if (end == std::string::npos) return {};
  const std::size_t before = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t from = before == std::string::npos ? 0 : before + 1;
  return train::from_json_line(std::string_view(text).substr(from, end - from), {});
}

bool is_wanted(const Sweep& sweep, const SweepRow& row, const train::RunOptions& config) {
  const std::vector<std::uint64_t>& seeds = sweep.only_seeds;
  return row.wanted && (seeds.empty() || std::ranges::count(seeds, config.seed) > 0);
}

/// The labels of a row that all rows with the same run have: a row that outranks an axis has one
/// run for all values of that axis. Of runs that several `rows` of the file share, those of the
/// first.
std::string label_of_shared(const SweepRow& first, const Place& common) {
  const auto is_row = [](const Place& place) {
    return !place.empty() && place.front().first == "row";
  };
  return common.empty() || is_row(common) != is_row(first.place) ? first.label : label_of(common);
}

}  // namespace

SweepRuns runs_of(const Sweep& sweep, const fs::path& out) {
  SweepRuns all;
  const std::map<std::string, fs::path> there = find_runs(out);
  std::map<std::string, std::size_t> index;
  std::vector<std::pair<const SweepRow*, Place>> sharers;  // of each run, and what they share
  for (const SweepRow& row : sweep.rows) {
    std::vector<std::size_t>& of_row = all.of_row.emplace_back();
    for (const train::RunOptions& config : row.configs) {
      const std::string hash = config.hash();
      const auto [found, is_new] = index.emplace(hash, all.runs.size());
      of_row.push_back(found->second);
      const bool wanted = is_wanted(sweep, row, config);
      if (!is_new) {
        all.runs[found->second].wanted |= wanted;
        std::erase_if(sharers[found->second].second,
                      [&](const auto& label) { return std::ranges::count(row.place, label) == 0; });
        continue;
      }
      all.runs.push_back({"", config, {}, wanted});
      sharers.emplace_back(&row, row.place);
    }
  }
  for (const auto& [hash, i] : index) {
    SweepRun& run = all.runs[i];
    const std::string label = label_of_shared(*sharers[i].first, sharers[i].second);
    run.label = fmt::format("{}, seed {}", label, run.config.seed);
    const std::string name =
        fmt::format("{}-s{}-{}", folder_name(label), run.config.seed, hash.substr(0, kHashDigits));
    const auto old = there.find(hash);
    run.out = old == there.end() ? out / name : old->second;
  }
  return all;
}

std::vector<SweepRun> wanted_runs(const SweepRuns& runs) {
  std::vector<SweepRun> wanted;
  std::ranges::copy_if(runs.runs, std::back_inserter(wanted), &SweepRun::wanted);
  return wanted;
}

RunState state_of(const SweepRun& run) {
  std::error_code error;
  if (!fs::exists(run.out / "config.toml", error)) return RunState::kOpen;
  if (fs::exists(run.out / "summary.json", error) && hash_in_summary(run) == run.config.hash()) {
    return RunState::kFinished;
  }
  return run::is_being_trained(run.out) ? RunState::kElsewhere : RunState::kBegun;
}

double fraction_done(const SweepRun& run) {
  const auto last = last_line(run.out / "metrics.jsonl");
  if (!last) return 0;
  const auto epochs = static_cast<double>(run.config.epochs);
  const auto rounds = static_cast<double>(run.config.rounds);
  const double done = epochs > 0 ? last->epoch / epochs : static_cast<double>(last->round) / rounds;
  return std::clamp(done, 0.0, 1.0);
}

}  // namespace hearsay::sweep
