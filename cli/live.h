#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/terminal/pace.h"
#include "hearsay/live/page_process.h"
#include "hearsay/run/run.h"

namespace hearsay::cli {

/// --live [PORT] and --live-address of a command.
class LiveOptions {
 public:
  void add_to(CLI::App& command);

  /// To be called once the command line was read. Returns the word after --live if it is no number:
  /// an argument of the command, or nothing. Throws InvalidArgument for a port that is none.
  std::string read();

  const std::optional<std::uint16_t>& port() const { return port_; }  ///< none: not wanted
  const std::string& address() const { return address_; }

 private:
  const CLI::Option* given_ = nullptr;
  std::string word_, address_ = "127.0.0.1";
  std::optional<std::uint16_t> port_;
};

/// Forwards all notifications of a run to another observer, and its pace to the live page too, at
/// most twice per second.
class LiveObserver : public run::Observer {
 public:
  using Say = std::function<void(const std::string&)>;

  /// `say` prints a line; `run`: the run's directory, known when it starts. All outlive the
  /// observer.
  LiveObserver(run::Observer& next, Say say, live::PageProcess& page,
               const std::filesystem::path& run)
      : next_(next), say_(std::move(say)), page_(page), run_(run) {}

  void waiting() override;
  void started(const train::RunView& run, const train::RunOptions& config) override;
  void resumed(std::uint64_t round, const std::vector<std::string>& damaged) override;
  void progressed(const train::RunView& run) override;
  void evaluated(const train::RunView& run, const train::Metrics& metrics) override;
  bool stop_requested() override { return next_.stop_requested(); }

 private:
  void serve();
  void tell(const train::RunView& run);

  run::Observer& next_;
  Say say_;
  live::PageProcess& page_;
  const std::filesystem::path& run_;
  Stopwatch stopwatch_;
  std::chrono::steady_clock::time_point told_{};
  bool served_ = false;
  bool there_ = false;  ///< and it listens
};

}  // namespace hearsay::cli
