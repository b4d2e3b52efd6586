#include "hearsay/report/columns.h"

#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "support/scratch.h"

namespace hearsay::report {
namespace {

using support::Scratch;

class ColumnsTest : public ::testing::Test {
 protected:
  Columns read(const std::string& text) {
    support::write_text(file(), text);
    return Columns(file());
  }
  std::filesystem::path file() const { return scratch_ / "metrics.jsonl"; }
  std::string problem(int line, const std::string& what) const {
    return fmt::format("[report] {}, line {}: {}", file().string(), line, what);
  }

  Scratch scratch_;
};

std::vector<double> all(std::span<const double> values) { return {values.begin(), values.end()}; }

TEST_F(ColumnsTest, HaveANumberALineAndFigure) {
  const Columns columns = read(
      "{\"round\": 0, \"loss\": 2.5, \"accuracy\": [10, 20]}\n"
      "{\"round\": 5, \"accuracy\": [30, 40], \"loss\": -1e-3}\n");
  EXPECT_EQ(columns.lines(), 2u);
  EXPECT_EQ(all(columns.figure("round")), (std::vector<double>{0, 5}));
  EXPECT_EQ(all(columns.figure("loss")), (std::vector<double>{2.5, -1e-3}));
  EXPECT_EQ(columns.entries("accuracy"), 2u);
  EXPECT_EQ(all(columns.figure("accuracy", 1)), (std::vector<double>{20, 40}));
  EXPECT_EQ(columns.keys(), (std::vector<std::string>{"loss", "round"}));
  EXPECT_TRUE(columns.problems().empty());
}

TEST_F(ColumnsTest, TellAbsentFromNotFinite) {
  const Columns columns = read(
      "{\"round\": 0}\n{\"round\": 1, \"loss\": null, \"push_sum\": [1, null]}\n"
      "{\"round\": 2, \"loss\": 3}\n{\"round\": 3}\n");
  const auto loss = columns.figure("loss");
  ASSERT_EQ(loss.size(), 4u);
  EXPECT_TRUE(std::isnan(loss[0]));
  EXPECT_TRUE(std::isinf(loss[1]));
  EXPECT_EQ(loss[2], 3);
  EXPECT_TRUE(std::isnan(loss[3]));
  EXPECT_TRUE(std::isinf(columns.figure("push_sum", 1)[1]));
}

TEST_F(ColumnsTest, HaveNothingWhereNoLineDoes) {
  const Columns columns = read("{\"round\": 0, \"accuracy\": [1], \"loss\": 2}\n");
  EXPECT_TRUE(columns.figure("divergence").empty());
  EXPECT_TRUE(columns.figure("accuracy").empty()) << "it is a list";
  EXPECT_TRUE(columns.figure("loss", 0).empty()) << "it is none";
  EXPECT_TRUE(columns.figure("accuracy", 1).empty());
  EXPECT_EQ(columns.entries("loss"), 0u);
}

TEST_F(ColumnsTest, TakeValuesOfAnyTypeForWhatTheyAre) {
  const Columns columns = read(
      "{\"round\": 1, \"loss\": \"x\", \"accuracy\": {\"deep\": [1, 2]}, \"more\": [[3], 4, "
      "true]}\n"
      "{\"round\": 2, \"loss\": [7], \"accuracy\": 5, \"loss\": 9}\n");
  EXPECT_EQ(columns.lines(), 2u);
  EXPECT_TRUE(columns.problems().empty());
  EXPECT_EQ(columns.figure("accuracy")[1], 5);
  EXPECT_EQ(columns.figure("loss", 0)[1], 7) << "the first of a key decides what it is";
  ASSERT_EQ(columns.entries("more"), 2u);
  EXPECT_TRUE(std::isnan(columns.figure("more", 0)[0])) << "a list in a list is no number";
  EXPECT_EQ(columns.figure("more", 1)[0], 4);
}

TEST_F(ColumnsTest, NameTheLinesTheyLeaveOut) {
  const Columns columns = read(
      "{\"round\": 0, \"loss\": 1}\n\n{\"round\": 1, \"loss\": \n[1, 2]\n{\"loss\": 5}\n"
      "{\"round\": 7, \"loss\": 4}\n{\"round\": 3, \"loss\": 4}\n\xff\xfe\n"
      "{\"round\": \"eight\"}\n{\"round\": 9, \"loss\": 1e999}\n{\"round\": -1}\n");
  EXPECT_EQ(all(columns.figure("round")), (std::vector<double>{0, 7}));
  EXPECT_EQ(columns.problems(),
            (std::vector<std::string>{
                problem(2, "it is no JSON object"), problem(3, "it is no JSON object"),
                problem(4, "it is no JSON object"), problem(5, "it has no round"),
                problem(7, "round 3 stands behind round 7"), problem(8, "it is no JSON object"),
                problem(9, "it has no round"), problem(10, "it is no JSON object"),
                problem(11, "it has no round")}));
}

TEST_F(ColumnsTest, PassOverALastLineThatIsBeingWritten) {
  EXPECT_EQ(read("{\"round\": 1}\n{\"round\": 2, \"lo").lines(), 1u);
  EXPECT_TRUE(read("{\"round\": 1}\n{\"round\": 2, \"lo").problems().empty());
  EXPECT_EQ(read("{\"round\": 1}\n{\"round\": 2}").lines(), 2u) << "it is whole";
  EXPECT_EQ(read("").lines(), 0u);
}

TEST_F(ColumnsTest, RefuseAFileThatIsMostlySomethingElse) {
  std::string text = "{\"round\": 0}\n";
  for (int k = 0; k < 20; ++k) text += "no\n";
  EXPECT_EQ(read(text).problems().size(), 20u);
  try {
    read(text + "no\n");
    FAIL() << "one more is one too many";
  } catch (const CorruptData& error) {
    EXPECT_EQ(error.what(), problem(2, "it is no JSON object") +
                                "; 21 lines are like that, and more than 20 are not passed over");
  }
}

TEST_F(ColumnsTest, RefuseAFileThatIsTooLarge) {
  support::write_text(file(), "");
  std::filesystem::resize_file(file(), Columns::kMostFileBytes + 1);  // sparse: takes no disk space
  EXPECT_THROW(Columns columns(file()), CorruptData);
}

TEST_F(ColumnsTest, KeepNoMoreThanTheirLimits) {
  std::string keys, entries;
  for (std::size_t k = 0; k < 100; ++k) keys += fmt::format(", \"key{:03}\": {}", k, k);
  for (std::size_t k = 0; k < 100; ++k) entries += fmt::format("{}{}", k == 0 ? "" : ", ", k);
  const Columns columns =
      read(fmt::format("{{\"round\": 1, \"accuracy\": [{}]{}}}\n", entries, keys));
  EXPECT_EQ(columns.lines(), 1u);
  EXPECT_EQ(columns.entries("accuracy"), 0u) << "a list is kept whole or not at all";
  EXPECT_LE(columns.keys().size(), Columns::kMostFigures);
  EXPECT_EQ(columns.figure("key005")[0], 5);
}

TEST_F(ColumnsTest, CutALineThatNeverEnds) {
  const std::string text = "{\"round\": 1, \"junk\": \"" +
                           std::string(Columns::kMostLineBytes + (3 << 20), 'x') +
                           "\"}\n{\"round\": 2}\n";
  const Columns columns = read(text);
  EXPECT_EQ(all(columns.figure("round")), std::vector<double>{2});
  EXPECT_EQ(columns.problems(), std::vector<std::string>{problem(1, "it is no JSON object")});
}

TEST_F(ColumnsTest, MayMissAFigureAtFirst) {
  std::string text;
  for (int k = 0; k < 3000; ++k) {
    text += fmt::format("{{\"round\": {}{}}}\n", k, k < 2000 ? "" : ", \"loss\": 1");
  }
  const Columns columns = read(text);
  EXPECT_EQ(columns.figure("loss").size(), 3000u);
  EXPECT_TRUE(std::isnan(columns.figure("loss")[1999]));
  EXPECT_EQ(columns.figure("loss")[2000], 1);
}

}  // namespace
}  // namespace hearsay::report
