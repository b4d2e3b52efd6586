#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "hearsay/live/listener.h"

namespace hearsay::live {

/// A run directory over HTTP, read-only, during its run or afterwards.
///
///   /               the page of `hearsay report`, which follows /events during the run
///   /events         server-sent events (events.h)
///   /metrics.jsonl, /summary.json      the files, up to kFileBytes
///
/// Only GET and HEAD, only these paths, one request per connection, and only for those that the
/// gate admits (gate.h). The resources of viewers are bounded: kConnections at a time, of them
/// kViewers that follow events, and so many new ones per second; bytes and seconds of a request
/// (client_stream.h); pages generated (page_cache.h). A hostile viewer can only keep others out.
/// Paths in requests are never used to access files.
class Server {
 public:
  static constexpr std::size_t kConnections = 24;
  static constexpr std::size_t kViewers = 16;
  static constexpr double kConnectionsPerSecond = 10, kConnectionsAtOnce = 50;  ///< turnstile.h
  static constexpr std::size_t kFileBytes = 64 << 20;

  virtual ~Server() = default;  ///< closes all connections

  /// Sends viewers the run's progress: a JSON object in one line (events.h).
  virtual void progress(std::string json) = 0;
  /// Tells viewers that the run has ended, and makes the final page. The server keeps running.
  virtual void end() = 0;

  virtual std::size_t viewers() const = 0;  ///< now following events
  /// After the end: there are no open or pending connections, and as many viewers fetched the final
  /// page as were told of the end.
  virtual bool settled() const = 0;
};

/// Whether this build can serve; without cpp-httplib it cannot.
bool can_serve();

/// Serves `run` on `listener`, in its own threads. `token`: required in requests unless empty.
/// Throws InvalidArgument if this build cannot.
std::unique_ptr<Server> make_server(std::filesystem::path run, Listener listener,
                                    std::string token);

}  // namespace hearsay::live
