#include <algorithm>
#include <charconv>
#include <compare>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/input_file.h"
#include "hearsay/graph/mixing.h"
#include "hearsay/graph/spectrum/periodic.h"
#include "hearsay/graph/topology/topologies.h"

namespace hearsay::graph {

namespace {

constexpr std::uint32_t kLargestPeer = (1u << 20) - 1;

struct EdgeList {
  struct Place {
    std::uint32_t sender, receiver;
    std::size_t line;
    auto operator<=>(const Place&) const = default;
  };

  std::vector<Edge> edges;
  std::vector<Place> places;  ///< of all edges, for the searches below; sorted at the end
  bool weighted = false;

  bool contains(std::uint32_t sender, std::uint32_t receiver) const {
    const auto found = std::ranges::lower_bound(places, Place{sender, receiver, 0});
    return found != places.end() && found->sender == sender && found->receiver == receiver;
  }
  bool undirected() const {
    return std::ranges::all_of(
        edges, [&](const Edge& edge) { return contains(edge.receiver, edge.sender); });
  }
};

/// One line of an edge list: "sender receiver [weight]", '#' starts a comment.
class LineParser {
 public:
  LineParser(std::string_view path, std::size_t line, std::string_view text)
      : path_(path), line_(line), rest_(text.substr(0, text.find('#'))) {}

  void parse(EdgeList& list) {
    const std::string_view sender = word();
    if (sender.empty()) return;
    Edge edge{.sender = peer(sender), .receiver = peer(word())};
    const std::string_view weight = word();
    if (!word().empty()) fail("has more than three words; write 'sender receiver [weight]'");
    if (edge.sender == edge.receiver) {
      fail("is a self-loop; leave it out: a peer keeps what it does not send");
    }
    if (!list.edges.empty() && list.weighted == weight.empty()) {
      fail("must be like the lines before: give all edges a weight, or none");
    }
    list.weighted = !weight.empty();
    if (list.weighted) edge.weight = fraction(weight);
    list.places.push_back({edge.sender, edge.receiver, line_});
    list.edges.push_back(edge);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw InvalidArgument(fmt::format("[file] {}:{}: {}", path_, line_, what));
  }

  std::string_view word() {
    constexpr std::string_view kBlank = " \t\r";
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlank), rest_.size()));
    const std::string_view found = rest_.substr(0, rest_.find_first_of(kBlank));
    rest_.remove_prefix(found.size());
    return found;
  }

  std::uint32_t peer(std::string_view text) const {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value > kLargestPeer) {
      fail(
          fmt::format("'{}' is no peer; peers are whole numbers from 0 to {}", text, kLargestPeer));
    }
    return value;
  }

  double fraction(std::string_view text) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value > 0 && value < 1)) {
      fail(fmt::format("weight must be a number in (0, 1), got '{}'", text));
    }
    return value;
  }

  std::string_view path_;
  std::size_t line_;
  std::string_view rest_;
};

/// act(number, text) for every line.
template <class Act>
void for_each_line(const std::string& path, InputFile& file, const Act& act) {
  constexpr std::size_t kLongestLine = 4096;
  std::vector<char> piece(std::size_t{1} << 20);
  std::string text;
  std::size_t line = 1;
  const auto append = [&](const char* from, const char* to) {
    text.append(from, to);
    if (text.size() <= kLongestLine) return;
    throw InvalidArgument(fmt::format(
        "[file] {}:{}: is longer than {} bytes; write one edge a line", path, line, kLongestLine));
  };
  while (const std::size_t got = file.read(piece.data(), piece.size())) {
    const char* const end = piece.data() + got;
    for (const char* at = piece.data(); at < end;) {
      const char* const stop = std::find(at, end, '\n');
      append(at, at + std::min<std::ptrdiff_t>(stop - at, kLongestLine + 1));
      if (stop == end) break;
      act(line++, text);
      text.clear();
      at = stop + 1;
    }
  }
  if (!text.empty()) act(line, text);
}

/// Throws InvalidArgument if an edge is given twice. Sorts the places.
void check_once(const std::string& path, EdgeList& list) {
  std::ranges::sort(list.places);
  const auto same = [](const EdgeList::Place& a, const EdgeList::Place& b) {
    return a.sender == b.sender && a.receiver == b.receiver;
  };
  const auto twice = std::ranges::adjacent_find(list.places, same);
  if (twice == list.places.end()) return;
  throw InvalidArgument(
      fmt::format("[file] {}:{}: gives edge {} -> {} again, first given in line {}", path,
                  std::next(twice)->line, twice->sender, twice->receiver, twice->line));
}

EdgeList read(const std::string& path) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
  InputFile file;
  if (!file.open(path).empty()) {
    throw InvalidArgument(
        fmt::format("[file] cannot read {}; give the path of an edge list", path));
  }
  if (file.size() > kMostBytes) {
    throw InvalidArgument(fmt::format("[file] {} has {} bytes; an edge list has at most {}", path,
                                      file.size(), kMostBytes));
  }
  EdgeList list;
  for_each_line(path, file, [&](std::size_t line, std::string_view text) {
    LineParser(path, line, text).parse(list);
    check_edges("file", static_cast<double>(list.edges.size()));
  });
  check_once(path, list);
  if (list.edges.empty()) {
    throw InvalidArgument(
        fmt::format("[file] {} has no edges; write one a line, 'sender receiver [weight]'", path));
  }
  return list;
}

}  // namespace

std::unique_ptr<Schedule> make_file(const Arguments& arguments, const GraphContext& context) {
  const std::string& path = arguments.text("path");
  EdgeList list = read(path);
  std::size_t implied = 0;
  for (const Edge& edge : list.edges) {
    implied = std::max<std::size_t>(implied, std::max(edge.sender, edge.receiver) + 1);
  }
  if (context.peers < implied) check_peers("file:" + path, implied, context);
  const std::size_t n = std::max(implied, context.peers);
  if (!list.weighted) {
    const Rule rule = list.undirected() ? Rule::kMetropolis : Rule::kUniform;
    return make_static(mix(n, std::move(list.edges), rule));
  }
  try {
    return make_static(Weights(n, std::move(list.edges)));
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("[file] {}: {}", path, error.what()));
  }
}

}  // namespace hearsay::graph
