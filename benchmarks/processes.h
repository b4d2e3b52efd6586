#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/error.h"
#include "hearsay/gossip/process_group.h"
#include "hearsay/transport/registry.h"

namespace hearsay::benchmarks {

/// Quantiles of samples, in the unit of the samples.
struct Quantiles {
  double median = 0, p10 = 0, p90 = 0;
};

inline Quantiles quantiles(std::vector<double> samples) {
  std::ranges::sort(samples);
  const auto at = [&](double q) {
    return samples[static_cast<std::size_t>(
        std::lround(q * static_cast<double>(samples.size() - 1)))];
  };
  return {.median = at(0.5), .p10 = at(0.1), .p90 = at(0.9)};
}

/// Seconds that `body` takes in this process, after a barrier.
inline double seconds_of(gossip::ProcessGroup& group, const std::function<void()>& body) {
  group.any(false);
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// All-gather: the measurement of every process, by rank.
inline std::vector<double> of_all(gossip::ProcessGroup& group, double mine) {
  Bytes bytes;
  append(bytes, mine);
  std::vector<double> all;
  for (const Bytes& one : group.collectives().all_gather(bytes)) {
    all.push_back(ByteReader(one, "a result").read<double>());
  }
  return all;
}

/// Seconds until the last process has finished `body`, after a barrier.
inline double slowest(gossip::ProcessGroup& group, const std::function<void()>& body) {
  return std::ranges::max(of_all(group, seconds_of(group, body)));
}

/// Calls `body` in every process that mpirun started, and returns the exit status.
inline int in_processes(const std::string& name,
                        const std::function<void(gossip::ProcessGroup&)>& body) {
  try {
    const auto transport = transport::make_transport("mpi:allreduce=fast");
    gossip::ProcessGroup group(*transport);
    try {
      body(group);
      return 0;
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: process {}: {}\n", name, group.rank(), error.what());
      transport->abort(1);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
  }
  return 1;
}

/// Writes one JSON object per line, in rank 0 only; nothing if `file` is empty.
class JsonLines {
 public:
  JsonLines(const gossip::ProcessGroup& group, const std::string& file) {
    if (file.empty() || !group.leads()) return;
    out_.open(file);
    if (!out_) throw InvalidArgument(fmt::format("[json] cannot write '{}'", file));
  }
  void write(const nlohmann::ordered_json& results) {
    if (!out_.is_open()) return;
    out_ << results.dump() << std::endl;
    if (!out_) throw RunFailed("[json] cannot write on");
  }

 private:
  std::ofstream out_;
};

}  // namespace hearsay::benchmarks
