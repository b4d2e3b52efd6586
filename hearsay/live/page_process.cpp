#include "hearsay/live/page_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/live/gate.h"
#include "hearsay/live/server.h"

namespace hearsay::live {
namespace {

constexpr std::chrono::seconds kPatience = PageProcess::kFinalTime + std::chrono::seconds(2);
constexpr std::chrono::seconds kInHaste{1};

/// Our environment without mpirun's variables: the page's process is not one of its ranks.
std::vector<char*> environment() {
  std::vector<char*> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with("OMPI_") || text.starts_with("PMIX_")) continue;
    kept.push_back(*variable);
  }
  kept.push_back(nullptr);
  return kept;
}

/// Starts `program` with these two descriptors and no others of ours; in its own process group, so
/// that Ctrl-C reaches only us. Returns its id.
pid_t spawn(const std::string& program, std::vector<std::string> arguments, int channel,
            int listener) {
  std::vector<char*> argv;
  for (std::string& word : arguments) argv.push_back(word.data());
  argv.push_back(nullptr);

  // Duplicates with numbers that do not collide with the target ones.
  const int first = ::fcntl(channel, F_DUPFD_CLOEXEC, PageProcess::kListener + 1);
  const int second = ::fcntl(listener, F_DUPFD_CLOEXEC, PageProcess::kListener + 1);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, first, PageProcess::kChannel);
  posix_spawn_file_actions_adddup2(&actions, second, PageProcess::kListener);
  posix_spawn_file_actions_addclosefrom_np(&actions, PageProcess::kListener + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  sigset_t ours;
  sigemptyset(&ours);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&ours, number);
  posix_spawnattr_setsigdefault(&attributes, &ours);

  pid_t process = 0;
  std::vector<char*> variables = environment();
  const int error = ::posix_spawn(&process, program.c_str(), &actions, &attributes, argv.data(),
                                  variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(first);
  ::close(second);
  if (error != 0) {
    throw RunFailed(
        fmt::format("[live] cannot start the process of the live page: {}", std::strerror(error)));
  }
  return process;
}

}  // namespace

PageProcess::PageProcess(const std::string& address, std::uint16_t port) {
  if (!live::can_serve()) {
    throw InvalidArgument(
        "[live] this build of hearsay has no live page; install libcpp-httplib-dev and build "
        "again, "
        "or drop --live");
  }
  listener_.emplace(address, port);
  if (!listener_->loopback()) token_ = live::make_token();
  url_ = listener_->url(token_);
}

PageProcess::~PageProcess() {
  if (channel_ >= 0) ::close(channel_);
  if (process_ == 0) return;
  const bool failed = std::uncaught_exceptions() > exceptions_;
  const auto until = std::chrono::steady_clock::now() + (failed ? kInHaste : kPatience);
  while (::waitpid(process_, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void PageProcess::start(const std::string& program, const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw RunFailed(fmt::format("[live] no channel to the live page: {}", std::strerror(errno)));
  }
  channel_ = ends[0];
  try {
    process_ = spawn(program, arguments, ends[1], listener_->descriptor());
  } catch (...) {
    ::close(ends[1]);
    throw;
  }
  ::close(ends[1]);
  listener_.reset();
  send(token_.empty() ? "no token" : token_);
}

bool PageProcess::send(const std::string& message) const {
  if (::send(channel_, message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
    return true;
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;  // the next one will arrive
}

}  // namespace hearsay::live
