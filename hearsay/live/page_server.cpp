#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "hearsay/live/page_process.h"
#include "hearsay/live/server.h"

/// The process that PageProcess starts.
namespace hearsay::live {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kQuiet{100};  // settled for so long: no viewer is still to come

/// Bytes of address space in use: a sanitizer takes terabytes.
std::uint64_t address_space() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// The next message from the training process; none once it has closed the channel.
std::optional<std::string> hear() {
  std::string message(4096, '\0');
  for (;;) {
    const ssize_t size = ::recv(PageProcess::kChannel, message.data(), message.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return {};
    message.resize(static_cast<std::size_t>(size));
    return message;
  }
}

}  // namespace

void limit_resources() {
  ::setpriority(PRIO_PROCESS, 0, 19);
  sched_param none{};
  ::sched_setscheduler(0, SCHED_BATCH, &none);
  ::mallopt(M_ARENA_MAX, 2);  // an arena per thread would take 64 MB of address space each
  pthread_attr_t threads;
  pthread_attr_init(&threads);
  // Independent of `ulimit -s`. cpp-httplib parses headers with std::regex, 600 bytes of stack per
  // character.
  pthread_attr_setstacksize(&threads, 8 << 20);
  pthread_setattr_default_np(&threads);
  pthread_attr_destroy(&threads);
  constexpr std::uint64_t kMemory = 1 << 30;
  const auto limit = [](__rlimit_resource what, std::uint64_t value) {
    const rlimit both{value, value};
    ::setrlimit(what, &both);
  };
  limit(RLIMIT_AS, address_space() + kMemory);
  limit(RLIMIT_NOFILE, 128);
  limit(RLIMIT_CORE, 0);
}

void serve_for_parent(const std::filesystem::path& run) {
  const std::optional<std::string> greeting = hear();
  if (!greeting) return;
  const std::string token = *greeting == "no token" ? "" : *greeting;
  const auto server = make_server(run, Listener::adopt(PageProcess::kListener), token);
  while (std::optional<std::string> message = hear()) server->progress(std::move(*message));
  server->end();
  const auto last = Clock::now() + PageProcess::kFinalTime;
  auto quiet = Clock::now() + kQuiet;
  while (Clock::now() < std::min(last, quiet)) {
    std::this_thread::sleep_for(milliseconds(10));
    if (!server->settled()) quiet = Clock::now() + kQuiet;
  }
}

}  // namespace hearsay::live
