#include "fuzz/decoders.h"

#include <gtest/gtest.h>

#include "compress/vectors.h"
#include "fuzz/mutate.h"
#include "hearsay/compress/code/message.h"

namespace hearsay::fuzz {
namespace {

/// Valid codes for all pairs of spec and layout, as decode_vector reads them.
std::vector<Bytes> seeds() {
  std::vector<Bytes> all;
  for (std::size_t s = 0; s < specs().size(); ++s) {
    for (std::size_t l = 0; l < layouts().size(); ++l) {
      Bytes bytes{static_cast<std::uint8_t>(s), static_cast<std::uint8_t>(l)};
      const Layout& layout = layouts()[l];
      compress::Decoded q;
      compress::make_compressor(specs()[s])
          ->compress(compress::normal_vector(layout.dim(), s), layout, Random(s, Purpose::kTest), q,
                     &bytes);
      all.push_back(bytes);
    }
  }
  return all;
}

TEST(Decoders, AcceptWhatEncodersWrote) {
  for (const Bytes& bytes : seeds()) EXPECT_TRUE(decode_vector(bytes));
}

TEST(Decoders, SurviveAHundredThousandMutatedCodes) {
  const std::vector<Bytes> all = seeds();
  Random random(1, Purpose::kTest);
  int accepted = 0;
  for (int i = 0; i < 100'000; ++i) {
    Bytes bytes = all[random.below(all.size())];
    mutate(bytes, random);
    ASSERT_NO_THROW(accepted += decode_vector(bytes)) << "input " << i;
  }
  EXPECT_GT(accepted, 1000);  // the mutations get beyond the first check
  EXPECT_LT(accepted, 99'000);
}

TEST(Decoders, SurviveAHundredThousandMutatedHeaders) {
  Bytes header;
  compress::append_header({.sender = 1, .round = 2, .weight = 0.5f, .push_sum = 1}, header);
  EXPECT_TRUE(decode_header(header));
  Random random(2, Purpose::kTest);
  for (int i = 0; i < 100'000; ++i) {
    Bytes bytes = header;
    mutate(bytes, random);
    ASSERT_NO_THROW(decode_header(bytes)) << "input " << i;
  }
}

}  // namespace
}  // namespace hearsay::fuzz
