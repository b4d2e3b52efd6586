#include "hearsay/transport/registry.h"

#include <string>

#include <gtest/gtest.h>

#include "hearsay/core/error.h"

namespace hearsay::transport {
namespace {

std::string error_of(std::string_view spec) {
  try {
    make_transport(spec);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(MakeTransport, GivesAProcessOnItsOwnOneToNobody) {
  const auto alone = make_transport("auto");
  EXPECT_EQ(alone->seat().processes, 1u);
  EXPECT_THROW(alone->send(1, {}, {}, {}), InvalidArgument);
}

// With MPI because mpirun did not start this test; in other builds because there is no MPI.
TEST(MakeTransport, RefusesMpiWithoutMpirun) {
  for (const std::string spec : {"mpi", "mpi:allreduce=fast"}) {
    const std::string error = error_of(spec);
    EXPECT_TRUE(error.starts_with("[mpi] ")) << error;
    EXPECT_NE(error.find("mpirun"), std::string::npos) << error;
  }
}

TEST(MakeTransport, NamesWhatThereIs) {
  EXPECT_EQ(
      error_of("mpj"),
      "[transport] no transport is named 'mpj' (did you mean 'mpi'?); there are auto, tls, mpi");
  EXPECT_NE(error_of("auto:allreduce=fast"), "no error");
}

TEST(MakeTransport, EveryExampleReads) {
  for (const Entry& entry : registry()) {
    EXPECT_NO_THROW(Arguments(entry.example, entry.parameters)) << entry.example;
  }
}

}  // namespace
}  // namespace hearsay::transport
