#include "hearsay/run/peer/event_log.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <thread>

#include "support/scratch.h"

namespace hearsay::run {
namespace {

using nlohmann::json;

std::vector<json> lines_of(const std::filesystem::path& file) {
  std::vector<json> lines;
  std::istringstream text(support::read_text(file));
  for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
  return lines;
}

TEST(EventLog, WritesALineAnEventAndPassesItOn) {
  support::Scratch scratch;
  std::vector<std::string> said;
  {
    EventLog log(scratch / "events.jsonl", [&](const std::string& what) { said.push_back(what); });
    log.add("pi-7 is connected", 1000.25);
    log.add("it says \"\xff\"", 1002);
  }
  const std::vector<json> lines = lines_of(scratch / "events.jsonl");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], (json{{"time", 1000.25}, {"event", "pi-7 is connected"}}));
  EXPECT_EQ(lines[1]["event"], "it says \"\xef\xbf\xbd\"");
  EXPECT_EQ(said, (std::vector<std::string>{"pi-7 is connected", "it says \"\xff\""}));
}

TEST(EventLog, SaysHowManyMoreThereWereInASecond) {
  support::Scratch scratch;
  EventLog log(scratch / "events.jsonl", {});
  for (int k = 0; k < 50; ++k) log.add("again", 7.5);
  log.add("later", 9);
  const std::vector<json> lines = lines_of(scratch / "events.jsonl");
  ASSERT_EQ(lines.size(), EventLog::kMostPerSecond + 2);
  EXPECT_EQ(lines[EventLog::kMostPerSecond]["event"], "30 more events in a second");
  EXPECT_EQ(lines.back()["event"], "later");
}

TEST(EventLog, ContinuesTheFileOfAnEarlierLife) {
  support::Scratch scratch;
  EventLog(scratch / "events.jsonl", {}).add("first", 1);
  EventLog(scratch / "events.jsonl", {}).add("second", 2);
  EXPECT_EQ(lines_of(scratch / "events.jsonl").size(), 2u);
}

TEST(EventLog, GoesOnWhereNothingCanBeWritten) {
  int said = 0;
  EventLog log("/proc/none/events.jsonl", [&](const std::string&) { ++said; });
  log.add("one", 1);
  log.add("two", 2);
  EXPECT_EQ(said, 2);
}

TEST(EventLog, IsForSeveralThreads) {
  support::Scratch scratch;
  {
    EventLog log(scratch / "events.jsonl", {});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&log] {
        for (int k = 0; k < 100; ++k) log.add("event", 10 * k);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (const json& line : lines_of(scratch / "events.jsonl")) EXPECT_TRUE(line.is_object());
}

}  // namespace
}  // namespace hearsay::run
