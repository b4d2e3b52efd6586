#include "hearsay/live/server.h"

#include <gtest/gtest.h>

#include <fstream>

#include <fmt/format.h>

#include "live/client.h"
#include "support/scratch.h"

namespace hearsay::live {
namespace {

class ServerTest : public ::testing::Test {
 protected:
  /// Serves a run with three lines.
  explicit ServerTest(const std::string& token = "") {
    make_run(scratch_ / "run", 3);
    Listener listener("127.0.0.1", 0);
    port_ = listener.port();
    server_ = make_server(scratch_ / "run", std::move(listener), token);
  }

  Client viewer(const Headers& headers = {}) {
    Client client(port_);
    client.send(request_of("GET", "/events", port_, headers));
    return client;
  }

  support::Scratch scratch_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, GivesThePage) {
  const Reply reply = ask(port_, "/");
  EXPECT_EQ(reply.status, 200);
  EXPECT_NE(reply.body.find("<!DOCTYPE html>"), std::string::npos);
  EXPECT_NE(reply.body.find("</html>"), std::string::npos);
  for (const char* header :
       {"Content-Type: text/html; charset=utf-8\r\n", "Cache-Control: no-store\r\n",
        "X-Content-Type-Options: nosniff\r\n", "Referrer-Policy: no-referrer\r\n",
        "Content-Security-Policy: default-src 'none';", "Connection: close\r\n"}) {
    EXPECT_NE(reply.head.find(header), std::string::npos) << header << " in " << reply.head;
  }
}

TEST_F(ServerTest, TellsOfTheFleetOfADevice) {
  Client client = viewer();
  client.receive("event: line\n");
  support::write_text(scratch_ / "run/fleet.json",
                      R"({"self": "pi-1", "peers": [{"name": "pi-1"}, {"name": "<b>"}]})");
  client.receive("event: fleet\ndata: \"<div class=\\\"sheet members\\\">");
  client.receive("<span>&lt;b&gt;</span>");
  client.receive("\n\n");
  support::write_text(scratch_ / "run/events.jsonl",
                      "{\"time\": 1, \"event\": \"pi-2 is gone\\nevent: end\"}\n");
  const std::string news = client.receive("pi-2 is gone");
  EXPECT_EQ(client.receive("\n\n").find("\nevent: end"), std::string::npos) << "one line";
  viewer().receive("pi-2 is gone");  // later viewers get it at once
  support::write_text(scratch_ / "run/fleet.json", "\xff{");
  client.receive("event: fleet\n");
}

TEST_F(ServerTest, DoesNotCompress) {
  const Reply reply = ask(port_, "/", {{"Accept-Encoding", "gzip, deflate, br"}});
  EXPECT_EQ(reply.head.find("Content-Encoding"), std::string::npos) << reply.head;
  EXPECT_EQ(reply.body, ask(port_, "/").body);
}

TEST_F(ServerTest, GivesTheHeadAlone) {
  const Reply reply = ask(port_, "/", {}, "HEAD");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "");
}

TEST_F(ServerTest, GivesFilesOfTheRun) {
  const Reply lines = ask(port_, "/metrics.jsonl");
  EXPECT_EQ(lines.status, 200);
  EXPECT_EQ(lines.body, support::read_text(scratch_ / "run/metrics.jsonl"));
  EXPECT_EQ(ask(port_, "/summary.json").status, 404);
  support::write_text(scratch_ / "run/summary.json", "{}");
  EXPECT_EQ(ask(port_, "/summary.json").body, "{}");
  support::write_text(scratch_ / "run/summary.json", "");
  const Reply empty = ask(port_, "/summary.json");
  EXPECT_EQ(empty.status, 200);
  EXPECT_EQ(empty.body, "");
  EXPECT_EQ(ask(port_, "/metrics.jsonl", {}, "HEAD").status, 200);
}

TEST_F(ServerTest, HasNothingElse) {
  for (const char* target :
       {"/config.toml", "/../config.toml", "/%2e%2e/config.toml", "//config.toml", "/./",
        "/metrics.jsonl/../config.toml", "/metrics.jsonl/", "/checkpoint", "/models/", "/run",
        "/index.html", "/%00", "/events/"}) {
    EXPECT_EQ(ask(port_, target).status, 404) << target;
  }
  EXPECT_EQ(ask(port_, "/favicon.ico").status, 204);
}

TEST_F(ServerTest, CanOnlyBeRead) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"}) {
    const Reply reply = ask(port_, "/", {{"Content-Length", "0"}}, method);
    EXPECT_EQ(reply.status, 405) << method;
    EXPECT_NE(reply.head.find("Allow: GET, HEAD\r\n"), std::string::npos) << reply.head;
  }
}

TEST_F(ServerTest, AsksForItsOwnName) {
  EXPECT_EQ(ask(port_, "/", {{"Host", fmt::format("localhost:{}", port_)}}).status, 200);
  for (const char* target : {"/", "/events", "/metrics.jsonl"}) {
    EXPECT_EQ(ask(port_, target, {{"Host", "example.org"}}).status, 403) << target;
  }
}

TEST_F(ServerTest, TellsLinesAsTheyCome) {
  Client client = viewer();
  const std::string head = client.receive("\r\n\r\n");
  EXPECT_NE(head.find("200 OK"), std::string::npos) << head;
  EXPECT_NE(head.find("Content-Type: text/event-stream"), std::string::npos) << head;
  for (int i = 0; i < 3; ++i) client.receive("data: " + metrics_line(i) + "\n\n");
  client.receive(": beat\n\n");
  EXPECT_EQ(server_->viewers(), 1u);
  std::ofstream(scratch_ / "run/metrics.jsonl", std::ios::app) << metrics_line(3) << '\n';
  const std::string more = client.receive("data: " + metrics_line(3) + "\n\n");
  EXPECT_EQ(more.find(metrics_line(2)), std::string::npos) << "each once";
  server_->progress("{\"round\":31}");
  client.receive("event: progress\ndata: {\"round\":31}\n\n");
  server_->end();
  client.receive("event: end\ndata: null\n\n");
  client.receive();  // and closes
}

TEST_F(ServerTest, GoesOnAfterTheLastId) {
  const std::size_t length = metrics_line(0).size() + 1;  // the same for all below 10
  Client client = viewer({{"Last-Event-ID", std::to_string(length)}});
  const std::string told = client.receive(metrics_line(2));
  EXPECT_EQ(told.find(metrics_line(0)), std::string::npos) << told;
  EXPECT_NE(told.find(metrics_line(1)), std::string::npos) << told;
}

TEST_F(ServerTest, TellsWhenLinesDoNotHold) {
  Client client = viewer();
  client.receive(metrics_line(2));
  std::filesystem::resize_file(scratch_ / "run/metrics.jsonl", 0);
  client.receive("event: reset\ndata: null\n\n");
}

TEST_F(ServerTest, AfterTheEndThePageIsStill) {
  server_->end();
  EXPECT_EQ(ask(port_, "/").status, 200);
  const Reply events = ask(port_, "/events");
  EXPECT_NE(events.body.find("event: end"), std::string::npos) << events.body;
}

TEST_F(ServerTest, ClosesWhileViewersAreThere) {
  std::vector<Client> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(viewer());
  for (Client& client : clients) client.receive(metrics_line(2));
  server_.reset();
  for (Client& client : clients) client.receive();
}

TEST_F(ServerTest, OfARunThatHasNotBegun) {
  Listener listener("127.0.0.1", 0);
  const std::uint16_t port = listener.port();
  const auto server = make_server(scratch_ / "nothing", std::move(listener), "");
  EXPECT_NE(ask(port, "/").body.find("There is nothing to see yet"), std::string::npos);
  EXPECT_EQ(ask(port, "/metrics.jsonl").status, 404);
  Client client(port);
  client.send(request_of("GET", "/events", port));
  client.receive(": beat\n\n");
  make_run(scratch_ / "nothing", 1);
  client.receive(metrics_line(0));
}

class ServerWithToken : public ServerTest {
 protected:
  ServerWithToken() : ServerTest("0123456789abcdef0123456789abcdef") {}
};

TEST_F(ServerWithToken, AsksForIt) {
  for (const char* target : {"/", "/events", "/metrics.jsonl", "/summary.json", "/elsewhere"}) {
    EXPECT_EQ(ask(port_, target).status, 403) << target;
    EXPECT_EQ(ask(port_, std::string(target) + "?token=").status, 403) << target;
    EXPECT_EQ(ask(port_, std::string(target) + "?token=0123456789abcdef0123456789abcdee").status,
              403)
        << target;
  }
  const std::string token = "?token=0123456789abcdef0123456789abcdef";
  EXPECT_EQ(ask(port_, "/" + token, {{"Host", "example.org"}}).status, 200) << "by any name";
  EXPECT_EQ(ask(port_, "/metrics.jsonl" + token).status, 200);
  EXPECT_EQ(ask(port_, "/elsewhere" + token).status, 404);
}

}  // namespace
}  // namespace hearsay::live
