#include "hearsay/run/run.h"

#include <chrono>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/version.h"
#include "hearsay/run/asynchronous.h"
#include "hearsay/run/check.h"
#include "hearsay/run/peer/settings.h"
#include "hearsay/run/runner.h"

namespace hearsay::run {

namespace {

namespace fs = std::filesystem;

Outcome go_on(Runner& runner) {
  try {
    runner.start();
    while (runner.goes_on()) {
      const auto begin = std::chrono::steady_clock::now();
      runner.trainer().run_round(runner.measures_next());
      runner.after_round(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
  } catch (const gossip::NotFinite& error) {
    throw runner.failure(error);
  }
  return runner.outcome();
}

/// All settings but `threads`, which may differ between processes. Not only those of the hash:
/// processes synchronize for checkpoints, so they must agree on the interval.
std::string common_settings(train::RunOptions config) {
  config.threads = 0;
  return config.to_toml();
}

/// Makes a runner in every process, or throws in every process.
std::unique_ptr<Runner> make_runner(const train::RunOptions& config, const fs::path& out,
                                    Observer& observer, gossip::ProcessGroup& group,
                                    const train::RunParts& parts) {
  group.agree_on("version of hearsay", version());
  group.agree_on("configuration", common_settings(config));
  std::unique_ptr<Runner> runner;
  group.agree([&] {
    runner = std::make_unique<Runner>(
        config, out, observer,
        std::make_shared<gossip::Machine>(config.device, config.threads, group), parts);
  });
  group.agree_on("dataset", runner->trainer().objective().data_sha256());
  return runner;
}

}  // namespace

AlreadyExists directory_taken(const fs::path& out) {
  return AlreadyExists(
      fmt::format("[train] {} already holds a run; use --resume {}, or another --out", out.string(),
                  out.string()));
}

void check_free(const fs::path& out) {
  std::error_code error;
  if (fs::exists(out / "config.toml", error)) throw directory_taken(out);
  for (const char* name :
       {"metrics.jsonl", "summary.json", "checkpoint", "models", "compare", "report.html"}) {
    if (!fs::exists(out / name, error)) continue;
    if (fs::exists(out / "config.toml", error)) throw directory_taken(out);  // it has just begun
    throw InvalidArgument(fmt::format(
        "[train] {} holds {} of another run, without its config.toml; use another --out",
        out.string(), name));
  }
}

Outcome run(const train::RunOptions& config, const fs::path& out, Observer& observer,
            const train::RunParts& parts) {
  gossip::SingleProcess alone;
  return run(config, out, observer, alone, parts);
}

Outcome run(const train::RunOptions& config, const fs::path& out, Observer& observer,
            gossip::ProcessGroup& group, const train::RunParts& parts) {
  group.agree([&] {
    if (group.leads()) check_free(out);
    check_timing(config, group);
  });
  if (is_asynchronous(config)) return AsynchronousRun(config, out, observer, parts).begin();
  const auto runner = make_runner(config, out, observer, group, parts);
  runner->claim();
  return go_on(*runner);
}

fs::path numbered(const fs::path& parent, int number) {
  return parent / fmt::format("{:03}", number);
}

Outcome run_in_new(const fs::path& parent, const train::RunOptions& config, fs::path& out,
                   Observer& observer, gossip::ProcessGroup& group, const train::RunParts& parts) {
  for (int number = 1;; ++number) {
    out = numbered(parent, number);
    std::error_code error;  // what is wrong with the directory, run() says
    if (group.any(fs::exists(out, error))) continue;
    try {
      return run(config, out, observer, group, parts);
    } catch (const AlreadyExists&) {
      continue;
    }
  }
}

Outcome resume(const fs::path& out, std::uint64_t threads, Observer& observer,
               const train::RunParts& parts) {
  gossip::SingleProcess alone;
  return resume(out, threads, observer, alone, parts);
}

Outcome resume(const fs::path& out, std::uint64_t threads, Observer& observer,
               gossip::ProcessGroup& group, const train::RunParts& parts) {
  train::RunOptions config;
  group.agree([&] {
    std::error_code error;
    if (!fs::exists(out / "config.toml", error)) {
      throw InvalidArgument(
          fmt::format("[train] {} holds no run: there is no config.toml in it", out.string()));
    }
    if (is_of_peer(out)) {
      throw InvalidArgument(fmt::format(
          "[train] {} is the run directory of one peer of a fleet; go on with: hearsay peer "
          "--resume {}",
          out.string(), out.string()));
    }
    config = train::options_of_run(out);
    if (threads > 0) config.set("threads", fmt::format("{}", threads));
    check_timing(config, group);
  });
  if (is_asynchronous(config)) return AsynchronousRun(config, out, observer, parts).begin_again();
  const auto runner = make_runner(config, out, observer, group, parts);
  runner->restore();
  return go_on(*runner);
}

}  // namespace hearsay::run
