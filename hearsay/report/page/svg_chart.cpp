#include "hearsay/report/page/svg_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "hearsay/core/markup.h"
#include "hearsay/report/page/svg_axis.h"
#include "hearsay/report/sample.h"

namespace hearsay::report {

namespace {

// Those of a page in light mode (assets/page.css, assets/charts.js).
constexpr const char* kInks[kColours + 1] = {"#1c1e21", "#3c489c", "#9c6054", "#909c30",
                                             "#f048a8", "#6c4800", "#009ce4", "#4854fc"};
constexpr const char* kDashArrays[kDashes] = {"", "7 4", "2 3", "9 3 2 3"};

constexpr double kWidth = 480, kLeft = 66, kRight = 12, kTop = 12, kPlotHeight = 260;
constexpr double kBelow = 46;  ///< ticks and title of the horizontal axis
constexpr double kLine = 17, kLetter = 6.2, kSwatch = 30;
constexpr double kDrawable = 1e100;  ///< greater numbers are gaps
constexpr std::size_t kStretches = 300;

/// A curve with its points as they are.
struct SvgCurve {
  const Curve* curve;
  std::vector<double> x, y;
};

struct LegendEntry {
  std::string name, swatch;  ///< the latter drawn at (0, 0), 24 wide
};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

std::string text_at(double x, double y, const std::string& text, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more,
                     escape_markup(text));
}

/// How wide a text is, about: characters, not bytes of UTF-8.
double width_of(const std::string& text) {
  const auto is_first = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return kLetter * static_cast<double>(std::ranges::count_if(text, is_first));
}

/// The frame of a picture: axes, grid, legend, and in it what is drawn.
class Picture {
 public:
  Picture(SvgAxis x, SvgAxis y) : x_(x), y_(y) {}

  static SvgAxis horizontal(const Range& range, bool log) {
    return {range.low, range.high, log, kLeft, kWidth - kRight};
  }
  static SvgAxis vertical(const Range& range, bool log) {
    return {range.low, range.high, log, kTop + kPlotHeight, kTop};
  }

  void label(std::string x, SvgAxis::Numbers x_numbers, std::string y, SvgAxis::Numbers y_numbers) {
    x_title_ = std::move(x);
    y_title_ = std::move(y);
    x_numbers_ = x_numbers;
    y_numbers_ = y_numbers;
  }
  void draw(const std::string& shape) { shapes_ += shape; }
  void explain(LegendEntry entry) {
    if (std::ranges::count(legend_, entry.name, &LegendEntry::name) == 0) {
      legend_.push_back(std::move(entry));
    }
  }

  std::string svg(const std::string& title) const {
    const auto [legend, lines] = draw_legend();
    const double height = kTop + kPlotHeight + kBelow + kLine * static_cast<double>(lines);
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
               "viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, sans-serif\" "
               "font-size=\"11\" fill=\"#000000\">\n<title>{2}</title>\n"
               "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
               kWidth, height, escape_markup(title)) +
           draw_axes() + shapes_ + legend + "</svg>\n";
  }

 private:
  std::string draw_axes() const {
    const double bottom = kTop + kPlotHeight, right = kWidth - kRight;
    std::string out = "<g stroke=\"#dddddd\" stroke-width=\"0.6\">\n", texts;
    double free = -1;  // from which pixel on a label fits
    for (const double tick : x_.ticks()) {
      const double at = x_.pixel(tick);
      out += fmt::format("<path d=\"M{:.1f} {}V{}\"/>\n", at, kTop, bottom);
      const std::string text = x_.text(tick, x_numbers_);
      if (at - width_of(text) / 2 < free) continue;
      free = at + width_of(text) / 2 + 8;
      texts += text_at(at, bottom + 15, text, " text-anchor=\"middle\"");
    }
    for (const double tick : y_.ticks()) {
      const double at = y_.pixel(tick);
      out += fmt::format("<path d=\"M{} {:.1f}H{}\"/>\n", kLeft, at, right);
      texts += text_at(kLeft - 6, at + 4, y_.text(tick, y_numbers_), " text-anchor=\"end\"");
    }
    out += "</g>\n" + texts;
    out += text_at((kLeft + right) / 2, bottom + 34, x_title_, " text-anchor=\"middle\"");
    const double middle = kTop + kPlotHeight / 2;
    out += text_at(
        13, middle, y_title_,
        fmt::format(" text-anchor=\"middle\" transform=\"rotate(-90 13 {})\"", middle).c_str());
    return out + fmt::format("<path d=\"M{0} {1}V{2}H{3}\" fill=\"none\" stroke=\"#000000\"/>\n",
                             kLeft, kTop, bottom, right);
  }

  /// And its number of lines.
  std::pair<std::string, std::size_t> draw_legend() const {
    std::string out;
    double x = kLeft, y = kTop + kPlotHeight + kBelow + 8;
    std::size_t lines = legend_.empty() ? 0 : 1;
    for (const LegendEntry& entry : legend_) {
      const double width = kSwatch + width_of(entry.name) + 14;
      if (x > kLeft && x + width > kWidth - kRight) {
        x = kLeft;
        y += kLine;
        ++lines;
      }
      out += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">{}</g>\n", x, y - 4,
                         entry.swatch) +
             text_at(x + kSwatch, y, entry.name);
      x += width;
    }
    return {out, lines};
  }

  SvgAxis x_, y_;
  std::string x_title_, y_title_, shapes_;
  SvgAxis::Numbers x_numbers_ = SvgAxis::Numbers::kPlain, y_numbers_ = SvgAxis::Numbers::kPlain;
  std::vector<LegendEntry> legend_;
};

std::string stroke_of(const Curve& curve) {
  const std::string dash = kDashArrays[curve.dash % kDashes];
  return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{} stroke-linejoin=\"round\"",
                     kInks[curve.colour % (kColours + 1)],
                     curve.look == Curve::Look::kStrong ? 2.2 : 1.5,
                     dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash));
}

bool is_band(const SvgCurve& curve) { return curve.curve->look == Curve::Look::kBand; }

/// The points of a curve, against bytes or rounds, sampled. A gap has a y of NaN.
SvgCurve points_of(const Curve& curve, const Record& record, bool bytes) {
  const std::vector<double> values = values_of(curve, record);
  std::vector<double> along = record.bytes();
  if (!bytes) {
    const auto rounds = record.columns().figure("round");
    along.assign(rounds.begin(), rounds.end());
  }
  std::vector<double> x, y;
  for (std::size_t k = 0; k < std::min(values.size(), along.size()); ++k) {
    const bool absent = std::isnan(values[k]);  // the line has no such value
    if (absent || !std::isfinite(along[k]) || (bytes && !(along[k] > 0))) continue;
    x.push_back(along[k]);
    y.push_back(std::abs(values[k]) < kDrawable ? values[k]
                                                : std::numeric_limits<double>::quiet_NaN());
  }
  SvgCurve points{&curve, {}, {}};
  for (const std::size_t k : sample(x, y, kStretches)) {
    points.x.push_back(x[k]);
    points.y.push_back(y[k]);
  }
  return points;
}

std::string line_of(const SvgCurve& points, const SvgAxis& x, const SvgAxis& y) {
  std::string path, marks;
  bool pen = false;
  std::size_t run = 0;  // points since the last gap
  for (std::size_t k = 0; k < points.x.size(); ++k) {
    if (!y.shows(points.y[k])) {
      pen = false;
      continue;
    }
    run = pen ? run + 1 : 1;
    path +=
        fmt::format("{}{:.1f} {:.1f}", pen ? "L" : "M", x.pixel(points.x[k]), y.pixel(points.y[k]));
    pen = true;
    const bool ends = k + 1 == points.x.size() || !y.shows(points.y[k + 1]);
    if (run == 1 && ends) {  // which a path does not show
      marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.2\" fill=\"{}\"/>\n",
                           x.pixel(points.x[k]), y.pixel(points.y[k]),
                           kInks[points.curve->colour % (kColours + 1)]);
    }
  }
  if (path.empty()) return "";
  return fmt::format("<path d=\"{}\" {}/>\n", path, stroke_of(*points.curve)) + marks;
}

/// The area between two curves. What a logarithmic axis cannot show of the lower one is its end.
std::string band_of(const SvgCurve& low, const SvgCurve& high, const SvgAxis& x, const SvgAxis& y,
                    double floor) {
  const auto usable = [&](const SvgCurve& edge) {
    std::vector<std::size_t> kept;
    for (std::size_t k = 0; k < edge.x.size(); ++k) {
      if (std::isfinite(edge.y[k])) kept.push_back(k);
    }
    return kept;
  };
  const auto at = [&](const SvgCurve& edge, std::size_t k) {
    return fmt::format("{:.1f} {:.1f}", x.pixel(edge.x[k]),
                       y.pixel(y.shows(edge.y[k]) ? edge.y[k] : floor));
  };
  std::string path;
  std::vector<std::size_t> back = usable(high);
  for (const std::size_t k : usable(low)) path += (path.empty() ? "M" : "L") + at(low, k);
  std::ranges::reverse(back);
  for (const std::size_t k : back) path += "L" + at(high, k);
  if (path.empty()) return "";
  return fmt::format("<path d=\"{}Z\" fill=\"{}\" fill-opacity=\"0.18\"/>\n", path,
                     kInks[low.curve->colour % (kColours + 1)]);
}

void widen(Range& range, bool log) {
  if (range.empty()) return;
  if (log) {
    const double part = std::pow(range.high / range.low, 0.04);
    range.low /= part;
    range.high *= part;
  } else {
    const double part = 0.04 * (range.high - range.low);
    range.low -= part;
    range.high += part;
  }
}

/// A name for a file.
std::string file_name(std::string id) {
  for (char& c : id) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    if (!plain) c = '-';
  }
  return id;
}

}  // namespace

std::string svg_of(const Chart& chart, const std::vector<const Record*>& records) {
  const bool bytes = chart.axis == "bytes";
  std::vector<SvgCurve> curves;
  Range along, values;
  for (const Curve& curve : chart.curves) {
    curves.push_back(points_of(curve, *records[curve.record], bytes));
    for (std::size_t k = 0; k < curves.back().x.size(); ++k) {
      const double y = curves.back().y[k];
      if (!std::isfinite(y) || (chart.log && !(y > 0))) continue;
      along.add(curves.back().x[k]);
      values.add(y);
    }
  }
  if (along.empty()) return "";
  if (!bytes) along.low = std::min(along.low, 0.0);
  widen(values, chart.log);
  const SvgAxis x = Picture::horizontal(along, bytes), y = Picture::vertical(values, chart.log);
  Picture picture(x, y);
  picture.label(bytes ? "Bytes sent by all peers (B, log)" : "Rounds",
                bytes ? SvgAxis::Numbers::kBytes : SvgAxis::Numbers::kPlain,
                chart.log ? with_log(chart.y) : chart.y,
                chart.y.find("(B") == std::string::npos ? SvgAxis::Numbers::kPlain
                                                        : SvgAxis::Numbers::kBytes);
  for (std::size_t k = 0; k + 1 < curves.size(); ++k) {
    if (!is_band(curves[k]) || !is_band(curves[k + 1])) continue;
    picture.draw(band_of(curves[k], curves[k + 1], x, y, values.low));
    ++k;
  }
  for (const SvgCurve& curve : curves) {
    if (!is_band(curve)) picture.draw(line_of(curve, x, y));
    const std::string band =
        fmt::format("<rect y=\"-4\" width=\"24\" height=\"8\" fill=\"{}\" fill-opacity=\"0.18\"/>",
                    kInks[curve.curve->colour % (kColours + 1)]);
    const bool has_band = std::ranges::any_of(curves, [&](const SvgCurve& other) {
      return is_band(other) && other.curve->name == curve.curve->name;
    });
    const std::string line = fmt::format("<path d=\"M0 0H24\" {}/>", stroke_of(*curve.curve));
    picture.explain({curve.curve->name, (has_band ? band : "") + (is_band(curve) ? "" : line)});
  }
  return picture.svg(chart.title);
}

std::string svg_of(const Scatter& scatter) {
  Range along, values;
  const auto drawable = [&](const Scatter::Point& point) {
    return std::isfinite(point.y) && point.x > 0 && point.x < kDrawable &&
           std::abs(point.y) < kDrawable && (!scatter.log || point.y > 0);
  };
  for (const auto* points : {&scatter.points, &scatter.printed}) {
    for (const Scatter::Point& point : *points) {
      if (!drawable(point)) continue;
      along.add(point.x);
      for (const double y : {point.low, point.y, point.high}) {
        if (!scatter.log || y > 0) values.add(y);
      }
    }
  }
  if (along.empty()) return "";
  widen(along, true);
  widen(values, scatter.log);
  const SvgAxis x = Picture::horizontal(along, true), y = Picture::vertical(values, scatter.log);
  Picture picture(x, y);
  picture.label("Compression factor (times fewer bytes, log)", SvgAxis::Numbers::kPlain, scatter.y,
                SvgAxis::Numbers::kPlain);
  std::vector<std::string> names;  // of points; of a sweep, of rows
  const auto draw = [&](const Scatter::Point& point, bool printed) {
    if (!drawable(point)) return;
    const std::string name = point.figure.empty() ? point.name : point.name + ", " + point.figure;
    if (std::ranges::count(names, name) == 0) names.push_back(name);
    const auto number =
        static_cast<std::size_t>(std::ranges::find(names, name) - names.begin()) % kColours;
    const char* ink = kInks[1 + number];
    const auto mark = [&](double at_x, double at_y) {
      return fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\" stroke=\"{}\" "
          "stroke-width=\"1.5\"/>",
          at_x, at_y, printed ? "none" : ink, ink);
    };
    if (point.low < point.high) {
      const double low = y.shows(point.low) ? point.low : values.low;
      picture.draw(fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" stroke=\"{3}\"/>\n",
                               x.pixel(point.x), y.pixel(low), y.pixel(point.high), ink));
    }
    picture.draw(mark(x.pixel(point.x), y.pixel(point.y)) + "\n");
    picture.explain({printed ? name + " as printed" : name, mark(12, 0)});
  };
  for (const Scatter::Point& point : scatter.points) draw(point, false);
  for (const Scatter::Point& point : scatter.printed) draw(point, true);
  return picture.svg("What compression costs");
}

std::vector<SvgPicture> svg_pictures(const Runs& runs) {
  std::vector<const Record*> records;
  std::vector<Chart> charts;
  if (runs.runs.size() == 1) {
    const ShownRun& run = runs.runs.front();
    records.push_back(&run.record);
    for (const auto& [label, control] : run.controls) records.push_back(&control);
    charts = charts_of_run(run, 0, false);
  } else {
    std::vector<const ShownRun*> shown;
    std::vector<std::size_t> record_of;
    for (const SeedGroup& group : runs.groups) {
      shown.push_back(&shown_of(runs, group));
      record_of.push_back(records.size());
      records.push_back(&shown.back()->record);
    }
    charts = charts_of_several(shown, record_of);
  }
  std::vector<SvgPicture> pictures;
  for (const Chart& chart : charts) {
    pictures.push_back({file_name(chart.id), svg_of(chart, records)});
  }
  if (runs.runs.size() > 1) pictures.push_back({"scatter", svg_of(make_scatter(runs))});
  std::erase_if(pictures, [](const SvgPicture& picture) { return picture.svg.empty(); });
  return pictures;
}

}  // namespace hearsay::report
