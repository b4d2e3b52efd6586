#include "hearsay/run/fleet.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <tuple>

#include "hearsay/core/error.h"
#include "hearsay/core/spec.h"
#include "hearsay/gossip/machine.h"
#include "hearsay/run/runner.h"

namespace hearsay::run {

namespace {

/// A run of the fleet. An exception ends only this run.
struct Member {
  std::unique_ptr<Runner> runner;
  std::string error;

  template <class Work>
  bool tried(const Work& work) {
    try {
      work();
    } catch (const gossip::NotFinite& failure) {
      error = runner->failure(failure).what();
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    return error.empty();
  }

  bool goes_on() {
    bool more = false;
    return error.empty() && tried([&] { more = runner->goes_on(); }) && more;
  }
};

/// One round of each, in lockstep. Those that fail record their error.
void run_round(std::span<Member* const> members) {
  std::vector<train::Trainer::Turn> turns;
  for (Member* member : members) {
    turns.push_back({&member->runner->trainer(), member->runner->measures_next()});
  }
  train::Trainer::run_round(turns);
  for (std::size_t k = 0; k < members.size(); ++k) {
    members[k]->tried([&] {
      if (turns[k].error) std::rethrow_exception(turns[k].error);
    });
  }
}

/// A run that has no rounds in common with others: of asynchronous peers.
FleetOutcome alone(const FleetRun& member) {
  try {
    return {run(member.config, member.out, *member.observer), ""};
  } catch (const RunFailed& error) {
    return {{}, error.what()};
  }
}

}  // namespace

std::vector<FleetOutcome> run_fleet(std::span<const FleetRun> runs) {
  if (runs.empty()) return {};
  const train::RunOptions& config = runs.front().config;
  if (runs.size() == 1 && config.timing != "lock-step") return {alone(runs.front())};
  const auto machine = std::make_shared<gossip::Machine>(config.device, config.threads);
  std::vector<Member> members;
  for (const FleetRun& run : runs) {
    check_free(run.out);
    members.push_back({std::make_unique<Runner>(run.config, run.out, *run.observer, machine), ""});
  }
  for (Member& member : members) {  // another process may have taken it since it was checked
    member.tried([&] {
      member.runner->claim();
      member.runner->start();
    });
  }

  while (true) {
    std::vector<Member*> going;
    for (Member& member : members) {
      if (member.goes_on()) going.push_back(&member);
    }
    if (going.empty()) break;
    const auto begin = std::chrono::steady_clock::now();
    run_round(going);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    for (Member* member : going) {
      if (!member->error.empty()) continue;
      member->tried([&] { member->runner->after_round(took.count()); });
    }
  }

  std::vector<FleetOutcome> outcomes;
  outcomes.reserve(members.size());
  for (const Member& member : members) {
    outcomes.push_back(
        {member.error.empty() ? std::optional(member.runner->outcome()) : std::optional<Outcome>(),
         member.error});
  }
  return outcomes;
}

std::vector<std::vector<std::size_t>> fleets_of(std::span<const train::RunOptions> configs,
                                                std::size_t most) {
  const auto alike = [](const train::RunOptions& a, const train::RunOptions& b) {
    const auto shared = [](const train::RunOptions& o) {
      return std::tie(o.device, o.model, o.task, o.loss, o.data, o.validation, o.augment, o.batch);
    };
    return spec_name(a.device) == "cuda" && shared(a) == shared(b);
  };
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const auto group = std::ranges::find_if(groups, [&](const std::vector<std::size_t>& members) {
      return members.size() < most && alike(configs[members.front()], configs[i]);
    });
    if (group == groups.end()) {
      groups.push_back({i});
    } else {
      group->push_back(i);
    }
  }
  return groups;
}

}  // namespace hearsay::run
