/// Evaluation of a trainer's models, assembled from all processes.
#include <algorithm>
#include <cmath>

#include "hearsay/core/sha256.h"
#include "hearsay/gossip/host_rows.h"
#include "hearsay/train/trainer.h"

namespace hearsay::train {

namespace {

double distance(std::span<const float> a, std::span<const float> b) {
  double square = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    square += std::pow(static_cast<double>(a[k]) - static_cast<double>(b[k]), 2);
  }
  return std::sqrt(square);
}

}  // namespace

std::size_t Trainer::models_at_once() const {
  constexpr std::size_t kMostBytes = 256 << 20;
  const std::size_t bytes = std::max<std::size_t>(1, layout().dim() * sizeof(float));
  return std::clamp<std::size_t>(kMostBytes / bytes, 1, threads());
}

std::vector<float> Trainer::model(std::size_t peer) const {
  std::vector<float> copy(layout().dim());
  kernels_.download(algorithm_->point(), peer - first_, copy);
  return copy;
}

SavedModel Trainer::fetch_model(std::size_t peer) const {
  const std::size_t owner = placement_.owner(peer);
  SavedModel mine, theirs;
  if (owner == group().rank()) mine = {model(peer), objective_->buffers(peer - first_)};
  if (owner == 0) return mine;
  if (group().leads()) {
    theirs.parameters.resize(layout().dim());
    theirs.buffers.resize(objective_->buffer_layout().dim());
  }
  group().collectives().fetch(owner, mine.parameters, theirs.parameters);
  group().collectives().fetch(owner, mine.buffers, theirs.buffers);
  return theirs;
}

std::string Trainer::models_sha256() const {
  Sha256 sha;
  for (std::size_t i = 0; i < peers(); ++i) {
    const std::vector<float> model = fetch_model(i).parameters;
    sha.update(model.data(), model.size() * sizeof(float));
  }
  return sha.finish_hex();
}

std::vector<float> Trainer::average_model() const {
  std::vector<float> mean(layout().dim());
  if (!group().alone()) {
    const gossip::HostRows models(kernels_, algorithm_->point());
    group().collectives().mean(placement_, models.floats(), mean);
    return mean;
  }
  std::vector<double> sum(mean.size());
  kernels_.sum_rows(algorithm_->point(), sum);
  constexpr std::size_t kPiece = 1 << 16;
  pool().run((mean.size() + kPiece - 1) / kPiece, [&](std::size_t piece) {
    for (std::size_t k = piece * kPiece; k < std::min(mean.size(), (piece + 1) * kPiece); ++k) {
      mean[k] = static_cast<float>(sum[k] / static_cast<double>(peers()));
    }
  });
  return mean;
}

std::vector<PeerReport> Trainer::gather(std::span<const PeerReport> own) const {
  Bytes mine;
  for (const PeerReport& report : own) append_report(mine, report);
  std::vector<PeerReport> all;
  for (const Bytes& bytes : group().collectives().gather(mine)) {
    ByteReader reader(bytes, "reports of peers");
    while (reader.left() > 0) all.push_back(read_peer_report(reader));
  }
  return all;
}

gossip::Traffic Trainer::traffic() const {
  std::vector<PeerReport> own;
  for (std::size_t i = 0; i < rows_; ++i) own.push_back(PeerReport{.totals = ledger_->totals(i)});
  return total_traffic(gather(own), ledger_->run_totals().global_bytes);
}

/// Of this process's models, in parallel. Models on a device are copied to the host in groups of
/// that many.
std::vector<double> Trainer::distances_to(std::span<const float> center) const {
  std::vector<double> distances(rows_);
  const std::size_t at_once = models_at_once();
  for (std::size_t begin = 0; begin < rows_; begin += at_once) {
    const std::size_t count = std::min(at_once, rows_ - begin);
    const gossip::HostRows models(kernels_,
                                  {algorithm_->point().row(begin).data(), count, layout().dim()});
    pool().run(count,
               [&](std::size_t i) { distances[begin + i] = distance(models.row(i), center); });
  }
  return distances;
}

Metrics Trainer::evaluate() {
  check_finite();
  const double rounds_an_epoch = static_cast<double>(rounds_per_epoch());
  const std::vector<float> average = average_model();
  const std::vector<engine::Score> scores = objective_->scores(algorithm_->point());
  const std::vector<double> distances = distances_to(average);
  const std::span<const double> push_sum = algorithm_->push_sum();
  std::vector<PeerReport> own;
  for (std::size_t i = 0; i < rows_; ++i) {
    PeerReport& report = own.emplace_back(PeerReport{.totals = ledger_->totals(i)});
    report.score = scores[i];
    report.divergence = distances[i];
    if (!push_sum.empty()) report.push_sum = push_sum[i];
  }
  RunReport run{.totals = ledger_->run_totals()};
  run.round = round_;
  run.epoch = static_cast<double>(std::min(round_, training_rounds_)) / rounds_an_epoch;
  run.lr = rate_->at(run.epoch, static_cast<double>(training_rounds_) / rounds_an_epoch);
  const std::vector<PeerReport> all = gather(own);
  Metrics metrics;
  metrics.round = round_;
  if (group().leads()) {
    metrics = assemble(all, objective_->metrics(),
                       objective_->evaluate(average, objective_->estimate_buffers(average)), run);
  }
  ledger_->evaluated(metrics.train_loss);
  return metrics;
}

}  // namespace hearsay::train
