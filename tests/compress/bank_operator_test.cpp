#include "compress/bank_operator_contract.h"

namespace hearsay::compress {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, BankOperatorTest, ::testing::ValuesIn(subjects("cpu")), name_of);

}  // namespace
}  // namespace hearsay::compress
