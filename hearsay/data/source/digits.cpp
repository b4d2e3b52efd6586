#include "hearsay/data/source/digits.h"

#include <array>
#include <cassert>

namespace hearsay::data {

extern const std::string_view kDigitsText;  // generated from digits/digits.txt

namespace {

constexpr std::size_t kPixels = 64;
constexpr std::size_t kLine = 2 + kPixels + 1;  // label, space, pixels, newline
constexpr std::size_t kEveryForTest = 5;

std::uint8_t pixel_value(char digit) {
  return static_cast<std::uint8_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

}  // namespace

std::shared_ptr<const Dataset> make_digits() {
  assert(kDigitsText.size() % kLine == 0);
  Dataset digits{.name = "digits", .height = 8, .width = 8, .classes = 10, .scale = 1.0f / 16};
  std::array<std::size_t, 10> seen{};
  for (std::size_t at = 0; at < kDigitsText.size(); at += kLine) {
    const std::size_t label = pixel_value(kDigitsText[at]);
    Samples& part = ++seen[label] % kEveryForTest == 0 ? digits.test : digits.train;
    part.labels().push_back(static_cast<std::uint16_t>(label));
    for (char digit : kDigitsText.substr(at + 2, kPixels)) {
      part.inputs.as<std::uint8_t>().push_back(pixel_value(digit));
    }
  }
  return std::make_shared<const Dataset>(std::move(digits));
}

}  // namespace hearsay::data
