#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearsay::live {

/// A connection to a port of this machine, byte by byte: a viewer may send anything. Data that does
/// not arrive within a minute fails the test.
class Client {
 public:
  explicit Client(std::uint16_t port);
  ~Client();
  Client(Client&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Client& operator=(Client&&) = delete;

  /// False: the other side has closed.
  bool send(std::string_view bytes);
  /// Reads until `text` has arrived; returns everything since the last call. Without it: until the
  /// other side closes.
  std::string receive(std::string_view text = "");
  void close();

 private:
  int descriptor_;
  std::string ahead_;  ///< read, but not returned yet
};

using Headers = std::vector<std::pair<std::string, std::string>>;

/// The text of a request; with the Host that a server on `port` of this machine expects, unless the
/// headers have one.
std::string request_of(const std::string& method, const std::string& target, std::uint16_t port,
                       Headers headers = {});

struct Reply {
  int status = 0;  ///< 0: no reply
  std::string head, body;
};

/// A whole request and its reply.
Reply ask(std::uint16_t port, const std::string& target, const Headers& headers = {},
          const std::string& method = "GET");

/// Parses what a server sent.
Reply parse(const std::string& text);

/// A directory with a run of two peers in it, made by hand, with `lines` lines of metrics.
void make_run(const std::string& directory, int lines);
/// The line of the `index`th evaluation.
std::string metrics_line(int index);

}  // namespace hearsay::live
