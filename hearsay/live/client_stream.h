#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include <httplib.h>

#include "hearsay/live/signal.h"

namespace hearsay::live {

/// One viewer's connection, with limits: on the bytes of a request, on the time to send it, and on
/// the time to read the response. cpp-httplib's own stream has no such overall limits, so an
/// endless line would fill memory, and one byte per second would hold a thread forever.
class ClientStream : public httplib::Stream {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t kRequestBytes = 8 << 10;
  static constexpr std::chrono::seconds kRequestTime{5};
  static constexpr std::chrono::seconds kAnswerTime{30};  ///< from its first byte on
  static constexpr std::chrono::minutes kMakingTime{10};  ///< until then: not the viewer's fault
  static constexpr std::chrono::seconds kStall{5};        ///< in which no byte is read

  /// `closing`: raised when the server closes; then all calls fail.
  ClientStream(int socket, const Signal& closing);
  ~ClientStream() override;  ///< closes the connection such that what was sent arrives

  /// The request has been read. The response may take that long from its first byte on.
  void answer_within(std::chrono::seconds time) {
    answer_time_ = time;
    deadline_ = Clock::now() + kMakingTime;
  }

  bool is_readable() const override;
  /// Whether the viewer is still connected and accepts bytes within kStall.
  bool is_writable() const override;
  ssize_t read(char* data, std::size_t size) override;
  ssize_t write(const char* data, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  bool wait(short events, Clock::time_point until) const;

  int socket_;
  const Signal& closing_;
  Clock::time_point deadline_;
  std::optional<std::chrono::seconds> answer_time_;  ///< until the first byte is written
  std::size_t left_ = kRequestBytes;                 ///< bytes still allowed
  std::array<char, 4096> ahead_{};   ///< read ahead: requests are parsed byte by byte
  std::size_t begin_ = 0, end_ = 0;  ///< of it, not consumed yet
};

}  // namespace hearsay::live
