#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace hearsay::peer {

/// Virtual time: events at moments, in seconds. Those of the same moment happen in the order in
/// which they were added, so a simulation is a function of its inputs.
class EventQueue {
 public:
  double now() const { return now_; }

  /// Have `event` happen that many seconds from now, at least 0.
  void after(double seconds, std::function<void()> event) {
    events_.push({now_ + seconds, added_++, std::move(event)});
  }

  /// The next event happens. False: there is none.
  bool step() {
    if (events_.empty()) return false;
    Event next = events_.top();
    events_.pop();
    now_ = next.time;
    next.happen();
    return true;
  }

 private:
  struct Event {
    double time;
    std::uint64_t number;
    std::function<void()> happen;

    /// For a queue whose top is the earliest.
    bool operator<(const Event& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };

  double now_ = 0;
  std::uint64_t added_ = 0;
  std::priority_queue<Event> events_;
};

}  // namespace hearsay::peer
