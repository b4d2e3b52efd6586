#include "hearsay/live/feed.h"

#include <utility>

namespace hearsay::live {

template <typename Change>
void Feed::tell(Change change) {
  {
    const std::lock_guard lock(mutex_);
    change(state_);
    ++state_.version;
  }
  told_.notify_all();
}

void Feed::changed() {
  tell([](State& state) { ++state.changes; });
}

void Feed::progress(std::string json) {
  tell([&](State& state) { state.progress = std::move(json); });
}

void Feed::fleet(std::string json) {
  tell([&](State& state) { state.fleet = std::make_shared<const std::string>(std::move(json)); });
}

void Feed::end() {
  tell([](State& state) { state.ended = true; });
}

void Feed::close() {
  tell([](State& state) { state.closed = true; });
}

Feed::State Feed::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

Feed::State Feed::wait(std::uint64_t version, std::chrono::milliseconds time) const {
  std::unique_lock lock(mutex_);
  told_.wait_for(lock, time, [&] { return state_.version != version; });
  return state_;
}

}  // namespace hearsay::live
