#include "hearsay/report/export.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hearsay/report/sweep_table.h"
#include "hearsay/report/table.h"

namespace hearsay::report {

namespace {

/// A name of letters, digits and '_': "message MB" becomes message_mb.
std::string column_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte) != 0) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (name.ends_with('_')) name.pop_back();
  return name.empty() ? "column" : name;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// Lines whose columns are known by name only.
class CsvLines {
 public:
  void begin_line() { lines_.emplace_back(); }
  void put(const std::string& column, const std::string& text) {
    if (std::ranges::count(columns_, column) == 0) columns_.push_back(column);
    lines_.back()[column] = text;
  }
  void put(const std::string& column, double value) {
    put(column, std::isfinite(value) ? fmt::format("{}", value) : "");
  }
  std::string text() const {
    std::string text = fmt::format("{}\n", fmt::join(columns_, ","));
    for (const auto& line : lines_) {
      std::vector<std::string> fields;
      for (const std::string& column : columns_) {
        const auto found = line.find(column);
        fields.push_back(found == line.end() ? "" : csv_field(found->second));
      }
      text += fmt::format("{}\n", fmt::join(fields, ","));
    }
    return text;
  }

 private:
  std::vector<std::string> columns_;
  std::vector<std::map<std::string, std::string>> lines_;
};

/// Column names of the figures of a sweep, each once.
std::vector<std::string> figure_columns(const sweep::Sweep& sweep) {
  std::vector<std::string> names;
  std::set<std::string> taken{"table", "name", "n"};
  for (const sweep::Figure& figure : sweep.figures) {
    const std::string name = column_name(figure.name);
    std::string unique = name;
    for (int k = 2; !taken.insert(unique).second; ++k) unique = fmt::format("{}_{}", name, k);
    names.push_back(unique);
  }
  return names;
}

void add_sweep(const ShownSweep& shown, CsvLines& csv) {
  const sweep::Sweep& sweep = shown.record.sweep;
  const std::vector<std::string> names = figure_columns(sweep);
  for (std::size_t r = 0; r < sweep.rows.size(); ++r) {
    const sweep::SweepRow& row = sweep.rows[r];
    csv.begin_line();
    csv.put("table", sweep.title.empty() ? "sweep" : sweep.title);
    csv.put("name", row.label);
    csv.put("n", static_cast<double>(shown.table.finished[r]));
    for (const auto& [axis, label] : row.place) csv.put("axis_" + column_name(axis), label);
    for (std::size_t f = 0; f < names.size(); ++f) {
      const SweepCell& cell = shown.table.cells[r][f];
      if (const auto mean = cell.mean()) csv.put(names[f], *mean);
      if (cell.ours.size() > 1) csv.put(names[f] + "_sd", cell.spread());
      if (cell.beyond) csv.put(names[f] + "_at_least", 1);
      if (cell.printed) csv.put(names[f] + "_paper", *cell.printed);
    }
  }
}

/// The groups whose runs are in no sweep.
std::vector<const SeedGroup*> own_groups(const Runs& runs) {
  std::set<std::size_t> in_sweep;
  for (const ShownSweep& sweep : runs.sweeps) {
    for (const auto& row : sweep.rows) in_sweep.insert(row.begin(), row.end());
  }
  std::vector<const SeedGroup*> groups;
  for (const SeedGroup& group : runs.groups) {
    if (!in_sweep.contains(group.runs.front())) groups.push_back(&group);
  }
  return groups;
}

/// The options that tables show: the three that are always there, and those that differ.
std::vector<const train::Option*> shown_options(const Runs& runs,
                                                const std::vector<const SeedGroup*>& groups) {
  std::vector<const train::Option*> shown;
  for (const train::Option& option : train::options()) {
    std::set<std::string> values;
    for (const SeedGroup* group : groups) {
      values.insert(option.text(shown_of(runs, *group).record.config()));
    }
    const bool main =
        option.key == "algorithm" || option.key == "compressor" || option.key == "graph";
    const bool differs = option.changes_results && option.key != "seed" && values.size() > 1;
    if (main || differs) shown.push_back(&option);
  }
  return shown;
}

void add_runs(const Runs& runs, CsvLines& csv) {
  const std::vector<const SeedGroup*> groups = own_groups(runs);
  const auto options = shown_options(runs, groups);
  for (const SeedGroup* group : groups) {
    const ShownRun& shown = shown_of(runs, *group);
    const auto summary = nlohmann::ordered_json::parse(shown.record.summary_json());
    csv.begin_line();
    csv.put("table", "runs");
    csv.put("name", runs.runs[group->runs.front()].label);
    csv.put("n", shown.record.figure("n").value_or(1));
    csv.put("finished", shown.record.finished() ? 1 : 0);
    for (const train::Option* option : options) {
      csv.put("setting_" + column_name(option->key), option->text(shown.record.config()));
    }
    for (const auto& [key, value] : summary.items()) {
      if (!value.is_number() || key == "n") continue;
      csv.put(column_name(key), value.get<double>());
      if (const auto sd = shown.record.deviation(key)) csv.put(column_name(key) + "_sd", *sd);
    }
  }
}

/// What tables show of the runs that are in no sweep.
TextRows rows_of_own_groups(const Runs& runs) {
  std::vector<NamedSummary> summaries;
  for (const SeedGroup* group : own_groups(runs)) {
    const ShownRun& run = shown_of(runs, *group);
    summaries.push_back(
        {run.label + (run.record.finished() ? "" : " (not finished)"), run.record.summary_json()});
  }
  if (summaries.empty()) return {};
  TextRows rows;
  for (const auto& cells : summary_cells(summaries)) {
    auto& row = rows.emplace_back();
    for (const Cell& cell : cells) row.push_back(cell.text);
  }
  return rows;
}

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size() &&
         std::isfinite(value);
}

/// A number in math mode: "1.5e-05" becomes 1.5 \cdot 10^{-5}.
std::string latex_number(const std::string& text) {
  const std::size_t e = text.find_first_of("eE");
  if (e == std::string::npos) return text;
  int power = 0;
  const char* first = text.data() + e + 1;
  if (*first == '+') ++first;
  std::from_chars(first, text.data() + text.size(), power);
  return fmt::format("{} \\cdot 10^{{{}}}", text.substr(0, e), power);
}

std::string latex_cell(const std::string& text) {
  if (text == "-") return "--";
  const std::string sign = text.starts_with("> ") ? "> " : "";
  const std::string rest = text.substr(sign.size());
  const std::size_t at = rest.find(" +- ");
  const std::string mean = rest.substr(0, at);
  const std::string deviation = at == std::string::npos ? "" : rest.substr(at + 4);
  const bool numbers = is_number(mean) && (deviation.empty() || is_number(deviation));
  if (!numbers) {
    return deviation.empty()
               ? escape_latex(text)
               : fmt::format("{} $\\pm$ {}", escape_latex(mean), escape_latex(deviation));
  }
  const bool plain = sign.empty() && deviation.empty() &&
                     mean.find_first_not_of("0123456789.") == std::string::npos;
  if (plain) return mean;
  std::string math = sign + latex_number(mean);
  if (!deviation.empty()) math += " \\pm " + latex_number(deviation);
  return "$" + math + "$";
}

/// A comment of TeX: one line.
std::string comment(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text.empty() ? "" : "% " + text + "\n";
}

}  // namespace

std::string escape_latex(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '^':
        out += "\\textasciicircum{}";
        break;
      case '<':
        out += "\\textless{}";
        break;
      case '>':
        out += "\\textgreater{}";
        break;
      case '|':
        out += "\\textbar{}";
        break;
      case '{':
      case '}':
      case '$':
      case '&':
      case '#':
      case '_':
      case '%':
        out += '\\';
        out += c;
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return out;
}

std::string markdown_table(const TextRows& rows) {
  const auto line = [](const std::vector<std::string>& row) {
    std::string text = "|";
    for (const std::string& cell : row) {
      text += ' ';
      for (const char c : cell) {
        if (c == '|') text += '\\';
        text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
      }
      text += " |";
    }
    return text + "\n";
  };
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += line(rows[r]);
    if (r > 0) continue;
    text += "| --- |";
    for (std::size_t c = 1; c < rows[r].size(); ++c) text += " ---: |";
    text += "\n";
  }
  return text;
}

std::string latex_table(const TextRows& rows) {
  if (rows.empty()) return "";
  std::string text =
      fmt::format("\\begin{{tabular}}{{l{}}}\n\\toprule\n",
                  std::string(std::max<std::size_t>(rows.front().size(), 1) - 1, 'r'));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::string> cells;
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      cells.push_back(r == 0 || c == 0 ? escape_latex(rows[r][c]) : latex_cell(rows[r][c]));
    }
    text += fmt::format("{} \\\\\n{}", fmt::join(cells, " & "), r == 0 ? "\\midrule\n" : "");
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

std::string to_csv(const Runs& runs) {
  CsvLines csv;
  for (const ShownSweep& sweep : runs.sweeps) add_sweep(sweep, csv);
  add_runs(runs, csv);
  return csv.text();
}

std::string to_latex(const Runs& runs) {
  std::string text = "% needs \\usepackage{booktabs}; +- is the standard deviation over seeds\n";
  for (const ShownSweep& sweep : runs.sweeps) {
    text += "\n" + comment(sweep.record.sweep.title) + comment(sweep.record.sweep.source) +
            comment(sweep.record.sweep.banner) + latex_table(sweep_rows(sweep.record, sweep.table));
    const TextRows differences = difference_rows(sweep.record, sweep.table);
    if (!differences.empty()) text += "\n" + latex_table(differences);
  }
  if (const TextRows rows = rows_of_own_groups(runs); !rows.empty())
    text += "\n" + latex_table(rows);
  return text;
}

std::string to_markdown(const Runs& runs) {
  std::string text;
  for (const ShownSweep& sweep : runs.sweeps) {
    text += (text.empty() ? "" : "\n") + sweep_text(sweep.record, sweep.table, true);
  }
  if (const TextRows rows = rows_of_own_groups(runs); !rows.empty()) {
    text += (text.empty() ? "" : "\n") + markdown_table(rows);
  }
  return text;
}

}  // namespace hearsay::report
