#include "hearsay/live/events.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/scratch.h"

namespace hearsay::live {
namespace {

class EventsTest : public ::testing::Test {
 protected:
  void append(std::string_view text) { std::ofstream(file_, std::ios::app) << text; }

  support::Scratch scratch_;
  std::filesystem::path file_ = scratch_ / "metrics.jsonl";
};

TEST_F(EventsTest, TellLinesWithWhereTheyEnd) {
  Events events(file_, "");
  EXPECT_EQ(events.next({}), "");
  append("{\"round\":0}\n{\"round\":1}\n");
  EXPECT_EQ(events.next({}), "") << "the feed says that nothing has changed";
  EXPECT_EQ(events.next({.changes = 1}),
            "id: 12\nevent: line\ndata: {\"round\":0}\n\n"
            "id: 24\nevent: line\ndata: {\"round\":1}\n\n");
  EXPECT_EQ(events.next({.changes = 1}), "");
  EXPECT_EQ(events.next({.changes = 2}), "");
}

TEST_F(EventsTest, GoOnFromTheLastId) {
  append("{\"round\":0}\n{\"round\":1}\n");
  EXPECT_EQ(Events(file_, "12").next({}), "id: 24\nevent: line\ndata: {\"round\":1}\n\n");
  EXPECT_EQ(Events(file_, "24").next({}), "");
  const std::string both = Events(file_, "").next({});
  for (const char* no_number : {"-1", "12x", "x", " 12", "1e1", "99999999999999999999999"}) {
    EXPECT_EQ(Events(file_, no_number).next({}), both) << no_number;
  }
  EXPECT_EQ(Events(file_, "13").next({}), "event: reset\ndata: null\n\n" + both);
}

TEST_F(EventsTest, TellProgressWhenItChanges) {
  Events events(file_, "");
  Feed::State state{.version = 1, .progress = "{\"round\":3}"};
  EXPECT_EQ(events.next(state), "event: progress\ndata: {\"round\":3}\n\n");
  EXPECT_EQ(events.next(state), "");
  state.progress = "{\"round\":4}";
  EXPECT_EQ(events.next(state), "event: progress\ndata: {\"round\":4}\n\n");
}

TEST_F(EventsTest, TellOfTheFleetWhenItChanges) {
  Events events(file_, "");
  Feed feed;
  feed.fleet("\"<p>\"");
  EXPECT_EQ(events.next(feed.state()), "event: fleet\ndata: \"<p>\"\n\n");
  EXPECT_EQ(events.next(feed.state()), "");
  feed.fleet("\"<b>\"");
  EXPECT_EQ(events.next(feed.state()), "event: fleet\ndata: \"<b>\"\n\n");
}

TEST_F(EventsTest, EndAfterTheLastLine) {
  for (int i = 0; i < 3000; ++i) append(std::string(200, 'x') + "\n");
  Events events(file_, "0");
  Feed::State state{.ended = true};
  const std::string first = events.next(state);
  EXPECT_EQ(first.find("event: end"), std::string::npos) << "there are more lines than fit";
  EXPECT_FALSE(events.ended());
  std::string rest;
  while (!events.ended()) rest += events.next(state);
  EXPECT_TRUE(rest.ends_with("event: end\ndata: null\n\n"));
  EXPECT_EQ(events.next(state), "");
}

TEST(Feed, WakesThoseWhoWait) {
  Feed feed;
  EXPECT_EQ(feed.wait(0, std::chrono::milliseconds(1)).version, 0u);
  feed.changed();
  EXPECT_EQ(feed.wait(0, std::chrono::hours(1)).changes, 1u);
  feed.progress("a");
  const Feed::State told = feed.wait(1, std::chrono::hours(1));
  EXPECT_EQ(told.progress, "a");
  feed.end();
  EXPECT_TRUE(feed.wait(told.version, std::chrono::hours(1)).ended);
  feed.close();
  EXPECT_TRUE(feed.state().closed);
}

}  // namespace
}  // namespace hearsay::live
