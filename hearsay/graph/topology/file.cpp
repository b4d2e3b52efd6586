#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/graph/mixing.h"
#include "hearsay/graph/spectrum/periodic.h"
#include "hearsay/graph/topology/topologies.h"

namespace hearsay::graph {

namespace {

constexpr std::uint32_t kLargestPeer = (1u << 20) - 1;

struct EdgeList {
  std::vector<Edge> edges;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>
      line_of;  ///< of (sender, receiver)
  bool weighted = false;

  bool undirected() const {
    return std::ranges::all_of(edges, [&](const Edge& edge) {
      return line_of.contains({edge.receiver, edge.sender});
    });
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
    const auto [first, is_new] = list.line_of.try_emplace({edge.sender, edge.receiver}, line_);
    if (!is_new) {
      fail(fmt::format("gives edge {} -> {} again, first given in line {}", edge.sender,
                       edge.receiver, first->second));
    }
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

EdgeList read(const std::string& path) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;
  std::error_code error;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, error)) file.open(path);  // pipes may never end
  if (!file.is_open()) {
    throw InvalidArgument(
        fmt::format("[file] cannot read {}; give the path of an edge list", path));
  }
  if (const auto size = std::filesystem::file_size(path, error); !error && size > kMostBytes) {
    throw InvalidArgument(
        fmt::format("[file] {} has {} bytes; an edge list has at most {}", path, size, kMostBytes));
  }
  EdgeList list;
  std::string text;
  for (std::size_t line = 1; std::getline(file, text); ++line) {
    LineParser(path, line, text).parse(list);
  }
  if (file.bad()) throw InvalidArgument(fmt::format("[file] cannot read {} to its end", path));
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
