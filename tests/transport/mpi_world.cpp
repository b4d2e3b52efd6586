// The main function of tests that mpirun starts:   mpi_tests SPEC [ARGUMENTS of GoogleTest]
// Every rank runs every test, in the same order.
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hearsay/transport/registry.h"
#include "transport/world.h"

namespace hearsay::transport {
namespace {

std::unique_ptr<Transport> our_transport;

}  // namespace

std::vector<World> worlds() {
  return {{"Mpi", [](const std::function<void(const Process&)>& body) {
             static std::uint32_t round = 0;
             body({*our_transport, round += 10000});
           }}};
}

}  // namespace hearsay::transport

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  if (count != 2) {
    fmt::print(stderr, "usage: mpirun -n 4 {} SPEC\n", arguments[0]);
    return 2;
  }
  using hearsay::transport::our_transport;
  our_transport = hearsay::transport::make_transport(arguments[1]);
  const int failed = RUN_ALL_TESTS();
  // The others would wait for a rank that left a test half way.
  if (failed != 0) our_transport->abort(failed);
  our_transport.reset();
  return failed;
}
