#include "hearsay/report/find_runs.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace hearsay::report {

namespace {

namespace fs = std::filesystem;

class Finder {
 public:
  explicit Finder(fs::path top) : top_(std::move(top)) {}

  FoundRuns take() {
    visit(top_, 0);
    if (too_deep_) tell(fmt::format("what lies more than {} levels below it", kDeepestRuns));
    if (too_many_) {
      tell(fmt::format("what comes after {} directories or {} runs", kMostDirectories,
                       kMostRunsFound));
    }
    return std::move(found_);
  }

 private:
  void tell(const std::string& what) {
    found_.problems.push_back(fmt::format(
        "[report] {}: {} is not looked at; name a directory in it", top_.string(), what));
  }

  bool is_new(const fs::path& directory) {
    std::error_code error;
    const fs::path real = fs::canonical(directory, error);
    return !error && visited_.insert(real.string()).second;
  }

  void visit(const fs::path& directory, int depth) {
    if (too_many_ || !is_new(directory)) return;
    too_many_ = visited_.size() > kMostDirectories || found_.runs.size() >= kMostRunsFound;
    if (too_many_) return;
    std::error_code error;
    for (const char* name : {"config.toml", "metrics.jsonl"}) {
      if (fs::exists(directory / name, error)) return found_.runs.push_back(directory);
    }
    std::vector<fs::path> sweeps, folders;
    for (fs::directory_iterator at(directory, error), end; !error && at != end;
         at.increment(error)) {
      const std::string name = at->path().filename().string();
      std::error_code ignored;
      if (name.ends_with(".sweep.json") && at->is_regular_file(ignored)) {
        sweeps.push_back(at->path());
      } else if (!name.starts_with('.') && at->is_directory(ignored)) {
        folders.push_back(at->path());
      }
    }
    if (error) {
      found_.problems.push_back(
          fmt::format("[report] cannot read {}: {}", directory.string(), error.message()));
    }
    std::ranges::sort(sweeps);
    found_.sweeps.insert(found_.sweeps.end(), sweeps.begin(), sweeps.end());
    if (!sweeps.empty() || folders.empty()) return;
    if (depth == kDeepestRuns) {
      too_deep_ = true;
      return;
    }
    std::ranges::sort(folders);
    for (const fs::path& folder : folders) visit(folder, depth + 1);
  }

  const fs::path top_;
  FoundRuns found_;
  std::set<std::string> visited_;
  bool too_deep_ = false, too_many_ = false;
};

}  // namespace

FoundRuns find_runs(const fs::path& directory) { return Finder(directory).take(); }

}  // namespace hearsay::report
