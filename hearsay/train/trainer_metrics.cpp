/// Evaluation of a trainer's models, assembled from all processes.
#include <algorithm>
#include <cmath>

#include "hearsay/core/sha256.h"
#include "hearsay/train/trainer.h"

namespace hearsay::train {

std::vector<float> Trainer::model(std::size_t peer) const {
  std::vector<float> copy(layout().dim());
  kernels().download(driver_->models(), peer - first(), copy);
  return copy;
}

SavedModel Trainer::fetch_model(std::size_t peer) const {
  const std::size_t owner = placement().owner(peer);
  SavedModel mine, theirs;
  if (owner == group().rank()) mine = {model(peer), objective_->buffers(peer - first())};
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
  for (std::size_t i = 0; i < rows(); ++i) {
    own.push_back(PeerReport{.totals = driver_->ledger().totals(i)});
  }
  return total_traffic(gather(own), driver_->ledger().run_totals().global_bytes);
}

Metrics Trainer::evaluate() {
  check_finite();
  const double rounds_an_epoch = static_cast<double>(rounds_per_epoch());
  const auto [average, distances] = driver_->consensus();
  const std::vector<engine::Score> scores = objective_->scores(driver_->models());
  const std::span<const double> push_sum = algorithm().push_sum();
  gossip::Ledger& ledger = driver_->ledger();
  std::vector<PeerReport> own;
  for (std::size_t i = 0; i < rows(); ++i) {
    PeerReport& report = own.emplace_back(PeerReport{.totals = ledger.totals(i)});
    report.score = scores[i];
    report.divergence = distances[i];
    if (!push_sum.empty()) report.push_sum = push_sum[i];
  }
  RunReport run{.totals = ledger.run_totals()};
  if (!driver_->conserves_mass()) run.totals.mass_drift = std::nan("");
  run.round = round();
  run.epoch = static_cast<double>(std::min(round(), training_rounds_)) / rounds_an_epoch;
  run.lr = rate_->at(run.epoch, static_cast<double>(training_rounds_) / rounds_an_epoch);
  const std::vector<PeerReport> all = gather(own);
  Metrics metrics;
  metrics.round = round();
  if (group().leads()) {
    std::vector<bool> honest(peers(), true);
    for (const std::uint32_t liar : driver_->liars()) honest[liar] = false;
    metrics =
        assemble_some(all, honest, objective_->metrics(),
                      objective_->evaluate(average, objective_->estimate_buffers(average)), run);
  }
  ledger.evaluated(metrics.train_loss);
  return metrics;
}

}  // namespace hearsay::train
