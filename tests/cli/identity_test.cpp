#include <sys/stat.h>

#include <gtest/gtest.h>

#include "cli/process.h"
#include "hearsay/net/fleet.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

class IdentityCommand : public ::testing::Test {
 protected:
  Result identity(Words words) {
    words.insert(words.begin(), "identity");
    return hearsay(words, scratch_.path());
  }
  /// Standard error of a command that must end with status 2 and print nothing.
  std::string refusal(const Words& words) {
    const Result result = identity(words);
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_EQ(result.out, "");
    return result.err;
  }

  support::Scratch scratch_;
};

TEST_F(IdentityCommand, MakesAKeyAndPrintsItsLinesForTheFleetFile) {
  std::string fleet;
  for (const char* name : {"pi-3", "pi-7"}) {
    const std::string file = std::string(name) + ".pem";
    const Result made = identity({"new", file});
    EXPECT_EQ(made.status, 0);
    EXPECT_EQ(made.err, "");
    const net::Id id = net::Identity::read(scratch_ / file).id();
    EXPECT_EQ(made.out,
              "[[peer]]\nname = '" + std::string(name) + "'\nid = '" + net::to_text(id) + "'\n");
    EXPECT_EQ(identity({"show", file}).out, made.out);
    fleet += made.out;
  }
  EXPECT_EQ(net::parse_fleet(fleet, "f.toml").peers[1].name, "pi-7");
}

TEST_F(IdentityCommand, MakesAKeyThatOnlyItsOwnerMayRead) {
  EXPECT_EQ(identity({"new", "a.pem"}).status, 0);
  struct stat status {};
  ASSERT_EQ(::stat((scratch_ / "a.pem").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0600u);
  ASSERT_EQ(::chmod((scratch_ / "a.pem").c_str(), 0644), 0);
  EXPECT_EQ(refusal({"show", "a.pem"}),
            "hearsay: [identity] a.pem has mode 0644, so others than its owner may read or change "
            "it; if only its owner has seen it: chmod 600 a.pem, else make a new key\n");
}

TEST_F(IdentityCommand, NeverPrintsTheKey) {
  const std::string said = identity({"new", "a.pem"}).out + identity({"show", "a.pem"}).out;
  const std::string key = support::read_text(scratch_ / "a.pem");
  const std::string secret = key.substr(key.find('\n') + 1, 64);
  EXPECT_EQ(said.find(secret.substr(22)), std::string::npos);
  EXPECT_EQ(said.find("PRIVATE"), std::string::npos);
}

TEST_F(IdentityCommand, TakesTheNameItIsGiven) {
  const Result made = identity({"new", "a.pem", "--name", "the attic's"});
  EXPECT_TRUE(made.out.starts_with("[[peer]]\nname = \"the attic's\"\nid = 'hs1:")) << made.out;
  EXPECT_EQ(identity({"show", "--name", "the attic's", "a.pem"}).out, made.out);
  EXPECT_TRUE(identity({"show", "a.pem"}).out.starts_with("[[peer]]\nname = 'a'\n"));
}

TEST_F(IdentityCommand, LeavesWhatIsThereAsItIs) {
  support::write_text(scratch_ / "a.pem", "precious");
  EXPECT_EQ(refusal({"new", "a.pem"}),
            "hearsay: [identity] a.pem exists and is left as it is, as a key is never overwritten; "
            "give another name\n");
  EXPECT_EQ(support::read_text(scratch_ / "a.pem"), "precious");
}

TEST_F(IdentityCommand, SaysWhatIsWrongBeforeItMakesAKey) {
  EXPECT_EQ(refusal({"new", "a.pem", "--name", ""}),
            "hearsay: [name] '' is empty; a name is 1 to 64 bytes of UTF-8 without control "
            "characters\n");
  EXPECT_EQ(refusal({"new", "caf\xe9.pem"}),
            "hearsay: [name] 'caf\\xe9' is not UTF-8; a name is 1 to 64 bytes of UTF-8 without "
            "control characters\n");
  EXPECT_EQ(refusal({"show", "a.pem"}),
            "hearsay: [identity] there is no file 'a.pem'; make one with: hearsay identity new "
            "a.pem\n");
  EXPECT_EQ(refusal({}), "hearsay: [identity] a command is missing; see hearsay identity --help\n");
  EXPECT_EQ(refusal({"nwe", "a.pem"}),
            "hearsay: [identity] there is no command 'nwe' (did you mean 'new'?); see hearsay "
            "identity --help\n");
  EXPECT_EQ(refusal({"new"}),
            "hearsay: [identity new] file is required; see hearsay identity new --help\n");
  EXPECT_EQ(refusal({"new", "a.pem", "b.pem"}),
            "hearsay: [identity new] 'b.pem' is one word too many; see hearsay identity new "
            "--help\n");
  EXPECT_EQ(refusal({"show", "a.pem", "--nmae", "x"}),
            "hearsay: [identity show] there is no option '--nmae' (did you mean '--name'?); see "
            "hearsay identity show --help\n");
  EXPECT_TRUE(support::contents(scratch_.path()).empty());
}

TEST_F(IdentityCommand, FailsWhereNoFileCanBeMade) {
  const Result result = identity({"new", "none/a.pem"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err,
            "hearsay: [identity] cannot create none/a.pem: No such file or directory\n");
}

}  // namespace
}  // namespace hearsay::cli
