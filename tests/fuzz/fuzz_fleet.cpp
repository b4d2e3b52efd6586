#include "fuzz/net_decoders.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hearsay::fuzz::read_fleet({data, size});
  return 0;
}
