#include "cli/stop.h"

#include <atomic>
#include <csignal>
#include <initializer_list>

namespace hearsay::cli {

namespace {

std::atomic<bool> asked{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { asked = true; };
  action.sa_flags = SA_RESETHAND | SA_RESTART;  // the next signal has the default action
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
}

bool stop_requested() { return asked; }

}  // namespace hearsay::cli
