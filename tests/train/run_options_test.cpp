#include "hearsay/train/run_options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "support/message_of.h"
#include "support/scratch.h"

namespace hearsay::train {
namespace {

using support::message_of;

std::string toml_message(std::string_view text) {
  return message_of([&] { RunOptions().read_toml(text, "run.toml"); });
}

TEST(RunOptions, HaveARowForEveryField) {
  RunOptions changed;
  std::set<std::string_view> keys;
  for (const Option& option : options()) {
    EXPECT_TRUE(keys.insert(option.key).second) << option.key;
    const RunOptions before = changed;
    const bool spec = std::holds_alternative<std::string RunOptions::*>(option.field);
    const bool fraction = std::holds_alternative<double RunOptions::*>(option.field);
    const bool compare = std::holds_alternative<Compare RunOptions::*>(option.field);
    changed.set(option.key, spec ? "ring" : fraction ? "0.5" : compare ? "yes" : "77");
    EXPECT_NE(changed, before) << option.key;
  }
  EXPECT_EQ(changed, (RunOptions{.peers = 77,
                                 .graph = "ring",
                                 .algorithm = "ring",
                                 .compressor = "ring",
                                 .data = "ring",
                                 .task = "ring",
                                 .loss = "ring",
                                 .model = "ring",
                                 .partition = "ring",
                                 .classes = "ring",
                                 .mean = "ring",
                                 .deviation = "ring",
                                 .augment = "ring",
                                 .validation = 0.5,
                                 .train_only = "ring",
                                 .init = "ring",
                                 .optimizer = "ring",
                                 .lr = "ring",
                                 .epochs = 77,
                                 .rounds = 77,
                                 .batch = 77,
                                 .seed = 77,
                                 .timing = "ring",
                                 .link = "ring",
                                 .robust = "ring",
                                 .liars = "ring",
                                 .evaluate = 77,
                                 .checkpoint = 77,
                                 .device = "ring",
                                 .precision = "ring",
                                 .compare = Compare::kYes,
                                 .threads = 77}));
}

TEST(RunOptions, TellWhichRowsWereSet) {
  RunOptions config;
  EXPECT_EQ(config.set("seed", "1").key, "seed");
  const std::vector<const Option*> rows = config.read_toml("threads = 2\ngraph = 'ring'\n", "f");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]->key, "graph");
  EXPECT_EQ(rows[1]->key, "threads");
  EXPECT_TRUE(rows[0]->changes_results);
  EXPECT_FALSE(rows[1]->changes_results);
}

TEST(RunOptions, AreTheSameAfterToml) {
  const RunOptions config{.peers = 8,
                          .graph = "ring:directed",
                          .validation = 0.1,
                          .lr = "0.1",
                          .seed = 9223372036854775807,
                          .compare = Compare::kYes};
  for (const RunOptions& options : {config, RunOptions()}) {
    RunOptions copy{.algorithm = "another", .batch = 7, .compare = Compare::kNo};
    copy.read_toml(options.to_toml(), "copy.toml");
    EXPECT_EQ(copy, options) << options.to_toml();
  }
}

TEST(RunOptions, AreWrittenInTheOrderOfTheTable) {
  EXPECT_EQ(RunOptions().to_toml(),
            "peers = 0\ngraph = 'auto'\nalgorithm = 'scsp'\ncompressor = 'auto'\ndata = 'digits'\n"
            "task = 'auto'\nloss = 'auto'\nmodel = 'auto'\npartition = 'auto'\nclasses = 'none'\n"
            "mean = 'none'\ndeviation = 'none'\naugment = 'auto'\nvalidation = 0\ntrain-only = "
            "'all'\ninit = 'none'\n"
            "optimizer = 'auto'\nlr = 'auto'\nepochs = 0\nrounds = 0\nbatch = 32\nseed = 1\n"
            "timing = 'lock-step'\n"
            "link = 'none'\nrobust = 'none'\nliars = 'none'\nevaluate = 0\ncheckpoint = 0\ndevice "
            "= 'cpu'\nprecision = "
            "'auto'\ncompare = 'auto'\n"
            "threads = 0\n");
}

/// Texts that a path or a spec may contain, and that TOML quotes in different ways.
TEST(RunOptions, ReadsBackWhatItWrote) {
  for (const char* odd :
       {"file:plain.txt", "file:it's.txt", "file:C:\\new\\t.txt", "file:it's \\u.txt",
        "file:say \"yes\".txt", "file:'''\"\"\".txt", "file:two\nlines\tand a tab's", "file:\x01",
        "file:\x7f", "file:gr\xc3\xa4ph.txt", "file:# no comment", " file:blanks ", "0.1", "true",
        "[peers]"}) {
    RunOptions config;
    config.set("graph", odd);
    RunOptions copy;
    copy.read_toml(config.to_toml(), "copy.toml");
    EXPECT_EQ(copy.graph, odd);
    EXPECT_EQ(copy.to_toml(), config.to_toml());
    EXPECT_EQ(copy.hash(), config.hash());
  }
}

TEST(RunOptions, ReadsBackEveryCount) {
  for (const char* seed : {"0", "7", "007", "9223372036854775807"}) {
    RunOptions config;
    config.set("seed", seed);
    RunOptions copy;
    copy.read_toml(config.to_toml(), "copy.toml");
    EXPECT_EQ(copy.seed, config.seed);
  }
  RunOptions config;
  config.set("seed", "007");
  EXPECT_EQ(config.seed, 7u);
}

TEST(RunOptions, RefusesWhatIsNoCountAndStaysAsItWas) {
  RunOptions config;
  config.set("peers", "8");
  for (const char* bad :
       {"x", "-3", "1.5", "1e3", "+4", " 4", "4 ", "0x10", "1048577", "99999999999999999999999"}) {
    EXPECT_EQ(
        message_of([&] { config.set("peers", bad); }),
        std::string("[config] peers must be a whole number from 0 to 1048576, got '") + bad + "'");
    EXPECT_EQ(config.peers, 8u);
  }
  EXPECT_EQ(message_of([&] { config.set("graph", ""); }),
            "[config] graph is empty; who talks to whom (hearsay list graphs); auto: "
            "sparse-push:a (4 peers) or ring:directed if the method can use directed graphs, star "
            "if it needs eigenvalues above -1/3, else ring");
  EXPECT_EQ(config.graph, "auto");
}

TEST(RunOptions, RefusesWhatIsNoFractionAndStaysAsItWas) {
  RunOptions config;
  config.set("validation", "0.10");
  EXPECT_EQ(config.validation, 0.1);
  for (const char* bad : {"x", "-0.1", "1", "1.5", "10%", " 0.1", "nan", "inf", "0.1 "}) {
    EXPECT_EQ(message_of([&] { config.set("validation", bad); }),
              std::string("[config] validation must be a number in [0, 1), got '") + bad + "'");
    EXPECT_EQ(config.validation, 0.1);
  }
  RunOptions copy;
  copy.read_toml(config.to_toml(), "copy.toml");
  EXPECT_EQ(copy.validation, 0.1);
}

TEST(RunOptions, ThatAreSetByNameAreCheckedToo) {
  const auto message = [](const RunOptions& config) {
    return message_of([&] {
      for (const Option& option : options()) option.check(config);
    });
  };
  EXPECT_EQ(message({}), "no error");
  EXPECT_EQ(message({.peers = 1 << 21}),
            "[config] peers must be a whole number from 0 to 1048576, got '2097152'");
  EXPECT_EQ(message({.validation = 1.5}),
            "[config] validation must be a number in [0, 1), got '1.5'");
  EXPECT_EQ(message({.validation = std::numeric_limits<double>::quiet_NaN()}),
            "[config] validation must be a number in [0, 1), got 'nan'");
  EXPECT_EQ(message({.algorithm = ""}),
            "[config] algorithm is empty; the method (hearsay list algorithms)");
  EXPECT_EQ(
      message({.init = "a\xff"}),
      "[config] init is not UTF-8: 'a\\xff'; rename what it names, or give a symbolic link to "
      "it");
}

TEST(RunOptions, NamesTheNearestSettingForAnUnknownOne) {
  const std::string all =
      "; there are peers, graph, algorithm, compressor, data, task, loss, model, partition, "
      "classes, mean, deviation, augment, validation, train-only, init, optimizer, lr, epochs, "
      "rounds, batch, seed, timing, "
      "link, robust, liars, "
      "evaluate, "
      "checkpoint, device, precision, compare, threads";
  RunOptions config;
  EXPECT_EQ(message_of([&] { config.set("grahp", "ring"); }),
            "[config] there is no setting 'grahp' (did you mean 'graph'?)" + all);
  EXPECT_EQ(message_of([&] { config.set("colour", "red"); }),
            "[config] there is no setting 'colour'" + all);
}

TEST(RunOptions, ReadsTextsAndNumbersFromToml) {
  RunOptions config;
  config.read_toml("peers = 8  # eight\ngraph = 'ring'\nlr = 0.25\nseed = '5'\n", "run.toml");
  EXPECT_EQ(config.peers, 8u);
  EXPECT_EQ(config.graph, "ring");
  EXPECT_EQ(config.lr, "0.25");
  EXPECT_EQ(config.seed, 5u);
}

TEST(RunOptions, NamesFileAndLineOfATomlMistake) {
  EXPECT_TRUE(toml_message("peers = 4\ngrahp = 'ring'\n")
                  .starts_with("[run.toml, line 2] there is no setting 'grahp' (did you mean "
                               "'graph'?); there are peers, "));
  EXPECT_EQ(toml_message("\n\npeers = -4\n"),
            "[run.toml, line 3] peers must be a whole number from 0 to 1048576, got '-4'");
  EXPECT_EQ(toml_message("peers = 4.5\n"),
            "[run.toml, line 1] peers must be a whole number from 0 to 1048576, got '4.5'");
  RunOptions flag;
  flag.read_toml("compare = true\n", "run.toml");
  EXPECT_EQ(flag.compare, Compare::kYes);
  flag.read_toml("compare = false\n", "run.toml");
  EXPECT_EQ(flag.compare, Compare::kNo);
  EXPECT_EQ(toml_message("\ncompare = 'perhaps'\n"),
            "[run.toml, line 2] compare must be yes or no, got 'perhaps'");
  EXPECT_EQ(toml_message("peers = true\n"), "[run.toml, line 1] peers must be a text or a number");
  EXPECT_EQ(toml_message("\ngraph = ['ring']\n"),
            "[run.toml, line 2] graph must be a text or a number");
  EXPECT_EQ(toml_message("seed = 1\ngraph = ''\n"),
            "[run.toml, line 2] graph is empty; who talks to whom (hearsay list graphs); auto: "
            "sparse-push:a (4 peers) or ring:directed if the method can use directed graphs, star "
            "if it needs eigenvalues above -1/3, else ring");
  EXPECT_TRUE(
      toml_message("seed = 1\ngraph = \n").starts_with("[run.toml, line 2] Error while parsing "));
  EXPECT_TRUE(
      toml_message("seed = 1\nseed = 2\n").starts_with("[run.toml, line 2] Error while parsing "));
}

TEST(RunOptionsHash, IgnoresExactlyWhatDoesNotChangeResults) {
  const std::string plain = RunOptions().hash();
  EXPECT_EQ(plain.size(), 64u);
  for (const Option& option : options()) {
    RunOptions config;
    const bool fraction = std::holds_alternative<double RunOptions::*>(option.field);
    const bool compare = std::holds_alternative<Compare RunOptions::*>(option.field);
    config.set(option.key, fraction ? "0.77" : compare ? "yes" : "77");
    const bool ignored =
        option.key == "threads" || option.key == "checkpoint" || option.key == "compare";
    EXPECT_EQ(config.hash() == plain, ignored) << option.key;
  }
}

TEST(OptionsOfRun, NameTheNormOfOldDirectoriesAsItIsNamedNow) {
  const support::Scratch scratch;
  const auto model_in = [&](std::string_view text) {
    support::write_text(scratch / "config.toml", fmt::format("model = '{}'\n", text));
    return options_of_run(scratch.path()).model;
  };
  EXPECT_EQ(model_in("resnet20:norm=range-evonorm"), "resnet20:norm=range-evonorm-sigmoid");
  EXPECT_EQ(model_in("resnet20:norm=range-evonorm-hard"), "resnet20:norm=range-evonorm-hard");
}

/// Run directories refer to their settings by this hash, so it must never change. These are from
/// directories that version 0.1 wrote when settings were still texts.
TEST(RunOptionsHash, IsThatOfOldRunDirectories) {
  const RunOptions digits{.peers = 4,
                          .graph = "sparse-push:a",
                          .compressor = "topk:keep=0.01,value=f16",
                          .model = "cnn",
                          .partition = "skew:0.8",
                          .augment = "none",
                          .optimizer = "nesterov:beta=0.9,weight_decay=1e-4",
                          .lr = "cosine:0.1",
                          .rounds = 1};
  EXPECT_EQ(digits.hash(), "09263e7b2b409c1769a2e8dd3eef823be8a668d4de6ce9b6225f40a746688126");

  // Options that did not exist then, with the values that such a run has.
  RunOptions classes = digits;
  classes.task = "classification";
  classes.loss = "cross-entropy";
  EXPECT_EQ(classes.hash(), digits.hash());
  classes.task = "regression";
  EXPECT_NE(classes.hash(), digits.hash());

  // What is range-evonorm-sigmoid now was range-evonorm then.
  RunOptions ranges = digits, other = digits;
  ranges.model = "resnet20:norm=range-evonorm-sigmoid";
  other.model = "resnet20:norm=range-evonorm";
  EXPECT_EQ(ranges.hash(), other.hash());
  other.model = "resnet20:norm=range-evonorm-hard";
  EXPECT_NE(ranges.hash(), other.hash());

  RunOptions synthetic = digits;
  synthetic.data = "synthetic:shape=1x8x8,classes=4,samples=400";
  synthetic.model = "cnn:norm=batch";
  synthetic.validation = 0.025;
  synthetic.epochs = 1;
  synthetic.rounds = 0;
  EXPECT_EQ(synthetic.hash(), "6bd3265feeab07cd75ea44bdd996ecf13352e4937ae4ec9b43e9d6b21569315c");

  RunOptions logistic = digits;
  logistic.graph = "ring";
  logistic.algorithm = "dsgd";
  logistic.compressor = "identity";
  logistic.model = "logistic";
  logistic.validation = 0.1;
  logistic.lr = "0.5";
  logistic.batch = 16;
  logistic.evaluate = 1;
  EXPECT_EQ(logistic.hash(), "5480bb8a4990f48d5505fc73cbd9b1fe49e4b2bd225c4c18236cf220a7a3da67");

  const RunOptions closed{.peers = 4,
                          .graph = "ring",
                          .algorithm = "choco",
                          .compressor = "topk:keep=0.01,value=f16",
                          .data = "least-squares:noise=0.1",
                          .model = "none",
                          .partition = "none",
                          .augment = "none",
                          .optimizer = "sgd",
                          .lr = "0.05",
                          .rounds = 3};
  EXPECT_EQ(closed.hash(), "418814b923d6fcaa9a02bca84de69fbd78c377083b2c54540e54763b46e22547");

  RunOptions linked = closed;
  linked.peers = 8;
  linked.graph = "ring:directed";
  linked.algorithm = "sgp";
  linked.compressor = "identity";
  linked.data = "consensus";
  linked.rounds = 2;
  linked.seed = 7;
  linked.link = "latency=1e-3";
  linked.checkpoint = 9;
  linked.threads = 1;
  EXPECT_EQ(linked.hash(), "667164d4503904afe34fb75afa1eb0d9ff5a5db5703825304d89f0345efc66ab");

  RunOptions quoted = linked;
  quoted.peers = 2;
  quoted.graph = "file:it's.txt";
  quoted.data = "least-squares";
  quoted.lr = "0.25";
  quoted.rounds = 4;
  quoted.seed = 9223372036854775807;
  quoted.link = "none";
  EXPECT_EQ(quoted.hash(), "186f03e0796a9508b4ea8904e75a21bbc657bee834f6743405718f944a94297d");
}

}  // namespace
}  // namespace hearsay::train
