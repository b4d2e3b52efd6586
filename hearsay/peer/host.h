#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hearsay/net/wire.h"
#include "hearsay/peer/peer.h"

namespace hearsay::peer {

/// What peers of a run must agree on, as a SHA-256: the version of the protocol, the settings that
/// change results but for devices and the places of files, the tensors of a model, the data.
std::array<std::byte, 32> run_id(const train::RunOptions& options,
                                 const engine::Objective& objective);

/// One peer on a device of its own: its rounds on the thread of the caller, the frames of others on
/// the wire's, pulses on a third.
///
///   Host host(parts);                                   nobody hears of it yet
///   if (host.enter()) while (host.step()) { ... }
///
/// It enters where the fleet is:
///
///   others train, at clock t     with its own saved model, if it has one; else, if t >= 1, with
///                                that of a neighbour, which it asks for; else with the initial one
///   nobody trains                with its own model after five seconds at most; else with the
///                                initial one, as soon as `wait_for` peers are there
class Host {
 public:
  struct Connection {
    std::unique_ptr<net::Wire> wire;
    std::uint16_t port = 0;            ///< where it listens; 0: nowhere
    std::function<void()> start = {};  ///< called once the wire may call the neighbours
  };
  struct Parts {
    train::RunOptions options;  ///< resolved
    train::RunParts own_parts{};
    std::uint32_t self = 0;
    std::uint64_t incarnation = 1;
    std::vector<std::string> names{};  ///< of all peers
    std::function<Connection(Neighbours&)> connect;
    /// The model of an earlier life, if there is one; called once. May be empty.
    std::function<std::optional<train::SavedModel>(const engine::Objective&)> saved{};
    double clock = 0;              ///< the fleet's, when that was saved
    double least_round = 0;        ///< seconds that a round takes at least
    std::uint32_t wait_for = 2;    ///< peers, itself counted
    std::function<bool()> stop{};  ///< polled: leave the run. May be empty
    /// Called from several threads.
    std::function<void(const std::string&)> log{};
  };
  /// Throws InvalidArgument.
  explicit Host(Parts parts);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// Connects, and waits for others, as above. False if it was told to stop before it has a model.
  bool enter();
  /// Runs a round, and waits until it has taken `least_round`. False: it is done or has left, and
  /// has said goodbye. Throws as Peer::run_round does; it sends nothing more then.
  bool step();

  const Peer& peer() const { return *peer_; }
  Peer& peer() { return *peer_; }
  /// Told to stop before it was done.
  bool has_left() const { return left_; }

 private:
  /// What is known of others before it enters.
  struct Others {
    std::vector<std::uint32_t> connected{};
    std::vector<std::uint32_t> training{};  ///< or finished
    bool known = true;                      ///< all that are connected have told how they do
    double clock = 0;                       ///< the mean of those that train, by now
  };
  Others look() const;
  bool try_to_enter(const Others& others, double waited);
  bool fetch_model(const Others& others);
  train::SavedModel split(const std::vector<float>& values) const;

  void serve();
  void pause(double seconds) const;
  bool stop_requested() const { return parts_.stop && parts_.stop(); }
  void log(const std::string& what) const;
  void tick_until_stopped();

  Parts parts_;
  WholeGraph graph_;
  std::unique_ptr<Peer> peer_;
  Connection connection_;
  std::optional<train::SavedModel> model_;  ///< to enter with
  bool left_ = false;
  double training_interval_ = 0;  ///< seconds per round while it trained
  // Of a model that was asked for:
  std::uint32_t turn_ = 0;
  std::size_t received_ = 0;
  double progressed_ = 0;  ///< when
  // Of the thread that ticks:
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stopped_ = false;
  std::thread ticker_;
};

}  // namespace hearsay::peer
