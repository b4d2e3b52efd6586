#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "hearsay/core/layout.h"
#include "hearsay/gossip/machine.h"
#include "hearsay/graph/facts.h"
#include "hearsay/train/run_options.h"

namespace hearsay::run {

/// Whether its peers wait for nobody.
bool is_asynchronous(const train::RunOptions& config);

/// Throws InvalidArgument if a run of this process group cannot have this timing and this link.
void check_timing(const train::RunOptions& config, const gossip::ProcessGroup& group);

/// Throws InvalidArgument if no run can have this value of an option: a spec of an unknown name or
/// parameter. Ranges that depend on other options, and files, are left to Checks.
void check_value(const std::string& key, const std::string& value);

/// Finds out whether runs in this process would begin, without making their models: what
/// algorithm::check_fit and every other part of a run's start refuses, for many runs quickly. What
/// runs have in common (graph, data and network, device) is made once, and runs that differ in
/// their seed alone are one, unless the graph is random.
///
/// Data is read if that is quick: of files up to 64 MB. Beyond, only what does not depend on it is
/// checked.
class Checks {
 public:
  Checks();
  ~Checks();

  /// Why a run with these options (resolved) would be refused, or empty.
  std::string why_not(const train::RunOptions& config);

 private:
  /// What an objective says of a model and its rounds; without a layout: it was not made.
  struct Shape {
    std::optional<Layout> layout{};
    std::uint64_t rounds_per_epoch = 1;
    std::string refused{};  ///< why it cannot be made
  };

  void check(const train::RunOptions& config);
  std::shared_ptr<gossip::Machine> machine_of(const std::string& device);
  const Shape& shape_of(const train::RunOptions& config);
  const graph::Facts& facts_of(const train::RunOptions& config);

  std::map<std::string, std::string> known_;  ///< answers, by options
  std::map<std::string, std::shared_ptr<gossip::Machine>> machines_;
  std::map<std::string, Shape> shapes_;
  std::map<std::string, graph::Facts> facts_;
};

}  // namespace hearsay::run
