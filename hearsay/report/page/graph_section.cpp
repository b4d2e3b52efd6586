#include "hearsay/report/page/graph_section.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/markup.h"
#include "hearsay/core/spec.h"
#include "hearsay/core/text.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/graph/svg.h"
#include "hearsay/report/page/matrix.h"
#include "hearsay/train/metrics.h"

namespace hearsay::report {

namespace {

constexpr std::uint64_t kMostPeers = 1000;  ///< settings may hold any number: bounds the time
constexpr std::size_t kMostPhases = 12;
constexpr std::size_t kFewPeers = 24;  ///< lines between more are hard to follow
constexpr std::size_t kMostPeersOfMatrix = 128;
constexpr std::size_t kCellsPerEdge = 5;  ///< that fit a matrix where one line fits a picture

using Ends = std::pair<std::uint32_t, std::uint32_t>;

/// Bytes of each edge over the whole run, by sender and receiver; none if not recorded. In a static
/// graph all out-neighbours of a peer got the same messages, unless peers come and go.
std::map<Ends, double> bytes_of_edges(const Record& record, graph::Schedule& schedule) {
  std::map<Ends, double> bytes;
  if (!schedule.is_static() || record.config().timing == "asynchronous") {
    for (const std::vector<double>& row : record.table("bytes_by_edge")) {
      const auto is_peer = [&](double number) {
        return number >= 0 && number < static_cast<double>(schedule.peers());
      };
      if (row.size() != 3 || !is_peer(row[0]) || !is_peer(row[1])) return {};
      bytes[{static_cast<std::uint32_t>(row[0]), static_cast<std::uint32_t>(row[1])}] = row[2];
    }
    return bytes;
  }
  const std::vector<double> bytes_by_peer = record.numbers("bytes_by_peer");
  if (bytes_by_peer.size() != schedule.peers()) return {};
  const graph::Weights& weights = schedule.at(0, 0);
  for (const graph::Edge& edge : weights.edges()) {
    const double edges = static_cast<double>(weights.out_of(edge.sender).size());
    bytes[{edge.sender, edge.receiver}] = bytes_by_peer[edge.sender] / edges;
  }
  return bytes;
}

/// `most`: bytes of the widest edge; none if edges have no widths.
std::string note_of(const Record& record, std::optional<double> most, bool changes) {
  if (record.finished() && record.figure("bytes_total") == 0.0) {
    return "Nothing was sent over these edges.";
  }
  if (!most) {
    if (!record.finished()) return "Edges get their widths when the run has finished.";
    return changes && record.config().peers > gossip::Traffic::kEdgesToldOf
               ? fmt::format(
                     "Edges have no widths: bytes are told for each edge of a graph that "
                     "changes up to {} peers.",
                     gossip::Traffic::kEdgesToldOf)
               : "";
  }
  return fmt::format(
      "The width of an edge is the bytes sent over it in the whole run; the widest is {}. Point at "
      "one for its own.",
      human_bytes(*most));
}

/// How many phases fit; 0: not even one does.
std::size_t room(const std::vector<graph::Weights>& phases, std::size_t most_edges) {
  std::size_t shown = 0, edges = 0;
  for (; shown < std::min(phases.size(), kMostPhases); ++shown) {
    edges += phases[shown].edge_count();
    if (edges > most_edges) break;
  }
  return shown;
}

/// How many phases are shown, and as what.
struct Shown {
  std::size_t phases = 0;
  bool lines = true, matrices = false;
};

/// Lines where they fit; for many peers matrices too, which have room for more edges.
Shown shown_of(const std::vector<graph::Weights>& phases, std::size_t most_edges) {
  const std::size_t peers = phases.front().peers();
  const bool lines = room(phases, most_edges) > 0;
  const bool matrices = peers > kFewPeers && peers <= kMostPeersOfMatrix;
  const std::size_t fit = room(phases, matrices ? kCellsPerEdge * most_edges : most_edges);
  if (fit > 0) return {lines ? room(phases, most_edges) : fit, lines, matrices};
  throw InvalidArgument(
      fmt::format("{} edges are too many for a picture here; hearsay graph --svg "
                  "draws up to {}",
                  phases.front().edge_count(), graph::kMostDrawnEdges));
}

std::string draw(const Record& record, std::size_t most_edges) {
  const std::string& spec = record.config().graph;
  if (record.config().peers > kMostPeers) {
    throw InvalidArgument(
        fmt::format("{} peers are too many for a picture here; hearsay graph "
                    "prints the spectral properties",
                    record.config().peers));
  }
  const auto schedule = graph::make_schedule(spec, {record.config().peers, record.config().seed});
  const std::vector<graph::Weights> phases = graph::phases(*schedule);
  const auto [shown, lines, matrices] = shown_of(phases, most_edges);
  const bool drawn_anew = spec_name(spec) == "random" && !schedule->is_static();
  const std::map<Ends, double> bytes = bytes_of_edges(record, *schedule);

  graph::SvgStyle style{.shape = graph::shape_of(spec, schedule->peers())};
  std::optional<double> most;
  if (!bytes.empty()) {
    style.amount = [&](const graph::Edge& edge) {
      const auto found = bytes.find({edge.sender, edge.receiver});
      return found == bytes.end() ? 0.0 : found->second;
    };
    style.more = [&](const graph::Edge& edge) { return ", " + human_bytes(style.amount(edge)); };
    for (std::size_t k = 0; k < shown; ++k) {
      for (const graph::Edge& edge : phases[k].edges()) {
        most = std::max(most.value_or(0), style.amount(edge));
      }
    }
    if (shown > 1) style.most = *most;
  }
  std::string html = "<div class=\"graphs\">\n";
  for (std::size_t k = 0; k < shown; ++k) {
    const std::string number = fmt::format("{} of {}", k + 1, phases.size());
    const std::string title = phases.size() > 1 ? fmt::format("{}, {}", spec, number) : spec;
    const std::string tag = phases.size() > 1 ? fmt::format("<p>{}</p>\n", number) : "";
    if (lines) {
      html += "<div class=\"phase\">" + tag + graph::svg(phases[k], title, style) + "</div>\n";
    }
    if (matrices) {
      html += "<div class=\"phase\">" + tag +
              matrix(phases[k], title + ", a row per sender, a column per receiver", style.amount,
                     most.value_or(0)) +
              "</div>\n";
    }
  }
  html += "</div>\n";
  std::string note;
  if (drawn_anew) {
    note = fmt::format("A new graph is drawn again and again; these are the first {}. ", shown);
  } else if (phases.size() > 1) {
    note = fmt::format("{} graphs in turn{}. ", phases.size(),
                       shown < phases.size() ? fmt::format(", the first {} here", shown) : "");
  }
  if (matrices) {
    note += "Of the matrix, a row is a sender and a column a receiver";
    note += most ? "; the darker, the more bytes. " : ". ";
  }
  if (lines) note += note_of(record, most, phases.size() > 1);
  return html + (note.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", note));
}

}  // namespace

std::string graph_section(const Record& record, std::size_t most_edges) {
  try {
    return draw(record, most_edges);
  } catch (const std::exception& error) {
    return fmt::format("<p class=\"note\">cannot be drawn: {}</p>\n", escape_markup(error.what()));
  }
}

}  // namespace hearsay::report
