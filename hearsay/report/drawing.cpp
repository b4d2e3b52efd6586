#include "hearsay/report/drawing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "hearsay/report/table.h"

namespace hearsay::report {

namespace {

constexpr double kWidth = 640, kHeight = 280;
constexpr double kLeft = 64, kRight = 12, kTop = 12, kBottom = 44;
constexpr std::size_t kColours = 7;       ///< c1 .. c7; c0 is for the one that counts
constexpr std::size_t kMostPoints = 400;  ///< of a curve; more cannot be told apart

/// 1, 2 or 5 times a power of ten, so that about `count` steps cover `range`.
double tick_step(double range, int count) {
  const double rough = range / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

/// The multiples of a round step within a range, about `count` of them.
std::vector<double> ticks(double low, double high, int count) {
  const double step = tick_step(high - low, count);
  const double first = std::ceil(low / step);
  const auto number = static_cast<int>(std::floor(high / step + 1e-9) - first) + 1;
  std::vector<double> values;
  for (int k = 0; k < number; ++k) values.push_back((first + k) * step + 0.0);  // no -0
  return values;
}

/// The range of some numbers; never empty.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(std::span<const double> values) {
    for (double value : values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  void widen() {
    if (high - low > 1e-12 * std::max(std::abs(low), std::abs(high))) return;
    const double margin = std::max(std::abs(low) * 0.1, 1e-9);
    low -= margin;
    high += margin;
  }
  double place(double value) const { return (value - low) / (high - low); }
};

std::string label(double value, const std::string& unit) {
  if (unit == "B") return human_bytes(value);
  return fmt::format("{:.4g}{}", value, unit == "%" ? " %" : "");
}

std::string axes(const Range& x, const Range& y, const std::string& unit) {
  std::string svg;
  const double bottom = kHeight - kBottom, right = kWidth - kRight;
  for (double value : ticks(y.low, y.high, 6)) {
    const double at = bottom - y.place(value) * (bottom - kTop);
    svg += fmt::format(R"(<line class="grid" x1="{}" y1="{:.1f}" x2="{}" y2="{:.1f}"/>)", kLeft, at,
                       right, at);
    svg += fmt::format(R"(<text x="{}" y="{:.1f}" text-anchor="end">{}</text>)", kLeft - 6, at + 4,
                       escape(label(value, unit)));
  }
  for (double value : ticks(x.low, x.high, 8)) {
    const double at = kLeft + x.place(value) * (right - kLeft);
    svg += fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{:g}</text>)", at,
                       bottom + 18, value);
  }
  return svg +
         fmt::format(R"(<text x="{}" y="{}" text-anchor="end">round</text>)", right, kHeight - 2);
}

std::string points(const Series& series, const Range& x, const Range& y) {
  std::string text;
  const std::size_t count = series.x.size();
  const std::size_t stride = std::max<std::size_t>(1, (count + kMostPoints - 1) / kMostPoints);
  for (std::size_t k = 0; k < count; ++k) {
    if (k % stride != 0 && k + 1 != count) continue;
    text += fmt::format("{:.1f},{:.1f} ", kLeft + x.place(series.x[k]) * (kWidth - kLeft - kRight),
                        kHeight - kBottom - y.place(series.y[k]) * (kHeight - kBottom - kTop));
  }
  return text;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string draw_curves(const Chart& chart, std::span<const Series> all) {
  Range x, y;
  for (const Series& series : all) {
    x.include(series.x);
    y.include(series.y);
  }
  if (!std::isfinite(x.high - x.low) || !std::isfinite(y.high - y.low)) return "";
  if (y.low == 0 && y.high == 0) return "";
  x.widen();
  y.widen();
  const std::size_t others = all.size() - (chart.strong_last ? 1 : 0);
  const bool crowded = others > kColours && !chart.crowd.empty();
  std::string lines, legend;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool strong = chart.strong_last && i + 1 == all.size();
    const bool crowd = crowded && !strong;
    const std::size_t colour = strong || all.size() == 1 ? 0 : crowd ? 1 : 1 + i % kColours;
    std::string kind = fmt::format("c{}", colour);
    if (strong) {
      kind += " strong";
    } else if (crowd) {
      kind += " thin";
    } else if (i >= kColours) {
      kind += fmt::format(" dash{}", 1 + (i / kColours - 1) % 2);
    }
    lines += fmt::format(R"(<polyline class="{}" points="{}"><title>{}</title></polyline>)", kind,
                         points(all[i], x, y), escape(all[i].name));
    if (crowd && i > 0) continue;
    legend += fmt::format(R"(<span class="{}">{}</span> )", kind,
                          escape(crowd ? chart.crowd : all[i].name));
  }
  return fmt::format(
      R"(<figure><figcaption>{}</figcaption><svg viewBox="0 0 {} {}" role="img" aria-label="{}">)"
      R"({}{}</svg><div class="legend">{}</div></figure>)"
      "\n",
      escape(chart.title), kWidth, kHeight, escape(chart.title), axes(x, y, chart.unit), lines,
      all.size() > 1 ? legend : "");
}

std::string draw_graph(std::size_t peers, std::span<const graph::Edge> edges) {
  constexpr double kSize = 320, kMiddle = kSize / 2, kRadius = 130;
  const double dot = std::clamp(400.0 / static_cast<double>(peers), 3.0, 16.0);
  const auto place = [&](std::size_t peer) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(peer) /
                         static_cast<double>(std::max<std::size_t>(peers, 1));
    return std::pair(kMiddle + kRadius * std::sin(angle), kMiddle - kRadius * std::cos(angle));
  };
  std::set<std::pair<std::uint32_t, std::uint32_t>> arrows;
  for (const graph::Edge& edge : edges) arrows.emplace(edge.sender, edge.receiver);
  std::string svg = fmt::format(
      R"(<svg class="graph" viewBox="0 0 {0} {0}" role="img" aria-label="the graph">)", kSize);
  for (const auto& [from, to] : arrows) {
    const bool both = arrows.contains({to, from});
    if (both && from > to) continue;
    const auto [x1, y1] = place(from);
    const auto [x2, y2] = place(to);
    const double length = std::max(std::hypot(x2 - x1, y2 - y1), 1e-9);
    const double dx = (x2 - x1) / length, dy = (y2 - y1) / length;
    const double tip_x = x2 - dx * (dot + 1), tip_y = y2 - dy * (dot + 1);
    svg += fmt::format(R"(<line class="edge" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)",
                       x1, y1, tip_x, tip_y);
    if (both) continue;
    constexpr double kHead = 8;
    svg +=
        fmt::format(R"(<polygon class="head" points="{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}"/>)",
                    tip_x, tip_y, tip_x - kHead * (dx - dy / 2), tip_y - kHead * (dy + dx / 2),
                    tip_x - kHead * (dx + dy / 2), tip_y - kHead * (dy - dx / 2));
  }
  for (std::size_t peer = 0; peer < peers; ++peer) {
    const auto [x, y] = place(peer);
    svg += fmt::format(R"(<circle class="peer" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"/>)", x, y, dot);
    if (dot >= 8) {
      svg += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", x, y + 4,
                         peer);
    }
  }
  return svg + "</svg>\n";
}

std::string draw_counts(const std::vector<std::vector<double>>& counts) {
  constexpr double kDarkest = 0.5;  // so that the number can be read on it
  double most = 1;
  for (const auto& row : counts) {
    for (double count : row) most = std::max(most, count);
  }
  std::string html = R"(<div class="wide"><table class="counts"><tr><th>class</th>)";
  const std::size_t classes = counts.empty() ? 0 : counts.front().size();
  for (std::size_t c = 0; c < classes; ++c) html += fmt::format("<th>{}</th>", c);
  html += "</tr>\n";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    html += fmt::format("<tr><th>peer {}</th>", i);
    for (double count : counts[i]) {
      html += fmt::format(R"(<td><i style="opacity:{:.2f}"></i><b>{:.0f}</b></td>)",
                          kDarkest * std::clamp(count / most, 0.0, 1.0), count);
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

}  // namespace hearsay::report
