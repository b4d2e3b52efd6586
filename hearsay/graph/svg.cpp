#include "hearsay/graph/svg.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/markup.h"
#include "hearsay/core/spec.h"

namespace hearsay::graph {

namespace {

constexpr double kSize = 320;
constexpr double kWidest = 5, kThinnest = 1, kPlain = 1.6, kAlike = 2.5;
constexpr std::size_t kMostPhases = 12;
constexpr double kLeastNumbered = 7;  ///< radius of a dot that has room for a number
constexpr double kManyEdges = 150;    ///< more have thinner lines
constexpr double kBeside = 8;  ///< from the edge of a smaller dot to the middle of its number

struct Point {
  double x = 0, y = 0;

  Point operator+(Point other) const { return {x + other.x, y + other.y}; }
  Point operator-(Point other) const { return {x - other.x, y - other.y}; }
  Point operator*(double factor) const { return {x * factor, y * factor}; }
  double length() const { return std::hypot(x, y); }
  Point left() const { return {y, -x}; }  ///< a quarter turn; y points down
};

/// Positions and size of the peers.
class Places {
 public:
  Places(const Shape& shape, std::size_t peers) : shape_(shape), peers_(peers) {
    const auto n = static_cast<double>(std::max<std::size_t>(peers, 1));
    if (shape_.kind == Shape::Kind::kGrid) {
      rows_ = (peers + shape_.columns - 1) / shape_.columns;
      margin_ = 44;  // space for lines that wrap around
      cell_ = (kSize - 2 * margin_) /
              static_cast<double>(std::max<std::size_t>({rows_, shape_.columns, 2}) - 1);
      dot_ = std::clamp(0.25 * cell_, 2.5, 15.0);
    } else {
      dot_ = std::clamp(400 / n, 2.5, 15.0);
      if (dot_ < kLeastNumbered) {  // numbers stand beside the dots, which leave gaps
        dot_ = std::clamp(256 / n, 1.5, 4.0);
        const double apart = 2 * std::numbers::pi * (kSize / 2 - margin_ + dot_ + kBeside) / n;
        every_ = static_cast<std::size_t>(std::ceil(13 / apart));
      }
    }
  }

  double dot() const { return dot_; }
  /// 0: peers have numbers within their dots, or none; k: every k-th has its number beside it.
  std::size_t every() const { return every_; }
  /// The middle of a number beside a dot.
  Point beside(std::size_t peer) const {
    const Point from_middle = of(peer) - Point{kSize / 2, kSize / 2};
    const double length = from_middle.length();
    if (length < 1) return of(peer) + Point{0, -dot_ - kBeside};  // the middle of a star
    return of(peer) + from_middle * ((dot_ + kBeside) / length);
  }
  double height() const {
    if (shape_.kind != Shape::Kind::kGrid) return kSize;
    return 2 * margin_ + cell_ * static_cast<double>(std::max<std::size_t>(rows_, 1) - 1);
  }

  Point of(std::size_t peer) const {
    if (shape_.kind == Shape::Kind::kGrid) {
      const double left = (kSize - cell_ * static_cast<double>(shape_.columns - 1)) / 2;
      return {left + cell_ * static_cast<double>(peer % shape_.columns),
              margin_ + cell_ * static_cast<double>(peer / shape_.columns)};
    }
    const bool star = shape_.kind == Shape::Kind::kStar;
    const Point middle{kSize / 2, kSize / 2};
    if (star && peer == 0) return middle;
    const double angle = 2 * std::numbers::pi * static_cast<double>(peer - (star ? 1 : 0)) /
                         static_cast<double>(std::max<std::size_t>(peers_ - (star ? 1 : 0), 1));
    return middle + Point{std::sin(angle), -std::cos(angle)} * (kSize / 2 - margin_);
  }

  /// How far a line bends, as a fraction of its length: edges that wrap around a torus must avoid
  /// the peers between their ends.
  double bend(const Edge& edge) const {
    const bool far = shape_.kind == Shape::Kind::kGrid &&
                     (of(edge.receiver) - of(edge.sender)).length() > 1.5 * cell_;
    return far ? 0.14 : 0;
  }

 private:
  Shape shape_;
  std::size_t peers_, rows_ = 1, every_ = 0;
  double margin_ = 24, cell_ = 0, dot_ = 0;
};

/// One line between two dots, bent to its left by a fraction of its length.
std::string line(const Places& places, const Edge& edge, double bend, double width, bool head,
                 const std::string& tip) {
  const Point from = places.of(edge.sender), to = places.of(edge.receiver);
  const double length = std::max((to - from).length(), 1e-9);
  const Point along = (to - from) * (1 / length);
  const Point control = (from + to) * 0.5 + along.left() * (2 * bend * length);
  const Point arriving = (to - control) * (1 / std::max((to - control).length(), 1e-9));
  const double head_length = head ? std::min(5 + 1.6 * width, std::max(places.dot(), 3.5)) : 0;
  const Point tip_at = to - arriving * (places.dot() + 1);
  const Point end = tip_at - arriving * (0.8 * head_length);
  std::string svg =
      fmt::format(R"(<path class="edge" data-edge="{}-{}" stroke-width="{:.2f}" )"
                  R"(d="M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}"><title>{}</title></path>)",
                  edge.sender, edge.receiver, width, from.x, from.y, control.x, control.y, end.x,
                  end.y, escape_markup(tip));
  if (head) {
    const Point back = tip_at - arriving * head_length,
                side = arriving.left() * (0.45 * head_length);
    const Point a = back + side, b = back - side;
    svg +=
        fmt::format(R"(<polygon class="head" points="{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}"/>)",
                    tip_at.x, tip_at.y, a.x, a.y, b.x, b.y);
  }
  return svg + "\n";
}

std::string lines(const Weights& weights, const Places& places, const SvgStyle& style) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, const Edge*> found;
  double least = 0, most = style.most;
  for (const Edge& edge : weights.edges()) {
    found.emplace(std::pair(edge.sender, edge.receiver), &edge);
    if (!style.amount) continue;
    const double amount = style.amount(edge);
    least = found.size() == 1 ? amount : std::min(least, amount);
    most = std::max(most, amount);
  }
  const double thin = std::clamp(
      kManyEdges / static_cast<double>(std::max<std::size_t>(found.size(), 1)), 0.3, 1.0);
  const auto width = [&](const Edge& edge) {
    if (!style.amount || most <= 0) return thin * kPlain;
    if (style.most == 0 && least > 0.98 * most) return thin * kAlike;
    return thin * std::max(kThinnest, kWidest * style.amount(edge) / most);
  };
  const auto tip = [&](const Edge& edge) {
    return fmt::format("{} to {}, weight {:.3g}{}", edge.sender, edge.receiver, edge.weight,
                       style.more ? style.more(edge) : "");
  };
  std::string svg;
  for (const auto& [ends, edge] : found) {
    const auto opposite = found.find({ends.second, ends.first});
    if (opposite == found.end()) {
      svg += line(places, *edge, places.bend(*edge), width(*edge), true, tip(*edge));
    } else if (std::abs(width(*edge) - width(*opposite->second)) > 0.01 * width(*edge)) {
      svg += line(places, *edge, places.bend(*edge) + 0.07, width(*edge), true, tip(*edge));
    } else if (ends.first < ends.second) {
      svg += line(places, *edge, places.bend(*edge), width(*edge), false,
                  tip(*edge) + "; " + tip(*opposite->second));
    }
  }
  return svg;
}

std::string dots(std::size_t peers, const Places& places) {
  std::string svg;
  for (std::size_t peer = 0; peer < peers; ++peer) {
    const Point at = places.of(peer);
    svg += fmt::format(R"(<circle class="peer" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"/>)", at.x, at.y,
                       places.dot());
    if (places.dot() >= kLeastNumbered) {
      svg += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", at.x,
                         at.y + 4, peer);
    } else if (places.every() > 0 && peer % places.every() == 0) {
      const Point beside = places.beside(peer);
      svg += fmt::format(
          R"(<text class="beside" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", beside.x,
          beside.y + 3, peer);
    }
  }
  return svg + "\n";
}

std::size_t most_square_columns(std::size_t peers) {
  std::size_t columns = peers;
  for (std::size_t rows = 2; rows * rows <= peers; ++rows) {
    if (peers % rows == 0) columns = peers / rows;
  }
  return std::max<std::size_t>(columns, 1);
}

bool same_edges(const Weights& a, const Weights& b) {
  return a.peers() == b.peers() && std::ranges::equal(a.edges(), b.edges());
}

constexpr std::string_view kFileStyle = R"(<style>
.edge { fill: none; stroke: #6b7280 } .head { fill: #6b7280 } .peer { fill: #3c489c }
text { font: 11px system-ui, sans-serif; fill: #fff } .tag { font-size: 13px; fill: #1c1e21 }
.beside { font-size: 8px; fill: #5b616b }
@media (prefers-color-scheme: dark) {
  .edge { stroke: #9aa2ad } .head { fill: #9aa2ad } .peer { fill: #609090 }
  text { fill: #16181b } .tag { fill: #e4e6e9 } .beside { fill: #9aa2ad }
}
</style>
)";

}  // namespace

Shape shape_of(std::string_view spec, std::size_t peers) {
  const std::string_view name = spec_name(spec);
  if (name == "star") return {Shape::Kind::kStar, 0};
  if (name != "grid" && name != "torus") return {};
  Shape shape{Shape::Kind::kGrid, most_square_columns(peers)};
  for (std::size_t at = spec.find('x'); at != spec.npos; at = spec.find('x', at + 1)) {
    std::size_t columns = 0;
    const auto end = spec.data() + spec.size();
    if (std::from_chars(spec.data() + at + 1, end, columns).ec != std::errc()) continue;
    if (columns > 0 && columns <= peers && peers % columns == 0) shape.columns = columns;
  }
  return shape;
}

std::string svg(const Weights& weights, const std::string& title, const SvgStyle& style) {
  if (weights.edge_count() > kMostDrawnEdges) {
    throw InvalidArgument(
        fmt::format("[graph] a picture has room for {} edges, and there are {}; use fewer peers or "
                    "a sparser graph",
                    kMostDrawnEdges, weights.edge_count()));
  }
  const Places places(style.shape, weights.peers());
  return fmt::format(R"(<svg class="graph" viewBox="0 0 {} {:.0f}" role="img"><title>{}</title>)"
                     "\n",
                     kSize, places.height(), escape_markup(title)) +
         lines(weights, places, style) + dots(weights.peers(), places) + "</svg>\n";
}

std::vector<Weights> phases(const Schedule& schedule) {
  std::vector<Weights> different;
  for (const Weights& weights : schedule.period()) {
    const auto same = [&](const Weights& other) { return same_edges(weights, other); };
    if (std::ranges::none_of(different, same)) different.push_back(weights);
  }
  return different;
}

std::string svg_file(const Schedule& schedule, std::string_view spec) {
  constexpr double kGap = 24, kTag = 28;
  const std::vector<Weights> all = phases(schedule);
  const std::size_t shown = std::min(all.size(), kMostPhases);
  const std::size_t columns = std::min<std::size_t>(shown, shown > 6 ? 4 : 3);
  const std::size_t rows = (shown + columns - 1) / columns;
  const SvgStyle style{.shape = shape_of(spec, schedule.peers())};
  std::string body;
  for (std::size_t k = 0; k < shown; ++k) {
    const double x = (kSize + kGap) * static_cast<double>(k % columns);
    const double y = (kSize + kTag + kGap) * static_cast<double>(k / columns);
    std::string picture = svg(all[k], std::string(spec), style);
    const std::string_view opening = "<svg ";
    picture.insert(opening.size(), fmt::format(R"(x="{}" y="{}" width="{}" height="{}" )", x,
                                               y + kTag, kSize, kSize));
    const std::string more = k + 1 == shown && shown < all.size()
                                 ? fmt::format(", and {} more", all.size() - shown)
                                 : "";
    body += fmt::format(R"(<text class="tag" x="{}" y="{}">{}{}</text>)", x, y + 18,
                        escape_markup(all.size() == 1 ? std::string(spec)
                                                      : fmt::format("{} of {}", k + 1, all.size())),
                        more) +
            "\n" + picture;
  }
  const double width = (kSize + kGap) * static_cast<double>(columns) - kGap;
  const double height = (kSize + kTag + kGap) * static_cast<double>(rows) - kGap;
  return fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" )"
                     R"(viewBox="0 0 {0} {1}">)"
                     "\n<title>{2}</title>\n",
                     width, height, escape_markup(spec)) +
         std::string(kFileStyle) + body + "</svg>\n";
}

}  // namespace hearsay::graph
