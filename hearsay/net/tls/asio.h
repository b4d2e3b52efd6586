#pragma once

// The standalone asio, in the way that this folder uses it: callbacks, on one thread. What crosses
// threads is posted, under asio's lock, so its fences, which thread sanitizers do not know, are not
// needed.
#define ASIO_STANDALONE
#define ASIO_NO_DEPRECATED
#define ASIO_DISABLE_FENCED_BLOCK

#include <chrono>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/v6_only.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

namespace hearsay::net {

/// Seconds of a clock that is not set.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace hearsay::net
