#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "hearsay/net/fleet.h"
#include "hearsay/net/identity.h"
#include "hearsay/peer/host.h"
#include "hearsay/run/checkpoint_pace.h"
#include "hearsay/run/metrics_file.h"
#include "hearsay/run/peer/event_log.h"
#include "hearsay/run/peer/kept.h"
#include "hearsay/run/peer/settings.h"
#include "hearsay/run/run.h"
#include "hearsay/run/run_lock.h"

namespace hearsay::net {
class TlsEndpoint;
}

namespace hearsay::run {

/// One peer on a device (peer/host.h) and its run directory:
///
///   config.toml     the resolved settings of the fleet
///   peer.toml       those of this device, and which run it is part of
///   incarnation     the number of its newest life
///   metrics.jsonl   a line per evaluation, of this peer only; `round` is the fleet's clock
///   events.jsonl    connections gained and lost, and the like
///   fleet.json      what it knows of all peers, every two seconds
///   checkpoint/     its model and the clock (kept.h)
///   summary.json, models/peer-K.safetensors    at the end
///
/// A peer that goes on begins a new life with the model that it kept, or with that of a neighbour
/// if there is none: momentum and error feedback begin at zero, and metrics.jsonl is continued.
class PeerRun final : public train::RunView {
 public:
  struct Parts {
    train::RunOptions config;  ///< options_of_fleet
    PeerSettings settings;
    std::filesystem::path out;
    Observer& observer;
    EventLog::Say say{};             ///< told of events; called from several threads
    std::function<bool()> reload{};  ///< polled: read the fleet file again. May be empty
  };
  /// Reads the files that the settings name. Throws InvalidArgument.
  explicit PeerRun(Parts parts);

  /// Create the directory, or take over that of a run that was stopped; then run. Throws
  /// InvalidArgument before there is any file, AlreadyExists if the directory has a run.
  Outcome begin();
  Outcome begin_again();

  std::uint64_t round() const override;
  std::uint64_t training_rounds() const override { return peer().training_rounds(); }
  std::uint32_t final_rounds() const override;
  std::size_t peers() const override { return parts_.config.peers; }
  double averaging_rate() const override { return peer().driver().algorithm().averaging_rate(); }
  const graph::Facts& graph() const override { return peer().driver().graph(); }
  const engine::Objective& objective() const override { return peer().objective(); }
  backend::Kernels& kernels() const override { return peer().kernels(); }
  std::size_t threads() const override { return peer().threads(); }
  gossip::Traffic traffic() const override;

 private:
  using Clock = std::chrono::steady_clock;

  Outcome go_on();
  void write_settings() const;
  void make_host(const std::optional<Kept>& kept);
  peer::Host::Connection connect(peer::Neighbours& neighbours);
  void train();
  void evaluate();
  void save();
  void tell_of_fleet();
  void reload_fleet();
  Outcome finish();
  std::string summary(const std::string& model_sha256,
                      std::span<const Warning> warnings = {}) const;
  const peer::Peer& peer() const { return host_->peer(); }

  Parts parts_;
  net::Fleet fleet_;
  net::Identity identity_;
  std::uint32_t self_ = 0;
  std::uint64_t incarnation_ = 0;
  RunLock lock_;
  EventLog events_;
  std::unique_ptr<peer::Host> host_;
  net::TlsEndpoint* endpoint_ = nullptr;  ///< the host's
  std::optional<MetricsFile> metrics_;
  CheckpointPace pace_;
  Clock::time_point kept_at_ = Clock::now();
  double seconds_ = 0;  ///< of training, in all lives
  std::uint64_t evaluate_every_ = 1;
  Clock::time_point told_{};  ///< fleet.json
  bool finished_ = false;
  peer::DeliveryCounts counts_at_last_{};
  std::optional<train::Metrics> last_;
};

}  // namespace hearsay::run
