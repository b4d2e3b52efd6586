#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/process.h"
#include "train/scratch.h"

/// Output files that are no regular ones.
namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;

class Streams : public ::testing::Test {
 protected:
  static Words train(const char* out) {
    return {"train", "--data", "least-squares:dim=4", "--rounds", "40", "--out", out};
  }

  train::Scratch scratch_;
};

TEST_F(Streams, CanBeTheFileThatIsWritten) {
  const Result result =
      hearsay({"graph", "ring", "-n", "4", "--svg", "/dev/stdout"}, scratch_.path());
  EXPECT_EQ(result.status, 0) << result.err;
  const std::size_t svg = result.out.find("<svg");
  EXPECT_NE(svg, std::string::npos) << result.out;
  EXPECT_LT(result.out.find("rho"), svg);
  EXPECT_GT(result.out.find("picture: /dev/stdout"), svg);
}

TEST_F(Streams, LinksAndPipesAndDevicesAreWrittenThrough) {
  ASSERT_EQ(hearsay(train("run"), scratch_.path()).status, 0);
  train::write_text(scratch_ / "page.html.tmp", "precious");
  train::write_text(scratch_ / "target", "old");
  fs::create_symlink("target", scratch_ / "page.html");
  const Result linked = hearsay({"report", "run", "--html", "page.html"}, scratch_.path());
  EXPECT_EQ(linked.status, 0) << linked.err;
  EXPECT_TRUE(fs::is_symlink(scratch_ / "page.html"));
  EXPECT_TRUE(train::read_text(scratch_ / "target").starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(train::read_text(scratch_ / "page.html.tmp"), "precious");

  ASSERT_EQ(::mkfifo((scratch_ / "pipe").c_str(), 0600), 0);
  const Result piped = hearsay({"graph", "ring", "-n", "4", "--svg", "pipe"}, scratch_.path(),
                               {"sh", "-c", "cat pipe >drawn & \"$@\"; wait", "sh"});
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_TRUE(fs::is_fifo(scratch_ / "pipe"));
  EXPECT_NE(train::read_text(scratch_ / "drawn").find("<svg"), std::string::npos);

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
