#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hearsay/gossip/process_group.h"
#include "hearsay/run/run.h"
#include "support/scratch.h"

namespace hearsay::support {

/// Processes that can train together: threads of one program, or the ranks of an mpirun.
struct World {
  std::string name;
  /// Calls the body in every process, and returns when all of them that are in this program are
  /// done.
  std::function<void(const std::function<void(gossip::ProcessGroup&)>&)> run;
};

inline std::ostream& operator<<(std::ostream& out, const World& world) { return out << world.name; }

/// The worlds of this test program.
std::vector<World> worlds();

/// A scratch directory shared by all processes, until all of them are done with it.
class SharedScratch {
 public:
  explicit SharedScratch(gossip::ProcessGroup& group) : group_(group) {
    if (group.leads()) own_.emplace();
    const std::string mine = own_ ? own_->path().string() : "";
    const Bytes path = group.collectives().broadcast(Bytes(mine.begin(), mine.end()));
    path_ = std::string(path.begin(), path.end());
  }
  ~SharedScratch() { group_.any(false); }
  SharedScratch(const SharedScratch&) = delete;
  SharedScratch& operator=(const SharedScratch&) = delete;

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  gossip::ProcessGroup& group_;
  std::optional<Scratch> own_;
  std::filesystem::path path_;
};

inline void expect_same_run(const std::filesystem::path& left, const std::filesystem::path& right) {
  EXPECT_EQ(lasting(summary_of(left)), lasting(summary_of(right)));
  EXPECT_EQ(metrics_of(left), metrics_of(right));
  EXPECT_EQ(contents(left / "models"), contents(right / "models"));
}

}  // namespace hearsay::support
