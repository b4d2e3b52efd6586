#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/terminal/pace.h"
#include "cli/terminal/progress.h"
#include "hearsay/live/page_process.h"
#include "hearsay/run/run.h"

namespace hearsay::cli {

/// Forwards all notifications of a run to `progress`, and its pace to the live page too, at most
/// twice per second.
class LiveObserver : public run::Observer {
 public:
  /// `run`: the run's directory, known when it starts. All outlive the observer.
  LiveObserver(Progress& progress, live::PageProcess& page, const std::filesystem::path& run)
      : progress_(progress), page_(page), run_(run) {}

  void started(const train::RunView& run, const train::RunOptions& config) override;
  void resumed(std::uint64_t round, const std::vector<std::string>& damaged) override;
  void progressed(const train::RunView& run) override;
  void evaluated(const train::RunView& run, const train::Metrics& metrics) override;
  bool stop_requested() override { return progress_.stop_requested(); }

 private:
  void tell(const train::RunView& run);

  Progress& progress_;
  live::PageProcess& page_;
  const std::filesystem::path& run_;
  Stopwatch stopwatch_;
  std::chrono::steady_clock::time_point told_{};
  bool there_ = false;
};

}  // namespace hearsay::cli
