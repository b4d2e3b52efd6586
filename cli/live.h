#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>

#include "cli/terminal/pace.h"
#include "cli/terminal/progress.h"
#include "hearsay/live/listener.h"
#include "hearsay/run/run.h"

namespace hearsay::cli {

/// The page of a run in progress, served by a separate process: `hearsay watch`, started by this
/// one, with the lowest priority and limits on memory and descriptors. Whatever viewers do to that
/// process, training shares nothing with it but the run directory, which it only reads.
///
/// It inherits the listening socket, and a channel on which it receives the run's progress. Sending
/// there never blocks. When the channel closes, for any reason, it notifies its viewers and ends.
class LivePage {
 public:
  /// How long it waits for viewers that have not fetched the final page.
  static constexpr std::chrono::seconds kFinalTime{5};
  /// The descriptors that the process inherits.
  static constexpr int kChannel = 3, kListener = 4;

  /// Starts to listen, so that a port in use is detected now. Throws InvalidArgument.
  LivePage(const std::string& address, std::uint16_t port);
  /// Closes the channel, waits for the process to end, and kills it if it does not: after only a
  /// second during stack unwinding, since the exception's message is delayed by this.
  ~LivePage();
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

  const std::string& url() const { return url_; }

  /// Starts the process. Throws RunFailed.
  void start(const std::filesystem::path& run);

  /// Sends it the run's progress, at most twice per second. False: the process has ended.
  bool tell(const Pace& pace);

 private:
  bool send(const std::string& message) const;

  std::optional<live::Listener> listener_;  ///< until it is passed to the process
  std::string token_, url_;
  int channel_ = -1;
  pid_t process_ = 0;
  const int exceptions_ = std::uncaught_exceptions();
  std::chrono::steady_clock::time_point told_{};
};

/// Forwards all notifications of a run to `progress`, and its progress to the live page too.
class LiveObserver : public run::Observer {
 public:
  /// `run`: the run's directory, known when it starts. All outlive the observer.
  LiveObserver(Progress& progress, LivePage& page, const std::filesystem::path& run)
      : progress_(progress), page_(page), run_(run) {}

  void started(const train::Trainer& trainer, const train::RunOptions& config) override;
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
