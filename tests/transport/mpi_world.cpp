// The main function of tests that mpirun starts:   mpi_tests SPEC [ARGUMENTS of GoogleTest]
// Every rank runs every test, in the same order.
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hearsay/transport/registry.h"
#include "hearsay/transport/wait.h"
#include "transport/world.h"

namespace hearsay::transport {
namespace {

std::unique_ptr<Transport> our_transport;

/// A round in which rank 0 only sends: it leaves while its transport still polls for messages.
void leave() {
  const Label label = gossip(0x7fffffff);
  const std::size_t me = our_transport->seat().process;
  if (me == 0) our_transport->send(1, label, {}, {});
  if (me == 1) receive_or_fail(*our_transport, label, {});
  flush_or_fail(*our_transport, label, {});
  our_transport.reset();
}

}  // namespace

std::vector<World> worlds() {
  return {{"Mpi", [](const std::function<void(const Process&)>& body) {
             // Tags are rounds modulo 0x8000: each test uses other tags than the one before, which
             // may have left messages behind.
             static std::uint32_t round = 0;
             body({*our_transport, round += 0x10000 + 1100});
           }}};
}

}  // namespace hearsay::transport

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  if (count != 2) {
    fmt::print(stderr, "usage: mpirun -n 4 {} SPEC\n", arguments[0]);
    return 2;
  }
  using hearsay::transport::our_transport, hearsay::transport::leave;
  our_transport = hearsay::transport::make_transport(arguments[1]);
  const int failed = RUN_ALL_TESTS();
  // The other ranks would wait for a rank that left a test early.
  if (failed != 0) our_transport->abort(failed);
  leave();
  return failed;
}
