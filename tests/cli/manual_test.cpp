#include <gtest/gtest.h>

#include "cli/process.h"
#include "hearsay/report/catalogue.h"
#include "hearsay/train/run_options.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

/// What packages install: made once for all tests.
class Manual : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result result = hearsay({"generate", "made"}, scratch_.path());
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, "");
  }

  std::string text(const std::string& file) { return support::read_text(scratch_ / "made" / file); }

  void expect_in(const std::string& file, const std::string& what) {
    EXPECT_NE(text(file).find(what), std::string::npos) << "no " << what << " in " << file;
  }

  support::Scratch scratch_;
};

std::string in_roff(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '-' ? std::string("\\-") : std::string(1, c);
  return out;
}

TEST_F(Manual, HasAPageForEveryCommand) {
  for (const char* command : {"train", "sweep", "graph", "cost", "list", "report", "watch", "eval",
                              "peer", "identity", "help"}) {
    expect_in("hearsay.1", "\n\\fB" + std::string(command) + "\\fR\n");
    const std::string name = "hearsay-" + std::string(command);
    expect_in(name + ".1", "\n.SH NAME\n" + in_roff(name) + " \\- ");
  }
  EXPECT_EQ(text("hearsay.1").find("generate"), std::string::npos) << "it is hidden";
  expect_in("hearsay-identity.1", ".SH hearsay identity new\n");
}

TEST_F(Manual, HasEveryOptionOfTrainAndSweep) {
  for (const train::Option& option : train::options()) {
    const std::string entry = "\\fB" + in_roff("--" + std::string(option.key)) + "\\fR";
    expect_in("hearsay-train.1", entry);
    if (option.key != "seed" && option.key != "compare") expect_in("hearsay-sweep.1", entry);
    const std::string key(option.key);
    expect_in("hearsay.bash", "--" + key + " ");
    expect_in("_hearsay", "'--" + key + "=[");
    expect_in("hearsay.fish", " -l " + key + " ");
  }
}

TEST_F(Manual, CompletesTheNamesOfAllComponents) {
  for (const report::FamilyNames& family : report::component_names()) {
    std::string names;
    for (const std::string_view name : family.names) {
      names += (names.empty() ? "" : " ") + std::string(name);
    }
    expect_in("hearsay.bash",
              "--" + std::string(family.option) + ") value='words " + names + "' ;;\n");
    expect_in("_hearsay", ":SPEC:(" + names + ")'");
    expect_in("hearsay.fish", " -x -a '" + names + "' ");
  }
}

}  // namespace
}  // namespace hearsay::cli
