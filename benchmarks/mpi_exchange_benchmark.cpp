/// Cost of exchanging models between processes.
///
///     mpirun -n 4 mpi_exchange_benchmark [--floats 25500000] [--samples 20] [--rows ring] [--json
///     FILE]
///
/// One peer per process. A row of the table is a way to make peers agree:
///
///   allreduce       MPI_Allreduce of the model: the reference for the other rows
///   ordered mean    the mean, bit-identical to the simulation's (transport/collective.h)
///   isend           MPI_Isend and MPI_Irecv of the model to the next rank: lower bound for gossip
///   gossip GRAPH    an uncompressed gossip round, send and mix (gossip/message_exchange.h)
///   sparse-push     top-1 % of the model with error feedback, over the same graphs
///
/// in up to three stages: work before sending (compression, error feedback), the exchange (with
/// decoding), and mixing, which an Allreduce includes. All processes start a stage together, its
/// time is that of the slowest, and rows are measured alternately.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "benchmarks/processes.h"
#include "hearsay/backend/device.h"
#include "hearsay/compress/code/message.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/gossip/message_exchange.h"
#include "hearsay/graph/schedule.h"

namespace hearsay::benchmarks {
namespace {

constexpr std::size_t kStages = 3;
constexpr std::array<const char*, kStages> kStageNames = {"before", "exchange", "mixing"};

struct Options {
  std::size_t floats = 25'500'000;
  std::size_t samples = 20;
  std::size_t warmup = 3;
  std::string rows;
  std::string json;
};

/// State shared by all rows.
struct Place {
  Place(gossip::ProcessGroup& the_group, std::size_t floats)
      : group(the_group),
        layout(floats),
        pool(1),
        kernels(backend::make_kernels("cpu", pool)),
        model(kernels->allocate(1, floats)) {
    Random random(group.rank(), Purpose::kTest);
    for (float& entry : model.row(0)) entry = static_cast<float>(random.normal());
  }

  gossip::ProcessGroup& group;
  const transport::Placement placement{group.processes(), group.processes()};
  const Layout layout;
  ThreadPool pool;
  std::unique_ptr<backend::Kernels> kernels;
  backend::Array model;
};

/// A way to make peers agree.
class Row {
 public:
  virtual ~Row() = default;
  virtual std::string name() const = 0;
  virtual void before() {}
  virtual void exchange() = 0;
  virtual void mixing() {}
  virtual double sent_bytes() const = 0;  ///< per process and exchange
};

class Allreduce : public Row {
 public:
  explicit Allreduce(Place& place) : place_(place) {}
  std::string name() const override { return "allreduce"; }
  void exchange() override { place_.group.transport().fast_sum(place_.model.row(0)); }
  /// Scales the sum to the mean, so that values do not grow.
  void mixing() override {
    const float share = 1.0f / static_cast<float>(place_.group.processes());
    for (float& entry : place_.model.row(0)) entry *= share;
  }
  /// Of an Allreduce as reduce-scatter and all-gather.
  double sent_bytes() const override {
    const double n = static_cast<double>(place_.group.processes());
    return 2 * (n - 1) / n * static_cast<double>(place_.model.block().size() * sizeof(float));
  }

 private:
  Place& place_;
};

class OrderedMean : public Row {
 public:
  explicit OrderedMean(Place& place) : place_(place) {}
  std::string name() const override { return "ordered mean"; }
  void exchange() override {
    const std::span<float> model = place_.model.row(0);
    place_.group.collectives().mean(place_.placement, model, model);
  }
  double sent_bytes() const override { return Allreduce(place_).sent_bytes(); }

 private:
  Place& place_;
};

/// Calls MPI directly, between calls of the transport, while that has no transfers pending.
class Isend : public Row {
 public:
  explicit Isend(Place& place) : place_(place), buffer_(place.layout.dim()) {}
  std::string name() const override { return "isend"; }
  void exchange() override {
    const int processes = static_cast<int>(place_.group.processes());
    const int process = static_cast<int>(place_.group.rank());
    const int count = static_cast<int>(buffer_.size());
    std::array<MPI_Request, 2> requests{};
    MPI_Irecv(buffer_.data(), count, MPI_FLOAT, (process + processes - 1) % processes, 0,
              MPI_COMM_WORLD, requests.data());
    MPI_Isend(place_.model.block().data, count, MPI_FLOAT, (process + 1) % processes, 0,
              MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  }
  double sent_bytes() const override { return static_cast<double>(buffer_.size() * sizeof(float)); }

 private:
  Place& place_;
  std::vector<float> buffer_;
};

/// The messages of a gossip round, as in gossip/round_driver.cpp.
class Gossip : public Row {
 public:
  Gossip(Place& place, std::string graph, const std::string& compressor)
      : place_(place),
        graph_(std::move(graph)),
        schedule_(graph::make_schedule(graph_, {.peers = place.group.processes()})),
        compressor_(compress::make_compressor(compressor)),
        message_exchange_({.group = place.group,
                           .placement = place.placement,
                           .compressor = *compressor_,
                           .layout = place.layout,
                           .kernels = *place.kernels}) {}

  std::string name() const override { return "gossip " + graph_; }

  void exchange() override {
    const graph::Weights& weights = schedule_->at(round_, 0);
    fill(outbox_);
    message_exchange_.send(weights, round_, outbox_, {});
    message_exchange_.receive(weights, round_, outbox_, {},
                              [this](const algorithm::Exchange& arrived) { arrived_ = &arrived; });
    ++round_;
  }

  void mixing() override {
    place_.kernels->mix(arrived_->mixing(), arrived_->vectors[0], place_.model);
  }

  double sent_bytes() const override {
    const std::size_t neighbours = schedule_->at(0, 0).out_of(place_.group.rank()).size();
    return static_cast<double>(neighbours * code_bytes());
  }

 protected:
  virtual void fill(algorithm::Outbox& outbox) {
    outbox = {};
    outbox.send_all(place_.model);
  }
  virtual std::size_t code_bytes() const { return place_.layout.dim() * sizeof(float); }

  Place& place_;
  const std::string graph_;
  std::unique_ptr<graph::Schedule> schedule_;
  std::unique_ptr<compress::Compressor> compressor_;
  gossip::MessageExchange message_exchange_;
  algorithm::Outbox outbox_;
  const algorithm::Exchange* arrived_ = nullptr;  ///< of the exchange; valid until the next one
  std::uint32_t round_ = 0;
};

class SparsePush : public Gossip {
 public:
  SparsePush(Place& place, std::string graph)
      : Gossip(place, std::move(graph), "topk:keep=0.01"), memory_(place.layout.dim()) {}

  std::string name() const override { return "sparse-push " + graph_; }

  /// memory += x;  q = C(memory);  memory -= q
  void before() override {
    const std::span<const float> model = place_.model.row(0);
    for (std::size_t k = 0; k < memory_.size(); ++k) memory_[k] += model[k];
    code_.clear();
    compressor_->compress(memory_, place_.layout, Random(0, Purpose::kRounding, 0, round_), q_,
                          &code_);
    for (std::size_t k = 0; k < q_.index.size(); ++k) memory_[q_.index[k]] -= q_.value[k];
  }

 private:
  void fill(algorithm::Outbox& outbox) override {
    outbox = {};
    algorithm::Payload& payload = outbox.payloads.emplace_back();
    payload.rows = {q_.view()};
    payload.codes = {code_};
  }
  std::size_t code_bytes() const override { return code_.size(); }

  std::vector<float> memory_;
  compress::Decoded q_;
  Bytes code_;
};

std::vector<std::unique_ptr<Row>> make_rows(Place& place) {
  std::vector<std::unique_ptr<Row>> rows;
  rows.push_back(std::make_unique<Allreduce>(place));
  rows.push_back(std::make_unique<OrderedMean>(place));
  rows.push_back(std::make_unique<Isend>(place));
  for (const char* graph : {"one-peer-exponential", "ring:directed", "ring"}) {
    rows.push_back(std::make_unique<Gossip>(place, graph, "identity"));
  }
  for (const char* graph : {"one-peer-exponential", "ring:directed", "ring"}) {
    rows.push_back(std::make_unique<SparsePush>(place, graph));
  }
  return rows;
}

/// Seconds of each stage of a row, and of all stages, one entry per sample.
struct Samples {
  std::array<std::vector<double>, kStages> stages;
  std::vector<double> total;
};

void measure(Place& place, Row& row, Samples& samples) {
  const std::array<double, kStages> seconds = {
      slowest(place.group, [&] { row.before(); }),
      slowest(place.group, [&] { row.exchange(); }),
      slowest(place.group, [&] { row.mixing(); }),
  };
  for (std::size_t k = 0; k < kStages; ++k) samples.stages[k].push_back(seconds[k]);
  samples.total.push_back(std::accumulate(seconds.begin(), seconds.end(), 0.0));
}

void report(const Place& place, const Row& row, const Samples& samples, const Samples& allreduce,
            JsonLines& json) {
  const auto ms = [](std::vector<double> seconds) {
    Quantiles q = quantiles(std::move(seconds));
    return Quantiles{1e3 * q.median, 1e3 * q.p10, 1e3 * q.p90};
  };
  const std::array<Quantiles, kStages> stages = {ms(samples.stages[0]), ms(samples.stages[1]),
                                                 ms(samples.stages[2])};
  const Quantiles total = ms(samples.total), reference = ms(allreduce.stages[1]);
  const Quantiles& exchange = stages[1];
  fmt::print(
      "{:<33} {:>7.2f} {:>8.1f} {:>8.1f} ({:>6.1f} .. {:>6.1f}) {:>8.1f} {:>8.1f} {:>7.3f} "
      "{:>7.3f}\n",
      row.name(), row.sent_bytes() / 1e6, stages[0].median, exchange.median, exchange.p10,
      exchange.p90, stages[2].median, total.median, exchange.median / reference.median,
      total.median / reference.median);
  std::fflush(stdout);
  nlohmann::ordered_json results = {{"row", row.name()},
                                    {"processes", place.group.processes()},
                                    {"floats", place.layout.dim()},
                                    {"sent_bytes", row.sent_bytes()},
                                    {"samples", samples.total.size()}};
  for (std::size_t k = 0; k < kStages; ++k) {
    const std::string name = kStageNames[k];
    results[name + "_ms"] = stages[k].median;
    results[name + "_p10_ms"] = stages[k].p10;
    results[name + "_p90_ms"] = stages[k].p90;
  }
  results["total_ms"] = total.median;
  results["exchange_over_allreduce"] = exchange.median / reference.median;
  results["total_over_allreduce"] = total.median / reference.median;
  json.write(results);
}

void run(gossip::ProcessGroup& group, const Options& options) {
  JsonLines json(group, options.json);
  Place place(group, options.floats);
  const auto rows = make_rows(place);
  std::vector<Samples> samples(rows.size());
  const auto wanted = [&](const Row& row) {
    return &row == rows.front().get() || row.name().find(options.rows) != std::string::npos;
  };
  for (std::size_t k = 0; k < options.warmup + options.samples; ++k) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Samples warmup;
      if (wanted(*rows[r])) measure(place, *rows[r], k < options.warmup ? warmup : samples[r]);
    }
  }
  if (!group.leads()) return;
  fmt::print(
      "{} processes, {:.3g} cores each; {} floats; ms, medians (10 % .. 90 %) of {} samples\n",
      group.processes(), group.cores(), options.floats, options.samples);
  fmt::print("{:<33} {:>7} {:>8} {:>8} {:>18} {:>8} {:>8} {:>7} {:>7}\n", "", "MB sent", "before",
             "exchange", "", "mixing", "total", "of allreduce: exchange", "total");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (wanted(*rows[r])) report(place, *rows[r], samples[r], samples[0], json);
  }
}

}  // namespace
}  // namespace hearsay::benchmarks

int main(int argc, char** argv) {
  hearsay::benchmarks::Options options;
  CLI::App app("Times the exchange of models between the processes of an mpirun");
  app.add_option("--floats", options.floats, "of a model")->check(CLI::Range(1, 500'000'000));
  app.add_option("--samples", options.samples, "samples per row")->check(CLI::PositiveNumber);
  app.add_option("--warmup", options.warmup, "turns before the first sample");
  app.add_option("--rows", options.rows, "only allreduce and rows whose name contains this");
  app.add_option("--json", options.json, "write one JSON object per row to this file too");
  CLI11_PARSE(app, argc, argv);
  return hearsay::benchmarks::in_processes(
      "mpi_exchange_benchmark",
      [&](hearsay::gossip::ProcessGroup& group) { hearsay::benchmarks::run(group, options); });
}
