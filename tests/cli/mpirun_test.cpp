#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/mpirun.h"
#include "cli/stop.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;
using support::lasting, support::metrics_of, support::summary_of;

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) {
    ++found;
  }
  return found;
}

TEST(UnderMpirun, TheProgramTrainsAsAlone) {
  const support::Scratch scratch;
  const Words arguments = {"train",    "--data", "digits", "--model", "logistic",   "--peers", "5",
                           "--rounds", "20",     "--lr",   "0.1",     "--evaluate", "7"};
  const auto into = [&](const std::string& out) {
    Words all = arguments;
    all.insert(all.end(), {"--out", out});
    return all;
  };
  ASSERT_EQ(hearsay(into("alone"), scratch.path()).status, 0);
  const Result together = hearsay(into("together"), scratch.path(), mpirun(4));
  ASSERT_EQ(together.status, 0) << together.err;
  EXPECT_EQ(lasting(summary_of(scratch / "together")), lasting(summary_of(scratch / "alone")));
  EXPECT_EQ(metrics_of(scratch / "together"), metrics_of(scratch / "alone"));
  EXPECT_EQ(support::contents(scratch / "together/models"),
            support::contents(scratch / "alone/models"));
  EXPECT_TRUE(fs::exists(scratch / "together/report.html"));
  EXPECT_EQ(count(together.out, "run directory: together"), 1u) << together.out;
}

TEST(UnderMpirun, ARegressionTrainsAsAlone) {
  const support::Scratch scratch;
  const auto into = [](const std::string& out) -> Words {
    return {"train",
            "--task",
            "regression",
            "--data",
            "synthetic:shape=1x4x4,targets=2,samples=200",
            "--model",
            "mlp:hidden=8",
            "--algorithm",
            "sgp",
            "--peers",
            "5",
            "--rounds",
            "12",
            "--evaluate",
            "5",
            "--validation",
            "0.1",
            "--out",
            out};
  };
  ASSERT_EQ(hearsay(into("alone"), scratch.path()).status, 0);
  const Result together = hearsay(into("together"), scratch.path(), mpirun(3));
  ASSERT_EQ(together.status, 0) << together.err;
  EXPECT_EQ(lasting(summary_of(scratch / "together")), lasting(summary_of(scratch / "alone")));
  EXPECT_EQ(metrics_of(scratch / "together"), metrics_of(scratch / "alone"));
  EXPECT_EQ(support::contents(scratch / "together/models"),
            support::contents(scratch / "alone/models"));
  EXPECT_TRUE(summary_of(scratch / "alone").contains("validation_r2_mean"));
}

TEST(UnderMpirun, NamesNeedNotBeAscii) {
  const support::Scratch scratch;
  fs::create_directories(scratch / "Donn\u00e9es");
  support::write_text(scratch / "Donn\u00e9es/t.csv", "a,label,b\n1,x,2\n3,y,4\n5,x,6\n7,y,9\n");
  const Result result = hearsay(
      {"train", "--data", "csv:Donn\u00e9es/t.csv,test=0.5", "--peers", "2", "--graph", "ring",
       "--partition", "iid", "--batch", "1", "--rounds", "2", "--out", "Donn\u00e9es/out"},
      scratch.path(), mpirun(2));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(fs::exists(scratch / "Donn\u00e9es/out/summary.json"));
}

TEST(UnderMpirun, RunsFollowEachOther) {
  const support::Scratch scratch;
  const Words quick = {"train", "--data", "digits", "--model", "logistic", "--rounds", "4"};
  Words compared = quick;
  compared.insert(compared.end(), {"--compare", "yes"});
  ASSERT_EQ(hearsay(compared, scratch.path(), mpirun(2)).status, 0);
  EXPECT_TRUE(fs::exists(scratch / "runs/001/compare/silence/summary.json"));
  EXPECT_TRUE(fs::exists(scratch / "runs/001/compare/full/summary.json"));
  ASSERT_EQ(hearsay(quick, scratch.path(), mpirun(2)).status, 0);
  EXPECT_TRUE(fs::exists(scratch / "runs/002/summary.json"));
}

/// One message, whichever process finds the error, and nothing is written.
void expect_one_message(const Words& arguments, const std::string& message) {
  const support::Scratch scratch;
  const Result result = hearsay(arguments, scratch.path(), mpirun(3));
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(count(result.err, "hearsay: "), 1u) << result.err;
  EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

TEST(UnderMpirun, AMistakeIsSaidOnce) {
  expect_one_message({"train", "--algorithm", "sparse-pull"}, "[algorithm] ");
  expect_one_message({"train", "--algorithn", "sgp"}, "[train] there is no option '--algorithn'");
  expect_one_message({"train", "--peers", "2", "--graph", "ring"},
                     "hearsay: [transport] 3 processes cannot share 2 peers");
  expect_one_message({"train", "--resume", "nothing"}, "hearsay: [train] nothing holds no run");
  expect_one_message({"train", "a.toml", "b.toml"}, "hearsay: [train] several config files");
  expect_one_message({"train", "--transport", "carrier-pigeon"}, "hearsay: [transport] ");
}

/// mpirun, with a shell command line that each process runs before it execs hearsay ("$@").
Words mpirun_after(const std::string& line) {
  Words words = mpirun(3);
  words.insert(words.end(), {"sh", "-c", line + "; exec \"$@\"", "sh"});
  return words;
}

TEST(UnderMpirun, AMistakeIsSaidThoughProcess0ComesLast) {
  const support::Scratch scratch;
  const Result result = hearsay({"train", "--algorithn", "sgp"}, scratch.path(),
                                mpirun_after("[ $OMPI_COMM_WORLD_RANK != 0 ] || sleep 1"));
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(count(result.err, "hearsay: [train] there is no option '--algorithn'"), 1u)
      << result.err;
  EXPECT_EQ(count(result.err, "hearsay: process"), 0u) << result.err;
}

TEST(UnderMpirun, AMistakeThatOneProcessIsAloneWithIsSaidByIt) {
  const support::Scratch scratch;
  const Result result =
      hearsay({"train", "--rounds", "2"}, scratch.path(),
              mpirun_after("[ $OMPI_COMM_WORLD_RANK != 2 ] || set -- \"$@\" --algorithn sgp"));
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(count(result.err, "hearsay: process 2: [train] there is no option '--algorithn'"), 1u)
      << result.err;
}

TEST(UnderMpirun, ARunThatDivergesIsToldOnce) {
  for (const char* compressor : {"identity", "topk:keep=0.5", "qsgd:bits=4"}) {
    SCOPED_TRACE(compressor);
    const support::Scratch scratch;
    const bool raw = std::string(compressor) == "identity";
    const Result result =
        hearsay({"train", "--data", "least-squares", "--peers", "4", "--algorithm",
                 raw ? "dsgd" : "choco", "--compressor", compressor, "--lr", "1e30", "--rounds",
                 "2000", "--evaluate", "100", "--out", "run"},
                scratch.path(), mpirun(4));
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(count(result.err, "hearsay: [train] the "), 1u) << result.err;
    EXPECT_NE(result.err.find(" of peer "), std::string::npos) << result.err;
  }
}

/// A failing baseline affects neither the run nor the other baseline.
TEST(UnderMpirun, AControlThatDivergesIsAWarning) {
  const support::Scratch scratch;
  const Result result = hearsay(
      {"train", "--data", "least-squares:dim=20,samples=20,noise=0", "--peers", "3", "--rounds",
       "2000", "--compare", "yes", "--algorithm", "psgd", "--graph", "complete", "--lr", "0.6"},
      scratch.path(), mpirun(2));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.err, "hearsay: warning: [compare silence]"), 1u) << result.err;
  EXPECT_TRUE(fs::exists(scratch / "runs/001/compare/full/summary.json"));
}

void wait_for(const fs::path& path, const Child& child) {
  while (!fs::exists(path) && !child.ended()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST(UnderMpirun, AProcessThatFailsAloneEndsTheOthers) {
  const support::Scratch scratch;
  Child child({"train", "--data", "least-squares:dim=50", "--peers", "4", "--rounds", "100000000",
               "--evaluate", "100", "--out", "run"},
              scratch.path(), scratch / "out", scratch / "err", mpirun(4));
  const fs::path metrics = scratch / "run/metrics.jsonl";
  wait_for(metrics, child);
  std::error_code error;
  do {  // where process 0 writes, and may already have done so
    fs::remove(metrics, error);
  } while (!fs::create_directory(metrics, error) && !child.ended());
  EXPECT_EQ(child.wait(), 1);
  const std::string err = support::read_text(scratch / "err");
  EXPECT_EQ(count(err, "hearsay: process 0: ["), 1u) << err;
  EXPECT_NE(err.find("] cannot "), std::string::npos) << err;
}

TEST(UnderMpirun, ASignalStopsTheRunWhereProcessesMeet) {
  const support::Scratch scratch;
  const Words arguments = {
      "train",        "--data", "least-squares:dim=50", "--peers", "4",     "--rounds", "100000000",
      "--checkpoint", "10",     "--evaluate",           "1000",    "--out", "run"};
  Child child(arguments, scratch.path(), scratch / "out", scratch / "err", mpirun(2));
  wait_for(scratch / "run/checkpoint", child);
  child.signal(SIGUSR1);
  EXPECT_EQ(child.wait(), kStopped);
  const std::string err = support::read_text(scratch / "err");
  EXPECT_EQ(count(err, "hearsay: stopped at round "), 1u) << err;
  EXPECT_FALSE(fs::exists(scratch / "run/summary.json"));
}

/// Each would wait for the other in another step, for ever.
TEST(UnderMpirun, ProcessesThatBeginInDifferentWaysSaySo) {
  const support::Scratch scratch;
  ASSERT_EQ(hearsay({"train", "--data", "consensus", "--rounds", "2", "--out", "old", "--quiet"},
                    scratch.path())
                .status,
            0);
  const std::string program =
      "if [ \"$OMPI_COMM_WORLD_RANK\" = 0 ]; then exec \"$0\" train --resume old; "
      "else exec \"$0\" train --data consensus --rounds 2 --out new; fi";
  Words launcher = mpirun(2);
  launcher.insert(launcher.end(), {"bash", "-c", program});
  const Result result = hearsay({}, scratch.path(), launcher);
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(count(result.err,
                  "hearsay: [transport] process 1 has another way to begin (--resume, --out or "
                  "neither) than "
                  "process 0; start the same program with the same settings everywhere"),
            1u)
      << result.err;
  EXPECT_FALSE(fs::exists(scratch / "new"));
}

}  // namespace
}  // namespace hearsay::cli
