#include "cli/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "support/scratch.h"

namespace hearsay::cli {

namespace fs = std::filesystem;

Child::Child(const Words& arguments, const fs::path& directory, const fs::path& out,
             const fs::path& err, const Words& launcher) {
  Words words = launcher;
  words.emplace_back(HEARSAY_CLI);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), kWrite, 0644);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), kWrite, 0644);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  const int error = ::posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + words.front());
}

Child::~Child() {
  if (pid_ == 0) return;
  kill();
  wait();
}

void Child::kill() { signal(SIGKILL); }

void Child::signal(int number) { ::kill(pid_, number); }

bool Child::ended() const {
  siginfo_t info{};
  const int done = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return done == 0 && info.si_pid != 0;
}

bool Child::hold() {
  signal(SIGSTOP);
  siginfo_t info{};
  constexpr int kLook = WEXITED | WSTOPPED | WNOWAIT;
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, kLook) != 0 && errno == EINTR) {
  }
  return info.si_code == CLD_STOPPED;
}

int Child::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::vector<pid_t> children_of(pid_t process) {
  std::ifstream in(fmt::format("/proc/{0}/task/{0}/children", process));
  return {std::istream_iterator<pid_t>(in), std::istream_iterator<pid_t>()};
}

Words facts_of(pid_t process) {
  std::ifstream in(fmt::format("/proc/{}/stat", process));
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

bool is_held(pid_t process) {
  const Words facts = facts_of(process);
  return facts.size() > 2 && facts[2] == "T";
}

bool lives(pid_t process) {
  const Words facts = facts_of(process);
  return facts.size() > 19 && (facts[2] != "Z" || facts[19] != "1");
}

Result hearsay(const Words& arguments, const fs::path& directory, const Words& launcher) {
  const support::Scratch output;
  const fs::path out = output / "out", err = output / "err";
  const int status = Child(arguments, directory, out, err, launcher).wait();
  return {status, support::read_text(out), support::read_text(err)};
}

}  // namespace hearsay::cli
