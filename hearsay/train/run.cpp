#include "hearsay/train/run.h"

#include <chrono>
#include <fstream>
#include <optional>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/train/checkpoint.h"
#include "hearsay/train/durable_file.h"
#include "hearsay/train/safetensors.h"
#include "hearsay/train/summary.h"

namespace hearsay::train {

namespace {

namespace fs = std::filesystem;

/// metrics.jsonl: lines are appended; a resumed run cuts off what its checkpoint has not seen.
class MetricsFile {
 public:
  explicit MetricsFile(fs::path path) : path_(std::move(path)) {}

  std::uint64_t size() const { return size_; }

  void cut(std::uint64_t size) {
    std::error_code error;
    if (size == 0) {
      std::ofstream(path_, std::ios::trunc);
    } else if (fs::file_size(path_, error) < size) {
      throw CorruptData(fmt::format("[train] {} is shorter than its checkpoint says; it was cut",
                                    path_.string()));
    } else if (!error) {
      fs::resize_file(path_, size, error);
    }
    if (error) {
      throw RunFailed(fmt::format("[train] cannot cut {}: {}", path_.string(), error.message()));
    }
    size_ = size;
  }

  /// The last evaluation of what was kept; nothing if there is none.
  std::optional<Metrics> last() const {
    if (size_ == 0) return {};
    const std::string text = read_file(path_);
    const std::size_t end = text.find_last_not_of('\n') + 1;
    const std::size_t begin = end == 0 ? 0 : text.rfind('\n', end - 1) + 1;
    auto metrics = from_json_line(std::string_view(text).substr(begin, end - begin));
    if (!metrics) {
      throw CorruptData(
          fmt::format("[train] the last line of {} is damaged: it is no JSON", path_.string()));
    }
    return metrics;
  }

  void append(const std::string& line) {
    std::ofstream out(path_, std::ios::app | std::ios::binary);
    out << line << '\n' << std::flush;
    if (!out) throw RunFailed(fmt::format("[train] cannot write {}", path_.string()));
    size_ += line.size() + 1;
  }

  void sync() const { sync_file(path_); }

 private:
  fs::path path_;
  std::uint64_t size_ = 0;
};

/// A sentence if the last evaluation is ten times worse than the first one of metrics.jsonl.
std::string divergence_warning(const fs::path& metrics_file, const Metrics& last) {
  const std::string lines = read_file(metrics_file);
  const auto first = from_json_line(lines.substr(0, lines.find('\n')));
  if (!first) return "";
  const auto worse = [&](const char* key, std::optional<double> start,
                         std::optional<double> now) -> std::string {
    const double before = start.value_or(0);
    if (!now || !(before > 0) || *now <= 10 * before) return "";
    return fmt::format(
        "the run diverged: {} is {:.3g} and was {:.3g} at the start; lower --lr or the "
        "averaging rate eta",
        key, *now, before);
  };
  const std::string loss = worse("loss", first->loss, last.loss);
  if (!loss.empty()) return loss;
  return worse("distance_to_optimum", first->distance_to_optimum, last.distance_to_optimum);
}

/// What a checkpoint belongs to besides the settings: the samples, and the edges of a graph that
/// stands in a file.
std::string files_hash(const Config& config, const Simulation& simulation) {
  const bool in_file = config.text("graph").find("file:") != std::string::npos;
  return (in_file ? simulation.graph_sha256() : "") + simulation.objective().data_sha256();
}

/// A checkpoint holds all that came of the file to start from, which may be gone by then.
Config without_init(Config config) {
  config.set("init", "none");
  return config;
}

/// The loop shared by fresh and resumed runs.
class Runner {
 public:
  Runner(const Config& config, fs::path out, Observer& observer)
      : config_(config),
        out_(std::move(out)),
        observer_(observer),
        simulation_(CheckpointStore(out_ / "checkpoint", "").empty() ? config
                                                                     : without_init(config)),
        checkpoints_(out_ / "checkpoint", config.hash(), files_hash(config, simulation_)),
        metrics_(out_ / "metrics.jsonl") {
    simulation_.state(state_);
    state_.scalar("metrics_bytes", metrics_bytes_);
    state_.scalar("seconds", seconds_);
    const std::uint64_t training = simulation_.training_rounds();
    evaluate_every_ = config.count("evaluate");
    if (evaluate_every_ == 0) evaluate_every_ = std::max<std::uint64_t>(1, training / 20);
    checkpoint_every_ = config.count("checkpoint");
    if (checkpoint_every_ == 0) checkpoint_every_ = evaluate_every_;
  }

  void restore() {
    std::vector<std::string> damaged;
    const auto round =
        checkpoints_.restore_newest(state_, simulation_.kernels_for_state(), damaged);
    if (round) simulation_.restored();
    metrics_.cut(round ? metrics_bytes_ : 0);
    last_ = metrics_.last();
    observer_.resumed(round.value_or(0), damaged);
  }

  Outcome go_on() {
    observer_.started(simulation_, config_);
    // A run that was stopped in a round to evaluate after has not done so.
    const bool evaluated = last_ && last_->round == simulation_.round();
    if (is_evaluated(simulation_.round()) && !evaluated) evaluate();
    while (simulation_.round() < simulation_.total_rounds()) {
      if (observer_.stop_requested()) return stop();
      const std::uint64_t next = simulation_.round() + 1;
      timed([&] {
        simulation_.run_round(is_evaluated(next));
        if (is_evaluated(next)) simulation_.settle();
      });
      if (is_evaluated(next)) {
        if (observer_.stop_requested()) return stop();
        evaluate();
      }
      if (next % checkpoint_every_ == 0 || next == simulation_.total_rounds()) save();
      observer_.progressed(simulation_);
    }
    return finish();
  }

 private:
  template <class Work>
  void timed(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  bool is_evaluated(std::uint64_t round) const {
    return round % evaluate_every_ == 0 || round == simulation_.training_rounds() ||
           round == simulation_.total_rounds();
  }

  void evaluate() {
    last_ = simulation_.evaluate();
    last_->seconds = seconds_;
    metrics_.append(to_json_line(*last_));
    observer_.evaluated(simulation_, *last_);
  }

  void save() {
    simulation_.check_finite();  // so that the newest checkpoint is always one to go on from
    metrics_.sync();             // a checkpoint must not outlive the lines that it counts
    metrics_bytes_ = metrics_.size();
    checkpoints_.save(simulation_.round(), state_, simulation_.kernels_for_state());
  }

  /// What the last evaluation found, beside rounds, traffic and time until now.
  Metrics figures() const {
    Metrics now = *last_;
    now.round = simulation_.round();
    now.traffic = simulation_.traffic();
    now.seconds = seconds_;
    return now;
  }

  Outcome stop() {
    save();
    return {*last_, simulation_.round(), summarize(simulation_, config_, figures()), false, ""};
  }

  void save_model(const std::string& name, const std::vector<float>& model,
                  std::span<const float> buffers) const {
    write_safetensors(out_ / "models" / (name + ".safetensors"), simulation_.layout(), model,
                      simulation_.objective().buffer_layout(), buffers);
  }

  Outcome finish() {
    fs::create_directories(out_ / "models");
    const engine::Objective& objective = simulation_.objective();
    const std::vector<float> average = simulation_.average_model();
    save_model("average", average, objective.estimate_buffers(average));
    for (std::size_t i = 0; i < simulation_.peers(); ++i) {
      save_model(fmt::format("peer-{}", i), simulation_.model(i), objective.buffers(i));
    }
    const std::string summary = summarize(simulation_, config_, figures());
    DurableFile file(out_ / "summary.json");
    file.write(summary);
    file.commit();
    return {*last_, simulation_.round(), summary, true,
            divergence_warning(out_ / "metrics.jsonl", *last_)};
  }

  const Config config_;
  const fs::path out_;
  Observer& observer_;
  Simulation simulation_;
  CheckpointStore checkpoints_;
  MetricsFile metrics_;
  backend::StateList state_;
  std::uint64_t metrics_bytes_ = 0;
  double seconds_ = 0;
  std::optional<Metrics> last_;  ///< the last line of metrics.jsonl
  std::uint64_t evaluate_every_ = 1, checkpoint_every_ = 1;
};

}  // namespace

Outcome run(const Config& config, const fs::path& out, Observer& observer) {
  const DirectoryTaken taken(
      fmt::format("[train] {} already holds a run; use --resume {}, or another --out", out.string(),
                  out.string()));
  std::error_code error;
  if (fs::exists(out / "config.toml", error)) throw taken;
  for (const char* name : {"metrics.jsonl", "summary.json", "checkpoint", "models", "compare"}) {
    if (!fs::exists(out / name, error)) continue;
    if (fs::exists(out / "config.toml", error)) throw taken;  // another run began just now
    throw InvalidArgument(fmt::format(
        "[train] {} holds {} of another run, without its config.toml; use another --out",
        out.string(), name));
  }
  Runner runner(config, out, observer);  // every check comes before the first file
  fs::create_directories(out, error);
  if (error) {
    throw InvalidArgument(
        fmt::format("[train] cannot create {}: {}", out.string(), error.message()));
  }
  if (!write_new_file(out / "config.toml", config.to_toml())) throw taken;
  return runner.go_on();
}

Outcome resume(const fs::path& out, std::uint64_t threads, Observer& observer) {
  std::error_code error;
  if (!fs::exists(out / "config.toml", error)) {
    throw InvalidArgument(
        fmt::format("[train] {} holds no run: there is no config.toml in it", out.string()));
  }
  Config config;
  config.read_toml(read_file(out / "config.toml"), (out / "config.toml").string());
  if (threads > 0) config.set("threads", fmt::format("{}", threads));
  Runner runner(config, out, observer);
  runner.restore();
  return runner.go_on();
}

}  // namespace hearsay::train
