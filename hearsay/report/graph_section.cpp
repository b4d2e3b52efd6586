#include "hearsay/report/graph_section.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/markup.h"
#include "hearsay/core/spec.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/graph/svg.h"
#include "hearsay/report/table.h"

namespace hearsay::report {

namespace {

constexpr std::uint64_t kMostPeers = 1000;  ///< settings may hold anything, and time is short
constexpr std::size_t kMostPhases = 12;

using Ends = std::pair<std::uint32_t, std::uint32_t>;

/// Bytes of each edge, by sender and receiver.
std::map<Ends, double> bytes_of_edges(const std::vector<graph::Weights>& period,
                                      const std::vector<double>& bytes_by_peer) {
  std::map<Ends, double> share;
  std::vector<double> all(bytes_by_peer.size(), 0);
  for (const graph::Weights& weights : period) {
    for (const graph::Edge& edge : weights.edges()) {
      share[{edge.sender, edge.receiver}] += 1;
      all[edge.sender] += 1;
    }
  }
  for (auto& [ends, bytes] : share) bytes *= bytes_by_peer[ends.first] / all[ends.first];
  return share;
}

std::string note_of(const Record& record, bool has_bytes, bool changes, double most) {
  if (!has_bytes) {
    return record.finished() ? "" : "Edges get their widths when the run has finished.";
  }
  if (most <= 0) return "Nothing was sent over these edges.";
  return fmt::format(
      "Edges are as wide as the bytes sent over them: the widest stands for {}.{} Point at one for "
      "its own.",
      human_bytes(most),
      changes
          ? " As a message goes to all neighbours of its time, this counts each of the graphs as "
            "having served equally long."
          : "");
}

/// How many phases there is room for.
std::size_t room(const std::vector<graph::Weights>& phases, std::size_t most_edges) {
  std::size_t shown = 0, edges = 0;
  for (; shown < std::min(phases.size(), kMostPhases); ++shown) {
    edges += phases[shown].edge_count();
    if (edges > most_edges) break;
  }
  if (shown > 0) return shown;
  throw InvalidArgument(
      fmt::format("{} edges are too many for a picture here; hearsay graph --svg "
                  "draws up to {}",
                  phases.front().edge_count(), graph::kMostDrawnEdges));
}

std::string draw(const Record& record, std::size_t most_edges) {
  const std::string& spec = record.config().text("graph");
  if (record.config().count("peers") > kMostPeers) {
    throw InvalidArgument(
        fmt::format("{} peers are too many for a picture here; hearsay graph "
                    "tells what their graph is worth",
                    record.config().count("peers")));
  }
  const auto schedule =
      graph::make_schedule(spec, {record.config().count("peers"), record.config().count("seed")});
  const std::vector<graph::Weights> period = schedule->period(), phases = graph::phases(*schedule);
  const std::size_t shown = room(phases, most_edges);
  const std::vector<double> bytes_by_peer = record.numbers("bytes_by_peer");
  const bool drawn_anew = spec_name(spec) == "random" && !schedule->is_static();
  const bool has_bytes = bytes_by_peer.size() == schedule->peers() && !drawn_anew;

  graph::SvgStyle style{.shape = graph::shape_of(spec, schedule->peers())};
  std::map<Ends, double> bytes;
  double most = 0;
  if (has_bytes) {
    bytes = bytes_of_edges(period, bytes_by_peer);
    for (const auto& [ends, count] : bytes) most = std::max(most, count);
    style.amount = [&](const graph::Edge& edge) { return bytes.at({edge.sender, edge.receiver}); };
    style.more = [&](const graph::Edge& edge) {
      return ", " + human_bytes(bytes.at({edge.sender, edge.receiver}));
    };
  }
  std::string html = "<div class=\"graphs\">\n";
  for (std::size_t k = 0; k < shown; ++k) {
    const std::string number = fmt::format("{} of {}", k + 1, phases.size());
    html += "<div class=\"phase\">" +
            (phases.size() > 1 ? fmt::format("<p>{}</p>\n", number) : std::string()) +
            graph::svg(phases[k], phases.size() > 1 ? fmt::format("{}, {}", spec, number) : spec,
                       style) +
            "</div>\n";
  }
  html += "</div>\n";
  std::string note;
  if (drawn_anew) {
    note = fmt::format("Drawn anew again and again: the first {}.", shown);
  } else if (phases.size() > 1) {
    note = fmt::format("{} graphs in turn{}. ", phases.size(),
                       shown < phases.size() ? fmt::format(", the first {} here", shown) : "");
  }
  note += note_of(record, has_bytes, phases.size() > 1, most);
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
