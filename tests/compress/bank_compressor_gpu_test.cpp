#include "compress/bank_compressor_contract.h"

namespace hearsay::compress {
namespace {

INSTANTIATE_TEST_SUITE_P(Cuda, BankCompressorTest, ::testing::ValuesIn(subjects("cuda")), name_of);

}  // namespace
}  // namespace hearsay::compress
