#include "fuzz/edge_events.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hearsay::fuzz::edge_events({data, size});
  return 0;
}
