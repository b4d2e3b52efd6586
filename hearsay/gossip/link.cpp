#include "hearsay/gossip/link.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/core/random.h"

namespace hearsay::gossip {

namespace {

constexpr Parameter kParameters[] = {
    {"latency", "0", "[0, inf)", "seconds from the end of sending to arrival"},
    {"bandwidth", "1e9", "(0, inf)", "bytes/s that a peer can send"},
    {"compute", "0", "[0, inf)", "seconds of one gradient"},
    {"straggler", "0", "[0, inf)",
     "mean extra share of a gradient's time, exponentially distributed"},
    {"loss", "0", "[0, 1)", "probability that a message is lost"},
};

}  // namespace

std::span<const Parameter> Link::parameters() { return kParameters; }

Link::Link(std::string_view keys, std::size_t peers, std::uint64_t seed)
    : seed_(seed), clock_(peers, 0.0), started_(peers, 0.0) {
  if (keys == "none") return;
  const Arguments arguments(fmt::format("link:{}", keys), kParameters);
  simulated_ = true;
  latency_ = arguments.number_in_range("latency");
  bandwidth_ = arguments.number_in_range("bandwidth");
  compute_ = arguments.number_in_range("compute");
  straggler_ = arguments.number_in_range("straggler");
  loss_ = arguments.number_in_range("loss");
}

bool Link::arrives(const graph::Edge& edge, std::uint32_t round) const {
  if (loss_ == 0) return true;
  // Words 0 and 1 of a peer's random stream are for its straggler delay; message losses follow, one
  // word per receiver.
  const Random random(seed_, Purpose::kLink, edge.sender, round);
  return to_unit_float(random.word(2 + edge.receiver)) >= loss_;
}

void Link::compute(std::uint32_t round) {
  if (!simulated_) return;
  started_ = clock_;
  for (std::size_t i = 0; i < clock_.size(); ++i) {
    Random random(seed_, Purpose::kLink, static_cast<std::uint32_t>(i), round);
    const double extra = straggler_ > 0 ? -std::log(1 - random.uniform()) * straggler_ : 0;
    clock_[i] += compute_ * (1 + extra);
  }
}

void Link::gossip(const graph::Weights& weights, std::span<const std::size_t> bytes,
                  bool send_first) {
  if (!simulated_) return;
  std::vector<double> ready = clock_;
  for (std::size_t i = 0; i < clock_.size(); ++i) {
    double sent = send_first ? started_[i] : clock_[i];
    for (const graph::Edge& edge : weights.out_of(i)) {
      sent += static_cast<double>(bytes[i]) / bandwidth_;
      ready[edge.receiver] = std::max(ready[edge.receiver], sent + latency_);
    }
    ready[i] = std::max(ready[i], sent);
  }
  clock_.swap(ready);
  started_ = clock_;
}

void Link::global(std::size_t bytes) {
  if (!simulated_) return;
  const double n = static_cast<double>(clock_.size());
  const double took =
      2 * (n - 1) * latency_ + 2 * (n - 1) / n * static_cast<double>(bytes) / bandwidth_;
  std::fill(clock_.begin(), clock_.end(), seconds() + took);
  started_ = clock_;
}

double Link::seconds() const { return *std::ranges::max_element(clock_); }

}  // namespace hearsay::gossip
