#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

namespace hearsay::live {

/// The page of a run directory, regenerated when its files have changed, but at most every kPause:
/// the work is bounded for any number of viewers. Thread-safe.
class PageCache {
 public:
  static constexpr std::chrono::seconds kPause{2};

  explicit PageCache(std::filesystem::path run) : run_(std::move(run)) {}

  /// `live`: the page follows the run's events. Never throws: if there is no page it returns one
  /// that says why, and reloads. It is shared, since a slow viewer may still read it while the next
  /// is made.
  std::shared_ptr<const std::string> page(bool live);

 private:
  using Clock = std::chrono::steady_clock;

  std::string stamp() const;

  const std::filesystem::path run_;
  std::mutex mutex_;  ///< held while a page is made: one at a time
  std::shared_ptr<const std::string> page_;
  std::string stamp_;  ///< of the files that it was made from
  bool live_ = false;
  Clock::time_point made_{};
};

}  // namespace hearsay::live
