#include "hearsay/report/page/html.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace hearsay::report {

namespace {

constexpr std::size_t kMostNumbers = 20;  ///< classes that fit a number each
constexpr std::size_t kMostPeers = 64;
constexpr std::size_t kMostRows = 8;  ///< peers with a row each; more stand side by side

double greatest(const std::vector<std::vector<double>>& counts) {
  double most = 1;
  for (const auto& row : counts) {
    for (double count : row) most = std::max(most, count);
  }
  return most;
}

/// One cell per class with a bar and its count.
std::string cells_of(const std::vector<double>& row, double most) {
  std::string html;
  for (double count : row) {
    html += fmt::format(R"(<td><i style="height:{:.1f}%"></i><b>{:.0f}</b></td>)",
                        100 * std::clamp(count / most, 0.0, 1.0), count);
  }
  return html;
}

/// Bars of all classes as one path, of width 1 each and at most 100 high.
std::string path_of(const std::vector<double>& row, double most) {
  std::string path;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const double height = 100 * std::clamp(row[c] / most, 0.0, 1.0);
    if (height > 0) path += fmt::format("M{} 100v-{:.1f}h0.9v{:.1f}z", c, height, height);
  }
  return fmt::format(R"(<path d="{}"/>)", path);
}

/// All classes as one picture.
std::string bars_of(const std::vector<double>& row, double most) {
  return fmt::format(
      R"(<td class="bars"><svg viewBox="0 0 {} 100" preserveAspectRatio="none" aria-hidden="true">)"
      R"({}</svg></td>)",
      row.size(), path_of(row, most));
}

/// The same with a bar for each class, which says its count.
std::string named_bars_of(const std::vector<double>& row, double most,
                          const std::vector<std::string>& class_names) {
  std::string bars;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const double height = 100 * std::clamp(row[c] / most, 0.0, 1.0);
    if (height <= 0) continue;
    const std::string name = c < class_names.size() ? class_names[c] : fmt::format("class {}", c);
    bars += fmt::format(
        R"(<rect x="{}" y="{:.1f}" width="0.9" height="{:.1f}"><title>{}: {:.0f}</title></rect>)",
        c, 100 - height, height, escape_markup(name), row[c]);
  }
  return bars;
}

/// The histograms of many peers side by side.
std::string small_multiples(const std::vector<std::vector<double>>& counts, std::size_t peers,
                            double most, const std::vector<std::string>& class_names) {
  const bool few = counts.front().size() <= kMostNumbers;
  std::string html = "<div class=\"multiples\">\n";
  for (std::size_t i = 0; i < peers; ++i) {
    double all = 0;
    for (const double count : counts[i]) all += count;
    html +=
        fmt::format(R"(<div><p>peer {}<span>{:.0f}</span></p><svg class="histogram" )"
                    R"(viewBox="0 0 {} 100" preserveAspectRatio="none" role="img">)"
                    R"(<title>peer {}</title>{}</svg></div>)",
                    i, all, counts[i].size(), i,
                    few ? named_bars_of(counts[i], most, class_names) : path_of(counts[i], most)) +
        "\n";
  }
  return html + fmt::format(
                    "</div>\n<p class=\"note\">Bars are classes, in the order of their "
                    "numbers; the highest is {:.0f} samples.{}</p>\n",
                    most, few ? " Point at one for its own." : "");
}

/// Lets a browser break specs after commas and plus signs only.
std::string breakable(const std::string& text) {
  std::string html;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(",+", begin), text.size() - 1) + 1;
    html += fmt::format("<span>{}</span>{}", escape_markup(text.substr(begin, end - begin)),
                        end < text.size() ? "<wbr/>" : "");
    begin = end;
  }
  return html;
}

}  // namespace

std::string html_table(const Cells& rows, bool sortable) {
  if (rows.empty()) return "";
  std::string html = fmt::format("<div class=\"wide\"><table{}>\n<thead><tr>",
                                 sortable ? " class=\"sortable\"" : "");
  std::vector<std::string> kinds;  // of columns
  for (std::size_t c = 0; c < rows.front().size(); ++c) {
    const bool words = std::ranges::none_of(
        rows, [&](const auto& row) { return c < row.size() && std::isfinite(row[c].value); });
    kinds.emplace_back(words ? R"( class="words")" : "");
    const std::string text = escape_markup(rows.front()[c].text);
    html +=
        fmt::format(R"(<th scope="col"{}>{}</th>)", kinds[c],
                    sortable ? fmt::format(R"(<button type="button">{}</button>)", text) : text);
  }
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 1; r < rows.size(); ++r) {
    html += fmt::format(R"(<tr><th scope="row"><span>{}</span></th>)",
                        escape_markup(rows[r].front().text));
    for (std::size_t c = 1; c < rows[r].size(); ++c) {
      const Cell& cell = rows[r][c];
      const std::string value =
          std::isfinite(cell.value) ? fmt::format(R"( data-value="{:.17g}")", cell.value) : "";
      html += fmt::format(
          "<td{}{}>{}</td>", c < kinds.size() ? kinds[c] : "", value,
          c < kinds.size() && !kinds[c].empty() ? breakable(cell.text) : escape_markup(cell.text));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string chart_figure(const std::string& id, const std::string& title, const std::string& note,
                         bool has_switch, const std::string& values) {
  return fmt::format(
      "<figure class=\"chart\" id=\"{}\"><figcaption><h3>{}</h3>{}{}</figcaption>\n"
      "<div class=\"plot\"><canvas role=\"img\" aria-label=\"{}\"></canvas></div>\n"
      "<div class=\"legend\"></div><p class=\"note drawn\" hidden=\"\"></p>{}</figure>\n",
      id, escape_markup(title),
      has_switch ? "<button type=\"button\" class=\"switch\" aria-pressed=\"false\">log</button>"
                 : "",
      note.empty() ? "" : fmt::format("<p class=\"note\">{}</p>", escape_markup(note)),
      escape_markup(title),
      values.empty()
          ? ""
          : fmt::format("<details class=\"values\"><summary>Values</summary>{}</details>", values));
}

std::string draw_counts(const std::vector<std::vector<double>>& counts,
                        const std::vector<std::string>& class_names) {
  if (counts.empty()) return "";
  const double most = greatest(counts);
  const std::size_t classes = counts.front().size();
  const std::size_t peers = std::min(counts.size(), kMostPeers);
  const bool numbers = classes <= kMostNumbers;
  const std::string first =
      peers < counts.size()
          ? fmt::format("<p class=\"note\">The first {} of {} peers.</p>\n", peers, counts.size())
          : "";
  if (peers > kMostRows) return small_multiples(counts, peers, most, class_names) + first;
  std::string html =
      R"(<div class="wide"><table class="counts"><thead><tr><th scope="col">class</th>)";
  if (!numbers) {
    html += fmt::format(R"(<th scope="col">0 to {}</th>)", classes - 1);
  }
  for (std::size_t c = 0; numbers && c < classes; ++c) {
    html +=
        fmt::format(R"(<th scope="col">{}</th>)",
                    c < class_names.size() ? escape_markup(class_names[c]) : fmt::format("{}", c));
  }
  html += R"(<th scope="col">all</th></tr></thead><tbody>)"
          "\n";
  for (std::size_t i = 0; i < peers; ++i) {
    double all = 0;
    for (double count : counts[i]) all += count;
    html += fmt::format(R"(<tr><th scope="row">peer {}</th>{}<td class="all">{:.0f}</td></tr>)", i,
                        numbers ? cells_of(counts[i], most) : bars_of(counts[i], most), all) +
            "\n";
  }
  html += "</tbody></table></div>\n";
  if (!numbers) {
    html += fmt::format("<p class=\"note\">The highest bar is {:.0f} samples.</p>\n", most);
  }
  return html + first;
}

}  // namespace hearsay::report
