#include "hearsay/report/page/sweep_section.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "hearsay/report/page/charts.h"
#include "hearsay/report/page/html.h"
#include "hearsay/report/sweep_sheets.h"

namespace hearsay::report {

namespace {

/// The number that a cell such as "91.02 +- 0.35", "+0.34" or "> 500" begins with.
double number_of(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_of("-0123456789"), text.size()));
  double value = std::numeric_limits<double>::quiet_NaN();
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Adds a name for the first column, which has none on a terminal.
Cells cells_of(const char* first, const std::vector<std::vector<std::string>>& rows) {
  Cells cells;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    auto& out = cells.emplace_back();
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      out.push_back({rows[r][c]});
      if (r > 0 && c > 0) out.back().value = number_of(rows[r][c]);
    }
  }
  cells.front().front().text = first;
  return cells;
}

std::string paragraph(const char* kind, const std::string& text) {
  return text.empty() ? "" : fmt::format("<p class=\"{}\">{}</p>\n", kind, escape_markup(text));
}

/// A row and why it has no results; empty if it has.
std::string item(const std::string& label, const std::string& why) {
  return why.empty() ? ""
                     : fmt::format("<li>{}: {}</li>\n", escape_markup(label), escape_markup(why));
}

std::string folded(const char* title, const std::string& items) {
  return items.empty()
             ? ""
             : fmt::format("<details><summary>{}</summary><ul>\n{}</ul></details>\n", title, items);
}

bool wants_log(const DotPlot& plot) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const DotPlot::Series& series : plot.series) {
    for (const auto* dots : {&series.ours, &series.printed}) {
      for (const DotPlot::Dot& dot : *dots) {
        low = std::min(low, dot.x);
        high = std::max(high, dot.x);
      }
    }
  }
  return low > 0 && high > 20 * low;
}

}  // namespace

std::vector<DotPlot> dot_plots(const ShownSweep& shown, const std::string& id) {
  const sweep::Sweep& sweep = shown.record.sweep;
  std::vector<DotPlot> plots;
  std::vector<std::string> units;
  for (std::size_t f = 0; f < sweep.figures.size(); ++f) {
    const sweep::Figure& figure = sweep.figures[f];
    DotPlot::Series series{figure.name, {}, {}};
    for (std::size_t r = 0; r < sweep.rows.size(); ++r) {
      const SweepCell& cell = shown.table.cells[r][f];
      if (const auto mean = cell.mean()) {
        series.ours.push_back({r, *mean, *mean - cell.spread(), *mean + cell.spread()});
      }
      if (cell.printed) series.printed.push_back({r, *cell.printed, *cell.printed, *cell.printed});
    }
    if (series.printed.empty()) continue;
    // A figure without a unit has its own axis.
    auto found = std::ranges::find(units, figure.unit);
    if (figure.unit.empty()) found = units.end();
    const auto at = static_cast<std::size_t>(found - units.begin());
    if (found == units.end()) {
      units.push_back(figure.unit);
      plots.push_back({.id = fmt::format("{}{}", id, plots.size())});
      for (const sweep::SweepRow& row : sweep.rows) {
        plots.back().rows.push_back(row.label);
        plots.back().places.push_back(row.place);
      }
    }
    plots[at].series.push_back(std::move(series));
  }
  for (std::size_t k = 0; k < plots.size(); ++k) {
    for (const DotPlot::Series& series : plots[k].series) {
      plots[k].title += (plots[k].title.empty() ? "" : ", ") + series.name;
    }
    plots[k].log = wants_log(plots[k]);
    plots[k].x = plots[k].title + (units[k].empty() ? "" : fmt::format(" ({})", units[k]));
    if (plots[k].log) plots[k].x = with_log(plots[k].x);
  }
  return plots;
}

std::string sweep_section(const ShownSweep& shown) {
  const sweep::Sweep& sweep = shown.record.sweep;
  std::string html = "<section class=\"sweep\">\n" + paragraph("lead", sweep.source);
  if (!sweep.banner.empty()) html += paragraph("box banner", "Quick profile: " + sweep.banner);
  for (const SweepSheet& sheet : sweep_sheets(shown.record, shown.table)) {
    if (!sheet.title.empty()) html += fmt::format("<h3>{}</h3>\n", escape_markup(sheet.title));
    html += "<div class=\"sheet\">" + html_table(cells_of("row", sheet.rows), true) + "</div>\n";
  }
  if (const auto rows = difference_rows(shown.record, shown.table); !rows.empty()) {
    html +=
        "<div class=\"sheet\">" + html_table(cells_of("difference of two rows", rows)) + "</div>\n";
  }
  std::string missing, failed;
  for (std::size_t r = 0; r < sweep.rows.size(); ++r) {
    missing += item(sweep.rows[r].label, sweep.rows[r].missing);
    failed += item(sweep.rows[r].label, shown.table.failed[r]);
  }
  html += folded("Rows that failed", failed) + folded("Rows that were not run", missing);
  return html + paragraph("note", sweep.note) + "</section>\n";
}

}  // namespace hearsay::report
