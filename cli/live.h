#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>

#include "cli/pace.h"
#include "cli/progress.h"
#include "hearsay/live/listener.h"
#include "hearsay/run/run.h"

namespace hearsay::cli {

/// The page of a run while it goes on, served by a process of its own: `hearsay watch`, started by
/// this one, with the lowest priority and limits on memory and descriptors. Whatever viewers do to
/// that process, training shares nothing with it but the run directory, which it only reads.
///
/// Of this process it takes the listening socket, and a channel on which it is told how far the run
/// is. Sending there never waits. When the channel closes, for whatever reason, it tells its
/// viewers and ends.
class LivePage {
 public:
  /// How long it stays for viewers who have not fetched the final page.
  static constexpr std::chrono::seconds kFinalTime{5};
  /// Where the process finds what it inherits.
  static constexpr int kChannel = 3, kListener = 4;

  /// Listens, so that it is known from now on whether the port is free. Throws InvalidArgument.
  LivePage(const std::string& address, std::uint16_t port);
  /// Closes the channel, waits for the process to end, and kills it if it does not: after
  /// a second if an exception is on its way, whose message waits for this.
  ~LivePage();
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

  const std::string& url() const { return url_; }

  /// Start the process. Throws RunFailed.
  void start(const std::filesystem::path& run);

  /// Tell it how far the run is, twice a second at most. False: the process has gone.
  bool tell(const Pace& pace);

 private:
  bool send(const std::string& message) const;

  std::optional<live::Listener> listener_;  ///< until the process has it
  std::string token_, url_;
  int channel_ = -1;
  pid_t process_ = 0;
  const int exceptions_ = std::uncaught_exceptions();
  std::chrono::steady_clock::time_point told_{};
};

/// What a run tells goes to `progress`, and how far it is to its live page as well.
class LiveObserver : public run::Observer {
 public:
  /// `run`: the run's directory, known when it starts. All outlive the observer.
  LiveObserver(Progress& progress, LivePage& page, const std::filesystem::path& run)
      : progress_(progress), page_(page), run_(run) {}

  void started(const train::Trainer& trainer, const train::Config& config) override;
  void resumed(std::uint64_t round, const std::vector<std::string>& damaged) override;
  void progressed(const train::Trainer& trainer) override;
  void evaluated(const train::Trainer& trainer, const train::Metrics& metrics) override;
  bool stop_requested() override { return progress_.stop_requested(); }

 private:
  void tell(const train::Trainer& trainer);

  Progress& progress_;
  LivePage& page_;
  const std::filesystem::path& run_;
  Stopwatch stopwatch_;
  bool there_ = false;
};

}  // namespace hearsay::cli
