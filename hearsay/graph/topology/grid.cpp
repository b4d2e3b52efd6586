#include <charconv>
#include <string>

#include <fmt/format.h>

#include "hearsay/graph/mixing.h"
#include "hearsay/graph/spectrum/periodic.h"
#include "hearsay/graph/topology/topologies.h"

namespace hearsay::graph {

namespace {

constexpr std::size_t kLongestSide = 65536;
constexpr std::size_t kMostPeers = 1 << 20;

struct Size {
  std::size_t rows = 1, columns = 1;

  std::size_t peers() const { return rows * columns; }
};

Size most_square(std::size_t peers) {
  Size size{1, peers};
  for (std::size_t rows = 2; rows * rows <= peers; ++rows) {
    if (peers % rows == 0) size = {rows, peers / rows};
  }
  return size;
}

Size parse_size(const Arguments& arguments) {
  const std::string& text = arguments.text("size");
  const char* end = text.data() + text.size();
  Size size;
  const auto rows = std::from_chars(text.data(), end, size.rows);
  if (rows.ec == std::errc() && rows.ptr != end && *rows.ptr == 'x') {
    const auto columns = std::from_chars(rows.ptr + 1, end, size.columns);
    const auto fits = [](std::size_t side) { return side >= 1 && side <= kLongestSide; };
    if (columns.ec == std::errc() && columns.ptr == end && fits(size.rows) && fits(size.columns) &&
        size.peers() <= kMostPeers) {
      return size;
    }
  }
  arguments.reject("size",
                   "rows x columns, such as 4x4, each in [1, 65536], at most 1048576 peers");
}

Size choose_size(const Arguments& arguments, const GraphContext& context) {
  if (arguments.text("size") == "auto") return most_square(any_peers(context));
  const Size size = parse_size(arguments);
  const Size other = most_square(any_peers(context));
  check_peers(fmt::format("{}:{}", arguments.name(), arguments.text("size")), size.peers(), context,
              fmt::format("{}:{}x{}", arguments.name(), other.rows, other.columns));
  return size;
}

/// Peer r * columns + c is at row r, column c.
std::vector<Edge> links(Size size, bool wrap) {
  std::vector<Edge> edges;
  for (std::size_t r = 0; r < size.rows; ++r) {
    for (std::size_t c = 0; c < size.columns; ++c) {
      const std::size_t peer = r * size.columns + c;
      const std::size_t below = (r + 1) % size.rows * size.columns + c;
      const std::size_t right = r * size.columns + (c + 1) % size.columns;
      if (wrap || r + 1 < size.rows) link(edges, peer, below);
      if (wrap || c + 1 < size.columns) link(edges, peer, right);
    }
  }
  return edges;
}

}  // namespace

std::unique_ptr<Schedule> make_grid(const Arguments& arguments, const GraphContext& context) {
  const Size size = choose_size(arguments, context);
  return make_static(mix(size.peers(), links(size, false), weight_rule(arguments, true)));
}

std::unique_ptr<Schedule> make_torus(const Arguments& arguments, const GraphContext& context) {
  const Size size = choose_size(arguments, context);
  return make_static(mix(size.peers(), links(size, true), Rule::kUniform));
}

}  // namespace hearsay::graph
