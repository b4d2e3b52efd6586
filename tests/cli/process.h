#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

/// Runs the real `hearsay` program, in the test's own directory.
namespace hearsay::cli {

struct Result {
  int status;  ///< exit status, or -SIGNAL
  std::string out, err;
};

using Words = std::vector<std::string>;

/// Runs to the end. Standard output and error are files, not a terminal. `launcher`: the command
/// that starts it, if it is not started directly.
Result hearsay(const Words& arguments, const std::filesystem::path& directory,
               const Words& launcher = {});

/// A run in the background.
class Child {
 public:
  /// Standard output and error go to the files `out` and `err`.
  Child(const Words& arguments, const std::filesystem::path& directory,
        const std::filesystem::path& out, const std::filesystem::path& err,
        const Words& launcher = {});
  ~Child();  ///< kills it unless it was waited for
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }  ///< of the launcher, if there is one
  void kill();
  void signal(int number);
  bool ended() const;  ///< before it was waited for
  /// Suspends it by SIGSTOP, until SIGCONT; its own children keep running. False: it has ended.
  bool hold();
  int wait();  ///< exit status, or -SIGNAL

 private:
  pid_t pid_ = 0;
};

/// What /proc says about a process: its children, and the fields of its stat (proc(5)); empty if
/// there is no such process.
std::vector<pid_t> children_of(pid_t process);
Words facts_of(pid_t process);
bool is_held(pid_t process);  ///< by SIGSTOP
bool lives(pid_t process);    ///< or its threads, which still hold its descriptors

}  // namespace hearsay::cli
