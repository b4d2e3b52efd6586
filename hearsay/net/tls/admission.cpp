#include "hearsay/net/tls/admission.h"

#include <algorithm>
#include <utility>

namespace hearsay::net {

class Admission::Place {
 public:
  Place(std::shared_ptr<Places> taken, const Network& network)
      : taken_(std::move(taken)), network_(network) {
    ++taken_->all;
    ++taken_->by_network[network_];
  }
  ~Place() {
    --taken_->all;
    if (--taken_->by_network[network_] == 0) taken_->by_network.erase(network_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  std::shared_ptr<Places> taken_;
  Network network_;
};

std::shared_ptr<void> Admission::admit(const asio::ip::address& address, double now) {
  if (now - since_ >= 1) {
    begun_ = {};
    since_ = now;
  }
  const Network network = network_of(address);
  if (taken_->all >= kMost || begun_.all >= kASecond) return nullptr;
  const auto taken = taken_->by_network.find(network);
  if (taken != taken_->by_network.end() && taken->second >= kMostAnAddress) return nullptr;
  if (begun_.by_network[network] >= kASecondAnAddress) return nullptr;
  ++begun_.all;
  ++begun_.by_network[network];
  return std::make_shared<Place>(taken_, network);
}

Admission::Network Admission::network_of(const asio::ip::address& address) {
  Network network{};
  if (address.is_v4()) {
    std::ranges::copy(address.to_v4().to_bytes(), network.begin() + 4);
    return network;
  }
  const auto bytes = address.to_v6().to_bytes();
  if (address.to_v6().is_v4_mapped()) {
    std::copy(bytes.end() - 4, bytes.end(), network.begin() + 4);
  } else {
    std::copy_n(bytes.begin(), network.size(), network.begin());
  }
  return network;
}

}  // namespace hearsay::net
