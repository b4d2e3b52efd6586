#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace hearsay::cli {

/// How a child ended.
struct JobEnd {
  std::size_t id;
  int status;          ///< exit status, or -SIGNAL
  std::string errors;  ///< the end of what it wrote to standard error
};

/// Children that run this same program side by side. None outlives this process, however that ends:
/// the kernel kills them with it. Each is a process group of its own, so Ctrl-C does not reach it.
class Jobs {
 public:
  Jobs() = default;
  ~Jobs();  ///< kills and reaps those that are left
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// Start `hearsay ARGUMENTS...`, without input, its output thrown away. Throws RunFailed.
  void start(std::size_t id, std::vector<std::string> arguments);

  std::size_t running() const { return children_.size(); }

  /// Those that have ended, after waiting at most that long for one. A signal ends the wait.
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

  std::vector<Child> children_;
};

}  // namespace hearsay::cli
