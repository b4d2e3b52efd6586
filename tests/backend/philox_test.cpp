#include "hearsay/backend/cpu/philox.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/instruction_set.h"

namespace hearsay::backend::cpu {
namespace {

TEST(RandomWords, AreThoseOfTheStreamOnEveryInstructionSet) {
  const Random random(0x123456789abcdefu, Purpose::kQuantize, 5, 77);
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const support::InstructionSet set(target);
    for (const std::uint64_t first :
         {std::uint64_t{0}, std::uint64_t{3} << 36, (std::uint64_t{5} << 32) - 7,
          (std::uint64_t{1} << 48) - 40}) {
      for (const std::size_t blocks : {0u, 1u, 15u, 16u, 39u}) {
        std::vector<std::uint32_t> words(4 * blocks);
        random_words(random, first, words);
        for (std::size_t k = 0; k < words.size(); ++k) {
          ASSERT_EQ(words[k], random.word(4 * first + k)) << first << " + " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace hearsay::backend::cpu
