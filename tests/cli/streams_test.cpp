#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/process.h"
#include "support/scratch.h"

/// Standard streams that are closed or full, and output files that are not regular files.
namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;

/// A command that starts a program with its streams redirected by a shell.
Words redirected(const std::string& how) { return {"sh", "-c", "exec \"$@\" " + how, "sh"}; }

class Streams : public ::testing::Test {
 protected:
  Result run(const Words& words, const std::string& how) {
    return hearsay(words, scratch_.path(), redirected(how));
  }
  static Words train(const char* out) {
    return {"train", "--data", "least-squares:dim=4", "--rounds", "40", "--out", out};
  }

  support::Scratch scratch_;
};

TEST_F(Streams, ThatAreClosedTakeNoFilesPlace) {
  for (const char* how : {">&-", "2>&-", "<&-", "<&- >&- 2>&-"}) {
    fs::remove_all(scratch_ / "run");
    EXPECT_EQ(run(train("run"), how).status, 0) << how;
    const std::string config = support::read_text(scratch_ / "run/config.toml");
    EXPECT_EQ(config.find("round "), std::string::npos) << how << "\n" << config;
    fs::remove(scratch_ / "run/summary.json");
    const Result resumed = hearsay({"train", "--resume", "run", "--quiet"}, scratch_.path());
    EXPECT_EQ(resumed.status, 0) << how << "\n" << resumed.err;
  }
}

TEST_F(Streams, ForErrorsMayBeClosedOrFull) {
  for (const char* how : {"2>/dev/full", "2>&-", ">&- 2>&-"}) {
    EXPECT_EQ(run({"trian"}, how).status, 2) << how;
    EXPECT_EQ(run({"report", "nowhere"}, how).status, 2) << how;
    EXPECT_EQ(run({"train", "--data", "least-squares", "--algorithm", "dsgd", "--lr", "1e6",
                   "--rounds", "100"},
                  how)
                  .status,
              1)
        << how;
  }
}

TEST_F(Streams, OfAWarningMayBeFull) {
  Words words = train("run");
  ASSERT_EQ(hearsay(words, scratch_.path()).status, 0);
  fs::remove(scratch_ / "run/summary.json");
  fs::path newest;
  for (const auto& entry : fs::directory_iterator(scratch_ / "run/checkpoint")) {
    if (entry.path().extension() == ".ckpt" && entry.path() > newest) newest = entry.path();
  }
  support::write_text(newest, "damaged");  // skipped, with a message
  EXPECT_EQ(run({"train", "--resume", "run"}, "2>/dev/full").status, 0);
  EXPECT_TRUE(fs::exists(scratch_ / "run/summary.json"));
}

/// Through the test's own link: a program that replaced it would not damage the machine's device
/// file.
TEST_F(Streams, CanBeTheFileThatIsWritten) {
  fs::create_symlink("/dev/stdout", scratch_ / "screen");
  const Result result = hearsay({"graph", "ring", "-n", "4", "--svg", "screen"}, scratch_.path());
  EXPECT_EQ(result.status, 0) << result.err;
  const std::size_t svg = result.out.find("<svg");
  EXPECT_NE(svg, std::string::npos) << result.out;
  EXPECT_LT(result.out.find("rho"), svg);
  EXPECT_GT(result.out.find("picture: screen"), svg);
}

TEST_F(Streams, LinksAndPipesAndDevicesAreWrittenThrough) {
  ASSERT_EQ(hearsay(train("run"), scratch_.path()).status, 0);
  support::write_text(scratch_ / "page.html.tmp", "precious");
  support::write_text(scratch_ / "target", "old");
  fs::create_symlink("target", scratch_ / "page.html");
  const Result linked = hearsay({"report", "run", "--html", "page.html"}, scratch_.path());
  EXPECT_EQ(linked.status, 0) << linked.err;
  EXPECT_TRUE(fs::is_symlink(scratch_ / "page.html"));
  EXPECT_TRUE(support::read_text(scratch_ / "target").starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(support::read_text(scratch_ / "page.html.tmp"), "precious");

  ASSERT_EQ(::mkfifo((scratch_ / "pipe").c_str(), 0600), 0);
  const Result piped = hearsay({"graph", "ring", "-n", "4", "--svg", "pipe"}, scratch_.path(),
                               {"sh", "-c", "timeout 20 cat pipe >drawn & \"$@\"; wait", "sh"});
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_TRUE(fs::is_fifo(scratch_ / "pipe"));
  EXPECT_NE(support::read_text(scratch_ / "drawn").find("<svg"), std::string::npos);

  fs::create_symlink("/dev/null", scratch_ / "nothing");
  for (const Words& words : {Words{"graph", "ring", "-n", "4", "--svg", "nothing"},
                             Words{"report", "run", "--html", "nothing"}}) {
    EXPECT_EQ(hearsay(words, scratch_.path()).status, 0);
    EXPECT_TRUE(fs::is_symlink(scratch_ / "nothing"));
  }
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace hearsay::cli
