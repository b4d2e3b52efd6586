#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "hearsay/core/error.h"

namespace hearsay::live {

/// Raised once and never reset; a thread that polls a descriptor can poll this one too.
class Signal {
 public:
  Signal() : descriptor_(::eventfd(0, EFD_CLOEXEC)) {
    if (descriptor_ < 0) throw RunFailed("[live] the system gives no descriptor for the server");
  }
  ~Signal() { ::close(descriptor_); }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  void raise() const { ::eventfd_write(descriptor_, 1); }

  /// Whether it is raised within that time.
  bool wait(int milliseconds) const {
    pollfd raised{descriptor_, POLLIN, 0};
    return ::poll(&raised, 1, milliseconds) > 0;
  }

  int descriptor() const { return descriptor_; }  ///< readable once it is raised

 private:
  int descriptor_;
};

}  // namespace hearsay::live
