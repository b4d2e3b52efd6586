#include "hearsay/run/peer/peer_run.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"
#include "hearsay/net/tls/endpoint.h"
#include "hearsay/run/directory.h"
#include "hearsay/run/summary.h"

namespace hearsay::run {

namespace {

namespace fs = std::filesystem;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kTellSeconds = 2;  ///< between two fleet.json
constexpr std::chrono::seconds kKeepAtLeastEvery{30};

/// `value` in the place of that peer, and kNone for the others.
std::vector<double> in_place(double value, std::size_t slot, std::size_t peers) {
  std::vector<double> all(peers, kNone);
  all[slot] = value;
  return all;
}

std::string_view name_of(net::Status status) {
  switch (status) {
    case net::Status::kEntering:
      return "entering";
    case net::Status::kTraining:
      return "training";
    case net::Status::kFinished:
      return "finished";
    case net::Status::kLeaving:
      return "leaving";
    case net::Status::kLeft:
      break;
  }
  return "left";
}

/// The bytes of the complete lines of a file: a device that loses power may leave half a line.
std::uint64_t whole_lines(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return 0;
  const std::string text = read_file(file);
  const std::size_t end = text.rfind('\n');
  return end == std::string::npos ? 0 : end + 1;
}

std::vector<std::string> names_of(const net::Fleet& fleet) {
  std::vector<std::string> names;
  for (const net::FleetPeer& peer : fleet.peers) names.push_back(peer.name);
  return names;
}

}  // namespace

PeerRun::PeerRun(Parts parts)
    : parts_(std::move(parts)),
      fleet_(net::read_fleet(parts_.settings.fleet)),
      identity_(net::Identity::read(parts_.settings.identity)),
      events_(parts_.out / "events.jsonl", parts_.say) {
  const auto slot = fleet_.slot_of(identity_.id());
  if (!slot) {
    throw InvalidArgument(fmt::format(
        "[peer] the fleet of {} does not have the key {}; add the lines that hearsay identity show "
        "{} prints, on all devices",
        parts_.settings.fleet.string(), net::to_text(identity_.id()),
        parts_.settings.identity.string()));
  }
  self_ = *slot;
  if (!parts_.settings.listen) parts_.settings.listen = listening_address(fleet_.peers[self_]);
}

Outcome PeerRun::begin() {
  check_free(parts_.out);
  make_host({});
  create_directory(parts_.config, parts_.out, lock_);
  write_settings();
  return go_on();
}

Outcome PeerRun::begin_again() {
  lock_.take(parts_.out / "config.toml");
  if (train::options_of_run(parts_.out).hash() != parts_.config.hash()) {
    throw InvalidArgument(fmt::format(
        "[peer] the settings in {}, or its number of peers, have changed since {} began; undo "
        "that, or begin anew with another --out",
        parts_.settings.fleet.string(), parts_.out.string()));
  }
  std::optional<Kept> kept;
  std::vector<std::string> damaged;
  try {
    kept = read_kept(parts_.out);
  } catch (const CorruptData& error) {
    damaged.push_back(error.what());
  }
  make_host(kept);
  write_settings();  // the fleet file may be another one by now
  metrics_->cut(whole_lines(parts_.out / "metrics.jsonl"));
  parts_.observer.resumed(kept ? kept->clock : 0, damaged);
  if (kept) seconds_ = kept->seconds;
  return go_on();
}

void PeerRun::write_settings() const {
  Sha256 id;
  const auto agreed = peer::run_id(parts_.config, objective());
  id.update(agreed.data(), agreed.size());
  for (const net::FleetPeer& peer : fleet_.peers) id.update(peer.id.data(), peer.id.size());
  const PlaceInRun place{id.finish_hex(), fleet_.peers[self_].name, self_};
  DurableFile file(parts_.out / "peer.toml");
  file.write(parts_.settings.to_toml() + place.to_toml());
  file.commit();
}

peer::Host::Connection PeerRun::connect(peer::Neighbours& neighbours) {
  auto endpoint = std::make_unique<net::TlsEndpoint>(
      net::TlsEndpoint::Parts{.identity = identity_,
                              .fleet = fleet_,
                              .events = neighbours,
                              .limits = neighbours.limits(),
                              .listen = parts_.settings.listen,
                              .log = [this](const std::string& what) { events_.add(what); }});
  endpoint_ = endpoint.get();
  return {.wire = std::move(endpoint), .port = endpoint_->port(), .start = [this] {
            endpoint_->start();
          }};
}

void PeerRun::make_host(const std::optional<Kept>& kept) {
  incarnation_ = next_incarnation(parts_.out);
  peer::Host::Parts parts{
      .options = parts_.config,
      .self = self_,
      .incarnation = incarnation_,
      .names = names_of(fleet_),
      .connect = [this](peer::Neighbours& neighbours) { return connect(neighbours); },
      .clock = kept ? static_cast<double>(kept->clock) : 0,
      .least_round = parts_.settings.least_round,
      .wait_for = parts_.settings.wait_for,
      .stop = [this] { return parts_.observer.stop_requested(); },
      .log = [this](const std::string& what) { events_.add(what); }};
  if (kept) {
    parts.saved = [this, kept = *kept](const engine::Objective& objective) {
      std::optional<train::SavedModel> model;
      try {
        model = load_kept(kept, objective);
      } catch (const std::exception& error) {
        events_.add(fmt::format("cannot use the model that it kept: {}", error.what()));
      }
      return model;
    };
  }
  host_ = std::make_unique<peer::Host>(std::move(parts));
  metrics_.emplace(parts_.out / "metrics.jsonl", objective().metrics());
  evaluate_every_ = parts_.config.evaluate;
  if (evaluate_every_ == 0) evaluate_every_ = std::max<std::uint64_t>(1, training_rounds() / 20);
}

std::uint32_t PeerRun::final_rounds() const { return peer().driver().algorithm().final_rounds(); }

std::uint64_t PeerRun::round() const {
  return finished_ ? total_rounds()
                   : std::min(static_cast<std::uint64_t>(peer().clock()), total_rounds());
}

gossip::Traffic PeerRun::traffic() const {
  std::vector<train::PeerReport> reports(peers());
  reports[self_].totals = peer().ledger().totals(0);
  return train::total_traffic(reports, 0);
}

Outcome PeerRun::go_on() {
  write_incarnation(parts_.out, incarnation_);
  parts_.observer.waiting();
  if (host_->enter()) {
    parts_.observer.started(*this, parts_.config);
    train();
  }
  if (!host_->has_left()) {
    finished_ = true;
    evaluate();
    return finish();
  }
  if (peer().stage() == peer::Stage::kEntering) return {{}, 0, "", false, {}};
  save();
  return {last_.value_or(train::Metrics{}), round(), summary(""), false, {}};
}

void PeerRun::train() {
  evaluate();
  std::uint64_t next = (round() / evaluate_every_ + 1) * evaluate_every_;
  Clock::time_point begin = Clock::now();
  const auto measure = [&] {
    seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
  };
  while (host_->step()) {
    tell_of_fleet();
    if (parts_.reload && parts_.reload()) reload_fleet();
    parts_.observer.progressed(*this);
    const bool evaluates =
        round() >= next && !host_->has_left() && peer().stage() == peer::Stage::kTraining;
    const Clock::time_point now = Clock::now();
    const bool keeps = pace_.due(now) && (evaluates || now - kept_at_ >= kKeepAtLeastEvery);
    if (!evaluates && !keeps) continue;
    measure();
    if (evaluates) {
      evaluate();
      next = (round() / evaluate_every_ + 1) * evaluate_every_;
    }
    if (keeps) save();
    begin = Clock::now();
  }
  measure();
  told_ = {};
  tell_of_fleet();
}

void PeerRun::evaluate() {
  const std::vector<train::PeerReport> report{host_->peer().evaluate()};
  const double rounds_per_epoch = static_cast<double>(objective().rounds_per_epoch());
  const train::RunReport run{
      .round = round(),
      .epoch = static_cast<double>(std::min(round(), training_rounds())) / rounds_per_epoch,
      .lr = peer().learning_rate(),
      .totals = {.dim = objective().layout().dim(), .loss_rounds = 1}};
  train::Metrics now = train::assemble(report, objective().metrics(), report[0].score, run);
  for (train::MetricResult& result : now.results) {
    if (!result.by_peer.empty()) result.by_peer = in_place(result.by_peer[0], self_, peers());
  }
  now.traffic = traffic();
  now.push_sum = in_place(peer().push_sum(), self_, peers());
  now.seconds = seconds_;
  const double moment = peer().neighbours().now();
  const auto live = peer().neighbours().members(
      [&](const peer::Members& members) { return members.live(moment).size(); });
  const peer::DeliveryCounts& counts = peer().counts();
  now.asynchronous = {.live = static_cast<double>(live),
                      .skipped = static_cast<double>(counts.skipped),
                      .taken_back = static_cast<double>(counts.returned),
                      .settled = static_cast<double>(counts.paid),
                      .rates_min = peer().rate(),
                      .rates_max = peer().rate(),
                      .rates = in_place(peer().rate(), self_, peers())};
  const std::uint64_t applied = counts.applied - counts_at_last_.applied;
  if (applied > 0) {
    now.asynchronous.staleness =
        (counts.staleness - counts_at_last_.staleness) / static_cast<double>(applied);
  }
  counts_at_last_ = counts;
  last_ = std::move(now);
  metrics_->append(train::to_json_line(*last_, metrics_->size() == 0));
  parts_.observer.evaluated(*this, *last_);
}

void PeerRun::save() {
  const auto begin = CheckpointPace::Clock::now();
  metrics_->sync();
  keep(parts_.out, static_cast<std::uint64_t>(peer().clock()), seconds_, objective(),
       peer().model());
  kept_at_ = CheckpointPace::Clock::now();
  pace_.saved(begin, kept_at_);
}

/// Addresses may be other ones, and peers may be gone; settings stay.
void PeerRun::reload_fleet() {
  try {
    endpoint_->set_fleet(net::read_fleet(parts_.settings.fleet));
    events_.add(fmt::format("has read {} again", parts_.settings.fleet.string()));
  } catch (const std::exception& error) {
    events_.add(fmt::format("keeps the fleet as it is: {}", error.what()));
  }
}

/// fleet.json, every two seconds. It is for people: a full disk does not end the run.
void PeerRun::tell_of_fleet() {
  const Clock::time_point now = Clock::now();
  if (now - told_ < std::chrono::duration<double>(kTellSeconds)) return;
  told_ = now;
  const double moment = peer().neighbours().now();
  nlohmann::ordered_json peers = nlohmann::ordered_json::array();
  peer().neighbours().members([&](const peer::Members& members) {
    for (const net::Record& record : members.records()) {
      nlohmann::ordered_json one{{"name", fleet_.peers[record.slot].name},
                                 {"slot", record.slot},
                                 {"status", name_of(record.status)},
                                 {"live", members.is_live(record.slot, moment)},
                                 {"rounds", record.rounds},
                                 {"rate", record.rate},
                                 {"clock", record.clock},
                                 {"push_sum", record.u},
                                 {"bytes", record.bytes}};
      if (record.slot != self_) one["heard_seconds_ago"] = members.age(record.slot, moment);
      if (std::isfinite(record.loss)) one["loss"] = record.loss;
      if (std::isfinite(record.accuracy)) one["score"] = record.accuracy;
      peers.push_back(std::move(one));
    }
    return 0;
  });
  const nlohmann::ordered_json all{
      {"self", fleet_.peers[self_].name}, {"time", EventLog::now()}, {"peers", std::move(peers)}};
  // Renamed, so that nobody reads a half, but not forced to the disk, which may be a slow card.
  const fs::path file = parts_.out / "fleet.json", newer = parts_.out / "fleet.json.new";
  std::error_code error;
  if (std::ofstream(newer) << all.dump(2) << '\n') fs::rename(newer, file, error);
  if (error) events_.add(fmt::format("cannot write {}: {}", file.string(), error.message()));
}

std::string PeerRun::summary(const std::string& model_sha256,
                             std::span<const Warning> warnings) const {
  train::Metrics now = last_.value_or(train::Metrics{});
  now.round = round();
  now.traffic = traffic();
  now.seconds = seconds_;
  ProcessFigures figures = figures_of_this_process(kernels());
  figures.transport = "tls";
  return summarize(*this, parts_.config, now, figures, model_sha256, warnings);
}

Outcome PeerRun::finish() {
  save();
  fs::create_directories(parts_.out / "models");
  const train::SavedModel model = peer().model();
  save_model(parts_.out, fmt::format("peer-{}", self_), objective(), model.parameters,
             model.buffers);
  Sha256 sha;
  sha.update(model.parameters.data(), model.parameters.size() * sizeof(float));
  std::vector<Warning> warnings = diagnose(parts_.config, *this, *metrics_);
  const std::string text = summary(sha.finish_hex(), warnings);
  write_summary(parts_.out, text);
  return {*last_, round(), text, true, std::move(warnings)};
}

}  // namespace hearsay::run
