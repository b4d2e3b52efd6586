#include "hearsay/report/joined_run.h"
#include "hearsay/report/device_table.h"

#include <cmath>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hearsay/report/page/page.h"
#include "report/run_directories.h"
#include "report/well_formed.h"

namespace hearsay::report {
namespace {

namespace fs = std::filesystem;
using support::Scratch, support::write_text;

const std::string kId(64, 'a'), kOtherId(64, 'b');

/// An evaluation of one device.
std::string line(int round, double accuracy, double loss, int bytes, int live, double rate = 10) {
  return fmt::format(R"({{"round": {0}, "loss": {2}, "loss_of_average": {2}, "accuracy_mean": {1},)"
                     R"( "accuracy_min": {1}, "accuracy_max": {1}, "accuracy_of_average": {1},)"
                     R"( "divergence": 0, "bytes_total": {3}, "edge_rounds": {4},)"
                     R"( "push_sum_min": 0.5, "push_sum_max": 0.5, "live_peers": {5},)"
                     R"( "rates_min": {6}, "rates_max": {6}, "seconds": {0}}})"
                     "\n",
                     round, accuracy, loss, bytes, bytes / 10, live, rate);
}

class JoinedRun : public ::testing::Test {
 protected:
  /// The run directory of a device of a fleet of four.
  void make(const std::string& name, std::uint32_t slot, const std::string& lines,
            const std::string& summary, const std::string& id = kId) {
    const fs::path directory = scratch_ / name;
    fs::create_directories(directory);
    train::RunOptions config;
    config.peers = 4;
    config.timing = "asynchronous";
    config.graph = "exponential";
    write_text(directory / "config.toml", config.to_toml());
    write_text(directory / "metrics.jsonl", lines);
    if (!summary.empty()) write_text(directory / "summary.json", summary);
    write_text(directory / "peer.toml",
               "fleet = 'f'\nidentity = 'i'\n" + run::PlaceInRun{id, name, slot}.to_toml());
  }

  /// pi-0 and pi-2 of four: evaluated at rounds 0, 10, 30 and 0, 20; the second has not finished,
  /// and has a second life from round 20 on.
  void make_two() {
    make(
        "pi-0", 0, line(0, 10, 2, 0, 2) + line(10, 50, 1, 100, 3) + line(30, 90, 0.5, 300, 4, 30),
        R"({"dim": 5, "training_rounds": 30, "bytes_by_edge": [[0, 1, 200], [0, 2, 100], [1, 0, 7]],
             "class_counts": [[5, 6], [0, 0], [0, 0], [0, 0]], "class_names": ["x", "y"]})");
    make("pi-2", 2, line(0, 20, 4, 80, 1) + line(20, 70, 3, 40, 2), "");
    write_text(scratch_ / "pi-0/events.jsonl",
               "{\"time\": 100, \"event\": \"one\"}\n{\"time\": 300, \"event\": \"three\"}\n");
    write_text(scratch_ / "pi-2/events.jsonl", "{\"time\": 200, \"event\": \"<two>\"}\n");
  }

  std::vector<std::string> paths(const std::vector<const char*>& names) const {
    std::vector<std::string> all;
    for (const char* name : names) all.push_back((scratch_ / name).string());
    return all;
  }
  Runs read(const std::vector<const char*>& names) const { return read_runs(paths(names)); }

  static std::vector<double> values(const ShownRun& run, const char* key) {
    const auto all = run.record.columns().figure(key);
    return {all.begin(), all.end()};
  }

  Scratch scratch_;
};

TEST_F(JoinedRun, HasALineForEachClockWithTheLastValuesOfAll) {
  make_two();
  const Runs runs = read({"pi-2", "pi-0"});
  ASSERT_EQ(runs.runs.size(), 1u);
  EXPECT_EQ(runs.problems, std::vector<std::string>());
  const ShownRun& run = runs.runs[0];
  EXPECT_EQ(run.label, (scratch_ / "pi-0").string() + " and 1 more device") << "slots ascending";
  using List = std::vector<double>;
  EXPECT_EQ(values(run, "round"), (List{0, 10, 20, 30}));
  EXPECT_EQ(values(run, "accuracy_mean"), (List{15, 35, 60, 80}));
  EXPECT_EQ(values(run, "accuracy_min"), (List{10, 20, 50, 70}));
  EXPECT_EQ(values(run, "accuracy_max"), (List{20, 50, 70, 90}));
  EXPECT_EQ(values(run, "loss"), (List{3, 2.5, 2, 1.75}));
  EXPECT_EQ(values(run, "bytes_total"), (List{80, 180, 220, 420})) << "80 of an earlier life";
  EXPECT_EQ(values(run, "live_peers"), (List{1.5, 3, 2, 4})) << "as the newest lines have it";
  EXPECT_EQ(values(run, "rates_max"), (List{10, 10, 10, 30}));
  EXPECT_EQ(values(run, "seconds"), (List{0, 10, 20, 30}));
  for (const char* unknown : {"divergence", "loss_of_average", "accuracy_of_average"}) {
    EXPECT_EQ(values(run, unknown), List()) << unknown;
  }
  const Columns& columns = run.record.columns();
  ASSERT_EQ(columns.entries("accuracy"), 4u);
  const auto of_slot = columns.figure("accuracy", 2);
  EXPECT_EQ(List(of_slot.begin(), of_slot.end()), (List{20, 20, 70, 70}));
  EXPECT_TRUE(std::isnan(columns.figure("accuracy", 1)[3])) << "its directory is not here";
}

TEST_F(JoinedRun, CountsADeviceFromItsFirstEvaluationOn) {
  make("pi-0", 0, line(0, 10, 1, 0, 1) + line(40, 30, 1, 10, 1), "{}");
  make("pi-1", 1, line(25, 50, 1, 20, 1), "{}");
  const Runs runs = read({"pi-0", "pi-1"});
  ASSERT_EQ(runs.runs.size(), 1u);
  EXPECT_EQ(values(runs.runs[0], "accuracy_mean"), (std::vector<double>{10, 30, 40}));
  EXPECT_TRUE(runs.runs[0].record.finished());
}

TEST_F(JoinedRun, IsSummedUp) {
  make_two();
  const Runs runs = read({"pi-0", "pi-2"});
  const ShownRun& run = runs.runs.at(0);
  const Record& record = run.record;
  EXPECT_FALSE(record.finished());
  EXPECT_EQ(record.figure("accuracy_mean"), 80);
  EXPECT_EQ(record.figure("accuracy_min"), 70);
  EXPECT_EQ(record.figure("accuracy_max"), 90);
  EXPECT_EQ(record.figure("rounds"), 30);
  EXPECT_EQ(record.figure("bytes_total"), 420);
  EXPECT_EQ(record.figure("bytes_per_edge_round"), 10);
  EXPECT_EQ(record.figure("compression_factor"), 4 * 5 / 10.0);
  EXPECT_EQ(record.numbers("bytes_by_peer"), (std::vector<double>{300, 0, 120, 0}));
  EXPECT_EQ(record.table("bytes_by_edge"),
            (std::vector<std::vector<double>>{{0, 1, 200}, {0, 2, 100}}))
      << "a device knows of its own";
  EXPECT_EQ(record.table("class_counts")[0], (std::vector<double>{5, 6}));
  EXPECT_EQ(record.peer_name(2), "pi-2");
  EXPECT_EQ(record.peer_name(3), "peer 3");
  ASSERT_EQ(run.notes.size(), 2u);
  EXPECT_EQ(run.notes[0],
            "Not finished: pi-2 (at round 20). They count with their last evaluation.");
  EXPECT_EQ(run.notes[1], "2 of the 4 devices of this run are shown.");
  ASSERT_EQ(run.fleet.events.size(), 3u);
  EXPECT_EQ(run.fleet.events[1].event, "<two>");
  EXPECT_EQ(run.fleet.events[1].device, "pi-2");
}

TEST_F(JoinedRun, IsOneRowAndOnePage) {
  make_two();
  const Runs runs = read({"pi-0", "pi-2"});
  EXPECT_EQ(compare_runs(runs).runs, 1u);
  const std::string text = devices_text(runs);
  EXPECT_TRUE(holds(text, "1970-01-01 00:05:00  pi-0: three\n1970-01-01 00:03:20  pi-2: <two>\n"))
      << text;
  EXPECT_TRUE(holds(text, "pi-2    not finished     20")) << text;
  const Cells range = range_cells(runs.runs[0]);
  EXPECT_EQ(range[1][0].text, "accuracy %");
  EXPECT_EQ(range[1][1].text + range[1][2].text + range[1][3].text, "80.0070.0090.00");
  const std::string html = make_page(runs).html;
  for (const char* part : {"<h2>Devices</h2>", "<span>pi-2</span>", "Not finished: pi-2",
                           "<h2>Events of all devices</h2>", "&lt;two&gt;", "420 B"}) {
    EXPECT_TRUE(holds(html, part)) << part;
  }
  EXPECT_FALSE(holds(html, "<two>"));
  EXPECT_EQ(misfit_of(html), "");
}

TEST_F(JoinedRun, IsOfOneRunOnly) {
  make_two();
  make("other", 1, line(0, 1, 1, 1, 1), "{}", kOtherId);
  make_run(scratch_ / "train");
  const Runs runs = read({"train", "pi-0", "other", "pi-2"});
  ASSERT_EQ(runs.runs.size(), 3u);
  EXPECT_EQ(runs.runs[0].label, (scratch_ / "train").string());
  EXPECT_EQ(runs.runs[1].devices.size(), 2u) << "at the place of the first";
  EXPECT_TRUE(runs.runs[2].devices.empty());
  EXPECT_EQ(misfit_of(make_page(runs).html), "");
}

TEST_F(JoinedRun, IsNotMadeOfTwoDirectoriesOfOneDevice) {
  make_two();
  make("again", 2, line(0, 1, 1, 1, 1), "{}");
  const Runs runs = read({"pi-0", "pi-2", "again"});
  EXPECT_EQ(runs.runs.size(), 3u);
  ASSERT_EQ(runs.problems.size(), 1u);
  EXPECT_TRUE(holds(runs.problems[0], "are of the same device")) << runs.problems[0];
  EXPECT_EQ(read({"pi-0", "pi-0"}).runs.size(), 1u) << "a directory counts once";
}

TEST_F(JoinedRun, HoldsWhatIsNotFinite) {
  make("pi-0", 0, line(0, 10, 2, 0, 2), "{}");
  make("pi-1", 1,
       R"({"round": 0, "loss": null, "accuracy_mean": 30})"
       "\n"
       R"({"round": 5})"
       "\n",
       "{}");
  const Runs runs = read({"pi-0", "pi-1"});
  ASSERT_EQ(runs.runs.size(), 1u);
  EXPECT_EQ(values(runs.runs[0], "loss"),
            (std::vector<double>{Columns::kNotFinite, Columns::kNotFinite}));
  EXPECT_EQ(values(runs.runs[0], "accuracy_mean"), (std::vector<double>{20, 20}));
  EXPECT_EQ(values(runs.runs[0], "rates_min"), (std::vector<double>{10, 10}));
}

TEST_F(JoinedRun, ADeviceWithoutAnEvaluationIsNamed) {
  make("pi-0", 0, line(0, 10, 2, 0, 2), "{}");
  make("pi-1", 1, "", "");
  const Runs runs = read({"pi-0", "pi-1"});
  ASSERT_EQ(runs.runs.size(), 1u);
  EXPECT_EQ(runs.runs[0].notes.at(0),
            "Not finished: pi-1 (not evaluated yet). They count with their last evaluation.");
  EXPECT_EQ(misfit_of(make_page(runs).html), "");
  fs::remove(scratch_ / "pi-0/summary.json");
  write_text(scratch_ / "pi-0/metrics.jsonl", "");
  EXPECT_EQ(misfit_of(make_page(read({"pi-0", "pi-1"})).html), "") << "not even one";
}

}  // namespace
}  // namespace hearsay::report
