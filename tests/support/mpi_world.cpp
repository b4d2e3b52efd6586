// The main function of tests started by mpirun:   train_mpi_tests [ARGUMENTS of GoogleTest]
// Every rank runs every test, in the same order.
#include <exception>
#include <memory>

#include <fmt/core.h>

#include "hearsay/transport/registry.h"
#include "support/world.h"

namespace hearsay::support {
namespace {

gossip::ProcessGroup* our_group = nullptr;

}  // namespace

std::vector<World> worlds() {
  return {{"Mpi", [](const std::function<void(gossip::ProcessGroup&)>& body) {
             try {
               body(*our_group);
             } catch (const std::exception& error) {  // the others wait for this rank
               fmt::print(stderr, "rank {}: {}\n", our_group->rank(), error.what());
               our_group->transport().abort(1);
             }
           }}};
}

int run_tests() {
  const auto transport = transport::make_transport("mpi");
  gossip::ProcessGroup group(*transport);
  our_group = &group;
  const int failed = RUN_ALL_TESTS();
  // The others would wait forever for a rank that left a test early.
  if (failed != 0) transport->abort(failed);
  return failed;
}

}  // namespace hearsay::support

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  return hearsay::support::run_tests();
}
