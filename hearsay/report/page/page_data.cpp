#include "hearsay/report/page/page_data.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/text.h"
#include "hearsay/report/sample.h"
#include "hearsay/report/seeds.h"

namespace hearsay::report {

namespace {

using Json = nlohmann::ordered_json;

/// Points of all curves of a page: at 13 bytes each about 2 MB.
constexpr std::size_t kMostPoints = 160'000;
constexpr std::size_t kLeastStretches = 16, kMostStretches = 300;

std::string text(const std::string& words) {
  return Json(words).dump(-1, ' ', true, Json::error_handler_t::replace);
}

/// Six digits are more than can be seen; integers are written exactly.
std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{:.6g}", value);
}

template <class Values, class Write>
std::string list(const Values& values, const Write& write) {
  std::string out = "[";
  for (const auto& value : values) {
    if (out.size() > 1) out += ',';
    out += write(value);
  }
  return out + "]";
}

/// A curve with the evaluations that are drawn.
struct Sampled {
  const Curve* curve;
  std::vector<std::size_t> lines;
  std::vector<double> y;
  std::size_t left_out = 0;  ///< evaluations
};

Sampled sample_curve(const Curve& curve, const Record& record, std::size_t stretches) {
  const std::vector<double> values = values_of(curve, record);
  const auto round = record.columns().figure("round");
  std::vector<std::size_t> present;
  std::vector<double> x, y;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (std::isnan(values[k])) continue;
    present.push_back(k);
    x.push_back(round[k]);
    y.push_back(values[k]);
  }
  Sampled sampled{&curve, {}, {}};
  for (std::size_t k : sample(x, y, stretches)) {
    sampled.lines.push_back(present[k]);
    sampled.y.push_back(y[k]);
  }
  sampled.left_out = present.size() - sampled.lines.size();
  return sampled;
}

/// The evaluations of a record that any of its curves draws, and the index of each among them.
class Rows {
 public:
  explicit Rows(std::size_t lines) : place_(lines, kNone) {}

  void want(const std::vector<std::size_t>& lines) {
    for (std::size_t line : lines) place_[line] = 0;
  }
  void number() {
    for (std::size_t line = 0; line < place_.size(); ++line) {
      if (place_[line] == kNone) continue;
      place_[line] = lines_.size();
      lines_.push_back(line);
    }
  }
  std::size_t place(std::size_t line) const { return place_[line]; }
  const std::vector<std::size_t>& lines() const { return lines_; }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::vector<std::size_t> place_, lines_;
};

std::string series_json(const Sampled& sampled, const Rows& rows) {
  const Curve& curve = *sampled.curve;
  constexpr const char* kLooks[] = {"plain", "strong", "band"};
  std::string out = fmt::format(
      R"({{"name":{},"record":{},"key":{},"entry":{},"colour":{},"dash":{},"mark":{},"look":"{}")",
      text(curve.name), curve.record, text(curve.key), curve.entry, curve.colour, curve.dash,
      curve.mark, kLooks[static_cast<std::size_t>(curve.look)]);
  if (sampled.left_out > 0) out += fmt::format(R"(,"left_out":{})", sampled.left_out);
  if (sampled.lines.size() < rows.lines().size()) {
    out += ",\"rows\":" + list(sampled.lines, [&](std::size_t line) {
             return fmt::format("{}", rows.place(line));
           });
  }
  return out + ",\"y\":" + list(sampled.y, number) + "}";
}

Json place_json(const sweep::Place& place) {
  Json json = Json::object();
  for (const auto& [name, label] : place) json[name] = label;
  return json;
}

std::string record_json(const Record& record, const std::string& name, const sweep::Place& place,
                        const Rows& rows) {
  const Columns& columns = record.columns();
  std::string out = fmt::format(R"({{"name":{})", text(name));
  if (!place.empty()) {
    out += ",\"place\":" + place_json(place).dump(-1, ' ', true, Json::error_handler_t::replace);
  }
  out += fmt::format(R"(,"lines":{})", columns.lines());
  const std::vector<double> bytes = record.bytes();
  const std::pair<const char*, std::span<const double>> axes[] = {
      {"round", columns.figure("round")},
      {"bytes", bytes},
      {"simulated", columns.figure("simulated_seconds")}};
  for (const auto& [axis, values] : axes) {
    if (values.empty()) continue;
    const auto at = [&, from = values](std::size_t line) { return number(from[line]); };
    out += fmt::format(R"(,"{}":)", axis) + list(rows.lines(), at);
  }
  return out + "}";
}

Json point_json(const Scatter::Point& point) {
  Json json{{"name", point.name}, {"figure", point.figure}, {"x", point.x}, {"y", point.y}};
  if (point.low < point.high) json.update({{"low", point.low}, {"high", point.high}});
  return json;
}

std::string scatter_json(const Scatter& scatter) {
  Json json{
      {"y", scatter.y}, {"log", scatter.log}, {"note", scatter.note()}, {"fronts", Json::array()}};
  for (const Scatter::Front& front : scatter.fronts) {
    json["fronts"].push_back({{"task", front.task}, {"points", front.points}});
  }
  for (const auto& [key, points] :
       {std::pair("points", &scatter.points), {"printed", &scatter.printed}}) {
    json[key] = Json::array();
    for (const Scatter::Point& point : *points) json[key].push_back(point_json(point));
  }
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string dots_json(const DotPlot& plot) {
  Json json{{"id", plot.id},           {"x", plot.x},
            {"log", plot.log},         {"rows", plot.rows},
            {"places", Json::array()}, {"series", Json::array()}};
  for (const sweep::Place& place : plot.places) json["places"].push_back(place_json(place));
  for (const DotPlot::Series& series : plot.series) {
    Json ours = Json::array(), printed = Json::array();
    for (const DotPlot::Dot& dot : series.ours) {
      ours.push_back({{"row", dot.row}, {"x", dot.x}, {"low", dot.low}, {"high", dot.high}});
    }
    for (const DotPlot::Dot& dot : series.printed) {
      printed.push_back({{"row", dot.row}, {"x", dot.x}});
    }
    json["series"].push_back({{"name", series.name}, {"ours", ours}, {"printed", printed}});
  }
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const PageData& data) {
  std::size_t curves = 0;
  for (const auto& shown : data.charts) curves += shown.chart.curves.size();
  const std::size_t stretches = std::clamp(kMostPoints / (4 * std::max<std::size_t>(curves, 1)),
                                           kLeastStretches, kMostStretches);
  std::vector<Rows> rows;
  for (const Record* record : data.records) rows.emplace_back(record->columns().lines());
  std::vector<std::vector<Sampled>> sampled;
  for (const auto& shown : data.charts) {
    auto& curves_of_chart = sampled.emplace_back();
    for (const Curve& curve : shown.chart.curves) {
      curves_of_chart.push_back(sample_curve(curve, *data.records[curve.record], stretches));
      rows[curve.record].want(curves_of_chart.back().lines);
    }
  }
  for (Rows& of_record : rows) of_record.number();

  std::string out = fmt::format(R"({{"live":{},"records":[)", data.live);
  for (std::size_t r = 0; r < data.records.size(); ++r) {
    out += (r == 0 ? "" : ",\n") +
           record_json(*data.records[r], data.names[r], data.places[r], rows[r]);
  }
  out += "],\n\"charts\":[";
  for (std::size_t c = 0; c < data.charts.size(); ++c) {
    const Chart& chart = data.charts[c].chart;
    out += fmt::format(R"({}{{"id":{},"y":{},"log":{},"axis":{},"series":)", c == 0 ? "" : ",\n",
                       text(data.charts[c].id), text(chart.y), chart.log, text(chart.axis));
    out +=
        list(sampled[c],
             [&](const Sampled& curve) { return series_json(curve, rows[curve.curve->record]); }) +
        "}";
  }
  out += "]";
  if (!data.scatter.points.empty()) out += ",\n\"scatter\":" + scatter_json(data.scatter);
  if (!data.dots.empty()) out += ",\n\"dots\":" + list(data.dots, dots_json);
  if (!data.costs.empty()) {
    out += ",\n\"costs\":" + list(data.costs, [](const std::string& json) { return json; });
  }
  out += "}";

  std::string safe;
  safe.reserve(out.size());
  for (char c : out) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

Cells values_table(const Chart& chart, const std::vector<const Record*>& records) {
  Cells rows{{{"curve"}, {"first"}, {"least"}, {"greatest"}, {"last"}}};
  const bool bytes = chart.id == "bytes";
  const auto cell = [&](double value) {
    return Cell{bytes ? human_bytes(value) : fmt::format("{:.4g}", value), value};
  };
  for (const Curve& curve : chart.curves) {
    double first = 0, least = 0, greatest = 0, last = 0;
    bool any = false;
    for (double value : values_of(curve, *records[curve.record])) {
      if (!std::isfinite(value)) continue;
      if (!any) first = least = greatest = value;
      any = true;
      least = std::min(least, value);
      greatest = std::max(greatest, value);
      last = value;
    }
    std::string name = curve.name;
    if (curve.look == Curve::Look::kBand) {
      name += curve.key.ends_with("_min")       ? ", lowest"
              : curve.key.ends_with("_max")     ? ", highest"
              : curve.key.ends_with(kLowSuffix) ? ", - deviation"
                                                : ", + deviation";
    }
    if (any) rows.push_back({{name}, cell(first), cell(least), cell(greatest), cell(last)});
  }
  return rows;
}

}  // namespace hearsay::report
