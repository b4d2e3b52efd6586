#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

/// Runs the real `hearsay` program, in a directory of the test's own.
namespace hearsay::cli {

struct Result {
  int status;  ///< exit status, or -SIGNAL
  std::string out, err;
};

using Words = std::vector<std::string>;

/// Run to the end. Standard output and error are files, so no terminal. `launcher`: the words that
/// start it, if it does not start itself.
Result hearsay(const Words& arguments, const std::filesystem::path& directory,
               const Words& launcher = {});

/// A run that goes on while the test does something to it.
class Child {
 public:
  /// Standard output and error go to the files `out` and `err`.
  Child(const Words& arguments, const std::filesystem::path& directory,
        const std::filesystem::path& out, const std::filesystem::path& err,
        const Words& launcher = {});
  ~Child();  ///< kills it if nobody waited
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }  ///< of the launcher, if there is one
  void kill();
  void signal(int number);
  bool ended() const;  ///< nobody has waited yet
  /// Stops it where it is, by SIGSTOP, until SIGCONT; its own children go on. False: it has ended.
  bool hold();
  int wait();  ///< exit status, or -SIGNAL

 private:
  pid_t pid_ = 0;
};

/// What /proc tells of any process: those that it started, and the fields of its stat (proc(5));
/// nothing if there is none.
std::vector<pid_t> children_of(pid_t process);
Words facts_of(pid_t process);
bool is_held(pid_t process);  ///< by SIGSTOP
bool lives(pid_t process);    ///< or its threads, which still hold its descriptors

}  // namespace hearsay::cli
