#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

namespace hearsay::live {

/// The page of a run directory, made again when its files have changed, but not more often than
/// every kPause: however many ask, the work is that of a few. Any thread may call any member.
class PageCache {
 public:
  static constexpr std::chrono::seconds kPause{2};

  explicit PageCache(std::filesystem::path run) : run_(std::move(run)) {}

  /// `live`: the page follows the run's events. Never throws: if there is no page it is one that
  /// says why, and asks again. It is shared, since a slow viewer reads on while the next is made.
  std::shared_ptr<const std::string> page(bool live);

 private:
  using Clock = std::chrono::steady_clock;

  std::string stamp() const;

  const std::filesystem::path run_;
  std::mutex mutex_;  ///< held while a page is made: one at a time
  std::shared_ptr<const std::string> page_;
  std::string stamp_;  ///< of the files that it was made of
  bool live_ = false;
  Clock::time_point made_{};
};

}  // namespace hearsay::live
