#include "hearsay/live/listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::live {
namespace {

std::string message_of(const std::string& address, std::uint16_t port) {
  try {
    const Listener listener(address, port);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(Listener, TakesAnyFreePort) {
  const Listener one("127.0.0.1", 0), two("localhost", 0);
  EXPECT_NE(one.port(), 0);
  EXPECT_NE(one.port(), two.port());
  EXPECT_EQ(two.address(), "127.0.0.1");
  EXPECT_TRUE(one.loopback());
  EXPECT_EQ(one.url(""), fmt::format("http://127.0.0.1:{}/", one.port()));
  EXPECT_EQ(one.url("abc"), fmt::format("http://127.0.0.1:{}/?token=abc", one.port()));
}

TEST(Listener, APortHasOneOwner) {
  const Listener one("127.0.0.1", 0);
  EXPECT_EQ(
      message_of("127.0.0.1", one.port()),
      fmt::format("[live] cannot listen on port {} of 127.0.0.1: Address already in use; give "
                  "another port, or 0 for any free one",
                  one.port()));
}

TEST(Listener, NamesWhatIsNoAddress) {
  for (const char* address :
       {"", "example.org", "127.0.0", "127.0.0.1:80", "1.2.3.4.5", "127.1", "*"}) {
    EXPECT_EQ(message_of(address, 0),
              fmt::format("[live] '{}' is no address; give localhost, or digits as 127.0.0.1, ::1 "
                          "or 0.0.0.0",
                          address));
  }
  EXPECT_NE(message_of("192.0.2.1", 0).find("Cannot assign requested address"), std::string::npos);
}

TEST(Listener, OnAllAddressesIsNamedAfterTheMachine) {
  const Listener all("0.0.0.0", 0);
  EXPECT_FALSE(all.loopback());
  EXPECT_EQ(all.url("t").find("0.0.0.0"), std::string::npos) << all.url("t");
}

TEST(Listener, IsAdoptedByItsDescriptor) {
  const Listener one("127.0.0.1", 0);
  const Listener same = Listener::adopt(::dup(one.descriptor()));
  EXPECT_EQ(same.port(), one.port());
  EXPECT_EQ(same.address(), "127.0.0.1");
  const int file = ::open("/dev/null", O_RDONLY);
  EXPECT_THROW(Listener::adopt(file), RunFailed);
  ::close(file);
}

}  // namespace
}  // namespace hearsay::live
