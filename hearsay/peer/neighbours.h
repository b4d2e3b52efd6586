#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "hearsay/compress/compressor.h"
#include "hearsay/core/layout.h"
#include "hearsay/net/wire.h"
#include "hearsay/peer/edge.h"
#include "hearsay/peer/members.h"
#include "hearsay/peer/model_exchange.h"

namespace hearsay::peer {

/// A message that arrived, was checked, and will be applied.
struct ReceivedMessage {
  compress::MessageHeader header{};
  std::uint64_t number = 0;
  std::uint64_t life = 0;  ///< incarnation of the sender
  std::unique_ptr<compress::Decoded> vector{};
};

/// What a peer does with the frames of the others: its edges and what it knows of the fleet,
/// between a wire that delivers frames and a trainer that runs rounds. Both may be threads of their
/// own.
///
/// Every message is judged on arrival. One whose numbers could do harm (not finite, a not in (0,
/// 1], u not in (0, 4 times the fleet], a code that does not decode) is refused: its sender keeps
/// the mass. Who sends three of these within ten minutes is shut out for ten minutes. So is,
/// without that consequence, what a peer sends before it has a model, and more than kMostWaiting
/// messages of one sender that wait to be applied: an honest one stops at Edge::kMostUnacked a
/// connection.
class Neighbours final : public net::WireEvents {
 public:
  static constexpr std::size_t kMostWaiting = 4 * Edge::kMostUnacked;

  struct Parts {
    std::uint32_t peers = 0, self = 0;
    std::uint64_t incarnation = 0;  ///< of this life: larger than that of any before
    std::uint32_t hops = 1;         ///< Members
    const compress::Compressor& compressor;
    const Layout& layout;
    std::size_t buffers = 0;  ///< numbers that a model has besides its parameters
    Controls controls{};
    std::vector<std::string> names{};  ///< of the peers, for people; empty: "peer 3"
    /// Gets a sentence for each connection gained or lost and each refusal; may be empty.
    std::function<void(const std::string&)> log{};
  };
  explicit Neighbours(Parts parts);

  /// What is not known before the wire is: it outlives this object or is not used any more.
  struct Way {
    net::Wire& wire;
    std::array<std::byte, 32> run{};  ///< what all peers of the run agree on
    std::uint16_t port = 0;           ///< where this peer listens; 0: nowhere
  };
  /// Before anything else.
  void use(const Way& way) {
    wire_ = &way.wire;
    run_ = way.run;
    port_ = way.port;
  }

  net::FrameLimits limits() const;

  // What the wire calls:
  net::Hello hello(std::uint32_t peer) override;
  std::optional<net::Bye> judge(std::uint32_t peer, const net::Hello& hello) override;
  void down(std::uint32_t peer, std::string_view why) override;
  void frame(std::uint32_t peer, const net::Frame& frame) override;
  void more_of_a_frame(std::uint32_t peer) override;

  /// To be called every tenth of a second or so: pulses, silence, repetitions.
  void tick();

  // What the trainer calls:

  /// What the fleet is to know of this peer; slot, incarnation and beat are not touched.
  void tell(const net::Record& own);
  /// Reads what is known of the fleet.
  template <class Reader>
  auto members(const Reader& reader) const {
    const std::lock_guard lock(mutex_);
    return reader(members_);
  }
  double now() const { return wire_->now(); }
  /// Keep connections to these.
  void want(std::span<const std::uint32_t> peers);

  /// Sends a message, and returns it with its number; nullopt if the edge has no room for it.
  std::optional<SentMessage> send(std::uint32_t peer, SentMessage message);

  /// What happened since the last call; all that arrived is acked.
  struct Mail {
    std::vector<ReceivedMessage> arrived{};
    std::vector<SentMessage> returned{};  ///< taken back or refused
  };
  Mail take();
  /// The next message that is owed and whose mass a u is at most that, if there is one.
  std::optional<SentMessage> pay(double most);

  /// Messages whose mass is not where it belongs yet, over all edges: without an ack, to be
  /// returned by `take`, or owed.
  std::size_t open() const;
  /// Messages to that peer that were taken back and may be owed: it has not said yet, or has.
  std::size_t unsettled(std::uint32_t peer) const;
  /// Messages to that peer that are not acked, or whose mass `take` has yet to return.
  std::size_t open(std::uint32_t peer) const;
  /// Say goodbye to all.
  void leave();

  // Models, to those that enter late and from a neighbour: parameters, then buffers.

  /// Ask that peer for its model. False if there is no connection with it.
  bool ask_for_model(std::uint32_t peer);
  /// Reads how far that is.
  template <class Reader>
  auto models(const Reader& reader) const {
    const std::lock_guard lock(mutex_);
    return reader(models_);
  }
  /// The model that was asked for, once; nullopt: it has not come yet.
  std::optional<std::vector<float>> take_model();
  /// Whether somebody waits for this peer's; then hand it over.
  bool model_is_wanted() const;
  void hand_over_model(std::span<const float> parameters, std::span<const float> buffers);

  /// Connections that are up.
  std::vector<std::uint32_t> connected() const;

 private:
  struct Neighbour {
    Edge edge;
    double heard = 0;  ///< when the last bytes came
    bool ack_due = false;
    std::size_t waiting = 0;  ///< of its messages, to be applied
    std::string closing{};    ///< why this side closed the connection
    std::deque<double> strikes{};
    double shut_out_until = 0;
  };

  void receive(std::uint32_t peer, const net::Frame& frame);
  /// Why the values of a message are refused; empty: they are not.
  std::string check(const compress::MessageHeader& header, bool uncompressed, ByteReader& code,
                    compress::Decoded& vector) const;
  void strike(std::uint32_t peer, const std::string& what);
  void close(std::uint32_t peer, net::ByeReason reason, std::string why);
  void pulse();
  void send_pieces();
  void send_ack(std::uint32_t peer);
  void log(std::uint32_t peer, const std::string& what) const;

  Parts parts_;
  net::Wire* wire_ = nullptr;
  std::array<std::byte, 32> run_{};
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  Members members_;
  std::vector<Neighbour> neighbours_;
  ModelExchange models_;
  std::vector<ReceivedMessage> arrived_;
  double last_pulse_ = 0;
  bool has_left_ = false;
};

}  // namespace hearsay::peer
