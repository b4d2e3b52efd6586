#pragma once

#include <optional>

#include "hearsay/transport/transport.h"

namespace hearsay::transport {

/// The transport of a run in a single process: there are no other ranks to send to. Or of a process
/// that has a seat among others, but reaches them by other ways: a peer of an asynchronous run.
class Alone final : public Transport {
 public:
  Alone() = default;
  explicit Alone(const Seat& seat) : seat_(seat) {}

  std::string_view name() const override { return "alone"; }
  Seat seat() const override;
  bool send(std::size_t process, Label label, ByteView head, ByteView body) override;
  bool flush(Label, std::chrono::milliseconds) override { return true; }
  void expect(std::size_t process, Label label, std::span<std::uint8_t> buffer) override;
  std::optional<Arrival> receive(Label label, std::chrono::milliseconds patience) override;
  std::vector<std::size_t> gone() const override { return {}; }
  bool fast_sum(std::span<float>) override { return !seat_; }  // the sum over one process
  void abort(int) noexcept override {}

 private:
  std::optional<Seat> seat_;
};

}  // namespace hearsay::transport
