#include "compress/bank_operator_contract.h"

namespace hearsay::compress {
namespace {

INSTANTIATE_TEST_SUITE_P(Cuda, BankOperatorTest, ::testing::ValuesIn(subjects("cuda")), name_of);

}  // namespace
}  // namespace hearsay::compress
