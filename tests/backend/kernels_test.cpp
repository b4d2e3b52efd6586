#include "backend/compensated_contract.h"
#include "backend/kernels_contract.h"
#include "backend/mixing_contract.h"

namespace hearsay::backend {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, KernelTest,
                         ::testing::Values(Case{"cpu", 1, 0, 1}, Case{"cpu", 1, 1, 1},
                                           Case{"cpu", 3, 7, 1}, Case{"cpu", 2, 33, 2},
                                           Case{"cpu", 5, 1001, 2}, Case{"cpu", 1, 40'000, 2},
                                           Case{"cpu", 130, 517, 2}, Case{"cpu", 3, 16'385, 2}),
                         case_name);

INSTANTIATE_TEST_SUITE_P(Cpu, MeterTest,
                         ::testing::Values(Case{"cpu", 1, 0, 1}, Case{"cpu", 3, 7, 1},
                                           Case{"cpu", 5, 1001, 2}, Case{"cpu", 130, 517, 2},
                                           Case{"cpu", 2, 70'001, 2}),
                         case_name);

}  // namespace
}  // namespace hearsay::backend
