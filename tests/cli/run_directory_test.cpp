#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>

#include "cli/process.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// A finished run in `run`, and user errors that concern it. Each test also checks that no byte
/// changed.
class RunDirectory : public ::testing::Test {
 protected:
  RunDirectory() {
    const Result made = hearsay({"train", "--data", "least-squares", "--rounds", "20", "--evaluate",
                                 "5", "--out", "run", "--quiet"},
                                scratch_.path());
    if (made.status != 0) throw std::runtime_error(made.err);
  }

  /// The message for a wrong command, which must change nothing.
  std::string refusal(const Words& arguments, int status) {
    const auto before = support::contents(scratch_.path());
    const Result result = hearsay(arguments, scratch_.path());
    EXPECT_EQ(result.status, status);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(support::contents(scratch_.path()), before);
    return result.err;
  }

  support::Scratch scratch_;
};

TEST_F(RunDirectory, IsNotTrainedIntoTwice) {
  EXPECT_EQ(refusal({"train", "--rounds", "9", "--out", "run"}, 2),
            "hearsay: [train] run already holds a run; use --resume run, or another --out\n");
}

TEST_F(RunDirectory, CannotBeAFileOrLieInOne) {
  support::write_text(scratch_ / "file", "precious");
  EXPECT_EQ(refusal({"train", "--rounds", "9", "--out", "file"}, 2),
            "hearsay: [train] cannot create file: Not a directory\n");
  EXPECT_EQ(refusal({"train", "--rounds", "9", "--out", "file/run"}, 2),
            "hearsay: [train] cannot create file/run: Not a directory\n");
}

TEST_F(RunDirectory, CannotHaveANameThatIsTooLong) {
  const std::string name(300, 'x');
  EXPECT_EQ(refusal({"train", "--rounds", "9", "--out", name}, 2),
            "hearsay: [train] cannot create " + std::string(131, 'x') + "..." +
                std::string(65, 'x') + ": File name too long\n");
}

/// Of the user, or of another program.
TEST_F(RunDirectory, AnotherPageIsNotOverwritten) {
  fs::create_directories(scratch_ / "mine");
  support::write_text(scratch_ / "mine/report.html", "<title>precious</title>");
  EXPECT_EQ(refusal({"train", "--rounds", "9", "--out", "mine"}, 2),
            "hearsay: [train] mine holds report.html of another run, without its config.toml; use "
            "another --out\n");
  support::write_text(scratch_ / "run/report.html", "<title>precious</title>");
  EXPECT_EQ(refusal({"report", "run"}, 2),
            "hearsay: [report] run/report.html is there already and is no page of hearsay; say "
            "where to write with --html FILE\n");
  fs::remove(scratch_ / "run/report.html");
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(hearsay({"report", "run"}, scratch_.path()).status, 0) << "a page of its own";
  }
}

TEST_F(RunDirectory, LosesWhatAKilledProcessLeft) {
  fs::create_directories(scratch_ / "new");
  const auto old = fs::file_time_type::clock::now() - std::chrono::minutes(5);
  for (const char* name : {"config.toml.aB3xyz", "config.toml.aB3xyz.tmp", "config.toml.backup",
                           "config.toml.young1.tmp"}) {
    support::write_text(scratch_ / "new" / name, std::string_view(name).ends_with("p") ? "a" : "");
    if (std::string_view(name).find("young") == std::string_view::npos) {
      fs::last_write_time(scratch_ / "new" / name, old);
    }
  }
  ASSERT_EQ(
      hearsay({"train", "--data", "consensus", "--rounds", "1", "--out", "new"}, scratch_.path())
          .status,
      0);
  EXPECT_FALSE(fs::exists(scratch_ / "new/config.toml.aB3xyz"));
  EXPECT_FALSE(fs::exists(scratch_ / "new/config.toml.aB3xyz.tmp"));
  EXPECT_TRUE(fs::exists(scratch_ / "new/config.toml.backup")) << "of the user";
  EXPECT_TRUE(fs::exists(scratch_ / "new/config.toml.young1.tmp")) << "may be in use";
}

/// Neither waits for a pipe; each says what it met.
TEST_F(RunDirectory, MayHoldPipesAndLinksInPlaceOfItsFiles) {
  fs::rename(scratch_ / "run/config.toml", scratch_ / "kept.toml");
  ASSERT_EQ(::mkfifo((scratch_ / "run/config.toml").c_str(), 0600), 0);
  Result result = hearsay({"train", "--resume", "run"}, scratch_.path());
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err, "hearsay: [files] cannot read run/config.toml: it is no regular file\n");
  fs::create_symlink("b", scratch_ / "a");
  fs::create_symlink("a", scratch_ / "b");
  result = hearsay({"train", "--resume", "a"}, scratch_.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err, "hearsay: [train] a holds no run: there is no config.toml in it\n");
  result = hearsay({"eval", "a"}, scratch_.path());
  EXPECT_EQ(result.err.find("filesystem error"), std::string::npos) << result.err;
}

/// ulimit -f, by which SIGXFSZ would end the process without a word.
TEST_F(RunDirectory, ThatGrowsBeyondTheLimitOfFilesEndsInASentence) {
  const Result result =
      hearsay({"train", "--data", "digits", "--rounds", "3", "--out", "big", "--quiet"},
              scratch_.path(), {"bash", "-c", "ulimit -f 8; exec \"$0\" \"$@\""});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("File too large"), std::string::npos) << result.err;
}

TEST_F(RunDirectory, IsNotResumedWhereThereIsNone) {
  EXPECT_EQ(refusal({"train", "--resume", "nowhere"}, 2),
            "hearsay: [train] nowhere holds no run: there is no config.toml in it\n");
  EXPECT_EQ(refusal({"train", "--resume", "."}, 2),
            "hearsay: [train] . holds no run: there is no config.toml in it\n");
}

TEST_F(RunDirectory, IsResumedWithItsOwnSettings) {
  EXPECT_EQ(refusal({"train", "--resume", "run", "--lr", "0.5"}, 2),
            "hearsay: [train] --resume takes its settings from run/config.toml; drop --lr\n");
  EXPECT_EQ(refusal({"train", "--resume", "run", "--out", "other"}, 2),
            "hearsay: [train] --resume DIR goes on in DIR; drop the config file and --out\n");
  EXPECT_EQ(refusal({"train", "run/config.toml", "--resume", "run"}, 2),
            "hearsay: [train] --resume DIR goes on in DIR; drop the config file and --out\n");
  EXPECT_EQ(refusal({"train", "--resume", "run", "--threads", "x"}, 2),
            "hearsay: [config] threads must be a whole number from 0 to 1024, got 'x'\n");
}

TEST_F(RunDirectory, IsNotResumedWithADamagedConfig) {
  support::write_text(scratch_ / "run/config.toml", "peers = \n");
  EXPECT_TRUE(refusal({"train", "--resume", "run"}, 2)
                  .starts_with("hearsay: [run/config.toml, line 1] Error while parsing "));
}

TEST_F(RunDirectory, IsNotResumedWithOtherSettingsThanItsCheckpoints) {
  std::string config = support::read_text(scratch_ / "run/config.toml");
  config.replace(config.find("lr = '0.05'"), 11, "lr = '0.04'");
  support::write_text(scratch_ / "run/config.toml", config);
  const std::string said = refusal({"train", "--resume", "run"}, 1);
  EXPECT_TRUE(said.starts_with("hearsay: [checkpoint] run/checkpoint/round-0000000000")) << said;
  EXPECT_TRUE(said.ends_with(".ckpt belongs to a run with other settings\n")) << said;
}

/// Overwrite each checkpoint's middle byte. Returns how many there are.
std::size_t damage_checkpoints(const fs::path& run, std::size_t most) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(run / "checkpoint")) {
    if (entry.path().extension() == ".ckpt") files.push_back(entry.path());
  }
  std::sort(files.rbegin(), files.rend());
  for (std::size_t i = 0; i < std::min(most, files.size()); ++i) {
    std::string bytes = support::read_text(files[i]);
    bytes[bytes.size() / 2] ^= 1;
    support::write_text(files[i], bytes);
  }
  return files.size();
}

TEST_F(RunDirectory, IsNotResumedIfAllCheckpointsAreDamaged) {
  ASSERT_EQ(damage_checkpoints(scratch_ / "run", 2), 2u);
  const std::string said = refusal({"train", "--resume", "run"}, 1);
  EXPECT_TRUE(
      said.starts_with("hearsay: [checkpoint] all 2 checkpoints in run/checkpoint are "
                       "damaged; the first: [checkpoint] run/checkpoint/round-"))
      << said;
  EXPECT_TRUE(said.ends_with(".ckpt is damaged: its checksum does not match\n")) << said;
}

TEST_F(RunDirectory, IsResumedFromTheOlderCheckpointIfTheNewestIsDamaged) {
  const auto before = support::lasting(support::summary_of(scratch_ / "run"));
  damage_checkpoints(scratch_ / "run", 1);
  const Result result = hearsay({"train", "--resume", "run"}, scratch_.path());
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.err.starts_with("hearsay: passed over: [checkpoint] run/checkpoint/round-"))
      << result.err;
  EXPECT_EQ(support::lasting(support::summary_of(scratch_ / "run")), before);
}

/// What was range-evonorm before the name got another meaning.
TEST_F(RunDirectory, OfAnOlderVersionIsRepeatedAsItWas) {
  fs::create_directory(scratch_ / "old");
  const std::string text =
      "model = 'cnn:norm=range-evonorm'\npeers = 2\ngraph = 'ring'\nrounds = 1\n";
  support::write_text(scratch_ / "old/config.toml", text);
  support::write_text(scratch_ / "old/metrics.jsonl", "");
  support::write_text(scratch_ / "own.toml", text);
  const auto model_of = [&](const std::string& file, const std::string& out) {
    const Result result =
        hearsay({"train", file, "--out", out, "--quiet", "--compare", "no"}, scratch_.path());
    EXPECT_EQ(result.status, 0) << result.err;
    return train::options_of_run(scratch_ / out).model;
  };
  EXPECT_EQ(model_of("old/config.toml", "a"), "cnn:norm=range-evonorm-sigmoid");
  EXPECT_EQ(model_of("own.toml", "b"), "cnn:norm=range-evonorm-hard");
}

TEST_F(RunDirectory, IsLeftOutOfAReportIfItIsForeign) {
  fs::create_directories(scratch_ / "foreign");
  EXPECT_EQ(refusal({"report", "foreign", "nowhere"}, 2),
            "hearsay: left out: [report] foreign holds no run: config.toml is missing, "
            "metrics.jsonl is missing\n"
            "hearsay: left out: [report] nowhere holds no run: there is no directory\n"
            "hearsay: [report] none of the directories holds a run\n");
  support::write_text(scratch_ / "page.html", "of yesterday");
  EXPECT_EQ(refusal({"report", "foreign", "--html", "page.html"}, 2),
            "hearsay: left out: [report] foreign holds no run: config.toml is missing, "
            "metrics.jsonl is missing\n"
            "hearsay: [report] none of the directories holds a run\n");
}

TEST_F(RunDirectory, IsLeftOutOfAReportIfItIsDamaged) {
  fs::copy(scratch_ / "run", scratch_ / "damaged", fs::copy_options::recursive);
  support::write_text(scratch_ / "damaged/summary.json", "{\"peers\": 4");
  const Result result = hearsay({"report", "run", "damaged"}, scratch_.path());
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err,
            "hearsay: left out: [report] damaged/summary.json, line 1: it is no JSON object\n");
  EXPECT_NE(result.out.find("run "), std::string::npos);
  EXPECT_EQ(result.out.find("damaged"), std::string::npos);
}

TEST_F(RunDirectory, KeepsItsCheckpointsIfTheRunFails) {
  const Result result = hearsay({"train", "--data", "least-squares", "--algorithm", "dsgd", "--lr",
                                 "1e6", "--rounds", "100", "--checkpoint", "2", "--out", "failed"},
                                scratch_.path());
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(result.err.starts_with("hearsay: [train] the ")) << result.err;
  EXPECT_TRUE(result.err.ends_with("; try --lr 1e+05\n")) << result.err;
  EXPECT_FALSE(fs::is_empty(scratch_ / "failed/checkpoint"));
  EXPECT_FALSE(fs::exists(scratch_ / "failed/summary.json"));
  const std::string page = support::read_text(scratch_ / "failed/report.html");
  EXPECT_NE(page.find("<p class=\"note\">To try: --lr 1e+05.</p>"), std::string::npos);
}

}  // namespace
}  // namespace hearsay::cli
