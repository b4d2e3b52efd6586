#include "hearsay/sweep/sweep_file.h"

#include <algorithm>
#include <span>

#include <fmt/ranges.h>

#include "hearsay/core/spec.h"
#include "hearsay/core/toml_table.h"
#include "hearsay/sweep/sweep_figures.h"

namespace hearsay::sweep {

namespace {

using Names = TomlTable::Names;

Names setting_keys() {
  Names keys;
  for (const train::Option& option : train::options()) keys.push_back(option.key);
  return keys;
}

/// A table that may contain settings besides `keys`.
TomlTable with_settings(const toml::table& table, const std::string& file, Names keys) {
  return {table, file, std::move(keys), setting_keys(), "the settings of hearsay train"};
}

/// A value as text, as it would be passed to `hearsay train`.
SweepFile::Setting setting(const TomlTable& in, std::string_view key, const toml::node& node) {
  if (key == "seed") in.fail(node, "seed stands in 'seeds', a list");
  if (key == "compare") in.fail(node, "compare is for one run at a time; a sweep has none");
  const std::optional<std::string> value = setting_value(node);
  if (!value) in.fail(node, "{} must be a text or a number", key);
  return {std::string(key), *value, node.source().begin.line};
}

SweepFile::Settings settings_of(const TomlTable& in) {
  SweepFile::Settings all;
  for (const auto& [key, node] : in.all()) {
    if (!in.is_key(key.str())) all.push_back(setting(in, key.str(), node));
  }
  return all;
}

SweepFile::Settings child_settings(const TomlTable& in, std::string_view key) {
  const toml::table* table = in.child(key);
  return table == nullptr ? SweepFile::Settings{}
                          : settings_of(with_settings(*table, in.file(), {}));
}

/// Neither of two axes outranks the other.
void refuse_twice(const TomlTable& in, const SweepFile::Axis& ours,
                  const std::vector<SweepFile::Axis>& axes) {
  if (ours.points.empty()) return;
  const SweepFile::Settings& settings = ours.points.front().settings;
  for (const SweepFile::Axis& axis : axes) {
    for (const SweepFile::Setting& theirs : axis.points.front().settings) {
      if (std::ranges::find(settings, theirs.key, &SweepFile::Setting::key) == settings.end()) {
        continue;
      }
      in.fail("{} is set by axis '{}' and by axis '{}'; leave it to one of them", theirs.key,
              ours.name, axis.name);
    }
  }
}

void check_name(const TomlTable& in, const std::string& name, const SweepFile& sweep) {
  constexpr std::string_view kTaken[] = {"row", "rows", "figure", "note", "seeds", "base"};
  const bool twice =
      std::ranges::find(sweep.axes, name, &SweepFile::Axis::name) != sweep.axes.end();
  if (!twice && std::ranges::find(kTaken, name) == std::end(kTaken)) return;
  in.fail("the name of an axis cannot be '{}', which stands for something else here", name);
}

SweepFile::Axis read_axis(const TomlTable& in, const SweepFile& sweep) {
  SweepFile::Axis axis;
  axis.name = in.needed_text("name");
  check_name(in, axis.name, sweep);
  const std::vector<std::string> labels = in.texts("label"), missing = in.texts("missing");
  std::size_t keys = 0;
  for (const auto& [key, node] : in.all()) {
    if (in.is_key(key.str())) continue;
    const auto values = in.list(key.str());
    if (keys++ == 0) axis.points.resize(values.size());
    if (values.size() != axis.points.size()) {
      in.fail(node, "{} has {} values, but what stands beside it has {}; an axis is zipped",
              key.str(), values.size(), axis.points.size());
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      axis.points[i].settings.push_back(setting(in, key.str(), *values[i]));
    }
  }
  refuse_twice(in, axis, sweep.axes);
  if (keys == 0) in.fail("axis '{}' sets nothing; give a list of values for a setting", axis.name);
  if (labels.empty() && keys > 1) {
    in.fail("axis '{}' has several settings and needs 'label', a list of names", axis.name);
  }
  for (const auto& [name, list] : {std::pair{"label", &labels}, std::pair{"missing", &missing}}) {
    if (list->empty() || list->size() == axis.points.size()) continue;
    in.fail("axis '{}' has {} values, but {} has {}", axis.name, axis.points.size(), name,
            list->size());
  }
  for (std::size_t i = 0; i < axis.points.size(); ++i) {
    axis.points[i].label = labels.empty() ? axis.points[i].settings.front().value : labels[i];
    if (!missing.empty()) axis.points[i].missing = missing[i];
    const auto end = axis.points.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::ranges::find(axis.points.begin(), end, end->label, &SweepFile::Point::label) != end) {
      in.fail("axis '{}' has '{}' twice", axis.name, end->label);
    }
  }
  return axis;
}

/// The entry of `paper` for one figure: a number, or nested lists, one level per axis.
void append_printed(const TomlTable& in, const toml::node& node,
                    std::span<const SweepFile::Axis> axes, std::string_view figure,
                    std::vector<double>& out) {
  const std::string key = fmt::format("paper.{}", figure);
  if (axes.empty()) {
    out.push_back(in.number_of(node, key));
    return;
  }
  const toml::array* list = node.as_array();
  const SweepFile::Axis& axis = axes.front();
  if (list == nullptr || list->size() != axis.points.size()) {
    in.fail(node, "{} must be a list of {} here, one for each value of axis '{}' (nan: none)", key,
            axis.points.size(), axis.name);
  }
  for (const toml::node& inner : *list) append_printed(in, inner, axes.subspan(1), figure, out);
}

SweepFile::Row read_row(const TomlTable& in, const SweepFile& sweep) {
  SweepFile::Row row;
  row.line = in.line();
  row.label = in.needed_text("label");
  row.settings = settings_of(in);
  row.quick = child_settings(in, "quick");
  row.missing = in.text("missing");
  if (std::ranges::find(sweep.rows, row.label, &SweepFile::Row::label) != sweep.rows.end()) {
    in.fail("there are two rows '{}'", row.label);
  }
  const toml::table* paper = in.child("paper");
  if (paper == nullptr) return row;
  Names figures;
  for (const Figure& figure : sweep.figures) figures.push_back(figure.name);
  for (const auto& [figure, node] : TomlTable(*paper, in.file(), figures).all()) {
    SweepFile::Printed printed{std::string(figure.str()), {}};
    append_printed(in, node, sweep.axes, figure.str(), printed.values);
    row.printed.push_back(std::move(printed));
  }
  return row;
}

void read_at(const TomlTable& in, Figure& figure) {
  const toml::node* at = in.find("at");
  if (at == nullptr) return;
  if (at->is_integer()) {
    figure.at = Figure::At::kRound;
    figure.round = in.count_of(*at, "at");
  } else if (at->is_string() && at->as_string()->get() == "trained") {
    figure.at = Figure::At::kTrained;
  } else if (!at->is_string() || at->as_string()->get() != "end") {
    in.fail(*at, "at must be \"end\", \"trained\" or the number of a round");
  }
}

Figure read_figure(const TomlTable& in) {
  Figure figure{.name = in.needed_text("name"), .key = in.needed_text("key")};
  const std::vector<std::string> known = figure_keys();
  if (std::ranges::find(known, figure.key) == known.end()) {
    const std::string_view close = nearest(figure.key, Names(known.begin(), known.end()));
    in.fail("no run has a figure '{}'{}; there are {}", figure.key,
            close.empty() ? "" : fmt::format(" (did you mean '{}'?)", close),
            fmt::join(known, ", "));
  }
  figure.unit = in.text("unit");
  read_at(in, figure);
  figure.digits = static_cast<int>(std::min<std::uint64_t>(in.count("digits", 2), 12));
  figure.scale = in.number("scale", 1);
  figure.window = in.count("window", 0);
  figure.squared = in.flag("squared");
  figure.against = in.text("against");
  figure.above = in.number("above", 0);
  if (figure.above != 0 && (figure.against.empty() || figure.window == 0)) {
    in.fail("above needs 'against', the label of a row, and 'window', a number of rounds");
  }
  return figure;
}

std::vector<std::uint64_t> read_seeds(const TomlTable& in) {
  std::vector<std::uint64_t> seeds = in.counts("seeds");
  if (seeds.size() > SweepFile::kMostRuns) {
    in.fail(*in.find("seeds"), "there are {} seeds, and a sweep has at most {} runs; give fewer",
            seeds.size(), SweepFile::kMostRuns);
  }
  std::vector<std::uint64_t> sorted = seeds;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    in.fail(*in.find("seeds"), "seeds has {} twice", *twice);
  }
  return seeds;
}

/// The names that identify a combination.
Names place_names(const SweepFile& sweep) {
  Names names;
  if (!sweep.rows.front().label.empty()) names.emplace_back("row");
  for (const SweepFile::Axis& axis : sweep.axes) names.push_back(axis.name);
  return names;
}

/// {row = "a", skew = ["0", "0.8"]}: labels as texts or, as an axis may have them, numbers.
SweepFile::Selections read_selections(const toml::table& table, const SweepFile& sweep,
                                      const std::string& file) {
  const TomlTable in(table, file, place_names(sweep));
  SweepFile::Selections selections;
  for (const auto& [key, node] : in.all()) {
    SweepFile::Selection& one = selections.emplace_back(
        SweepFile::Selection{std::string(key.str()), {}, node.source().begin.line});
    const auto append = [&](const toml::node& label) {
      const std::optional<std::string> text = setting_value(label);
      if (!text) in.fail(node, "{} must be a label, or a list of labels", key.str());
      one.labels.push_back(*text);
    };
    if (node.is_array()) {
      for (const toml::node* label : in.list(key.str())) append(*label);
    } else {
      append(node);
    }
  }
  if (selections.empty()) {
    in.fail("there is no label here; give some of {}", fmt::join(place_names(sweep), ", "));
  }
  return selections;
}

SweepFile::When read_when(const TomlTable& in, const SweepFile& sweep) {
  const toml::table* is = in.child("is");
  if (is == nullptr) in.fail("there is no 'is' here, and it is needed");
  SweepFile::When when{read_selections(*is, sweep, in.file()), settings_of(in)};
  if (when.settings.empty()) in.fail("this sets nothing; give a setting beside 'is'");
  return when;
}

Difference::End read_end(const TomlTable& in) {
  Difference::End end{{}, in.needed_text("figure")};
  for (const auto& [key, node] : in.all()) {
    if (key.str() == "figure") continue;
    end.place.emplace_back(std::string(key.str()), in.text_of(node, key.str()));
  }
  return end;
}

Difference read_difference(const TomlTable& in, const SweepFile& sweep) {
  using Relation = Difference::Relation;
  Difference difference;
  difference.label = in.needed_text("label");
  constexpr std::pair<const char*, Relation> kPrinted[] = {{"paper", Relation::kIs},
                                                           {"paper_about", Relation::kAbout},
                                                           {"paper_at_most", Relation::kAtMost}};
  for (const auto& [key, relation] : kPrinted) {
    if (in.find(key) == nullptr) continue;
    if (difference.printed) in.fail("leave one of paper, paper_about and paper_at_most");
    difference.printed = in.number(key, 0);
    difference.relation = relation;
  }
  Names names{"row", "figure"};
  for (const SweepFile::Axis& axis : sweep.axes) names.push_back(axis.name);
  for (const auto& [key, end] :
       {std::pair{"from", &difference.from}, std::pair{"minus", &difference.minus}}) {
    const toml::table* table = in.child(key);
    if (table == nullptr) in.fail("there is no '{}' here, and it is needed", key);
    *end = read_end(TomlTable(*table, in.file(), names));
  }
  return difference;
}

SweepFile::Quick read_quick(const toml::table& table, const SweepFile& sweep,
                            const std::string& file) {
  Names names{"rows"};
  for (const SweepFile::Axis& axis : sweep.axes) names.push_back(axis.name);
  Names keys{"note", "seeds", "base"};
  keys.insert(keys.end(), names.begin(), names.end());
  const TomlTable in(table, file, keys);
  SweepFile::Quick quick{in.needed_text("note"), read_seeds(in), child_settings(in, "base"), {}};
  for (const std::string_view name : names) {
    const toml::node* node = in.find(name);
    if (node == nullptr) continue;
    quick.selections.push_back(
        {std::string(name == "rows" ? "row" : name), in.texts(name), node->source().begin.line});
  }
  return quick;
}

}  // namespace

SweepFile parse_sweep_file(std::string_view text, const std::string& file) {
  const toml::table table = parse_toml(text, file);
  const TomlTable in(table, file,
                     {"title", "source", "note", "seeds", "base", "axes", "rows", "exclude", "when",
                      "figures", "differences", "quick"});
  SweepFile sweep;
  sweep.title = in.needed_text("title");
  sweep.source = in.text("source");
  sweep.note = in.text("note");
  sweep.seeds = read_seeds(in);
  if (sweep.seeds.empty()) sweep.seeds = {1};
  sweep.base = child_settings(in, "base");
  for (const toml::table* one : in.tables("axes")) {
    sweep.axes.push_back(read_axis(with_settings(*one, file, {"name", "label", "missing"}), sweep));
  }
  for (const toml::table* one : in.tables("figures")) {
    const TomlTable table_of_one(
        *one, file,
        {"name", "key", "unit", "at", "digits", "scale", "window", "squared", "against", "above"});
    Figure figure = read_figure(table_of_one);
    if (std::ranges::find(sweep.figures, figure.name, &Figure::name) != sweep.figures.end()) {
      table_of_one.fail("there are two figures '{}'", figure.name);
    }
    sweep.figures.push_back(std::move(figure));
  }
  for (const toml::table* one : in.tables("rows")) {
    sweep.rows.push_back(
        read_row(with_settings(*one, file, {"label", "paper", "missing", "quick"}), sweep));
  }
  if (sweep.rows.empty()) sweep.rows.emplace_back();
  for (const toml::table* one : in.tables("exclude")) {
    sweep.exclude.push_back(read_selections(*one, sweep, file));
  }
  for (const toml::table* one : in.tables("when")) {
    sweep.when.push_back(read_when(with_settings(*one, file, {"is"}), sweep));
  }
  for (const toml::table* one : in.tables("differences")) {
    sweep.differences.push_back(read_difference(
        TomlTable(*one, file, {"label", "from", "minus", "paper", "paper_about", "paper_at_most"}),
        sweep));
  }
  if (const toml::table* one = in.child("quick")) sweep.quick = read_quick(*one, sweep, file);
  return sweep;
}

}  // namespace hearsay::sweep
