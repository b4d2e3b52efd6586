#include "compress/bank_compressor_contract.h"

namespace hearsay::compress {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, BankCompressorTest, ::testing::ValuesIn(subjects("cpu")), name_of);

}  // namespace
}  // namespace hearsay::compress
