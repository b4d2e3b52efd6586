#include "backend/compensated_contract.h"
#include "backend/kernels_contract.h"
#include "backend/mixing_contract.h"

namespace hearsay::backend {
namespace {

// 40,000 entries are summed in several chunks; 1024 rows need narrow tiles to mix in place.
INSTANTIATE_TEST_SUITE_P(Cuda, KernelTest,
                         ::testing::Values(Case{"cuda", 1, 0, 1}, Case{"cuda", 1, 1, 1},
                                           Case{"cuda", 3, 7, 1}, Case{"cuda", 2, 33, 1},
                                           Case{"cuda", 5, 1001, 1}, Case{"cuda", 1, 40'000, 1},
                                           Case{"cuda", 130, 517, 1}, Case{"cuda", 3, 300'001, 1},
                                           Case{"cuda", 1024, 37, 1}),
                         case_name);

INSTANTIATE_TEST_SUITE_P(Cuda, MeterTest,
                         ::testing::Values(Case{"cuda", 1, 0, 1}, Case{"cuda", 3, 7, 1},
                                           Case{"cuda", 5, 1001, 1}, Case{"cuda", 130, 517, 1}),
                         case_name);

}  // namespace
}  // namespace hearsay::backend
