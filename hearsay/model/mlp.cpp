#include <charconv>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "hearsay/model/families.h"

namespace hearsay::model {

namespace {

constexpr std::size_t kWidest = std::size_t{1} << 20;

/// "64+32" as numbers.
std::vector<std::size_t> widths(const Arguments& arguments) {
  std::vector<std::size_t> all;
  const std::string& text = arguments.text("hidden");
  const char* const end = text.data() + text.size();
  for (const char* at = text.data();; ++at) {
    std::size_t width = 0;
    const auto [rest, error] = std::from_chars(at, end, width);
    const bool goes_on = rest != end && *rest == '+';
    if (error != std::errc() || width == 0 || width > kWidest || (rest != end && !goes_on)) {
      arguments.reject("hidden", fmt::format("widths in [1, {}] joined by +, as 64+64", kWidest));
    }
    all.push_back(width);
    if (!goes_on) return all;
    at = rest;
  }
}

}  // namespace

Network make_mlp(const Arguments& arguments, Shape input, std::size_t outputs) {
  Network net(input);
  Value x = add_flatten(net, net.input());
  std::size_t layer = 1;
  for (std::size_t width : widths(arguments)) {
    const std::string name = fmt::format("fc{}", layer++);
    x = net.add(name, Linear{.out = width}, {x});
    x = net.add(name + ".relu", Relu{}, {x});
  }
  net.add(fmt::format("fc{}", layer), Linear{.out = outputs}, {x});
  return net;
}

}  // namespace hearsay::model
