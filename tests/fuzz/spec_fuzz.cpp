// Any text is parsed as a spec or rejected with InvalidArgument, and a parsed spec survives a round
// trip.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "hearsay/core/error.h"
#include "hearsay/core/spec.h"

namespace {

constexpr hearsay::Parameter kParameters[] = {
    {"keep", "0.01", "(0, 1]", "a number"},
    {"scope", "layer", "layer|model", "a choice"},
    {"count", "3", "[1, 9]", "a whole number"},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const hearsay::Arguments arguments(text, kParameters);
    const std::string resolved = arguments.resolved();
    if (hearsay::Arguments(resolved, kParameters).resolved() != resolved) std::abort();
    arguments.number_in_range("keep");
    arguments.choice("scope");
    arguments.integer_in_range("count");
  } catch (const hearsay::InvalidArgument&) {
  }
  return 0;
}
