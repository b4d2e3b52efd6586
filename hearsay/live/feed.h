#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace hearsay::live {

/// State shared by all viewers of a run: that its file has changed, its progress, that it has
/// ended, and that the server closes. Thread-safe.
class Feed {
 public:
  struct State {
    std::uint64_t version = 0;  ///< counts updates
    std::uint64_t changes = 0;  ///< of the file
    std::string progress = {};  ///< the last, a JSON object in one line; empty: none yet
    /// The part of a device's page about its fleet, a JSON string in one line; null: none yet.
    std::shared_ptr<const std::string> fleet = {};
    bool ended = false, closed = false;
  };

  void changed();
  void progress(std::string json);
  void fleet(std::string json);
  void end();
  void close();

  State state() const;
  /// Waits for an update after `version`, at most that long.
  State wait(std::uint64_t version, std::chrono::milliseconds time) const;

 private:
  template <typename Change>
  void tell(Change change);

  mutable std::mutex mutex_;
  mutable std::condition_variable told_;
  State state_;
};

}  // namespace hearsay::live
