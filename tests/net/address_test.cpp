#include "hearsay/net/address.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"

namespace hearsay::net {
namespace {

std::string address_refusal(std::string_view text) {
  try {
    parse_address(text);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Address, IsHostAndPort) {
  EXPECT_EQ(parse_address("10.0.0.13:7420"), (Address{"10.0.0.13", 7420}));
  EXPECT_EQ(parse_address("[fd00::13]:7420"), (Address{"fd00::13", 7420}));
  EXPECT_EQ(parse_address("pi-3.local:1"), (Address{"pi-3.local", 1}));
  EXPECT_EQ(parse_address("localhost:65535"), (Address{"localhost", 65535}));
  EXPECT_EQ(parse_address("0.0.0.0:0"), (Address{"0.0.0.0", 0}));
  EXPECT_EQ(parse_address("3rd_floor.7x:80"), (Address{"3rd_floor.7x", 80}));
}

TEST(Address, IsWrittenAsItIsRead) {
  for (const char* text : {"10.0.0.13:7420", "[fd00::13]:7420", "[::]:0", "[::ffff:10.0.0.1]:5",
                           "pi-3.local:7420", "a:1"}) {
    EXPECT_EQ(to_text(parse_address(text)), text);
  }
}

TEST(Address, IsTheSameInAllSpellings) {
  EXPECT_EQ(parse_address("[FD00:0:0:0::0013]:7420"), parse_address("[fd00::13]:7420"));
  EXPECT_EQ(parse_address("Pi-3.LOCAL:7420"), parse_address("pi-3.local:7420"));
}

TEST(Address, ThatIsNoneIsRefusedWithTheReason) {
  const std::string name(64, 'a'), five = "a234567890123456789012345678901234567890123456789.";
  const std::pair<std::string, std::string> all[] = {
      {"", "has no port"},
      {"10.0.0.13", "has no port"},
      {"[fd00::13]", "has no port"},
      {":7420", "has no host"},
      {"fd00::13", "has an IPv6 address without brackets"},
      {"fd00::13:7420", "has an IPv6 address without brackets"},
      {"[fd00::13:7420", "has no ']'"},
      {"[fd00::13]x:7420", "has no IPv6 address in its brackets"},
      {"[10.0.0.13]:7420", "has no IPv6 address in its brackets"},
      {"[fe80::1%eth0]:7420", "has no IPv6 address in its brackets"},
      {"[]:7420", "has no IPv6 address in its brackets"},
      {"[fd00::13]]:7420", "has no IPv6 address in its brackets"},
  };
  for (const auto& [text, why] : all) {
    EXPECT_EQ(address_refusal(text), "[address] '" + text + "' " + why +
                                         "; an address is HOST:PORT, as in 10.0.0.13:7420, "
                                         "[fd00::13]:7420 or pi-3.local:7420");
  }
  for (const std::string host : {"10.0.0.256", "10.0.0", "1", "10.0.0.013", "a b", "-a", "a-",
                                 "a..b", "a.", ".a", "a/b", "caf\xc3\xa9", "a@b", "x.1"}) {
    EXPECT_EQ(address_refusal(host + ":1"),
              "[address] '" + host + ":1' has the host '" + host +
                  "', which is no IP address and no name; an address is HOST:PORT, as in "
                  "10.0.0.13:7420, [fd00::13]:7420 or pi-3.local:7420");
  }
  EXPECT_NE(address_refusal(std::string("a\0b:1", 5)), "accepted");
  EXPECT_NE(address_refusal(name + ":1"), "accepted");
  EXPECT_EQ(address_refusal(name.substr(1) + ":1"), "accepted");
  EXPECT_EQ(address_refusal(five + five + five + five + five + "abc:1"), "accepted");
  EXPECT_NE(address_refusal(five + five + five + five + five + "abcd:1"), "accepted");
  for (const std::string port :
       {"", "65536", "-1", "+1", "7420x", " 1", "0x1f", "07420", "00", "99999999999999999999"}) {
    EXPECT_EQ(address_refusal("a:" + port),
              "[address] 'a:" + port + "' has the port '" + port +
                  "', which is not in 0 to 65535; an address is HOST:PORT, as in 10.0.0.13:7420, "
                  "[fd00::13]:7420 or pi-3.local:7420");
  }
}

}  // namespace
}  // namespace hearsay::net
