#include "hearsay/train/config.h"

#include <gtest/gtest.h>

#include <functional>

#include "hearsay/core/error.h"

namespace hearsay::train {
namespace {

std::string message_of(const std::function<void()>& mistake) {
  try {
    mistake();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

std::string toml_message(std::string_view text) {
  return message_of([&] { Config().read_toml(text, "run.toml"); });
}

TEST(Config, StartsWithTheFallbacksOfTheTable) {
  const Config config;
  for (const Option& option : options()) {
    EXPECT_EQ(config.text(option.key), option.fallback);
    EXPECT_FALSE(config.given(option.key)) << option.key;
  }
}

TEST(Config, TellsWhatWasGiven) {
  Config config;
  config.set("seed", "1");
  EXPECT_TRUE(config.given("seed"));
  EXPECT_FALSE(config.given("peers"));
}

/// Texts that a path or a spec may contain, and that TOML quotes in different ways.
TEST(Config, ReadsBackWhatItWrote) {
  for (const char* odd :
       {"file:plain.txt", "file:it's.txt", "file:C:\\new\\t.txt", "file:it's \\u.txt",
        "file:say \"yes\".txt", "file:'''\"\"\".txt", "file:two\nlines\tand a tab's", "file:\x01",
        "file:\x7f", "file:gr\xc3\xa4ph.txt", "file:# no comment", " file:blanks ", "0.1", "true",
        "[peers]"}) {
    Config config;
    config.set("graph", odd);
    Config copy;
    copy.read_toml(config.to_toml(), "copy.toml");
    EXPECT_EQ(copy.text("graph"), odd);
    EXPECT_EQ(copy.to_toml(), config.to_toml());
    EXPECT_EQ(copy.hash(), config.hash());
  }
}

TEST(Config, ReadsBackEveryCount) {
  for (const char* seed : {"0", "7", "007", "9223372036854775807"}) {
    Config config;
    config.set("seed", seed);
    Config copy;
    copy.read_toml(config.to_toml(), "copy.toml");
    EXPECT_EQ(copy.count("seed"), config.count("seed"));
  }
  Config config;
  config.set("seed", "007");
  EXPECT_EQ(config.count("seed"), 7u);
}

TEST(Config, RefusesWhatIsNoCountAndStaysAsItWas) {
  Config config;
  config.set("peers", "8");
  for (const char* bad :
       {"x", "-3", "1.5", "1e3", "+4", " 4", "4 ", "0x10", "1048577", "99999999999999999999999"}) {
    EXPECT_EQ(
        message_of([&] { config.set("peers", bad); }),
        std::string("[config] peers must be a whole number from 0 to 1048576, got '") + bad + "'");
    EXPECT_EQ(config.count("peers"), 8u);
  }
  EXPECT_EQ(message_of([&] { config.set("graph", ""); }),
            "[config] graph is empty; who talks to whom (hearsay list graphs); auto: "
            "sparse-push:a (4 peers) or ring:directed if the method can use directed graphs, star "
            "if it needs eigenvalues above -1/3, else ring");
  EXPECT_EQ(config.text("graph"), "auto");
}

TEST(Config, RefusesWhatIsNoFractionAndStaysAsItWas) {
  Config config;
  config.set("validation", "0.10");
  EXPECT_EQ(config.fraction("validation"), 0.1);
  EXPECT_EQ(config.text("validation"), "0.1");
  for (const char* bad : {"x", "-0.1", "1", "1.5", "10%", " 0.1", "nan", "inf", "0.1 "}) {
    EXPECT_EQ(message_of([&] { config.set("validation", bad); }),
              std::string("[config] validation must be a number in [0, 1), got '") + bad + "'");
    EXPECT_EQ(config.fraction("validation"), 0.1);
  }
  Config copy;
  copy.read_toml(config.to_toml(), "copy.toml");
  EXPECT_EQ(copy.fraction("validation"), 0.1);
}

TEST(Config, NamesTheNearestSettingForAnUnknownOne) {
  const std::string all =
      "; there are peers, graph, algorithm, compressor, data, model, partition, augment, "
      "validation, init, optimizer, lr, epochs, rounds, batch, seed, link, evaluate, checkpoint, "
      "device, compare, threads";
  Config config;
  EXPECT_EQ(message_of([&] { config.set("grahp", "ring"); }),
            "[config] there is no setting 'grahp' (did you mean 'graph'?)" + all);
  EXPECT_EQ(message_of([&] { config.set("colour", "red"); }),
            "[config] there is no setting 'colour'" + all);
}

TEST(Config, ReadsTextsAndNumbersFromToml) {
  Config config;
  config.read_toml("peers = 8  # eight\ngraph = 'ring'\nlr = 0.25\nseed = '5'\n", "run.toml");
  EXPECT_EQ(config.count("peers"), 8u);
  EXPECT_EQ(config.text("graph"), "ring");
  EXPECT_EQ(config.text("lr"), "0.25");
  EXPECT_EQ(config.count("seed"), 5u);
}

TEST(Config, NamesFileAndLineOfATomlMistake) {
  EXPECT_TRUE(toml_message("peers = 4\ngrahp = 'ring'\n")
                  .starts_with("[run.toml, line 2] there is no setting 'grahp' (did you mean "
                               "'graph'?); there are peers, "));
  EXPECT_EQ(toml_message("\n\npeers = -4\n"),
            "[run.toml, line 3] peers must be a whole number from 0 to 1048576, got '-4'");
  EXPECT_EQ(toml_message("peers = 4.5\n"),
            "[run.toml, line 1] peers must be a whole number from 0 to 1048576, got '4.5'");
  Config flag;
  flag.read_toml("compare = true\n", "run.toml");
  EXPECT_EQ(flag.text("compare"), "yes");
  flag.read_toml("compare = false\n", "run.toml");
  EXPECT_EQ(flag.text("compare"), "no");
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

TEST(ConfigHash, IgnoresExactlyWhatDoesNotChangeResults) {
  const std::string plain = Config().hash();
  EXPECT_EQ(plain.size(), 64u);
  for (const Option& option : options()) {
    Config config;
    config.set(option.key, option.kind == Option::Kind::kFraction ? "0.77" : "77");
    const bool ignored =
        option.key == "threads" || option.key == "checkpoint" || option.key == "compare";
    EXPECT_EQ(config.hash() == plain, ignored) << option.key;
  }
}

}  // namespace
}  // namespace hearsay::train
