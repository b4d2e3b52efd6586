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

/// Run to the end. Standard output and error are files, so no terminal.
Result hearsay(const std::vector<std::string>& arguments, const std::filesystem::path& directory);

/// A run that goes on while the test does something to it.
class Child {
 public:
  /// Standard output and error go to the files `out` and `err`.
  Child(const std::vector<std::string>& arguments, const std::filesystem::path& directory,
        const std::filesystem::path& out, const std::filesystem::path& err);
  ~Child();  ///< kills it if nobody waited
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void kill();
  void signal(int number);
  int wait();  ///< exit status, or -SIGNAL

 private:
  pid_t pid_ = 0;
};

}  // namespace hearsay::cli
