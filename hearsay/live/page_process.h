#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hearsay/live/listener.h"

namespace hearsay::live {

/// The page of a run in progress, served by a separate process with the lowest priority and limits
/// on memory and descriptors. Whatever viewers do to that process, training shares nothing with it
/// but the run directory, which it only reads.
///
/// It inherits the listening socket, and a channel on which it receives the run's progress. Sending
/// there never blocks. When the channel closes, for any reason, it notifies its viewers and ends.
class PageProcess {
 public:
  /// How long it waits for viewers that have not fetched the final page.
  static constexpr std::chrono::seconds kFinalTime{5};
  /// The descriptors that the process inherits.
  static constexpr int kChannel = 3, kListener = 4;

  /// Starts to listen, so that a port in use is detected now. Throws InvalidArgument.
  PageProcess(const std::string& address, std::uint16_t port);
  /// Closes the channel, waits for the process to end, and kills it if it does not: after only a
  /// second during stack unwinding, since the exception's message is delayed by this.
  ~PageProcess();
  PageProcess(const PageProcess&) = delete;
  PageProcess& operator=(const PageProcess&) = delete;

  const std::string& url() const { return url_; }

  /// Starts the process: a program with these arguments (the first is its name), which calls
  /// `serve_for_parent`. Throws RunFailed.
  void start(const std::string& program, const std::vector<std::string>& arguments);

  /// Sends it the run's progress (Server::progress). False: the process has ended.
  bool send(const std::string& json) const;

 private:
  std::optional<Listener> listener_;  ///< until it is passed to the process
  std::string token_, url_;
  int channel_ = -1;
  pid_t process_ = 0;
  const int exceptions_ = std::uncaught_exceptions();
};

/// In the process that PageProcess started: serves `run` until the channel closes. Viewers are then
/// notified, and have kFinalTime to fetch the final page.
void serve_for_parent(const std::filesystem::path& run);

/// Lowers this process's priority below training, and limits its resources to what a page needs.
/// To be called before threads are made, which inherit it. Limits that the system refuses are
/// skipped.
void limit_resources();

}  // namespace hearsay::live
