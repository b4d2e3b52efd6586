#pragma once

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "cli/process.h"
#include "hearsay/net/fleet.h"
#include "support/scratch.h"

namespace hearsay::cli {

namespace fs = std::filesystem;
using nlohmann::json;

/// Waits for a condition that must come true; a minute at most.
inline bool comes_true(const std::function<bool()>& condition) {
  for (int tries = 0; tries < 6000; ++tries) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// Seconds since 1970, as events.jsonl has them.
inline double now() {
  using std::chrono::system_clock;
  return std::chrono::duration<double>(system_clock::now().time_since_epoch()).count();
}

/// A fleet of `hearsay peer`, a process for each device, over TLS on 127.x.y.z.
class Fleet : public ::testing::Test {
 protected:
  /// A fleet file with these settings, and keys pi-0.pem, pi-1.pem, ...
  void make_fleet(std::size_t peers, const std::string& settings) {
    ++fleets_;
    std::string text = "[train]\n" + settings;
    for (std::size_t k = 0; k < peers; ++k) {
      const net::Identity identity = net::Identity::generate();
      identity.write_new(scratch_ / fmt::format("pi-{}.pem", k));
      text += net::to_toml({fmt::format("pi-{}", k), identity.id(), net::Address{host(k), 7420}});
    }
    support::write_text(scratch_ / "fleet.toml", text);
    devices_.resize(peers);
  }

  /// Of a device: an address of this test's own, so that no port can be taken by another.
  virtual std::string host(std::size_t k) const {
    const auto pid = static_cast<unsigned>(::getpid());
    return fmt::format("127.{}.{}.{}", 1 + (pid >> 8) % 250, pid & 255, k + 10 * fleets_);
  }

  void start(std::size_t k, const Words& more = {}, const std::string& min_round = "5ms") {
    Words words{"peer",        "fleet.toml",
                "--identity",  fmt::format("pi-{}.pem", k),
                "--out",       fmt::format("pi-{}", k),
                "--min-round", min_round};
    words.insert(words.end(), more.begin(), more.end());
    begin(k, words);
  }
  void begin(std::size_t k, const Words& words) {
    devices_[k] = std::make_unique<Child>(words, scratch_.path(), file(k, "out"), file(k, "err"),
                                          launcher(k));
  }
  virtual Words launcher(std::size_t /*k*/) const { return {}; }
  void go_on(std::size_t k) { begin(k, {"peer", "--resume", fmt::format("pi-{}", k)}); }

  std::string error_of(std::size_t k) { return support::read_text(file(k, "err")); }
  /// The last evaluation; null if there is none yet.
  json last_line(std::size_t k) {
    const std::string text = support::read_text(out(k) / "metrics.jsonl");
    const std::size_t end = text.rfind('\n');
    if (end == std::string::npos) return {};
    const std::size_t begin = text.rfind('\n', end - 1) + 1;  // npos + 1 is 0
    return json::parse(text.substr(begin, end - begin));
  }
  bool has_reached(std::size_t k, std::uint64_t round) {
    const json line = last_line(k);
    return !line.is_null() && line["round"] >= round;
  }
  /// When the device noted an event with that text; 0: not yet.
  double time_of(std::size_t k, const std::string& event) {
    std::istringstream lines(support::read_text(out(k) / "events.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const json entry = json::parse(line, nullptr, false);
      if (entry.is_object() && entry["event"].get<std::string>().starts_with(event)) {
        return entry["time"];
      }
    }
    return 0;
  }

  /// The fleet as that device tells of it every two seconds; null if there is nothing to read.
  json view_of(std::size_t k) const {
    std::ifstream in(out(k) / "fleet.json");
    const json all = json::parse(in, nullptr, false);
    return all.is_discarded() ? json() : all;
  }
  /// What it tells of the rounds of that device itself.
  double rounds_of(std::size_t k) const {
    const json view = view_of(k);
    return view.is_null() ? 0 : view["peers"][k]["rounds"].get<double>();
  }
  /// Whether device `k` counts another one as live.
  bool is_live(std::size_t k, std::size_t other) const {
    const json view = view_of(k);
    return view.is_null() || view["peers"][other]["live"].get<bool>();
  }
  /// Rounds per second of these devices together, over about that long: between two moments at
  /// which each has told its rounds.
  double rate_of(const std::vector<std::size_t>& devices, int seconds = 10) const {
    std::vector<json> before;
    for (const std::size_t k : devices) before.push_back(view_of(k));
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    double sum = 0;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const std::size_t k = devices[i];
      const json after = view_of(k);
      if (before[i].is_null() || after.is_null()) return 0;
      const auto advanced = [&](const json& from, const json& to) {
        return to.get<double>() - from.get<double>();
      };
      sum += advanced(before[i]["peers"][k]["rounds"], after["peers"][k]["rounds"]) /
             advanced(before[i]["time"], after["time"]);
    }
    return sum;
  }

  fs::path out(std::size_t k) const { return scratch_ / fmt::format("pi-{}", k); }
  Child& device(std::size_t k) { return *devices_[k]; }

  support::Scratch scratch_;

 private:
  fs::path file(std::size_t k, const char* what) const {
    return scratch_ / fmt::format("{}-{}", what, k);
  }

  std::vector<std::unique_ptr<Child>> devices_;
  std::size_t fleets_ = 0;
};

}  // namespace hearsay::cli
