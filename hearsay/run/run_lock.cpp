#include "hearsay/run/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::run {

namespace {

bool is_refused(int descriptor, int kind) {
  return ::flock(descriptor, kind | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

RunLock::~RunLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void RunLock::take(const std::filesystem::path& config) {
  descriptor_ =
      ::open(config.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);  // NFS locks need write access
  if (descriptor_ < 0) descriptor_ = ::open(config.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) return;
  // A caller of is_being_trained holds the lock for an instant.
  constexpr int kTries = 5;
  for (int left = kTries; is_refused(descriptor_, LOCK_EX); --left) {
    if (left == 0) {
      throw InvalidArgument(
          fmt::format("[train] another process trains in {}; wait until it ends, or stop it",
                      config.parent_path().string()));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

bool is_being_trained(const std::filesystem::path& run) {
  const int descriptor = ::open((run / "config.toml").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  const bool refused = is_refused(descriptor, LOCK_SH);
  ::close(descriptor);
  return refused;
}

}  // namespace hearsay::run
