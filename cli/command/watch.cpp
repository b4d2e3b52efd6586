#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "cli/live.h"
#include "cli/stop.h"
#include "hearsay/core/error.h"
#include "hearsay/live/gate.h"
#include "hearsay/live/server.h"

namespace hearsay::cli {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kQuiet{100};  // settled for so long: no viewer is still to come

struct WatchOptions {
  std::string directory, address = "127.0.0.1";
  std::uint16_t port = 0;
  bool inherited = false;
};

/// Bytes of address space in use: a sanitizer takes terabytes.
std::uint64_t address_space() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Lowers the priority below training, and limits resources to what a page needs; called before
/// threads are made, which inherit it. Limits that the system refuses are skipped.
void be_modest() {
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

/// The next message from the training process; none once it has closed the channel.
std::optional<std::string> hear() {
  std::string message(4096, '\0');
  for (;;) {
    const ssize_t size = ::recv(LivePage::kChannel, message.data(), message.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return {};
    message.resize(static_cast<std::size_t>(size));
    return message;
  }
}

/// Serves a run that another process trains, until it closes the channel. Viewers are then
/// notified, and have LivePage::kFinalTime to fetch the final page.
int serve_for_parent(const fs::path& run) {
  const std::optional<std::string> greeting = hear();
  if (!greeting) return 0;
  const std::string token = *greeting == "no token" ? "" : *greeting;
  const auto server = live::make_server(run, live::Listener::adopt(LivePage::kListener), token);
  while (std::optional<std::string> message = hear()) server->progress(std::move(*message));
  server->end();
  const auto last = Clock::now() + LivePage::kFinalTime;
  auto quiet = Clock::now() + kQuiet;
  while (Clock::now() < std::min(last, quiet)) {
    std::this_thread::sleep_for(milliseconds(10));
    if (!server->settled()) quiet = Clock::now() + kQuiet;
  }
  return 0;
}

/// Serves a directory until a signal requests a stop.
int serve_alone(const WatchOptions& options) {
  std::error_code error;
  if (!fs::is_directory(options.directory, error)) {
    throw InvalidArgument(fmt::format("[watch] there is no directory '{}'", options.directory));
  }
  catch_signals();
  live::Listener listener(options.address, options.port);
  const std::string token = listener.loopback() ? "" : live::make_token();
  const std::string url = listener.url(token);
  const auto server = live::make_server(options.directory, std::move(listener), token);
  fmt::print("{}\n", url);
  std::fflush(stdout);
  bool ended = false;
  while (!stop_requested()) {
    if (!ended && fs::exists(fs::path(options.directory) / "summary.json", error)) {
      server->end();
      ended = true;
    }
    ::poll(nullptr, 0, 200);  // a signal ends it
  }
  return 0;
}

}  // namespace

Action add_watch(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("watch", "Serve the page of a run to browsers, while it goes on or later");
  auto options = std::make_shared<WatchOptions>();
  command->add_option("directory", options->directory, "run directory")
      ->required()
      ->type_name("DIR");
  command->add_option("--port", options->port, "port to listen on; default: any free one")
      ->type_name("PORT");
  command
      ->add_option(
          "--address", options->address,
          "address to listen on, in digits; default: 127.0.0.1. Any that other machines can "
          "reach asks viewers for a token, which is part of what is printed")
      ->type_name("ADDRESS");
  command->add_flag("--inherited", options->inherited)->group("");  // for `train --live`
  return [options] {
    be_modest();
    return options->inherited ? serve_for_parent(options->directory) : serve_alone(*options);
  };
}

}  // namespace hearsay::cli
