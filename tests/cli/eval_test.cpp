#include <gtest/gtest.h>

#include "cli/process.h"
#include "data/files.h"
#include "hearsay/train/safetensors.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;

/// A short run on the digits, in `run`.
class Eval : public ::testing::Test {
 protected:
  Eval() {
    const Result made =
        hearsay({"train", "--model", "logistic", "--rounds", "40", "--out", "run", "--quiet"},
                scratch_.path());
    if (made.status != 0) throw std::runtime_error(made.err);
  }

  Result eval(std::vector<std::string> more) {
    more.insert(more.begin(), "eval");
    return hearsay(more, scratch_.path());
  }
  /// The number in the line with that name.
  static double figure(const std::string& text, const std::string& name) {
    const std::size_t at = text.find("\n" + name + " ");
    EXPECT_NE(at, std::string::npos) << name << " in\n" << text;
    return at == std::string::npos ? 0 : std::stod(text.substr(at + 1 + name.size()));
  }

  support::Scratch scratch_;
};

TEST_F(Eval, OfAnExportGivesTheFiguresOfItsRun) {
  const nlohmann::json summary = support::summary_of(scratch_ / "run");
  const Result average = eval({"run/models/average.safetensors"});
  ASSERT_EQ(average.status, 0) << average.err;
  EXPECT_NEAR(figure(average.out, "accuracy"), summary["accuracy_of_average"], 1e-3);
  EXPECT_NEAR(figure(average.out, "loss"), summary["loss_of_average"], 1e-4);
  double mean = 0;
  for (int i = 0; i < 4; ++i) {
    const Result peer = eval({"run/models/peer-" + std::to_string(i) + ".safetensors"});
    mean += figure(peer.out, "accuracy") / 4;
  }
  EXPECT_NEAR(mean, summary["accuracy_mean"], 1e-3);
}

TEST_F(Eval, OfAFileElsewhereNeedsModelAndData) {
  fs::copy(scratch_ / "run/models/average.safetensors", scratch_ / "alone.safetensors");
  const Result bare = eval({"alone.safetensors", "--model", "logistic"});
  EXPECT_EQ(bare.status, 2);
  EXPECT_EQ(
      bare.err,
      "hearsay: [eval] alone.safetensors does not lie in the models/ of a run directory; give "
      "--model and --data\n");
  const Result told = eval({"alone.safetensors", "--model", "logistic", "--data", "digits"});
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_EQ(told.out, eval({"run/models/average.safetensors"}).out);
}

TEST_F(Eval, OfAnotherModelOrADamagedFileIsRefused) {
  EXPECT_EQ(eval({"nowhere.safetensors", "--model", "logistic", "--data", "digits"}).err,
            "hearsay: [eval] there is no file 'nowhere.safetensors'\n");
  EXPECT_EQ(eval({"nowhere.safetensors"}).err,
            "hearsay: [eval] there is no file 'nowhere.safetensors'\n");
  train::write_safetensors(scratch_ / "other.safetensors", Layout(3), std::vector<float>(3));
  const Result other = eval({"other.safetensors", "--model", "logistic", "--data", "digits"});
  EXPECT_EQ(other.status, 2);
  EXPECT_TRUE(other.err.starts_with("hearsay: [safetensors] other.safetensors has ")) << other.err;
  support::write_text(scratch_ / "bad.safetensors", "nonsense and more");
  const Result bad = eval({"bad.safetensors", "--model", "logistic", "--data", "digits"});
  EXPECT_EQ(bad.status, 1);
  EXPECT_TRUE(bad.err.starts_with("hearsay: [safetensors] bad.safetensors is no ")) << bad.err;
}

TEST_F(Eval, FindsTheRunByAnyWayToTheFile) {
  const std::string direct = eval({"run/models/average.safetensors"}).out;
  EXPECT_EQ(eval({"run/../run/models/../models/./average.safetensors"}).out, direct);
  EXPECT_EQ(hearsay({"eval", "./average.safetensors"}, scratch_ / "run/models").out, direct);
}

TEST_F(Eval, DoesNotNeedTheRunIfModelAndDataAreGiven) {
  const std::string direct = eval({"run/models/average.safetensors"}).out;
  support::write_text(scratch_ / "run/config.toml", "damaged");
  const Result told =
      eval({"run/models/average.safetensors", "--model", "logistic", "--data", "digits"});
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_EQ(told.out, direct);
}

TEST_F(Eval, OfOtherDataHoldsNothingOut) {
  ASSERT_EQ(hearsay({"train", "--model", "logistic", "--rounds", "4", "--validation", "0.1",
                     "--out", "held", "--quiet"},
                    scratch_.path())
                .status,
            0);
  const std::string file = "held/models/average.safetensors";
  EXPECT_NE(eval({file}).out.find("validation accuracy"), std::string::npos);
  const Result other = eval({file, "--data", "digits"});
  EXPECT_EQ(other.status, 0) << other.err;
  EXPECT_EQ(other.out.find("validation"), std::string::npos);
}

/// Labels 1 to 3 are three classes, and were four for older versions.
TEST_F(Eval, OfDataWhoseLabelsDoNotStartAtZeroSaysHowOlderModelsCount) {
  std::vector<float> x;
  std::vector<std::int32_t> y;
  for (int i = 0; i < 90; ++i) {
    y.push_back(1 + i % 3);
    x.insert(x.end(), {static_cast<float>(i % 3), static_cast<float>(i)});
  }
  data::write_bytes(scratch_ / "mine.npz", data::zip({{"x.npy", data::npy("<f4", "(90, 2)", x)},
                                                      {"y.npy", data::npy("<i4", "(90,)", y)}},
                                                     true));
  const auto train = [&](const char* data, const char* out) {
    return hearsay({"train", "--data", data, "--rounds", "30", "--out", out}, scratch_.path());
  };
  const Result made = train("npz:mine.npz", "three");
  EXPECT_NE(made.out.find("npz:mine.npz, 3 classes (labels 1 to 3), "), std::string::npos)
      << made.out;
  EXPECT_EQ(support::summary_of(scratch_ / "three")["classes"], 3);
  EXPECT_EQ(eval({"three/models/average.safetensors"}).status, 0);

  EXPECT_EQ(train("npz:mine.npz,first=0", "four").status, 0);
  EXPECT_EQ(support::summary_of(scratch_ / "four")["classes"], 4);
  const Result misfit = eval({"four/models/average.safetensors", "--data", "npz:mine.npz"});
  EXPECT_EQ(misfit.status, 2);
  EXPECT_NE(misfit.err.find("for a model of an older version, which counted them from 0 on, give "
                            "--data npz:mine.npz,first=0\n"),
            std::string::npos)
      << misfit.err;
}

}  // namespace
}  // namespace hearsay::cli
