#include "hearsay/train/run.h"

#include <chrono>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
  const auto first = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
  const auto worse = [&](const char* key, std::optional<double> now) -> std::string {
    const double before = first.value(key, 0.0);
    if (!now || before <= 0 || *now <= 10 * before) return "";
    return fmt::format(
        "the run diverged: {} is {:.3g} and was {:.3g} at the start; lower --lr or the "
        "averaging rate eta",
        key, *now, before);
  };
  const std::string loss = worse("loss", last.loss);
  return loss.empty() ? worse("distance_to_optimum", last.distance_to_optimum) : loss;
}

/// What a checkpoint belongs to: the settings, and the edges of a graph that stands in a file.
std::string identity(const Config& config, const Simulation& simulation) {
  if (config.text("graph").find("file:") == std::string::npos) return config.hash();
  return config.hash() + simulation.graph_sha256();
}

/// The loop shared by fresh and resumed runs.
class Runner {
 public:
  Runner(const Config& config, fs::path out, Observer& observer)
      : config_(config),
        out_(std::move(out)),
        observer_(observer),
        simulation_(config),
        checkpoints_(out_ / "checkpoint", identity(config, simulation_)),
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
    observer_.resumed(round.value_or(0), damaged);
  }

  Outcome go_on() {
    observer_.started(simulation_, config_);
    if (simulation_.round() == 0 && metrics_.size() == 0) evaluate();
    Metrics last;
    while (simulation_.round() < simulation_.total_rounds()) {
      if (observer_.stop_requested()) return stop();
      const std::uint64_t next = simulation_.round() + 1;
      const bool evaluates = next % evaluate_every_ == 0 || next == simulation_.training_rounds() ||
                             next == simulation_.total_rounds();
      timed([&] { simulation_.run_round(evaluates); });
      if (evaluates) last = evaluate();
      if (next % checkpoint_every_ == 0 || next == simulation_.total_rounds()) save();
      observer_.progressed(simulation_);
    }
    if (last.round != simulation_.round()) last = simulation_.evaluate();
    last.seconds = seconds_;
    return finish(last);
  }

 private:
  template <class Work>
  void timed(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  Metrics evaluate() {
    Metrics metrics = simulation_.evaluate();
    metrics.seconds = seconds_;
    metrics_.append(to_json_line(metrics));
    observer_.evaluated(simulation_, metrics);
    return metrics;
  }

  void save() {
    simulation_.check_finite();  // so that the newest checkpoint is always one to go on from
    metrics_.sync();             // a checkpoint must not outlive the lines that it counts
    metrics_bytes_ = metrics_.size();
    checkpoints_.save(simulation_.round(), state_, simulation_.kernels_for_state());
  }

  /// The evaluation comes after the checkpoint: it is told and not recorded, so that the run goes
  /// on as if it had not been.
  Outcome stop() {
    save();
    Metrics last = simulation_.evaluate();
    last.seconds = seconds_;
    return {last, summarize(simulation_, config_, last), false, ""};
  }

  void save_model(const std::string& name, const std::vector<float>& model,
                  std::span<const float> buffers) const {
    write_safetensors(out_ / "models" / (name + ".safetensors"), simulation_.layout(), model,
                      simulation_.objective().buffer_layout(), buffers);
  }

  Outcome finish(const Metrics& last) {
    fs::create_directories(out_ / "models");
    const engine::Objective& objective = simulation_.objective();
    const std::vector<float> average = simulation_.average_model();
    save_model("average", average, objective.estimate_buffers(average));
    for (std::size_t i = 0; i < simulation_.peers(); ++i) {
      save_model(fmt::format("peer-{}", i), simulation_.model(i), objective.buffers(i));
    }
    const std::string summary = summarize(simulation_, config_, last);
    DurableFile file(out_ / "summary.json");
    file.write(summary);
    file.commit();
    return {last, summary, true, divergence_warning(out_ / "metrics.jsonl", last)};
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
  std::uint64_t evaluate_every_ = 1, checkpoint_every_ = 1;
};

}  // namespace

Outcome run(const Config& config, const fs::path& out, Observer& observer) {
  std::error_code error;
  if (fs::exists(out / "config.toml", error)) {
    throw InvalidArgument(
        fmt::format("[train] {} already holds a run; use --resume {}, or another --out",
                    out.string(), out.string()));
  }
  for (const char* name : {"metrics.jsonl", "summary.json", "checkpoint", "models"}) {
    if (!fs::exists(out / name, error)) continue;
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
  DurableFile file(out / "config.toml");
  file.write(config.to_toml());
  file.commit();
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
