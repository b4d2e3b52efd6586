#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "cli/process.h"
#include "cli/stop.h"
#include "hearsay/live/listener.h"
#include "live/client.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;
using live::ask, live::Client, live::request_of;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

/// Runs that are watched during training.
class Live : public ::testing::Test {
 protected:
  static constexpr const char* kForever = "100000000";

  static Words run_of(const std::string& rounds, const std::string& out, const Words& more) {
    Words words = {"train", "--data",    "digits",   "--model",   "logistic",   "--peers", "4",
                   "--lr",  "0.01",      "--rounds", rounds,      "--evaluate", "200",     "--out",
                   out,     "--compare", "no",       "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// Starts a run, and waits until it has printed its address.
  void start(const Words& words, const char* said = "err") {
    child_.emplace(words, scratch_.path(), scratch_ / "out", scratch_ / "err");
    std::string all;
    std::size_t begin = 0, end = std::string::npos;
    wait_until("it said where it can be watched", [&] {
      all = text(said);
      begin = all.find("http://");
      end = begin == std::string::npos ? begin : all.find('\n', begin);
      return end != std::string::npos;
    });
    url_ = all.substr(begin, end - begin);
    const std::size_t colon = url_.rfind(':');
    port_ = static_cast<std::uint16_t>(std::stoi(url_.substr(colon + 1)));
  }

  /// Starts a run, and suspends it before its last evaluation, until SIGCONT. Its server keeps
  /// running.
  void start_held(const std::string& rounds, const std::string& out) {
    const std::string metrics = out + "/metrics.jsonl";
    for (;;) {
      start(run_of(rounds, out, {"--live"}));
      const std::string last = fmt::format("{{\"round\":{},", rounds);
      if (child_->hold() && !holds(text(metrics.c_str()), last)) return;
      child_.reset();  // it had already finished: try again
      fs::remove_all(scratch_ / out);
    }
  }

  /// Waits for the condition; throws if the child ends before it holds.
  template <typename Condition>
  void wait_until(const char* what, Condition condition) const {
    for (;;) {
      const bool over = child_->ended();
      if (condition()) return;
      if (over) throw std::runtime_error(fmt::format("it ended before {}: {}", what, text("err")));
      wait_a_little();
    }
  }

  std::string text(const char* name) const { return support::read_text(scratch_ / name); }

  /// The server process, a child of the run's.
  pid_t server() const {
    pid_t process = 0;
    wait_until("it had a server", [&] {
      const std::vector<pid_t> children = children_of(child_->pid());
      if (!children.empty()) process = children.front();
      return !children.empty();
    });
    return process;
  }

  Client viewer() const {
    Client client(port_);
    client.send(request_of("GET", "/events", port_));
    return client;
  }

  support::Scratch scratch_;
  std::optional<Child> child_;
  std::string url_;
  std::uint16_t port_ = 0;
};

TEST_F(Live, ARunIsSeenWhileItGoesOn) {
  start(run_of(kForever, "run", {"--live"}));
  EXPECT_EQ(url_, fmt::format("http://127.0.0.1:{}/", port_));
  EXPECT_EQ(ask(port_, "/").status, 200);
  Client client = viewer();
  client.receive("event: progress\ndata: {\"round\":");
  client.receive(",\"total\":1000000");
  client.receive(",\"rounds_per_second\":");
  client.receive(",\"seconds_left\":");
  client.receive("event: line\n");  // lines keep coming
  viewer().receive("event: line\ndata: {\"round\":600,");
}

TEST_F(Live, ARunsNameNeedNotBeAscii) {
  const std::string out = "\u00e9t\u00e9";
  ASSERT_EQ(hearsay(run_of("20", out, {}), scratch_.path()).status, 0);
  start({"watch", out}, "out");
  const auto page = ask(port_, "/");
  EXPECT_EQ(page.status, 200);
  EXPECT_TRUE(holds(page.body, out));
}

TEST_F(Live, ViewersHaveAMomentForTheFinalPage) {
  start_held("4000", "run");
  Client client = viewer();
  client.receive("text/event-stream");
  child_->signal(SIGCONT);
  client.receive("event: end\n");
  EXPECT_TRUE(holds(ask(port_, "/").body, "Figures at the end"));
  EXPECT_EQ(child_->wait(), 0) << text("err");
  EXPECT_THROW(Client{port_}, std::runtime_error) << "the server ends with the run";
}

TEST_F(Live, WatchingChangesNothing) {
  ASSERT_EQ(hearsay(run_of("4000", "alone", {}), scratch_.path()).status, 0);
  start_held("4000", "watched");
  Client reads = viewer(), does_not_read = viewer(), says_nothing(port_);
  Client garbage(port_);
  garbage.send(std::string(1 << 20, '\xff'));
  child_->signal(SIGCONT);
  reads.receive("event: end\n");
  EXPECT_EQ(child_->wait(), 0) << text("err");
  EXPECT_EQ(support::lasting(support::summary_of(scratch_ / "watched")),
            support::lasting(support::summary_of(scratch_ / "alone")));
  EXPECT_EQ(support::metrics_of(scratch_ / "watched"), support::metrics_of(scratch_ / "alone"));
}

TEST_F(Live, ARunOutlivesItsServer) {
  ASSERT_EQ(hearsay(run_of("4000", "alone", {}), scratch_.path()).status, 0);
  start_held("4000", "watched");
  const pid_t process = server();
  ASSERT_EQ(::kill(process, SIGKILL), 0);
  while (lives(process)) wait_a_little();
  child_->signal(SIGCONT);
  EXPECT_EQ(child_->wait(), 0);
  EXPECT_TRUE(holds(text("err"), "hearsay: the live page is gone; training goes on\n"))
      << text("err");
  EXPECT_EQ(support::summary_of(scratch_ / "watched").at("models_sha256"),
            support::summary_of(scratch_ / "alone").at("models_sha256"));
}

/// A server that responds to nothing, not even to being ended.
TEST_F(Live, ARunOutlivesAServerThatHangs) {
  start_held("2000", "run");
  const pid_t process = server();
  ASSERT_EQ(::kill(process, SIGSTOP), 0);
  while (!is_held(process)) wait_a_little();
  child_->signal(SIGCONT);
  EXPECT_EQ(child_->wait(), 0);
  EXPECT_FALSE(lives(process)) << "it is killed";
}

TEST_F(Live, AServerDoesNotOutliveItsRun) {
  start(run_of(kForever, "run", {"--live"}));
  Client client = viewer();
  client.receive("event: line\n");
  const pid_t process = server();
  child_->kill();
  child_->wait();
  client.receive("event: end\n");
  while (lives(process)) wait_a_little();
}

TEST_F(Live, AStopTellsViewers) {
  start(run_of(kForever, "run", {"--live"}));
  Client client = viewer();
  client.receive("event: line\n");
  child_->signal(SIGINT);
  client.receive("event: end\n");
  EXPECT_EQ(child_->wait(), kStopped);
  EXPECT_TRUE(holds(text("err"), "go on with: hearsay train --resume run\n")) << text("err");

  // And the resumed run can be watched again.
  start({"train", "--resume", "run", "--live"});
  viewer().receive("event: line\n");
  child_->signal(SIGINT);
  EXPECT_EQ(child_->wait(), kStopped);
}

TEST_F(Live, TheServerIsModest) {
  start(run_of(kForever, "run", {"--live"}));
  viewer().receive("event: line\n");
  const pid_t process = server();
  EXPECT_EQ(::getpriority(PRIO_PROCESS, static_cast<id_t>(process)), 19);
  std::ifstream in(fmt::format("/proc/{}/limits", process));
  const std::string limits{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(holds(limits, "Max open files            128                  128")) << limits;
  EXPECT_FALSE(holds(limits, "Max address space         unlimited")) << limits;
}

TEST_F(Live, APortThatIsTakenIsFoundBeforeAnythingIsWritten) {
  const live::Listener other("127.0.0.1", 0);
  const Result result =
      hearsay(run_of("10", "run", {"--live", std::to_string(other.port())}), scratch_.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err,
            fmt::format("hearsay: [live] cannot listen on port {} of 127.0.0.1: Address "
                        "already in use; give another port, or 0 for any free one\n",
                        other.port()));
  EXPECT_FALSE(fs::exists(scratch_ / "run"));
}

TEST_F(Live, OtherMachinesNeedAToken) {
  start(run_of(kForever, "run", {"--live", "--address", "0.0.0.0"}));
  const std::size_t at = url_.find("/?token=");
  ASSERT_NE(at, std::string::npos) << url_;
  const std::string target = url_.substr(at);
  EXPECT_EQ(target.size(), std::string("/?token=").size() + 32);
  EXPECT_EQ(ask(port_, target).status, 200);
  EXPECT_EQ(ask(port_, "/").status, 403);
  EXPECT_EQ(ask(port_, "/events").status, 403);
  std::ifstream in(fmt::format("/proc/{}/cmdline", server()));
  const std::string words{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(holds(words, "watch")) << words;
  EXPECT_FALSE(holds(words, url_.substr(at + 8))) << "whoever lists processes would see it";
}

TEST_F(Live, QuietRunsSayWhereTheyCanBeSeen) {
  start(run_of("10", "run", {"--live", "--quiet"}));
  EXPECT_EQ(child_->wait(), 0);
  EXPECT_EQ(text("out"), "run\n");
  EXPECT_EQ(text("err"), fmt::format("hearsay: the run can be watched at {}\n", url_));
}

TEST_F(Live, AConfigFileMayFollow) {
  support::write_text(scratch_ / "a.toml", "peers = 3\ndata = \"least-squares\"\nrounds = 10\n");
  const Result result = hearsay({"train", "--live", "a.toml", "--out", "run"}, scratch_.path());
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(support::summary_of(scratch_ / "run").at("peers"), 3);
}

TEST_F(Live, MistakesAreNamed) {
  const auto message = [&](const Words& words) {
    const Result result = hearsay(words, scratch_.path());
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_EQ(message({"train", "--live", "65536"}),
            "hearsay: [live] a port is a number up to 65535, got 65536\n");
  EXPECT_EQ(message({"train", "--live", "--live-address", "here"}),
            "hearsay: [live] 'here' is no address; give localhost, or digits as 127.0.0.1, ::1 or "
            "0.0.0.0\n");
  EXPECT_EQ(message({"train", "--live-address", "0.0.0.0"}),
            "hearsay: [train] --address requires --live; see hearsay train --help\n");
  EXPECT_EQ(message({"train", "a.toml", "b.toml", "--live"}),
            "hearsay: [live] --live is for one run; watch several with a `hearsay watch DIR` for "
            "each\n");
  EXPECT_EQ(message({"watch", "nothing"}), "hearsay: [watch] there is no directory 'nothing'\n");
  EXPECT_TRUE(fs::is_empty(scratch_.path()));
  EXPECT_EQ(message({"watch", "."}),
            "hearsay: [watch] . holds no run: there is no config.toml in it; give the --out of a "
            "hearsay train, such as runs/001\n");
  for (const char* run : {"002", "001"}) {
    fs::create_directory(scratch_ / run);
    support::write_text(scratch_ / run / "config.toml", "");
  }
  EXPECT_EQ(message({"watch", "."}),
            "hearsay: [watch] . holds no run: there is no config.toml in it; hearsay watch ./001 "
            "shows one\n");
}

class Watch : public Live {};

TEST_F(Watch, ShowsARunThatHasFinished) {
  ASSERT_EQ(hearsay(run_of("20", "run", {}), scratch_.path()).status, 0);
  start({"watch", "run"}, "out");
  EXPECT_EQ(ask(port_, "/").status, 200);
  EXPECT_EQ(ask(port_, "/summary.json").body, text("run/summary.json"));
  viewer().receive("event: end\n");
  child_->signal(SIGINT);
  EXPECT_EQ(child_->wait(), 0);
}

/// The library parses this header with a regular expression, whose recursion depth is the text's
/// length.
TEST_F(Watch, OutlivesHeadersOfAnyLength) {
  ASSERT_EQ(hearsay(run_of("20", "run", {}), scratch_.path()).status, 0);
  start({"watch", "run"}, "out");
  for (const char piece : {'1', ','}) {
    ask(port_, "/", {{"Range", "bytes=0-" + std::string(8000, piece)}});
  }
  EXPECT_EQ(ask(port_, "/").status, 200);
  child_->signal(SIGINT);
  EXPECT_EQ(child_->wait(), 0);
}

TEST_F(Watch, FollowsARunOfAnotherProcess) {
  Child run(run_of("4000", "run", {"--quiet"}), scratch_.path(), scratch_ / "o", scratch_ / "e");
  while (!fs::exists(scratch_ / "run/config.toml") && !run.ended()) wait_a_little();
  start({"watch", "run", "--port", "0"}, "out");
  Client client = viewer();
  client.receive("event: line\n");
  client.receive("event: end\n");
  EXPECT_EQ(run.wait(), 0);
  child_->signal(SIGTERM);
  EXPECT_EQ(child_->wait(), 0);
}

}  // namespace
}  // namespace hearsay::cli
