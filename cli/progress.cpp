#include "cli/progress.h"

#include <chrono>
#include <cstdio>

#include <fmt/format.h>

#include "cli/stop.h"
#include "hearsay/report/table.h"

namespace hearsay::cli {

namespace {

using Clock = std::chrono::steady_clock;

std::string figures(const train::Metrics& m) {
  std::string text = fmt::format("loss {:<9.4g}", m.loss);
  if (m.accuracy_mean) {
    text += fmt::format(" accuracy {:5.2f} % ({:.2f} .. {:.2f})", *m.accuracy_mean, *m.accuracy_min,
                        *m.accuracy_max);
  }
  if (m.validation_accuracy_mean) {
    text += fmt::format(" validation {:5.2f} %", *m.validation_accuracy_mean);
  }
  if (m.distance_to_optimum) text += fmt::format(" to optimum {:<9.3g}", *m.distance_to_optimum);
  text += fmt::format(
      " divergence {:<9.3g} {:>9}", m.divergence,
      report::human_bytes(static_cast<double>(m.traffic.bytes + m.traffic.global_bytes)));
  return text;
}

class Progress : public train::Observer {
 public:
  explicit Progress(ProgressStyle style) : style_(std::move(style)) {}
  ~Progress() override { wipe(); }

  void resumed(std::uint64_t round, const std::vector<std::string>& damaged) override {
    if (!style_.lines) return;
    for (const std::string& text : damaged) fmt::print(stderr, "hearsay: passed over: {}\n", text);
    fmt::print("going on from round {}\n", round);
  }

  void started(const train::Simulation& simulation, const train::Config& config) override {
    begin_ = Clock::now();
    first_round_ = simulation.round();
    if (!style_.lines) return;
    const auto& text = [&](const char* key) -> const std::string& { return config.text(key); };
    fmt::print("{}{} peers on {} (second eigenvalue {:.4f}), {} with {}\n", style_.label,
               simulation.peers(), text("graph"), simulation.graph().second_modulus,
               text("algorithm"), text("compressor"));
    const std::uint32_t last = simulation.algorithm().final_rounds();
    const std::string final_rounds = last > 0 ? fmt::format(" + {} final ones", last) : "";
    const auto unless_none = [&](const char* key) {
      return text(key) == "none" ? "" : ", " + text(key);
    };
    fmt::print("{}{}{}{}{}: {} parameters, {}, lr {}, averaging rate eta {:.4g}, {} rounds{}\n",
               style_.label, text("data"), unless_none("partition"), unless_none("augment"),
               unless_none("model"), simulation.layout().dim(), text("optimizer"), text("lr"),
               simulation.algorithm().averaging_rate(), simulation.training_rounds(), final_rounds);
  }

  void evaluated(const train::Simulation& simulation, const train::Metrics& m) override {
    if (!style_.lines) return;
    wipe();
    const int width = static_cast<int>(fmt::formatted_size("{}", simulation.total_rounds()));
    fmt::print("{}round {:>{}}  {}\n", style_.label, m.round, width, figures(m));
    std::fflush(stdout);
  }

  void progressed(const train::Simulation& simulation) override {
    if (!style_.bar) return;
    const Clock::time_point now = Clock::now();
    if (now - drawn_ < std::chrono::milliseconds(100)) return;
    drawn_ = now;
    constexpr std::size_t kWidth = 30;
    const double done = static_cast<double>(simulation.round());
    const double total = static_cast<double>(simulation.total_rounds());
    const auto filled = static_cast<std::size_t>(kWidth * done / total);
    const double elapsed = std::chrono::duration<double>(now - begin_).count();
    const double rate = (done - static_cast<double>(first_round_)) / elapsed;
    fmt::print("\r[{:<{}}] {:3.0f} %  {:.0f} rounds/s  {:.0f} s left ", std::string(filled, '='),
               kWidth, 100 * done / total, rate, (total - done) / rate);
    std::fflush(stdout);
    shown_ = true;
  }

  bool stop_requested() override { return cli::stop_requested(); }

 private:
  void wipe() {
    if (shown_) fmt::print("\r{:<78}\r", "");
    shown_ = false;
  }

  ProgressStyle style_;
  bool shown_ = false;
  std::uint64_t first_round_ = 0;
  Clock::time_point begin_, drawn_;
};

}  // namespace

std::unique_ptr<train::Observer> make_progress(ProgressStyle style) {
  return std::make_unique<Progress>(std::move(style));
}

}  // namespace hearsay::cli
