#include "hearsay/live/client_stream.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace hearsay::live {

ClientStream::ClientStream(int socket, const Signal& closing)
    : socket_(socket), closing_(closing), deadline_(Clock::now() + kRequestTime) {
  // The system buffers less for viewers that do not read, and they are dropped sooner.
  constexpr int kSendBuffer = 128 << 10;
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
}

ClientStream::~ClientStream() {
  // Unread bytes would make the system reset the connection, and discard our answer.
  ::shutdown(socket_, SHUT_WR);
  std::array<char, 4096> ignored;
  std::size_t more = 64 << 10;
  while (more > 0) {
    const ssize_t got = ::recv(socket_, ignored.data(), ignored.size(), MSG_DONTWAIT);
    if (got <= 0) break;
    more -= std::min(more, static_cast<std::size_t>(got));
  }
  ::close(socket_);
}

/// Waits until the socket is ready for one of `events`. False: timed out, the server closes, or the
/// viewer has gone.
bool ClientStream::wait(short events, Clock::time_point until) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> both = {pollfd{socket_, events, 0},
                                  pollfd{closing_.descriptor(), POLLIN, 0}};
    const int ready = ::poll(both.data(), both.size(), static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || both[1].revents != 0) return false;
    if ((both[0].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return false;
    return true;
  }
}

bool ClientStream::is_readable() const { return begin_ < end_ || wait(POLLIN, deadline_); }

bool ClientStream::is_writable() const {
  pollfd gone{socket_, POLLRDHUP, 0};
  if (::poll(&gone, 1, 0) != 0) return false;
  return wait(POLLOUT, std::min(deadline_, Clock::now() + kStall));
}

ssize_t ClientStream::read(char* data, std::size_t size) {
  if (begin_ == end_) {
    if (left_ == 0 || !wait(POLLIN, deadline_)) return -1;
    const ssize_t got =
        ::recv(socket_, ahead_.data(), std::min(ahead_.size(), left_), MSG_DONTWAIT);
    if (got <= 0) return got;
    begin_ = 0;
    end_ = static_cast<std::size_t>(got);
    left_ -= end_;
  }
  const std::size_t given = std::min(size, end_ - begin_);
  std::copy_n(ahead_.data() + begin_, given, data);
  begin_ += given;
  return static_cast<ssize_t>(given);
}

ssize_t ClientStream::write(const char* data, std::size_t size) {
  if (answer_time_) deadline_ = Clock::now() + *answer_time_;
  answer_time_.reset();
  for (;;) {
    if (!wait(POLLOUT, std::min(deadline_, Clock::now() + kStall))) return -1;
    const ssize_t sent = ::send(socket_, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0 || (errno != EAGAIN && errno != EINTR)) return sent;
  }
}

void ClientStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();  // not used
  port = 0;
}

void ClientStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace hearsay::live
