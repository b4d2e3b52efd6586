#include "hearsay/core/memory.h"

#include <gtest/gtest.h>

#include "support/message_of.h"

namespace hearsay {
namespace {

TEST(Memory, IsRefusedBeforeItIsTaken) {
  EXPECT_GT(memory_limit(), 1e6);
  EXPECT_NO_THROW(require_memory(memory_limit(), "consensus", "use a smaller dim"));
  const std::string message =
      support::message_of([] { require_memory(4e18, "consensus", "use a smaller dim"); });
  EXPECT_TRUE(message.starts_with("[consensus] needs 4e+03 PB of memory, and ")) << message;
  EXPECT_TRUE(message.ends_with("B is all there is; use a smaller dim")) << message;
}

}  // namespace
}  // namespace hearsay
