#include "hearsay/live/gate.h"

#include <gtest/gtest.h>

#include <set>

namespace hearsay::live {
namespace {

TEST(Gate, OnThisMachineAsksForItsName) {
  const Gate gate("127.0.0.1", 8080, "");
  EXPECT_TRUE(gate.admits("127.0.0.1:8080", ""));
  EXPECT_TRUE(gate.admits("localhost:8080", ""));
  for (const char* host : {"", "127.0.0.1", "localhost", "127.0.0.1:80", "example.org:8080",
                           "localhost.example.org:8080", "127.0.0.1:8080.example.org", "[::1]:8080",
                           "127.0.0.1:8080 ", "LOCALHOST:808"}) {
    EXPECT_FALSE(gate.admits(host, "")) << host;
  }
  EXPECT_TRUE(Gate("::1", 8080, "").admits("[::1]:8080", ""));
  EXPECT_TRUE(Gate("127.0.0.1", 80, "").admits("localhost", ""));
}

TEST(Gate, WithATokenAsksForIt) {
  const std::string token = make_token();
  const Gate gate("192.0.2.1", 8080, token);
  EXPECT_TRUE(gate.admits("anything", token));
  EXPECT_FALSE(gate.admits("192.0.2.1:8080", ""));
  EXPECT_FALSE(gate.admits("192.0.2.1:8080", token.substr(1)));
  EXPECT_FALSE(gate.admits("192.0.2.1:8080", token + token)) << "no repetition of it";
  EXPECT_FALSE(gate.admits("192.0.2.1:8080", token + "0"));
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string wrong = token;
    wrong[i] = wrong[i] == 'a' ? 'b' : 'a';
    EXPECT_FALSE(gate.admits("192.0.2.1:8080", wrong)) << i;
  }
}

TEST(MakeToken, Gives32DigitsThatDiffer) {
  std::set<std::string> all;
  for (int i = 0; i < 100; ++i) all.insert(make_token());
  EXPECT_EQ(all.size(), 100u);
  for (const std::string& token : all) {
    EXPECT_EQ(token.size(), 32u);
    EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos) << token;
  }
}

}  // namespace
}  // namespace hearsay::live
