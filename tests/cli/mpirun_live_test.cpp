#include <gtest/gtest.h>

#include "cli/mpirun.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

TEST(UnderMpirun, OneProcessServesTheRun) {
  const support::Scratch scratch;
  const Words words = {"train", "--data",   "digits", "--model", "logistic", "--peers",
                       "4",     "--rounds", "200",    "--lr",    "0.01",     "--evaluate",
                       "50",    "--out",    "run",    "--live"};
  const Result result = hearsay(words, scratch.path(), mpirun(3));
  EXPECT_EQ(result.status, 0) << result.err;
  const std::size_t first = result.err.find("the run can be watched at http://127.0.0.1:");
  EXPECT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("watched", result.err.find("watched") + 1), std::string::npos)
      << result.err;
  EXPECT_TRUE(std::filesystem::exists(scratch / "run/summary.json"));
}

TEST(UnderMpirun, APortThatIsTakenIsSaidOnce) {
  const support::Scratch scratch;
  const Result result =
      hearsay({"train", "--rounds", "10", "--live", "--live-address", "192.0.2.1"}, scratch.path(),
              mpirun(2));
  EXPECT_EQ(result.status, 2);
  const std::size_t first = result.err.find("hearsay: [live] cannot listen on port 0 of 192.0.2.1");
  EXPECT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("hearsay: [live]", first + 1), std::string::npos) << result.err;
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

}  // namespace
}  // namespace hearsay::cli
