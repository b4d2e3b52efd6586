#include "support/inproc.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"
#include "hearsay/transport/cores.h"
#include "hearsay/transport/pool.h"
#include "hearsay/transport/rounds.h"

namespace hearsay::transport {

namespace {

/// A message in flight. The body is still in the sender's memory.
struct Letter {
  std::size_t from = 0;
  std::size_t place = 0;  ///< its index among messages of that sender and label
  Bytes head;
  ByteView body;
};

using Correspondence = std::pair<Label, std::size_t>;  // label and sender

struct Member {
  bool joined = false;
  bool gone = false;
  std::map<Label, std::vector<Letter>> letters;   // addressed to it
  std::map<Correspondence, std::size_t> sent_to;  // how many, addressed to it
  std::map<Correspondence, std::vector<std::span<std::uint8_t>>> buffers;  // posted by `expect`
  std::map<Label, std::size_t> untaken;  // how many it sent that are not yet taken
};

}  // namespace

struct Hub::State {
  State(std::size_t processes, Options hub_options) : members(processes), options(hub_options) {}

  /// From now on no process reads its memory or waits for it. Call with the lock held.
  void remove(std::size_t process) {
    Member& member = members[process];
    member.gone = true;
    for (const auto& [label, letters] : member.letters) {
      for (const Letter& letter : letters) taken(letter.from, label);
    }
    member.letters.clear();
    member.untaken.clear();
    for (Member& other : members) {
      for (auto& [label, letters] : other.letters) {
        std::erase_if(letters, [&](const Letter& letter) { return letter.from == process; });
      }
    }
    changed.notify_all();
  }

  void taken(std::size_t sender, Label label) {
    auto& untaken = members[sender].untaken;
    const auto found = untaken.find(label);
    if (found != untaken.end() && --found->second == 0) untaken.erase(found);
    changed.notify_all();
  }

  std::mutex lock;
  std::condition_variable changed;
  std::vector<Member> members;
  const Options options;
};

namespace {

class Inproc : public Transport {
 public:
  Inproc(std::shared_ptr<Hub::State> state, std::size_t process)
      : state_(std::move(state)),
        seat_{process, state_->members.size(),
              fair_share(std::vector(state_->members.size(), allowed_cores()), 0)},
        random_(state_->options.shuffle.value_or(0), Purpose::kLink,
                static_cast<std::uint32_t>(process)) {}

  ~Inproc() override {
    const std::lock_guard guard(state_->lock);
    state_->remove(seat_.process);
  }

  std::string_view name() const override { return "inproc"; }
  Seat seat() const override { return seat_; }

  bool send(std::size_t process, Label label, ByteView head, ByteView body) override {
    check_other(seat_, process);
    check_head(head);
    const std::lock_guard guard(state_->lock);
    check_alive();
    rounds(label).sends(label.round);
    Member& other = state_->members[process];
    if (other.gone) return false;
    const std::size_t place = other.sent_to[{label, seat_.process}]++;
    other.letters[label].push_back({seat_.process, place, Bytes(head.begin(), head.end()), body});
    ++self().untaken[label];
    state_->changed.notify_all();
    return true;
  }

  bool flush(Label label, std::chrono::milliseconds patience) override {
    std::unique_lock guard(state_->lock);
    return wait(guard, patience, [&] {
      const auto oldest = self().untaken.lower_bound(Label{label.lane, 0});
      return oldest == self().untaken.end() || oldest->first > label;
    });
  }

  void expect(std::size_t process, Label label, std::span<std::uint8_t> buffer) override {
    check_other(seat_, process);
    const std::lock_guard guard(state_->lock);
    check_alive();
    rounds(label).expects(label.round);
    self().buffers[{label, process}].push_back(buffer);
  }

  std::optional<Arrival> receive(Label label, std::chrono::milliseconds patience) override {
    std::unique_lock guard(state_->lock);
    check_alive();
    if (rounds(label).asks(label.round)) forget_before(label);
    std::vector<Letter>& letters = self().letters[label];
    if (!wait(guard, patience, [&] { return !letters.empty(); })) return std::nullopt;

    const std::size_t chosen = state_->options.shuffle ? random_.below(letters.size()) : 0;
    const Letter letter = std::move(letters[chosen]);
    letters.erase(letters.begin() + static_cast<std::ptrdiff_t>(chosen));
    state_->taken(letter.from, label);
    // Copied under the lock: a sender that leaves frees its memory.
    const std::span<std::uint8_t> buffer = buffer_of(letter, label);
    if (!buffer.empty()) std::memcpy(buffer.data(), letter.body.data(), buffer.size());
    return Arrival{letter.from, letter.head, buffer};
  }

  std::vector<std::size_t> gone() const override {
    const std::lock_guard guard(state_->lock);
    std::vector<std::size_t> result;
    for (std::size_t p = 0; p < seat_.processes; ++p) {
      if (state_->members[p].gone) result.push_back(p);
    }
    return result;
  }

  bool fast_sum(std::span<float>) override { return false; }

  void abort(int) noexcept override {
    const std::lock_guard guard(state_->lock);
    for (std::size_t p = 0; p < seat_.processes; ++p) state_->remove(p);
  }

 private:
  Member& self() { return state_->members[seat_.process]; }
  Rounds& rounds(Label label) { return rounds_[static_cast<std::size_t>(label.lane)]; }
  Pool& pool(Label label) { return pools_[static_cast<std::size_t>(label.lane)]; }

  void check_alive() {
    if (self().gone) {
      throw RunFailed(fmt::format("[inproc] process {} was killed", seat_.process));
    }
  }

  template <class Done>
  bool wait(std::unique_lock<std::mutex>& guard, std::chrono::milliseconds patience, Done done) {
    const bool woken =
        state_->changed.wait_for(guard, patience, [&] { return self().gone || done(); });
    check_alive();
    return woken;
  }

  void forget_before(Label label) {
    pool(label).reuse(label.round);
    const Label oldest{label.lane, 0};
    const auto forget = [&](auto& map) {
      map.erase(map.lower_bound({oldest, 0}), map.lower_bound({label, 0}));
    };
    forget(self().sent_to);
    forget(self().buffers);
    std::erase_if(self().letters, [&](const auto& entry) {
      return entry.first >= oldest && entry.first < label && entry.second.empty();
    });
  }

  std::span<std::uint8_t> buffer_of(const Letter& letter, Label label) {
    const auto buffers = self().buffers.find({label, letter.from});
    if (buffers == self().buffers.end() || letter.place >= buffers->second.size()) {
      return pool(label).take(letter.body.size(), label.round);
    }
    const std::span<std::uint8_t> buffer = buffers->second[letter.place];
    check_body(label, letter.from, letter.body.size(), buffer.size());
    return buffer;
  }

  std::shared_ptr<Hub::State> state_;
  const Seat seat_;
  Random random_;
  std::array<Rounds, 2> rounds_;
  std::array<Pool, 2> pools_;
};

}  // namespace

Hub::Hub(std::size_t processes, Options options)
    : state_(std::make_shared<State>(processes, options)) {}

std::unique_ptr<Transport> Hub::join(std::size_t process) {
  const std::lock_guard guard(state_->lock);
  if (process >= state_->members.size()) {
    throw InvalidArgument(fmt::format("[inproc] there is no process {}; there are 0 to {}", process,
                                      state_->members.size() - 1));
  }
  if (std::exchange(state_->members[process].joined, true)) {
    throw InvalidArgument(fmt::format("[inproc] process {} has joined already", process));
  }
  return std::make_unique<Inproc>(state_, process);
}

void Hub::kill(std::size_t process) {
  const std::lock_guard guard(state_->lock);
  state_->remove(process);
}

}  // namespace hearsay::transport
