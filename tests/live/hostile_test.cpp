#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "hearsay/core/random.h"
#include "hearsay/live/server.h"
#include "live/client.h"
#include "support/scratch.h"

namespace hearsay::live {
namespace {

/// Hostile viewers. After each test the server must still serve others, and close.
class Hostile : public ::testing::Test {
 protected:
  Hostile() {
    make_run(scratch_ / "run", 3);
    Listener listener("127.0.0.1", 0);
    port_ = listener.port();
    server_ = make_server(scratch_ / "run", std::move(listener), "");
  }

  void TearDown() override {
    EXPECT_EQ(ask(port_, "/").status, 200);
    server_.reset();
  }

  support::Scratch scratch_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Server> server_;
};

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// How many descriptors of this process, and so of the server, refer to that file.
std::size_t times_open(const std::filesystem::path& file) {
  const std::filesystem::path name = std::filesystem::canonical(file);
  std::size_t times = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed_meanwhile;
    if (std::filesystem::read_symlink(entry.path(), closed_meanwhile) == name) ++times;
  }
  return times;
}

/// Far more than the server may read; the system's buffers hold some.
constexpr std::size_t kFlood = 64 << 20;

/// Whether the server accepts `text` repeated up to kFlood bytes.
bool takes(Client& client, const std::string& text) {
  for (std::size_t sent = 0; sent < kFlood; sent += text.size()) {
    if (!client.send(text)) return false;
  }
  return true;
}

TEST_F(Hostile, ARequestLineWithoutEndIsCutOff) {
  Client client(port_);
  EXPECT_FALSE(takes(client, std::string(1 << 16, 'a')));
}

TEST_F(Hostile, AHeaderWithoutEndIsCutOff) {
  Client client(port_);
  client.send("GET / HTTP/1.1\r\nX: ");
  EXPECT_FALSE(takes(client, std::string(1 << 16, 'a')));
}

TEST_F(Hostile, HeadersWithoutEndAreCutOff) {
  Client client(port_);
  client.send("GET / HTTP/1.1\r\n");
  EXPECT_FALSE(takes(client, "A: b\r\n"));
}

TEST_F(Hostile, BodiesAreNotRead) {
  Client plain(port_);
  plain.send(request_of("POST", "/", port_, {{"Content-Length", std::to_string(kFlood)}}));
  EXPECT_EQ(parse(plain.receive("can only be read\n")).status, 405);
  EXPECT_FALSE(takes(plain, std::string(1 << 16, 'a')));

  Client chunked(port_);
  chunked.send(request_of("GET", "/", port_, {{"Transfer-Encoding", "chunked"}}));
  EXPECT_FALSE(takes(chunked, "10\r\n0123456789abcdef\r\n"));
}

TEST_F(Hostile, RandomBytesAreRefused) {
  Random random(6, Purpose::kTest, 1);
  for (int i = 0; i < 60; ++i) {
    Client client(port_);
    std::string bytes(random.below(3000), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.below(256));
    if (i % 3 == 1) bytes = "GET " + bytes + "\r\n\r\n";
    if (i % 3 == 2) bytes = "GET / HTTP/1.1\r\n" + bytes + "\r\n\r\n";
    if (!client.send(bytes + "\r\n\r\n")) continue;
    if (i % 2 == 0) continue;  // disconnects
    EXPECT_NE(parse(client.receive()).status, 200);
  }
}

TEST_F(Hostile, OddRequestsAreRefused) {
  for (const std::string& text :
       {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"),
        std::string("GET  / HTTP/1.1\r\n\r\n"), std::string("get / HTTP/1.1\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nHost\r\n\r\n"),
        "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n",
        "GET /?" + std::string(4000, '&') + " HTTP/1.1\r\n\r\n",
        "GET /?token=" + std::string(4000, '%') + " HTTP/1.1\r\n\r\n",
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        std::string("\x16\x03\x01\x02\x00\x01\r\n\r\n", 10)}) {
    Client client(port_);
    client.send(text);
    EXPECT_NE(parse(client.receive()).status, 200) << text;
  }
}

TEST_F(Hostile, PartsOfFilesAreNotGiven) {
  const std::string whole = ask(port_, "/").body;
  std::string many = "bytes=0-1";
  while (many.size() < 8000) many += ",0-";
  for (const std::string& range : {std::string("bytes=0-0"), std::string("bytes=5-"),
                                   std::string("bytes=-99999999999"), many}) {
    const Reply reply = ask(port_, "/", {{"Range", range}});
    if (reply.status == 200) {
      EXPECT_EQ(reply.body, whole);
    } else {
      EXPECT_TRUE(reply.status == 416 || reply.status == 400) << reply.status << " " << range;
    }
  }
}

/// Connections that send nothing, or one byte, use no more of the process than the common limits.
TEST_F(Hostile, ConnectionsDoNotAddUp) {
  const std::size_t before = open_descriptors();
  {
    std::vector<Client> clients;
    for (int i = 0; i < 40; ++i) {
      try {
        clients.emplace_back(port_);
      } catch (const std::runtime_error&) {
        break;  // the system's queue is full
      }
      if (i % 2 == 0) clients.back().send("G");
    }
    EXPECT_LE(open_descriptors(), before + clients.size() + Server::kConnections + 4);
  }
  EXPECT_EQ(ask(port_, "/").status, 200) << "when they have left";
}

TEST_F(Hostile, ViewersThatDoNotReadKeepNobodyFromThePage) {
  std::vector<Client> viewers;
  for (std::size_t i = 0; i < Server::kViewers; ++i) {
    viewers.emplace_back(port_);
    viewers.back().send(request_of("GET", "/events", port_));
  }
  while (server_->viewers() < Server::kViewers) std::this_thread::yield();
  const Reply full = ask(port_, "/events");
  EXPECT_EQ(full.status, 503);
  EXPECT_NE(full.head.find("Retry-After: "), std::string::npos) << full.head;
  EXPECT_EQ(ask(port_, "/").status, 200);
  viewers.clear();
  while (server_->viewers() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

TEST_F(Hostile, WhoDoesNotTakeThePageIsLeft) {
  constexpr std::size_t kSize = 32 << 20;
  const std::filesystem::path file = scratch_ / "run/metrics.jsonl";
  support::write_text(file, std::string(kSize, 'x'));
  std::vector<Client> clients;
  for (std::size_t i = 0; i + 1 < Server::kConnections; ++i) {
    clients.emplace_back(port_);
    clients.back().send(request_of("GET", "/metrics.jsonl", port_));
  }
  EXPECT_EQ(ask(port_, "/summary.json").status, 404) << "others are served";
  for (Client& client : clients) client.receive("\r\n\r\n");  // a response to each has begun
  while (times_open(file) > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (Client& client : clients) {
    const std::size_t got = client.receive().size();  // what was sent before it was dropped
    EXPECT_GT(got, 0u);
    EXPECT_LT(got, kSize);
  }
}

TEST_F(Hostile, WhoLeavesInTheMiddleHarmsNobody) {
  for (int i = 0; i < 40; ++i) {
    Client client(port_);
    client.send(request_of("GET", i % 2 == 0 ? "/" : "/events", port_));
    if (i % 3 == 0) client.receive("HTTP/1.1 ");  // 503 while disconnected viewers still hold seats
  }
  while (server_->viewers() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  Client viewer(port_);
  viewer.send(request_of("GET", "/events", port_));
  viewer.receive("HTTP/1.1 200");
}

TEST_F(Hostile, ALinkInTheRunDirectoryShowsNothing) {
  namespace fs = std::filesystem;
  const fs::path run = scratch_ / "run";
  fs::rename(run / "metrics.jsonl", scratch_ / "secret");
  support::write_text(scratch_ / "secret", metrics_line(0) + "\n");
  fs::create_symlink("../secret", run / "metrics.jsonl");
  EXPECT_EQ(ask(port_, "/metrics.jsonl").status, 404);
  const Reply page = ask(port_, "/");
  EXPECT_NE(page.body.find("metrics.jsonl is a symbolic link"), std::string::npos) << page.body;
}

}  // namespace
}  // namespace hearsay::live
