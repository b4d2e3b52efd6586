#include <gtest/gtest.h>

#include "transport/world.h"

namespace hearsay::transport {
namespace {

/// The slow part of the contract: see contract_test.cpp.
class LargeMessages : public ::testing::TestWithParam<World> {};

TEST_P(LargeMessages, SixtyFourMegabytesGoAroundARing) {
  GetParam().run([](const Process& process) {
    send_around(process, 64u << 20, process.round, false);
    send_around(process, (64u << 20) + 5, process.round + 1, true);
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, LargeMessages, ::testing::ValuesIn(worlds()),
                         name_of<::testing::TestParamInfo<World>>);

}  // namespace
}  // namespace hearsay::transport
