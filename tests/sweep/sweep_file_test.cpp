#include "hearsay/sweep/sweep_file.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"

namespace hearsay::sweep {
namespace {

/// An invalid sweep file and its error message. `title = 't'` is line 1 of all.
struct Wrong {
  const char *name, *text, *message;
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.name; }

class WrongSweepFile : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongSweepFile, IsRefusedWithItsLine) {
  const std::string text = std::string("title = 't'\n") + GetParam().text;
  try {
    read_sweep(text, "f.toml", {.where = {{"cifar10", "x"}}});
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), GetParam().message);
  }
}

constexpr Wrong kWrong[] = {
    {"NoToml", "seeds = [1\n",
     "[f.toml, line 2] Error while parsing array: encountered "
     "end-of-file"},
    {"HeaderWithoutKey", "[.a]",
     "[f.toml, line 2] Error while parsing key: expected bare key starting character or string "
     "delimiter, saw '.'"},
    {"FigureOfNoScale", "[[figures]]\nname = 'a'\nkey = 'loss'\nscale = nan",
     "[f.toml, line 5] scale must be a finite number, got nan"},
    {"UnknownKey", "sedes = [1]",
     "[f.toml, line 2] there is no 'sedes' here (did you mean 'seeds'?); there are title, source, "
     "note, seeds, base, axes, rows, exclude, when, figures, differences, quick"},
    {"UnknownSetting", "[base]\npers = 4",
     "[f.toml, line 3] there is no 'pers' here (did you mean 'peers'?); there are the settings of "
     "hearsay train"},
    {"UnknownKeyOfARow", "rows = [{lable = 'a'}]",
     "[f.toml, line 2] there is no 'lable' here (did you mean 'label'?); there are label, paper, "
     "missing, quick, the settings of hearsay train"},
    {"RowWithoutLabel", "rows = [{peers = 4}]",
     "[f.toml, line 2] there is no 'label' here, and it is needed"},
    {"RowsThatAreNoTables", "rows = ['a']", "[f.toml, line 2] rows must be a list of tables"},
    {"EmptyList", "seeds = []", "[f.toml, line 2] seeds must be a list that is not empty"},
    {"SeedTwice", "seeds = [1, 2, 1]", "[f.toml, line 2] seeds has 1 twice"},
    {"QuickSeedTwice", "[quick]\nnote = 'n'\nseeds = [3, 3]", "[f.toml, line 4] seeds has 3 twice"},
    {"FigureTwice", "figures = [{name = 'a', key = 'loss'},\n{name = 'a', key = 'accuracy_mean'}]",
     "[f.toml, line 3] there are two figures 'a'"},
    {"SeedThatIsNoNumber", "seeds = ['1']",
     "[f.toml, line 2] seeds must be a whole number, 0 or more"},
    {"NegativeSeed", "seeds = [-1]", "[f.toml, line 2] seeds must be a whole number, 0 or more"},
    {"SeedAsASetting", "[base]\nseed = 1", "[f.toml, line 3] seed stands in 'seeds', a list"},
    {"Compare", "[base]\ncompare = 'yes'",
     "[f.toml, line 3] compare is for one run at a time; a sweep has none"},
    {"TitleThatIsNoText", "source = 3", "[f.toml, line 2] source must be a text"},
    {"SettingThatIsAList", "[base]\npeers = [4]",
     "[f.toml, line 3] peers must be a text or a number"},
    {"AxisWithoutName", "[[axes]]\npeers = [4]",
     "[f.toml, line 2] there is no 'name' here, and it is needed"},
    {"AxisThatSetsNothing", "[[axes]]\nname = 'n'",
     "[f.toml, line 2] axis 'n' sets nothing; give a list of values for a setting"},
    {"AxisOfUnequalLists", "[[axes]]\nname = 'n'\nlabel = ['a', 'b']\nbatch = [1, 2]\npeers = [4]",
     "[f.toml, line 6] peers has 1 values, but what stands beside it has 2; an axis is zipped"},
    {"AxisOfSeveralWithoutLabels", "[[axes]]\nname = 'n'\nbatch = [1, 2]\npeers = [4, 5]",
     "[f.toml, line 2] axis 'n' has several settings and needs 'label', a list of names"},
    {"LabelsOfAnotherLength", "[[axes]]\nname = 'n'\nlabel = ['a']\npeers = [4, 5]",
     "[f.toml, line 2] axis 'n' has 2 values, but label has 1"},
    {"LabelTwice", "[[axes]]\nname = 'n'\npeers = [4, 4]",
     "[f.toml, line 2] axis 'n' has '4' twice"},
    {"AxisNamedRow", "[[axes]]\nname = 'row'\npeers = [4]",
     "[f.toml, line 2] the name of an axis cannot be 'row', which stands for something else here"},
    {"AxisNamedTwice", "[[axes]]\nname = 'n'\npeers = [4]\n[[axes]]\nname = 'n'\nbatch = [4]",
     "[f.toml, line 5] the name of an axis cannot be 'n', which stands for something else here"},
    {"AxesOfOneSetting", "[[axes]]\nname = 'n'\npeers = [4]\n[[axes]]\nname = 'm'\npeers = [5]",
     "[f.toml, line 5] peers is set by axis 'm' and by axis 'n'; leave it to one of them"},
    {"ExcludeOfAnUnknownName", "rows = [{label = 'a'}]\nexclude = [{rwo = 'a'}]",
     "[f.toml, line 3] there is no 'rwo' here (did you mean 'row'?); there are row"},
    {"ExcludeOfAnUnknownLabel",
     "rows = [{label = 'a'}]\nexclude = [{n = 4},\n{n = [4, 5]}]\n[[axes]]\nname = 'n'\npeers = "
     "[4, 8]",
     "[f.toml, line 4] there is no n '5'; there are 4, 8"},
    {"ExcludeOfNothing", "rows = [{label = 'a'}]\nexclude = [{}]",
     "[f.toml, line 3] there is no label here; give some of row"},
    {"ExcludeOfNoLabel", "rows = [{label = 'a'}]\nexclude = [{row = true}]",
     "[f.toml, line 3] row must be a label, or a list of labels"},
    {"WhenWithoutIs", "rows = [{label = 'a'}]\nwhen = [{lr = 0.1}]",
     "[f.toml, line 3] there is no 'is' here, and it is needed"},
    {"WhenThatSetsNothing", "rows = [{label = 'a'}]\nwhen = [{is = {row = 'a'}}]",
     "[f.toml, line 3] this sets nothing; give a setting beside 'is'"},
    {"WhenOfAnUnknownRow", "rows = [{label = 'a'}]\nwhen = [{is = {row = 'b'}, lr = 0.1}]",
     "[f.toml, line 3] there is no row 'b'; there are a"},
    {"RateThatIsNone", "rows = [{label = 'a'},\n{label = 'b', lr = 'zzz'}]",
     "[f.toml, line 3] [learning rate schedule] no learning rate schedule is named 'zzz'; there "
     "are constant, steps, halve, cosine"},
    {"RateOfTwoNumbers", "[base]\nlr = '0.1,0.2'",
     "[f.toml, line 3] [learning rate] '0.1,0.2' is several numbers; give one, or a schedule as "
     "steps:0.1,at=100+150"},
    {"OptimizerThatIsNone", "[base]\noptimizer = 'zzz'",
     "[f.toml, line 3] [optimizer] no optimizer is named 'zzz'; there are sgd, momentum, nesterov, "
     "adam"},
    {"CompressorOutOfRange", "[[axes]]\nname = 'n'\ncompressor = ['topk:keep=0.1',\n'topk:keep=2']",
     "[f.toml, line 5] [topk] keep must be in (0, 1], got 2"},
    {"DataThatIsNone", "rows = [{label = 'a', data = '{x}'}]",
     "[f.toml, line 2] [data] no data is named '{x}'; there are consensus, least-squares, "
     "logistic, digits, mnist, cifar10, cifar100, folder, synthetic, npz, csv"},
    {"TwoRowsOfOneLabel", "rows = [{label = 'a'},\n {label = 'a', peers = 5}]",
     "[f.toml, line 3] there are two rows 'a'"},
    {"PaperOfAnUnknownFigure",
     "figures = [{name = 'SP', key = 'accuracy_mean'}]\nrows = [{label = 'a', paper = {SPP = 1}}]",
     "[f.toml, line 3] there is no 'SPP' here (did you mean 'SP'?); there are SP"},
    {"PaperOfTheWrongShape",
     "figures = [{name = 'SP', key = 'accuracy_mean'}]\nrows = [{label = 'a', paper = {SP = 1}}]\n"
     "[[axes]]\nname = 'n'\npeers = [4, 8]",
     "[f.toml, line 3] paper.SP must be a list of 2 here, one for each value of axis 'n' (nan: "
     "none)"},
    {"PaperThatIsNoNumber",
     "figures = [{name = 'SP', key = 'accuracy_mean'}]\nrows = [{label = 'a', paper = {SP = 'x'}}]",
     "[f.toml, line 3] paper.SP must be a number"},
    {"FigureAtAnUnknownTime", "figures = [{name = 'SP', key = 'loss', at = 'last'}]",
     "[f.toml, line 2] at must be \"end\", \"trained\" or the number of a round"},
    {"FigureAboveNothing", "figures = [{name = 'SP', key = 'loss', above = 1.2}]",
     "[f.toml, line 2] above needs 'against', the label of a row, and 'window', a number of "
     "rounds"},
    {"FigureAgainstAnUnknownRow",
     "figures = [{name = 'SP', key = 'loss', against = 'b'}]\nrows = [{label = 'a'}]",
     "[f.toml, figure SP] there is no row 'b'; there are a"},
    {"DifferenceWithoutEnd",
     "figures = [{name = 'SP', key = 'loss'}]\ndifferences = [{label = 'd', from = {figure = "
     "'SP'}}]",
     "[f.toml, line 3] there is no 'minus' here, and it is needed"},
    {"DifferenceOfAnUnknownRow",
     "figures = [{name = 'SP', key = 'loss'}]\nrows = [{label = 'a'}]\ndifferences = [{label = "
     "'d', "
     "from = {row = 'a', figure = 'SP'}, minus = {row = 'b', figure = 'SP'}}]",
     "[f.toml, difference 'd'] there is no row 'b'; there are a"},
    {"DifferenceOfAnUnknownFigure",
     "figures = [{name = 'SP', key = 'loss'}]\nrows = [{label = 'a'}]\ndifferences = [{label = "
     "'d', "
     "from = {row = 'a', figure = 'S'}, minus = {row = 'a', figure = 'SP'}}]",
     "[f.toml, difference 'd'] there is no figure 'S'"},
    {"DifferenceThatLeavesAnAxisOpen",
     "figures = [{name = 'SP', key = 'loss'}]\nrows = [{label = 'a'}]\ndifferences = [{label = "
     "'d', "
     "from = {row = 'a', figure = 'SP'}, minus = {row = 'a', n = '4', figure = 'SP'}}]\n"
     "[[axes]]\nname = 'n'\npeers = [4, 8]",
     "[f.toml, difference 'd'] says nothing of n"},
    {"DifferenceOfTwoMinds",
     "figures = [{name = 'SP', key = 'loss'}]\ndifferences = [{label = 'd', paper = 1, paper_about "
     "= 1}]",
     "[f.toml, line 3] leave one of paper, paper_about and paper_at_most"},
    {"QuickWithoutNote", "[quick]\nseeds = [1]",
     "[f.toml, line 2] there is no 'note' here, and it is needed"},
    {"QuickOfAnUnknownRow", "rows = [{label = 'a'}]\n[quick]\nnote = 'n'\nrows = ['b']",
     "[f.toml, line 5] there is no row 'b'; there are a"},
    {"QuickOfAnUnknownValue",
     "[[axes]]\nname = 'n'\npeers = [4, 8]\n[quick]\nnote = 'n'\nn = ['5']",
     "[f.toml, line 7] there is no n '5'; there are 4, 8"},
    {"ValueOutOfRange", "[base]\nbatch = -3",
     "[f.toml, line 3] batch must be a whole number from 0 to 1048576, got '-3'"},
    {"TooManyRuns",
     "seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]\n[base]\ndata = 'consensus'\n"
     "[[axes]]\nname = 'a'\nbatch = [0,1,2,3,4,5,6,7,8,9]\n"
     "[[axes]]\nname = 'b'\nevaluate = [0,1,2,3,4,5,6,7,8,9]\n"
     "[[axes]]\nname = 'c'\nrounds = [1,2,3,4,5,6,7,8,9,10]",
     "[f.toml] has more than 10000 runs; make it several sweeps"},
};

INSTANTIATE_TEST_SUITE_P(All, WrongSweepFile, ::testing::ValuesIn(kWrong),
                         [](const auto& wrong) { return std::string(wrong.param.name); });

/// Seeds that nobody can mean are refused before they are crossed with anything.
TEST(SweepFile, HasAsManySeedsAsASweepHasRuns) {
  std::string text = "title = 't'\nseeds = [0";
  for (int seed = 1; seed < 100'000; ++seed) text += fmt::format(",{}", seed);
  try {
    read_sweep(text + "]\n[base]\ndata = 'consensus'\n", "f.toml");
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "[f.toml, line 2] there are 100000 seeds, and a sweep has at most 10000 runs; "
                 "give fewer");
  }
}

TEST(SweepFile, NeedsATitle) {
  EXPECT_THROW(parse_sweep_file("seeds = [1]", "f.toml"), InvalidArgument);
}

TEST(SweepFile, NamesTheFiguresThatThereAre) {
  try {
    parse_sweep_file("title = 't'\nfigures = [{name = 'SP', key = 'accuracy_men'}]", "f.toml");
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    EXPECT_TRUE(
        text.starts_with("[f.toml, line 2] no run has a figure 'accuracy_men' (did you "
                         "mean 'accuracy_mean'?); there are round, epoch, "))
        << text;
    EXPECT_TRUE(text.ends_with(", peak_rss_bytes")) << text;
  }
}

TEST(SweepFile, ThatIsGarbledIsReadOrRefused) {
  constexpr std::string_view kText = R"(title = "t"
seeds = [1, 2]
figures = [{name = "SP", key = "loss", at = 5, window = 3, digits = 2}]
rows = [{label = "a", lr = 0.1, paper = {SP = [[1, 2], [3, nan]]}, quick = {lr = 0.2}}]
exclude = [{row = "a", n = [4], m = "x"}]
when = [{is = {n = "8"}, lr = 0.3}]
differences = [{label = "d", from = {row = "a", n = "4", m = "x", figure = "SP"}, minus = {row = "a", n = "8", m = "y", figure = "SP"}}]
[base]
data = "consensus"
[[axes]]
name = "n"
peers = [4, 8]
[[axes]]
name = "m"
label = ["x", "y"]
rounds = [3, 4]
missing = ["", "no"]
[quick]
note = "n"
n = ["4"]
[quick.base]
evaluate = 1
)";
  ASSERT_EQ(read_sweep(kText, "f.toml").rows.size(), 3U);
  Random random(2026, Purpose::kTest);
  for (int i = 0; i < 2000; ++i) {
    std::string garbled(kText);
    for (int k = 0; k < 2; ++k) {
      const std::size_t at = random.below(garbled.size());
      if (random.below(2) == 0) {
        garbled[at] = "0\"{}[],=\n-.e9x"[random.below(15)];
      } else {
        garbled.erase(at, 1 + random.below(12));
      }
    }
    try {
      read_sweep(garbled, "f.toml", {.quick = random.below(2) == 0});
    } catch (const InvalidArgument&) {
    }
  }
}

TEST(SweepFile, IsToldWhatTheCommandLineLacks) {
  const auto message = [](const SweepOptions& options) -> std::string {
    try {
      read_sweep("title = 't'\nrows = [{label = 'a'}]", "f.toml", options);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({.quick = true}), "[f.toml] has no quick profile; drop --quick");
  EXPECT_EQ(message({.seeds = {4, 4}}), "[sweep] --seeds has 4 twice");
  EXPECT_EQ(message({.rows = {"b"}}), "[sweep] there is no row 'b'; there are a");
  EXPECT_EQ(message({.where = {{"digits", "x"}}}),
            "[sweep] --where digits=x: 'digits' is no dataset that is read from files");
  EXPECT_EQ(message({.settings = {{"batch", "x"}}}),
            "[config] batch must be a whole number from 0 to 1048576, got 'x'");
}

}  // namespace
}  // namespace hearsay::sweep
