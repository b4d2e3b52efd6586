#include <gtest/gtest.h>

#include <array>
#include <sstream>

#include <fmt/format.h>

#include "cli/process.h"
#include "data/files.h"
#include "hearsay/model/models.h"
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

TEST_F(Eval, OfAFileElsewhereNeedsData) {
  fs::copy(scratch_ / "run/models/average.safetensors", scratch_ / "alone.safetensors");
  const Result bare = eval({"alone.safetensors", "--model", "logistic"});
  EXPECT_EQ(bare.status, 2);
  EXPECT_EQ(
      bare.err,
      "hearsay: [eval] alone.safetensors does not lie in the models/ of a run directory; give "
      "--data\n");
  const Result told = eval({"alone.safetensors", "--data", "digits"});
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_EQ(told.out, eval({"run/models/average.safetensors"}).out);
}

/// The file without what it says of itself, as older versions wrote it.
void make_old(const fs::path& from, const fs::path& to) {
  const Layout layout = model::make_model("logistic", {1, 8, 8}, 10).layout();
  train::write_safetensors(to, layout, train::read_safetensors(from, layout).parameters);
}

TEST_F(Eval, OfAFileOfAnOlderVersionNeedsModelAndData) {
  make_old(scratch_ / "run/models/average.safetensors", scratch_ / "alone.safetensors");
  const Result bare = eval({"alone.safetensors", "--model", "logistic"});
  EXPECT_EQ(bare.status, 2);
  EXPECT_EQ(
      bare.err,
      "hearsay: [eval] alone.safetensors does not lie in the models/ of a run directory; give "
      "--model and --data\n");
  const std::string now = eval({"run/models/average.safetensors"}).out;
  const std::string told =
      eval({"alone.safetensors", "--model", "logistic", "--data", "digits"}).out;
  EXPECT_EQ(figure(told, "accuracy"), figure(now, "accuracy"));
  EXPECT_NE(told.find("note: the file does not say how its inputs were normalized"),
            std::string::npos)
      << told;
  make_old(scratch_ / "run/models/peer-1.safetensors", scratch_ / "run/models/average.safetensors");
  EXPECT_EQ(eval({"run/models/average.safetensors"}).out,
            eval({"run/models/peer-1.safetensors"}).out)
      << "the run directory says all";
}

/// Three clouds of points; `shift` and `stretch` change the data's mean and deviation.
void write_points(const fs::path& file, double shift, double stretch, int count) {
  std::string text = "x,y,kind\n";
  for (int i = 0; i < count; ++i) {
    const int kind = i % 3;
    const double off = 0.1 * (i % 7) - 0.3;
    text += fmt::format("{},{},{}\n", shift + stretch * (kind == 1 ? 3 + off : off),
                        1000 + 20 * (kind == 2 ? 3 - off : off), std::array{"a", "b", "c"}[kind]);
  }
  support::write_text(file, text);
}

TEST_F(Eval, NormalizesAsTheModelsOwnTrainingDataWas) {
  write_points(scratch_ / "mine.csv", 50, 1, 120);
  ASSERT_EQ(hearsay({"train", "--data", "csv:mine.csv,label=kind", "--model", "mlp:hidden=8",
                     "--algorithm", "dsgd", "--partition", "iid", "--rounds", "150", "--out",
                     "points", "--quiet"},
                    scratch_.path())
                .status,
            0);
  fs::copy(scratch_ / "points/models/average.safetensors", scratch_ / "alone.safetensors");
  const std::string own = eval({"alone.safetensors", "--data", "csv:mine.csv,label=kind"}).out;
  EXPECT_EQ(figure(own, "accuracy"), 100) << own;
  EXPECT_EQ(own.find("note:"), std::string::npos) << own;
  // Points of kind a and c only, and twice of a: by their own mean, a would be taken for b.
  std::string some = support::read_text(scratch_ / "mine.csv");
  std::string kept;
  for (std::size_t at = 0; at < some.size();) {
    const std::size_t end = some.find('\n', at) + 1;
    if (some.substr(end - 3, 2) != ",b") kept += some.substr(at, end - at);
    at = end;
  }
  support::write_text(scratch_ / "some.csv", kept);
  const std::string foreign = eval({"alone.safetensors", "--data", "csv:some.csv,label=kind"}).out;
  EXPECT_EQ(figure(foreign, "accuracy"), 100) << foreign;
  support::write_text(scratch_ / "swapped.csv", "y,x" + kept.substr(3));
  const Result columns = eval({"alone.safetensors", "--data", "csv:swapped.csv,label=kind"});
  EXPECT_EQ(columns.status, 2);
  EXPECT_NE(columns.err.find("the model was trained on x, y, in this order"), std::string::npos)
      << columns.err;
}

TEST_F(Eval, WritesWhatIsPredicted) {
  const Result made = eval({"run/models/average.safetensors", "--predictions", "predictions.csv"});
  ASSERT_EQ(made.status, 0) << made.err;
  std::istringstream lines(support::read_text(scratch_ / "predictions.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "label,predicted,0,1,2,3,4,5,6,7,8,9");
  double right = 0, all = 0;
  for (; std::getline(lines, line); ++all) {
    std::vector<std::string> fields;
    std::istringstream row(line);
    for (std::string field; std::getline(row, field, ',');) fields.push_back(field);
    ASSERT_EQ(fields.size(), 12u) << line;
    right += fields[0] == fields[1];
    const double most = std::stod(fields[2 + std::stoul(fields[1])]);
    for (std::size_t k = 2; k < 12; ++k) EXPECT_LE(std::stod(fields[k]), most) << line;
  }
  EXPECT_NEAR(100 * right / all, figure(made.out, "accuracy"), 1e-3);
  EXPECT_NE(made.out.find(fmt::format(", {} test samples\n", all)), std::string::npos) << made.out;
  const Result nowhere = eval({"run/models/average.safetensors", "--predictions", "no/such/file"});
  EXPECT_EQ(nowhere.status, 1);
  EXPECT_NE(nowhere.err.find("no/such/file"), std::string::npos) << nowhere.err;
}

TEST_F(Eval, ExportsAFileThatSaysWhatItIs) {
  const auto exported = [&](const std::string& file, const std::string& to) {
    return hearsay({"export", file, "--onnx", to}, scratch_.path());
  };
  const Result made = exported("run/models/average.safetensors", "digits.onnx");
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(made.out,
            "digits.onnx: logistic, 650 parameters\n"
            "input       float N x 1x8x8: entries as the data files have them\n"
            "logits      float N x 10: one per class\n");
  make_old(scratch_ / "run/models/average.safetensors", scratch_ / "run/models/old.safetensors");
  ASSERT_EQ(exported("run/models/old.safetensors", "old.onnx").status, 0);
  EXPECT_EQ(support::read_text(scratch_ / "old.onnx"), support::read_text(scratch_ / "digits.onnx"))
      << "an older version's run directory says the same";
  fs::rename(scratch_ / "run/models/old.safetensors", scratch_ / "alone.safetensors");
  const Result alone = exported("alone.safetensors", "alone.onnx");
  EXPECT_EQ(alone.status, 2);
  EXPECT_EQ(
      alone.err,
      "hearsay: [export] alone.safetensors does not say what model it is, and does not lie in "
      "the models/ of a run directory; hearsay train --init FILE --model SPEC --data SPEC "
      "writes one that says it\n");
  EXPECT_EQ(exported("nowhere.safetensors", "x").err,
            "hearsay: [export] there is no file 'nowhere.safetensors'\n");
  EXPECT_FALSE(fs::exists(scratch_ / "alone.onnx"));
}

TEST_F(Eval, ExportsOnlyNetworksWithTheirStatistics) {
  ASSERT_EQ(
      hearsay({"train", "--data", "consensus:dim=3", "--rounds", "2", "--out", "mean", "--quiet"},
              scratch_.path())
          .status,
      0);
  const Result mean =
      hearsay({"export", "mean/models/average.safetensors", "--onnx", "x"}, scratch_.path());
  EXPECT_EQ(mean.status, 2);
  EXPECT_EQ(
      mean.err,
      "hearsay: [export] mean/models/average.safetensors is of a run on consensus:dim=3, which "
      "trains no network\n");
  const auto net = model::make_model("cnn:norm=batch", {1, 8, 8}, 10);
  const model::Description is{.model = "cnn:norm=batch",
                              .input = {1, 8, 8},
                              .mean = {0},
                              .deviation = {1},
                              .task = "classification",
                              .loss = "cross-entropy",
                              .outputs = 10};
  train::write_safetensors(scratch_ / "bare.safetensors", net.layout(),
                           std::vector<float>(net.layout().dim()), {}, {}, is);
  const Result bare = hearsay({"export", "bare.safetensors", "--onnx", "x"}, scratch_.path());
  EXPECT_EQ(bare.status, 2);
  EXPECT_NE(bare.err.find("bare.safetensors has no running statistics"), std::string::npos)
      << bare.err;
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
  const std::string four = "four/models/average.safetensors";
  EXPECT_EQ(eval({four, "--data", "npz:mine.npz"}).status, 0) << "it says how it counts";
  const Layout layout = model::make_model("mlp", {2, 1, 1}, 4).layout();
  train::write_safetensors(scratch_ / four, layout,
                           train::read_safetensors(scratch_ / four, layout).parameters);
  const Result misfit = eval({four, "--data", "npz:mine.npz"});
  EXPECT_EQ(misfit.status, 2);
  EXPECT_NE(misfit.err.find("for a model of an older version, which counted them from 0 on, give "
                            "--data npz:mine.npz,first=0\n"),
            std::string::npos)
      << misfit.err;
}

}  // namespace
}  // namespace hearsay::cli
