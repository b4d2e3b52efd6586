#include "hearsay/sweep/dispatch/jobs.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::sweep {

namespace {

constexpr off_t kMostErrors = 4096;

std::string tail_of(int descriptor) {
  const off_t size = ::lseek(descriptor, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::clamp<off_t>(size, 0, kMostErrors)), '\0');
  const ssize_t got =
      ::pread(descriptor, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// Blocks the signals of this thread during its lifetime. A child inherits our handlers, and a
/// signal that arrives before it has reset them would be lost.
class Blocked {
 public:
  Blocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~Blocked() { end(); }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;

  void end() const { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// Between fork and exec: nothing here may allocate.
[[noreturn]] void become(const char* program, char* const* argv, int errors, pid_t parent,
                         const Blocked& blocked) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent has died already
  // Ctrl-C goes to a whole process group. A child in ours would get it twice, from the terminal and
  // from the sweep, and the second one kills.
  ::setpgid(0, 0);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) ::signal(number, SIG_DFL);
  blocked.end();
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::execv(program, argv);
  ::_exit(127);
}

[[noreturn]] void fail(const char* what) {
  throw RunFailed(fmt::format("[sweep] cannot start a run: {}: {}", what, std::strerror(errno)));
}

}  // namespace

Jobs::~Jobs() {
  signal(SIGKILL);
  for (const Child& child : children_) reap(child);
}

void Jobs::start(std::size_t id, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "hearsay");  // its name in messages and lists of processes
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& word : arguments) argv.push_back(word.data());
  argv.push_back(nullptr);

  const int errors = ::memfd_create("errors", MFD_CLOEXEC);
  if (errors < 0) fail("memfd_create");
  const pid_t parent = ::getpid();
  const Blocked blocked;
  const pid_t pid = ::fork();
  if (pid == 0) become(program_.c_str(), argv.data(), errors, parent, blocked);
  if (pid < 0) {
    ::close(errors);
    fail("fork");
  }
  // glibc has a wrapper only from 2.36 on.
  const auto handle = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  children_.push_back({id, pid, handle, errors});
}

JobEnd Jobs::reap(const Child& child) {
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  JobEnd end{child.id, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
             tail_of(child.errors)};
  if (child.handle >= 0) ::close(child.handle);
  ::close(child.errors);
  return end;
}

std::vector<JobEnd> Jobs::wait(std::chrono::milliseconds patience) {
  std::vector<pollfd> handles;
  for (const Child& child : children_) handles.push_back({child.handle, POLLIN, 0});
  ::poll(handles.data(), handles.size(), static_cast<int>(patience.count()));
  std::vector<JobEnd> ended;
  std::vector<Child> left;
  for (const Child& child : children_) {
    siginfo_t info{};
    const int waited =
        ::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT);
    if (waited == 0 && info.si_pid == 0) {
      left.push_back(child);
    } else {
      ended.push_back(reap(child));
    }
  }
  children_ = std::move(left);
  return ended;
}

void Jobs::signal(int number) const {
  for (const Child& child : children_) ::kill(child.pid, number);
}

}  // namespace hearsay::sweep
