#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "hearsay/live/listener.h"

namespace hearsay::live {

/// A run directory over HTTP, read-only, while its run goes on or afterwards.
///
///   /               the page of `hearsay report`, which follows /events while the run goes on
///   /events         server-sent events (events.h)
///   /metrics.jsonl, /summary.json      the files, up to kFileBytes
///
/// Only GET and HEAD, only these paths, one request a connection, and only to those that the gate
/// admits (gate.h). What viewers can take is bounded: kConnections at a time, of them kViewers that
/// follow events, and so many new ones a second; bytes and seconds of a request (client_stream.h);
/// pages made (page_cache.h). A hostile one can keep others out, no more. Nothing is ever read from
/// a path that a request names.
class Server {
 public:
  static constexpr std::size_t kConnections = 24;
  static constexpr std::size_t kViewers = 16;
  static constexpr double kConnectionsPerSecond = 10, kConnectionsAtOnce = 50;  ///< turnstile.h
  static constexpr std::size_t kFileBytes = 64 << 20;

  virtual ~Server() = default;  ///< closes all connections

  /// Tell viewers how far the run is: a JSON object in one line (events.h).
  virtual void progress(std::string json) = 0;
  /// Tell them that it has ended, and make the final page. The server stays.
  virtual void end() = 0;

  virtual std::size_t viewers() const = 0;  ///< that follow events now
  /// After the end: nobody is connected or waits to be, and there were as many who fetched the
  /// final page as who heard of the end.
  virtual bool settled() const = 0;
};

/// Whether this build can serve; without cpp-httplib it cannot.
bool can_serve();

/// Serve `run` to whoever connects to `listener`, in threads of its own. `token`: what requests
/// must carry, or empty. Throws InvalidArgument if this build cannot.
std::unique_ptr<Server> make_server(std::filesystem::path run, Listener listener,
                                    std::string token);

}  // namespace hearsay::live
