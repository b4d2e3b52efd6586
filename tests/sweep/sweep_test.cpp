#include "hearsay/sweep/sweep.h"

#include <gtest/gtest.h>

#include <set>

#include "hearsay/core/error.h"

namespace hearsay::sweep {
namespace {

constexpr std::string_view kFile = R"(
title = "How much is kept"
source = "a paper"
note = "read on"
seeds = [1, 2, 3]
figures = [
  {name = "SP", key = "accuracy_mean", at = "trained", unit = "%"},
  {name = "SCSP", key = "accuracy_mean"},
]
rows = [
  {label = "100 %", algorithm = "sparse-push", compressor = "identity", paper = {SP = [92.09, nan]}},
  {label = "1 %", compressor = "topk:keep=0.01", paper = {SP = [90.68, 80], SCSP = [91.27, 90]}, quick = {lr = "0.2"}},
  {label = "8 bits", missing = "not there yet", paper = {SP = [1, 2]}},
]
differences = [
  {label = "what skew costs", from = {row = "1 %", skew = "0", figure = "SP"}, minus = {skew = "0.8", row = "1 %", figure = "SP"}, paper_about = 7.0},
  {label = "of all", from = {row = "100 %", skew = "0", figure = "SP"}, minus = {row = "100 %", skew = "0.8", figure = "SP"}},
]
[base]
peers = 4
data = "digits"
epochs = 200
[[axes]]
name = "skew"
label = ["0", "0.8"]
partition = ["iid", "skew:0.8"]
batch = [16, 32]
[quick]
note = "not the paper's data"
seeds = [7]
rows = ["1 %"]
[quick.base]
rounds = 5
lr = "0.1"
)";

std::vector<std::string> labels(const Sweep& sweep) {
  std::vector<std::string> all;
  for (const SweepRow& row : sweep.rows) all.push_back(row.label);
  return all;
}

TEST(Sweep, CrossesRowsWithAxesInTheOrderOfTheFile) {
  const Sweep sweep = read_sweep(kFile, "f.toml");
  EXPECT_EQ(sweep.title, "How much is kept");
  EXPECT_EQ(sweep.source, "a paper");
  EXPECT_EQ(sweep.note, "read on");
  EXPECT_EQ(sweep.banner, "");
  EXPECT_EQ(labels(sweep),
            (std::vector<std::string>{"100 %, skew 0", "100 %, skew 0.8", "1 %, skew 0",
                                      "1 %, skew 0.8", "8 bits, skew 0", "8 bits, skew 0.8"}));
  const SweepRow& row = sweep.rows[3];
  EXPECT_EQ(row.place, (Place{{"row", "1 %"}, {"skew", "0.8"}}));
  EXPECT_EQ(row.printed,
            (std::vector<std::pair<std::string, double>>{{"SCSP", 90.0}, {"SP", 80.0}}));
  ASSERT_EQ(row.configs.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(row.configs[i].seed, i + 1);
  EXPECT_EQ(row.configs[0].algorithm, "scsp");
  EXPECT_EQ(row.configs[0].compressor, "topk:keep=0.01");
  EXPECT_EQ(row.configs[0].partition, "skew:0.8");
  EXPECT_EQ(row.configs[0].batch, 32U) << "zipped";
  EXPECT_EQ(row.configs[0].epochs, 200U);
  EXPECT_EQ(row.configs[0].model, "cnn") << "resolved";
  EXPECT_EQ(row.configs[0].compare, train::Compare::kNo);
  EXPECT_EQ(sweep.rows[2].configs[0].batch, 16U);
}

TEST(Sweep, KnowsWhatIsPrintedAndWhatIsNot) {
  const Sweep sweep = read_sweep(kFile, "f.toml");
  EXPECT_EQ(sweep.rows[0].printed, (std::vector<std::pair<std::string, double>>{{"SP", 92.09}}));
  EXPECT_TRUE(sweep.rows[1].printed.empty()) << "nan: not printed";
  EXPECT_TRUE(sweep.rows[4].configs.empty());
  EXPECT_EQ(sweep.rows[4].missing, "not there yet");
  ASSERT_EQ(sweep.differences.size(), 2U);
  EXPECT_EQ(sweep.differences[0].relation, Difference::Relation::kAbout);
  EXPECT_EQ(sweep.differences[0].printed, 7.0);
  EXPECT_EQ(sweep.differences[0].minus.place, sweep.rows[3].place);
  EXPECT_FALSE(sweep.differences[1].printed);
}

TEST(Sweep, HasFiguresThatAreReadAtTheirPlace) {
  const Sweep sweep = read_sweep(kFile, "f.toml");
  ASSERT_EQ(sweep.figures.size(), 2U);
  EXPECT_EQ(sweep.figures[0].at, Figure::At::kTrained);
  EXPECT_EQ(sweep.figures[0].unit, "%");
  EXPECT_EQ(sweep.figures[1].at, Figure::At::kEnd);
  EXPECT_FALSE(read_sweep("title = 't'\n[base]\ndata = 'digits'\n", "f.toml").figures.empty());
}

TEST(Sweep, QuickOutranksTheFileAndRowsOutrankQuick) {
  const Sweep sweep = read_sweep(kFile, "f.toml", {.quick = true});
  EXPECT_EQ(sweep.banner, "trains cnn on digits. not the paper's data");
  EXPECT_TRUE(sweep.quick);
  EXPECT_EQ(labels(sweep), (std::vector<std::string>{"1 %, skew 0", "1 %, skew 0.8"}));
  ASSERT_EQ(sweep.rows[0].configs.size(), 1U);
  EXPECT_EQ(sweep.rows[0].configs[0].seed, 7U);
  EXPECT_EQ(sweep.rows[0].configs[0].rounds, 5U);
  EXPECT_EQ(sweep.rows[0].configs[0].epochs, 0U) << "rounds take their place";
  EXPECT_EQ(sweep.rows[0].configs[0].lr, "0.2") << "of the row's own";
  EXPECT_EQ(sweep.differences.size(), 1U) << "rows that are left out have none";
}

TEST(Sweep, TheCommandLineOutranksAll) {
  const Sweep sweep =
      read_sweep(kFile, "f.toml",
                 {.quick = true, .settings = {{"epochs", "3"}, {"lr", "0.5"}}, .seeds = {4, 5}});
  ASSERT_EQ(sweep.rows[0].configs.size(), 3U) << "7, of the file, and these";
  EXPECT_EQ(sweep.rows[0].configs[2].seed, 5U);
  EXPECT_EQ(sweep.rows[0].configs[2].epochs, 3U);
  EXPECT_EQ(sweep.rows[0].configs[2].rounds, 0U);
  EXPECT_EQ(sweep.rows[0].configs[2].lr, "0.5");
}

/// A row says in which precision it trains, the command line where.
TEST(Sweep, ADeviceForAllRowsHasThePrecisionOfEach) {
  constexpr std::string_view kRows = R"(
title = "t"
rows = [
  {label = "plain"},
  {label = "short", precision = "bf16"},
  {label = "bytes", precision = "int8", model = "cnn"},
]
[base]
data = "digits"
)";
  const auto device = [&](const std::string& row, const std::string& where) {
    SweepOptions options{.rows = {row}};
    if (!where.empty()) options.settings = {{"device", where}};
    for (const SweepRow& made : read_sweep(kRows, "f.toml", options).rows) {
      if (made.place[0].second != row) continue;
      if (!made.refused.empty()) throw InvalidArgument(made.refused[0].second);
      return made.configs.at(0).device;
    }
    return std::string();
  };
  EXPECT_EQ(device("plain", ""), "cpu");
  EXPECT_EQ(device("plain", "cuda"), "cuda");
  EXPECT_EQ(device("short", "cuda"), "cuda:precision=bf16");
  EXPECT_EQ(device("short", "cuda:index=1"), "cuda:precision=bf16,index=1");
  EXPECT_EQ(device("bytes", ""), "cpu:precision=int8");
  EXPECT_EQ(device("bytes", "cpu"), "cpu:precision=int8");
  EXPECT_EQ(device("bytes", "cuda"), "cuda:precision=int8");
  const auto error = [&](const std::string& row, const std::string& where) -> std::string {
    try {
      device(row, where);
    } catch (const InvalidArgument& refused) {
      return refused.what();
    }
    return "no error";
  };
  EXPECT_EQ(error("bytes", "cuda:precision=bf16"),
            "[precision] precision is int8, and that of the device, "
            "cuda:precision=bf16, is bf16; give one of them");
  const Sweep on_gpu = read_sweep(kRows, "f.toml", {.settings = {{"device", "cuda"}}});
  for (const SweepRow& row : on_gpu.rows) EXPECT_EQ(row.missing, "");
  const Sweep on_cpu = read_sweep(kRows, "f.toml", {.settings = {{"device", "cpu"}}});
  EXPECT_EQ(on_cpu.rows[0].missing, "");
  EXPECT_EQ(on_cpu.rows[1].missing,
            "not on --device cpu: [cpu] precision must be one of fp32, int8, got bf16");
  EXPECT_EQ(on_cpu.rows[2].missing, "");
  EXPECT_EQ(error("bytes", "gpu"),
            "[device] no device is named 'gpu' (did you mean 'cuda'?); there are cpu, cuda");
  try {
    read_sweep("title = \"t\"\nrows = [{label = \"odd\", precision = \"int9\"}]\n", "f.toml",
               {.settings = {{"device", "cuda"}}});
    ADD_FAILURE() << "int9 was accepted";
  } catch (const InvalidArgument& refused) {
    EXPECT_NE(std::string_view(refused.what()).find("[f.toml, line 2]"), std::string_view::npos)
        << refused.what();
  }
  EXPECT_EQ(error("short", ""), "[cpu] precision must be one of fp32, int8, got bf16");
}

TEST(Sweep, KeepsTheRowsAndSeedsThatAreNotWantedNow) {
  const Sweep sweep =
      read_sweep(kFile, "f.toml",
                 {.settings = {{"compressor", "topk:keep=0.5"}}, .seeds = {2, 9}, .rows = {"1 %"}});
  ASSERT_EQ(labels(sweep), labels(read_sweep(kFile, "f.toml")));
  EXPECT_EQ(sweep.only_seeds, (std::vector<std::uint64_t>{2, 9}));
  EXPECT_FALSE(sweep.rows[0].wanted);
  EXPECT_TRUE(sweep.rows[2].wanted);
  ASSERT_EQ(sweep.rows[0].configs.size(), 4U);
  EXPECT_EQ(sweep.rows[0].configs[3].seed, 9U);

  constexpr std::string_view kGraphs = R"(
title = "t"
rows = [{label = "a", graph = "ring"}, {label = "b", graph = "torus:4x4"}]
[base]
data = "digits"
algorithm = "dsgd"
)";
  const SweepOptions fifteen{.settings = {{"peers", "15"}}, .rows = {"a"}};
  const SweepRow other = read_sweep(kGraphs, "f.toml", fifteen).rows[1];
  EXPECT_TRUE(other.missing.starts_with("[f.toml, line 3] row 'b': [graph] torus:4x4"))
      << other.missing;
  const SweepRow wanted = read_sweep(kGraphs, "f.toml", {.settings = {{"peers", "15"}}}).rows[1];
  EXPECT_EQ(wanted.missing, "");
  EXPECT_TRUE(wanted.configs.empty());
  ASSERT_EQ(wanted.refused.size(), 1U);
  EXPECT_TRUE(wanted.refused[0].second.starts_with("[graph] torus:4x4 has 16 peers"));
}

/// An uncompressed baseline beside a compressor axis, eta per compressor, a graph per method.
constexpr std::string_view kMethods = R"(
title = "t"
rows = [
  {label = "dsgd", algorithm = "dsgd", graph = "exponential"},
  {label = "choco", algorithm = "choco:eta=0.5"},
  {label = "plain", algorithm = "dsgd", compressor = "identity"},
]
exclude = [{row = "dsgd", compressor = ["1 %", "10 %"]}]
when = [
  {is = {row = "choco", compressor = ["1 %"]}, algorithm = "choco:eta=0.05"},
  {is = {peers = 16}, rounds = 7},
]
[base]
data = "least-squares"
graph = "ring"
rounds = 5
[[axes]]
name = "compressor"
label = ["none", "1 %", "10 %"]
compressor = ["identity", "topk:keep=0.01", "topk:keep=0.1"]
[[axes]]
name = "peers"
peers = [8, 16]
[quick]
note = "n"
[quick.base]
rounds = 3
)";

TEST(Sweep, LeavesOutWhatTheFileExcludes) {
  EXPECT_EQ(labels(read_sweep(kMethods, "f.toml")),
            (std::vector<std::string>{
                "dsgd, compressor none, peers 8", "dsgd, compressor none, peers 16",
                "choco, compressor none, peers 8", "choco, compressor none, peers 16",
                "choco, compressor 1 %, peers 8", "choco, compressor 1 %, peers 16",
                "choco, compressor 10 %, peers 8", "choco, compressor 10 %, peers 16",
                "plain, compressor none, peers 8", "plain, compressor none, peers 16",
                "plain, compressor 1 %, peers 8", "plain, compressor 1 %, peers 16",
                "plain, compressor 10 %, peers 8", "plain, compressor 10 %, peers 16"}));
}

TEST(Sweep, SetsWhatIsForSomeCombinationsOnly) {
  const Sweep sweep = read_sweep(kMethods, "f.toml");
  EXPECT_EQ(sweep.rows[2].configs[0].algorithm, "choco:eta=0.5");
  EXPECT_EQ(sweep.rows[4].configs[0].algorithm, "choco:eta=0.05");
  EXPECT_EQ(sweep.rows[6].configs[0].algorithm, "choco:eta=0.5");
  EXPECT_EQ(sweep.rows[4].configs[0].rounds, 5U);
  EXPECT_EQ(sweep.rows[5].configs[0].rounds, 7U) << "a label may be a number";
  EXPECT_EQ(read_sweep(kMethods, "f.toml", {.quick = true}).rows[5].configs[0].rounds, 3U)
      << "the quick profile outranks it";
}

TEST(Sweep, ARowOutranksAnAxis) {
  const Sweep sweep = read_sweep(kMethods, "f.toml");
  EXPECT_EQ(sweep.rows[0].configs[0].graph, "exponential") << "and the base";
  EXPECT_EQ(sweep.rows[4].configs[0].compressor, "topk:keep=0.01");
  for (std::size_t r = 8; r < 14; ++r) EXPECT_EQ(sweep.rows[r].configs[0].compressor, "identity");
  EXPECT_EQ(sweep.rows[8].configs[0].hash(), sweep.rows[10].configs[0].hash()) << "one run";
}

TEST(Sweep, RowsWhoseDataIsNotThereSayWhatToGive) {
  constexpr std::string_view kData = R"(
title = "t"
rows = [{label = "a", data = "cifar10"}, {label = "b", data = "cifar100"}, {label = "c", data = "digits"}]
)";
  const Sweep sweep = read_sweep(kData, "f.toml", {.where = {{"cifar10", "here/there"}}});
  ASSERT_EQ(sweep.rows[0].configs.size(), 1U);
  EXPECT_EQ(sweep.rows[0].configs[0].data, "cifar10:here/there");
  EXPECT_TRUE(sweep.rows[1].configs.empty());
  EXPECT_EQ(sweep.rows[1].missing, "no data; give --where cifar100=PATH");
  EXPECT_EQ(sweep.rows[2].configs[0].data, "digits");
}

TEST(Sweep, FilesLieBesideTheSweep) {
  constexpr std::string_view kInit = "title = 't'\n[base]\ndata = 'npz:{here}/x.npz'\n";
  EXPECT_EQ(read_sweep(kInit, "some/where/f.toml").rows[0].configs[0].data, "npz:some/where/x.npz");
  EXPECT_EQ(read_sweep(kInit, "f.toml").rows[0].configs[0].data, "npz:./x.npz");
}

TEST(Sweep, WithoutRowsAnAxisIsEnough) {
  const Sweep sweep = read_sweep(
      "title = 't'\n[[axes]]\nname = 'peers'\npeers = [4, 8]\n[[axes]]\nname = 'by'\nlr = [0.1, "
      "0.2, 0.3]\n[base]\ndata = 'digits'\ngraph = 'ring'\nalgorithm = 'dsgd'\n",
      "f.toml");
  ASSERT_EQ(sweep.rows.size(), 6U);
  EXPECT_EQ(sweep.rows[0].label, "peers 4, by 0.1");
  EXPECT_EQ(sweep.rows[5].label, "peers 8, by 0.3");
  std::set<std::string> hashes;
  for (const SweepRow& row : sweep.rows) hashes.insert(row.configs.front().hash());
  EXPECT_EQ(hashes.size(), 6U);
}

TEST(Sweep, OneRunIsASweepToo) {
  const Sweep sweep = read_sweep("title = 'alone'\n[base]\ndata = 'digits'\n", "f.toml");
  ASSERT_EQ(sweep.rows.size(), 1U);
  EXPECT_EQ(sweep.rows[0].label, "alone");
  EXPECT_EQ(sweep.rows[0].configs[0].seed, 1U);
}

}  // namespace
}  // namespace hearsay::sweep
