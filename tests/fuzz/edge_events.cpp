#include "fuzz/edge_events.h"

#include <cstdlib>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "hearsay/core/error.h"
#include "hearsay/peer/edge.h"

namespace hearsay::fuzz {

namespace {

using peer::Edge;
using peer::SentMessage;

constexpr std::uint64_t kOwnLife = 5;

void expect(bool condition, const char* what) {
  if (condition) return;
  fmt::print(stderr, "edge_events: {}\n", what);
  std::abort();
}

class Events {
 public:
  explicit Events(ByteView bytes) : bytes_(bytes, "events") {}

  bool run() {
    while (bytes_.left() > 0) {
      try {
        one_event();
      } catch (const CorruptData&) {  // the connection is closed
        if (bytes_.left() > 0) edge_.down();
      }
      expect(edge_.unacked() <= Edge::kMostUnacked, "too many messages are on their way");
    }
    return sent_ > 0 && !arrived_.empty();
  }

 private:
  using Number = std::pair<std::uint64_t, std::uint64_t>;  ///< generation, number

  /// Mostly small numbers, sometimes any.
  std::uint64_t number() {
    const auto small = bytes_.read<std::uint8_t>();
    return small < 240 ? small : bytes_.read<std::uint64_t>();
  }

  void one_event() {
    switch (bytes_.read<std::uint8_t>() % 8) {
      case 0:
        return up();
      case 1:
        return edge_.down();
      case 2:
        return send();
      case 3: {
        const std::uint64_t highest = number(), seen = number(), refused = number();
        return edge_.acked({highest, seen, refused});
      }
      case 4:
        return arrive(false);
      case 5:
        return arrive(true);
      case 6:
        edge_.overdue(static_cast<double>(++now_), 2);
        edge_.is_stuck(static_cast<double>(now_), number());
        return;
      default:
        return take();
    }
  }

  void up() {
    const net::Hello hello{.incarnation = 1 + number() % 3,
                           .known = number() % 2 == 0 ? kOwnLife : number(),
                           .next = number(),
                           .highest = number(),
                           .arrived = number(),
                           .refused = number()};
    edge_.down();  // as `up` would, but what returns is still of the old generation
    take();
    if (hello.incarnation != edge_.incarnation()) {
      ++generation_;  // numbers begin anew
      arrived_.clear();
    }
    edge_.up(hello, kOwnLife);
    take_owed();
  }

  void send() {
    if (!edge_.has_room(100)) return;
    const SentMessage& message = edge_.send({.code = std::make_shared<const Bytes>(Bytes(76)),
                                             .first_sent = static_cast<double>(now_)});
    expect(message.number > 0, "a message without a number");
    ++sent_;
  }

  void arrive(bool refuse) {
    if (!edge_.is_up()) return;
    const std::uint64_t it = number();
    if (edge_.arrival(it) == Edge::Arrival::kDuplicate) return;
    expect(arrived_.insert(it).second, "a message is new twice");
    refuse ? edge_.refuse(it) : edge_.accept(it);
  }

  void take() {
    for (const SentMessage& message : edge_.returned()) {
      expect(returned_.insert({generation_, message.number}).second, "a message returns twice");
    }
    edge_.returned().clear();
    take_owed();
  }

  void take_owed() {
    for (const SentMessage& message : edge_.owed()) {
      expect(returned_.contains({generation_, message.number}), "owed without having returned");
      expect(owed_.insert({generation_, message.number}).second, "a message is owed twice");
    }
    edge_.owed().clear();
  }

  ByteReader bytes_;
  Edge edge_;
  std::uint64_t generation_ = 0, sent_ = 0, now_ = 0;
  std::set<std::uint64_t> arrived_;
  std::set<Number> returned_, owed_;
};

}  // namespace

bool edge_events(ByteView bytes) { return Events(bytes).run(); }

}  // namespace hearsay::fuzz
