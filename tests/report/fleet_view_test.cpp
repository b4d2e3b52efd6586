#include "hearsay/report/fleet_view.h"

#include <cmath>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hearsay/report/page/page.h"
#include "report/run_directories.h"
#include "report/well_formed.h"

namespace hearsay::report {
namespace {

using support::Scratch, support::write_text;

constexpr const char* kFleet = R"({"self": "pi-1", "time": 1763553600.25, "peers": [
  {"name": "pi-1", "slot": 0, "status": "training", "live": true, "rounds": 120, "rate": 48.7,
   "clock": 119.5, "push_sum": 0.75, "bytes": 14600, "loss": 0.25, "score": 92.5},
  {"name": "pi-2", "slot": 1, "status": "left", "live": false, "rounds": 70, "rate": 40,
   "clock": 80, "push_sum": 1.5, "bytes": 800, "heard_seconds_ago": 6.5}]})";
constexpr const char* kEvents =
    "{\"time\": 1763553590.5, \"event\": \"pi-2 is connected\"}\n"
    "{\"time\": 1763553595, \"event\": \"pi-2 is gone\"}\n"
    "{\"time\": 1763553599, \"event\": \"half a li";

/// The run directory of a device.
void make_device(const std::filesystem::path& directory) {
  make_run(directory);
  write_text(directory / "peer.toml", "fleet = 'f'\nidentity = 'i'\n");
  write_text(directory / "fleet.json", kFleet);
  write_text(directory / "events.jsonl", kEvents);
}

std::string device_page(const std::filesystem::path& directory, bool live = false) {
  return make_page(std::vector<std::string>{directory.string()}, {.live = live}).html;
}

TEST(FleetView, IsWhatTheFilesOfADeviceSay) {
  const Scratch scratch;
  make_device(scratch / "pi-1");
  const FleetView view = read_fleet_view(scratch / "pi-1");
  EXPECT_EQ(view.problems, std::vector<std::string>());
  EXPECT_EQ(view.time, 1763553600.25);
  ASSERT_EQ(view.members.size(), 2u);
  const FleetMember &self = view.members[0], &other = view.members[1];
  EXPECT_TRUE(self.self && self.live && !other.self && !other.live);
  EXPECT_EQ(self.status + other.status, "trainingleft");
  EXPECT_EQ(self.rounds, 120);
  EXPECT_EQ(self.rate, 48.7);
  EXPECT_EQ(self.push_sum, 0.75);
  EXPECT_EQ(self.loss, 0.25);
  EXPECT_EQ(self.score, 92.5);
  EXPECT_EQ(self.bytes, 14600);
  EXPECT_TRUE(std::isnan(self.heard) && std::isnan(other.loss));
  EXPECT_EQ(other.heard, 6.5);
  ASSERT_EQ(view.events.size(), 2u) << "without the line that is still written";
  EXPECT_EQ(view.events[0].event, "pi-2 is gone") << "newest first";
  EXPECT_EQ(view.events[1].time, 1763553590.5);
  EXPECT_TRUE(read_fleet_view(scratch / "nowhere").empty());
}

TEST(FleetView, IsBounded) {
  const Scratch scratch;
  std::filesystem::create_directories(scratch / "a");
  std::string peers, events(10, '\n');
  for (int k = 0; k < 3000; ++k) {
    peers += fmt::format(R"({}{{"name": "p{}"}})", k == 0 ? "" : ",", k);
    events += fmt::format("{{\"time\": {}, \"event\": \"{}\"}}\n", k, std::string(1000, 'e'));
  }
  write_text(scratch / "a/fleet.json", R"({"peers": [)" + peers + "]}");
  write_text(scratch / "a/events.jsonl", events);
  FleetView view = read_fleet_view(scratch / "a");
  EXPECT_EQ(view.members.size(), FleetView::kMostMembers);
  ASSERT_EQ(view.events.size(), FleetView::kMostEvents);
  EXPECT_EQ(view.events[0].time, 2999);
  EXPECT_EQ(view.events[0].event, std::string(FleetView::kMostText, 'e') + "...");
  write_text(scratch / "a/fleet.json", std::string(FleetView::kMostFileBytes + 1, ' '));
  view = read_fleet_view(scratch / "a");
  EXPECT_TRUE(view.members.empty());
  EXPECT_EQ(view.problems.size(), 1u);
}

TEST(FleetView, LeavesOutWhatIsNoEntry) {
  const Scratch scratch;
  std::filesystem::create_directories(scratch / "a");
  write_text(scratch / "a/fleet.json", R"({"self": 7, "time": "now", "peers": [1, {"name": [],
    "live": "yes", "rounds": {}, "rate": null, "status": "\u0007"}, {}]})");
  write_text(scratch / "a/events.jsonl",
             "\xff\n{\"time\": \"x\", \"event\": \"e\"}\n{\"time\": 1}\n[]\n"
             "{\"time\": 1e999, \"event\": \"e\"}\n{\"time\": 5, \"event\": \"e\"}\n");
  const FleetView view = read_fleet_view(scratch / "a");
  EXPECT_EQ(view.members.size(), 2u);
  ASSERT_EQ(view.events.size(), 1u);
  EXPECT_EQ(view.events[0].time, 5);
  ASSERT_EQ(view.problems.size(), 1u);
  EXPECT_TRUE(holds(view.problems[0], "events.jsonl: 5 of its last lines hold no event"))
      << view.problems[0];
  write_text(scratch / "a/fleet.json", R"({"peers": {}})");
  EXPECT_EQ(read_fleet_view(scratch / "a").problems.size(), 2u);
}

TEST(FleetView, TimesAreTexts) {
  EXPECT_EQ(time_text(0), "1970-01-01 00:00:00");
  EXPECT_EQ(time_text(1763553600.9), "2025-11-19 12:00:00");
  for (const double none : {-1.0, 1e300, std::nan(""), HUGE_VAL}) EXPECT_EQ(time_text(none), "-");
}

TEST(FleetView, TextsAreVisible) {
  EXPECT_EQ(visible("a\x1b[2J\n\x7f\u009b b\u00e9"),
            "a?[2J???"
            " b\u00e9");
}

TEST(FleetView, IsInThePageOfADevice) {
  const Scratch scratch;
  make_device(scratch / "pi-1");
  std::string html = device_page(scratch / "pi-1");
  EXPECT_TRUE(holds(html, "<h2>Fleet</h2>"));
  EXPECT_TRUE(holds(html, "<span>pi-1 (this one)</span>"));
  EXPECT_TRUE(holds(html, R"(<td data-value="6.5">6.5</td>)"));
  EXPECT_TRUE(holds(html, R"(<td data-value="14600">14.6 kB</td>)"));
  EXPECT_TRUE(holds(html, "As this device knew it at 2025-11-19 12:00:00 UTC."));
  EXPECT_LT(html.find("pi-2 is gone"), html.find("pi-2 is connected"));
  EXPECT_EQ(misfit_of(html), "");
  EXPECT_TRUE(holds(html, make_fleet_part(scratch / "pi-1")));
  EXPECT_FALSE(holds(html, "id=\"fleet\"")) << "it does not change any more";

  std::filesystem::remove(scratch / "pi-1/summary.json");
  html = device_page(scratch / "pi-1", true);
  EXPECT_TRUE(holds(html, "<div id=\"fleet\"><div class=\"sheet members\">"));

  make_run(scratch / "other");
  EXPECT_FALSE(holds(device_page(scratch / "other"), "<h2>Fleet</h2>"));
}

TEST(FleetView, IsEscaped) {
  const Scratch scratch;
  make_device(scratch / "pi-1");
  const std::string evil = "<script>alert(1)</script><img src=x onerror='a'>&";
  write_text(scratch / "pi-1/fleet.json", R"({"self": ")" + evil + R"(", "peers": [{"name": ")" +
                                              evil + R"(", "status": ")" + evil + R"("}]})");
  write_text(scratch / "pi-1/events.jsonl", R"({"time": 1, "event": ")" + evil + "\"}\n");
  const std::string html = device_page(scratch / "pi-1");
  EXPECT_FALSE(holds(html, "<script>alert"));
  EXPECT_FALSE(holds(html, "<img"));
  EXPECT_EQ(count(html, "&lt;script&gt;alert(1)"), 3u);
  EXPECT_EQ(misfit_of(html), "");
}

}  // namespace
}  // namespace hearsay::report
