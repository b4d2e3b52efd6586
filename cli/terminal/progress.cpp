#include "cli/terminal/progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/stop.h"
#include "cli/terminal/complain.h"
#include "cli/terminal/pace.h"
#include "cli/terminal/terminal.h"
#include "hearsay/core/text.h"
#include "hearsay/cost/final_bytes.h"
#include "hearsay/report/evaluation_text.h"

namespace hearsay::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPeersShown = 8;
constexpr std::string_view kGreen = "32", kDim = "2";
constexpr int kUnlimited = std::numeric_limits<int>::max();

double bytes_of(const gossip::Traffic& traffic) {
  return static_cast<double>(traffic.bytes + traffic.global_bytes);
}

/// "[=====     ]": `part` of `width` characters, brackets not counted.
Line bar(double part, std::size_t width, char mark) {
  const double clipped = part >= 0 ? std::min(part, 1.0) : 0.0;  // also for NaN
  const auto filled = static_cast<std::size_t>(static_cast<double>(width) * clipped);
  return {{"["}, {std::string(filled, mark), kGreen}, {std::string(width - filled, ' ') + "]"}};
}

void append(Line& line, Line more) {
  line.insert(line.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
}

Line pace_line(const Pace& pace, int width) {
  const double done =
      pace.total > 0 ? static_cast<double>(pace.round) / static_cast<double>(pace.total) : 1.0;
  Line line = bar(done, static_cast<std::size_t>(std::clamp(width / 3, 5, 30)), '=');
  line.push_back(
      {fmt::format(" {:3.0f} %  {:.{}f} rounds/s  {} left", 100 * done, pace.rounds_per_second,
                   pace.rounds_per_second < 10 ? 2 : 0, duration_text(pace.seconds_left))});
  return line;
}

/// One line per peer, if there are few: its first metric and push-sum weight at the last
/// evaluation, if the problem and the method have them, and the bytes it has sent so far.
std::vector<Line> peer_lines(const train::Metrics& m, const gossip::Traffic& traffic, int width) {
  std::vector<Line> lines;
  const std::vector<std::uint64_t>& bytes = traffic.bytes_by_peer;
  if (bytes.size() > kPeersShown) return lines;
  const auto bar_width = static_cast<std::size_t>(std::clamp(width / 3, 5, 20));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Line line = {{fmt::format("peer {}", i), kDim}};
    if (!m.results.empty() && i < m.results.front().by_peer.size()) {
      const engine::Metric& metric = m.results.front().metric;
      const double value = m.results.front().by_peer[i];
      if (std::isnan(value) && m.asynchronous.live) {
        line.push_back({"  dead", kDim});
        lines.push_back(std::move(line));
        continue;
      }
      line.push_back({fmt::format("  {}  ", report::peer_value_text(metric, value))});
      if (metric.full > 0) append(line, bar(value / metric.full, bar_width, '#'));
    }
    if (i < m.push_sum.size()) line.push_back({fmt::format("  u {:.3f}", m.push_sum[i])});
    const std::string sent = human_bytes(static_cast<double>(bytes[i]));
    line.push_back({fmt::format("  {:>9} sent", sent)});
    lines.push_back(std::move(line));
  }
  return lines;
}

/// The line of an evaluation: complete, or with `cut` shortened to the terminal's width.
std::string line_of(const std::string& head, const train::Metrics& m, bool cut) {
  const double bytes = bytes_of(m.traffic);
  const Terminal terminal = terminal_of(stdout);
  if (!cut || !terminal.moves) return head + report::evaluation_text(m, bytes, kUnlimited);
  const int width = terminal.width - 1;
  return fit({{head + report::evaluation_text(m, bytes, width - static_cast<int>(head.size()))}},
             width, false);
}

/// ", 5 classes (labels 1 to 5)" if the classes are numbers that do not start at 0.
std::string classes_text(const std::vector<std::string>& names) {
  const int first = names.empty() ? 0 : std::atoi(names.front().c_str());
  if (first <= 0) return "";
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (names[k] != std::to_string(first + static_cast<int>(k))) return "";
  }
  return fmt::format(", {} classes (labels {} to {})", names.size(), names.front(), names.back());
}

/// What the rounds after training are and cost, if the method has any.
std::string final_rounds_text(const train::RunView& run, const train::RunOptions& config) {
  const cost::ExpectedBytes bytes = cost::expected_bytes(run, config);
  return fmt::format(
      "final rounds: {} without compression, about {} or {:.0f} % of all bytes; --algorithm "
      "scsp:final=N sets their number",
      run.final_rounds(), human_bytes(bytes.final), 100 * bytes.final_share());
}

class TextProgress : public Progress {
 public:
  explicit TextProgress(ProgressStyle style) : style_(std::move(style)) {}

  void resumed(std::uint64_t round, const std::vector<std::string>& damaged) override {
    if (!style_.lines) return;
    for (const std::string& text : damaged) complain("hearsay: passed over: {}\n", text);
    fmt::print("going on from round {}\n", round);
  }

  void started(const train::RunView& run, const train::RunOptions& config) override {
    stopwatch_.start(run);
    last_.reset();
    if (!style_.lines) return;
    const std::string eigenvalue =
        run.graph().has_spectrum
            ? fmt::format(" (second eigenvalue {:.4f})", run.graph().second_modulus)
            : "";
    fmt::print("{}{} {}peers on {}{}, {} with {}\n", style_.label, run.peers(),
               config.timing == "asynchronous" ? "asynchronous " : "", config.graph, eigenvalue,
               config.algorithm, config.compressor);
    const std::uint32_t last = run.final_rounds();
    const std::string final_rounds = last > 0 ? fmt::format(" + {} final ones", last) : "";
    const auto unless_none = [](const std::string& spec) {
      return spec == "none" ? "" : ", " + spec;
    };
    fmt::print("{}{}{}{}{}{}: {} parameters, {}, lr {}, averaging rate eta {:.4g}, {} rounds{}{}\n",
               style_.label, config.data, classes_text(run.objective().class_names()),
               unless_none(config.partition), unless_none(config.augment),
               unless_none(config.model), run.objective().layout().dim(), config.optimizer,
               config.lr, run.averaging_rate(), run.training_rounds(), final_rounds,
               report::liars_text(config));
    if (last > 0) fmt::print("{}{}\n", style_.label, final_rounds_text(run, config));
    std::fflush(stdout);
  }

  void evaluated(const train::RunView& run, const train::Metrics& m) override {
    last_ = m;
    if (style_.lines) {
      block_.wipe();
      const int digits = static_cast<int>(fmt::formatted_size("{}", run.total_rounds()));
      const std::string head = fmt::format("{}round {:>{}}  ", style_.label, m.round, digits);
      fmt::print("{}\n", line_of(head, m, style_.cut));
      std::fflush(stdout);
    }
    if (style_.block) draw(run);
  }

  void progressed(const train::RunView& run) override {
    if (!style_.block || Clock::now() - drawn_ < std::chrono::milliseconds(100)) return;
    draw(run);
  }

  bool stop_requested() override { return cli::stop_requested(); }

  void say(const std::string& text) override {
    block_.wipe();
    std::fflush(stdout);
    complain("hearsay: {}\n", text);
  }

 private:
  void draw(const train::RunView& run) {
    drawn_ = Clock::now();
    const Terminal terminal = terminal_of(stdout);
    if (!terminal.moves) return;
    std::vector<Line> lines = {pace_line(stopwatch_.pace(run), terminal.width)};
    if (last_) {
      const gossip::Traffic traffic = run.traffic();
      lines.push_back({{report::evaluation_text(*last_, bytes_of(traffic), terminal.width - 1)}});
      for (Line& line : peer_lines(*last_, traffic, terminal.width)) {
        lines.push_back(std::move(line));
      }
    }
    block_.draw(lines);
  }

  ProgressStyle style_;
  Block block_{stdout};
  Stopwatch stopwatch_;
  std::optional<train::Metrics> last_;
  Clock::time_point drawn_{};
};

}  // namespace

std::unique_ptr<Progress> make_progress(ProgressStyle style) {
  return std::make_unique<TextProgress>(std::move(style));
}

}  // namespace hearsay::cli
