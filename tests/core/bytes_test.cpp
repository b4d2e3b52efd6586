#include "hearsay/core/bytes.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"

namespace hearsay {
namespace {

TEST(Bytes, ReadBackWhatWasAppended) {
  Bytes bytes;
  append(bytes, std::uint32_t{0x01020304});
  append(bytes, 2.5);
  const std::vector<float> values{1, 2, 3};
  append<float>(bytes, values);
  EXPECT_EQ(bytes[0], 4);
  ByteReader reader(bytes, "test");
  EXPECT_EQ(reader.read<std::uint32_t>(), 0x01020304u);
  EXPECT_EQ(reader.read<double>(), 2.5);
  std::vector<float> copy(3);
  reader.read<float>(copy);
  EXPECT_EQ(copy, values);
  EXPECT_EQ(reader.left(), 0u);
}

TEST(Bytes, ReadingPastTheEndSaysHowMuchIsMissing) {
  const Bytes bytes(3);
  ByteReader reader(bytes, "checkpoint");
  try {
    reader.read<std::uint64_t>();
    FAIL() << "no exception";
  } catch (const CorruptData& error) {
    EXPECT_STREQ(error.what(), "[checkpoint] ends early: 8 more bytes expected, 3 left");
  }
}

TEST(Sha256, IsTheStandardOne) {
  Sha256 hash;
  hash.update("ab", 2);
  hash.update("c", 1);
  EXPECT_EQ(hash.finish_hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace hearsay
