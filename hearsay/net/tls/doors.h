#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "hearsay/net/tls/outbox.h"

namespace hearsay::net {

class Session;

/// What threads other than the io thread see of connections: to which peers frames can be sent. Its
/// lock is a leaf: nothing else is locked or called under it.
class Doors {
 public:
  struct Door {
    std::shared_ptr<Outbox> outbox{};  ///< null: the peer is not connected
    std::weak_ptr<Session> session{};  ///< for the io thread only
  };

  explicit Doors(std::size_t peers) : doors_(peers) {}

  std::size_t size() const { return doors_.size(); }
  Door at(std::uint32_t peer) const {
    const std::lock_guard lock(mutex_);
    return peer < doors_.size() ? doors_[peer] : Door{};
  }
  void set(std::uint32_t peer, Door door) {
    const std::lock_guard lock(mutex_);
    doors_[peer] = std::move(door);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Door> doors_;
};

}  // namespace hearsay::net
