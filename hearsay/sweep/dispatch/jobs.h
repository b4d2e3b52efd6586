#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace hearsay::sweep {

/// How a child ended.
struct JobEnd {
  std::size_t id;
  int status;          ///< exit status, or -SIGNAL
  std::string errors;  ///< the end of what it wrote to standard error
};

/// Child processes that run one program in parallel. None outlives the thread that started it,
/// however that ends: the kernel kills them with it. Each has its own process group, so Ctrl-C does
/// not reach it.
class Jobs {
 public:
  explicit Jobs(std::filesystem::path program) : program_(std::move(program)) {}
  ~Jobs();  ///< kills and reaps the remaining ones
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// Starts `PROGRAM ARGUMENTS...`, without input, discarding its output. Throws RunFailed.
  void start(std::size_t id, std::vector<std::string> arguments);

  std::size_t running() const { return children_.size(); }

  /// The children that have ended, after waiting at most that long for one. A signal ends the wait.
  std::vector<JobEnd> wait(std::chrono::milliseconds patience);

  void signal(int number) const;  ///< to all

 private:
  struct Child {
    std::size_t id;
    pid_t pid;
    int handle;  ///< readable when it has ended
    int errors;  ///< a file in memory
  };
  JobEnd reap(const Child& child);

  const std::filesystem::path program_;
  std::vector<Child> children_;
};

}  // namespace hearsay::sweep
