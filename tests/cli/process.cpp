#include "cli/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "train/scratch.h"

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

int Child::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

Result hearsay(const Words& arguments, const fs::path& directory, const Words& launcher) {
  const train::Scratch output;
  const fs::path out = output / "out", err = output / "err";
  const int status = Child(arguments, directory, out, err, launcher).wait();
  return {status, train::read_text(out), train::read_text(err)};
}

}  // namespace hearsay::cli
