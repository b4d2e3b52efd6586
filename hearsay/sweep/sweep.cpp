#include "hearsay/sweep/sweep.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/spec.h"
#include "hearsay/core/text.h"
#include "hearsay/data/dataset.h"
#include "hearsay/engine/score.h"
#include "hearsay/sweep/row_settings.h"
#include "hearsay/sweep/sweep_file.h"

namespace hearsay::sweep {

namespace {

using Settings = SweepFile::Settings;

/// The default for `figures`: those of the following that the runs have.
std::vector<Figure> usual_figures() {
  constexpr int kDecimals = 3;  // at most: the digits of some metrics are significant ones
  std::vector<Figure> usual;
  for (const engine::Metric& metric : engine::known_metrics()) {
    usual.push_back({.name = std::string(metric.label),
                     .key = engine::keys_of(metric).mean,
                     .unit = std::string(metric.unit),
                     .digits = std::min(metric.digits, kDecimals)});
  }
  usual.push_back({.name = "sent", .key = "bytes_total", .unit = "MB", .scale = 1e-6});
  usual.push_back({.name = "factor", .key = "compression_factor", .unit = "x", .digits = 1});
  return usual;
}

bool is_among(const Place& place, const SweepFile::Selections& selections) {
  return std::ranges::all_of(selections, [&](const SweepFile::Selection& selection) {
    return std::ranges::any_of(place, [&](const auto& its) {
      return its.first == selection.name && std::ranges::count(selection.labels, its.second) > 0;
    });
  });
}

/// "trains cnn on digits. ": the labels of rows may name what the full sweep trains.
std::string trained(const std::vector<SweepRow>& rows) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> all;
  for (const SweepRow& row : rows) {
    for (const train::RunOptions& config : row.configs) {
      const std::string_view name = spec_name(config.data);
      const std::string data = needs_path(name) ? std::string(name) : config.data;
      const std::string one =
          config.model == "none" ? data : fmt::format("{} on {}", config.model, data);
      if (std::ranges::count(all, one) == 0) all.push_back(one);
    }
  }
  if (all.empty()) return "";
  const std::size_t more = all.size() > kNamed ? all.size() - kNamed : 0;
  all.resize(all.size() - more);
  return fmt::format("trains {}{}. ", fmt::join(all, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

/// Makes the rows of one file.
class Maker {
 public:
  Maker(SweepFile file, std::string name, const SweepOptions& options)
      : file_(std::move(file)), name_(std::move(name)), options_(options) {
    if (options.quick && !file_.quick) {
      throw InvalidArgument(fmt::format("[{}] has no quick profile; drop --quick", name_));
    }
    const std::string folder = std::filesystem::path(name_).parent_path().string();
    here_ = folder.empty() ? "." : folder;
  }

  Sweep make() {
    check_references();
    check_where();
    Sweep sweep;
    sweep.file = name_;
    sweep.title = file_.title;
    sweep.source = file_.source;
    sweep.note = file_.note;
    sweep.quick = options_.quick;
    if (options_.quick) sweep.banner = file_.quick->note;
    sweep.figures = file_.figures;
    if (sweep.figures.empty()) sweep.figures = usual_figures();
    sweep.only_seeds = options_.seeds;
    select();
    find_seeds();
    for (const SweepFile::Row& row : file_.rows) {
      if (row_is_chosen(row)) add_rows(row, sweep.rows);
    }
    if (options_.quick) sweep.banner = fmt::format("{}{}", trained(sweep.rows), sweep.banner);
    for (const Difference& difference : file_.differences) {
      const auto is_there = [&](const Difference::End& end) {
        return std::ranges::any_of(sweep.rows, [&](const auto& r) { return r.place == end.place; });
      };
      if (is_there(difference.from) && is_there(difference.minus)) {
        sweep.differences.push_back(difference);
      }
    }
    return sweep;
  }

 private:
  [[noreturn]] void fail(std::size_t line, const std::string& text) const {
    throw InvalidArgument(fmt::format("[{}, line {}] {}", name_, line, text));
  }

  std::vector<std::string> labels_of(std::string_view name) const {
    std::vector<std::string> labels;
    if (name == "row") {
      for (const SweepFile::Row& row : file_.rows) labels.push_back(row.label);
      return labels;
    }
    const auto axis = std::ranges::find(file_.axes, name, &SweepFile::Axis::name);
    for (const SweepFile::Point& point : axis->points) labels.push_back(point.label);
    return labels;
  }

  void require_label(std::string_view name, const std::string& label,
                     const std::string& where) const {
    const std::vector<std::string> labels = labels_of(name);
    if (std::ranges::find(labels, label) != labels.end()) return;
    throw InvalidArgument(fmt::format("[{}] there is no {} '{}'; there are {}", where, name, label,
                                      name_list(labels)));
  }

  void require_labels(const SweepFile::Selections& selections) const {
    for (const SweepFile::Selection& selection : selections) {
      const std::string where = fmt::format("{}, line {}", name_, selection.line);
      for (const std::string& label : selection.labels) {
        require_label(selection.name, label, where);
      }
    }
  }

  /// Checks that every reference to a row, a value of an axis or a figure names an existing one.
  void check_references() {
    const auto named = [&](const std::string& name) {
      return std::ranges::find(file_.figures, name, &Figure::name) != file_.figures.end();
    };
    for (const Figure& figure : file_.figures) {
      if (!figure.against.empty()) {
        require_label("row", figure.against, fmt::format("{}, figure {}", name_, figure.name));
      }
    }
    for (Difference& difference : file_.differences) {
      const std::string where = fmt::format("{}, difference '{}'", name_, difference.label);
      for (Difference::End* end : {&difference.from, &difference.minus}) {
        if (!named(end->figure)) {
          throw InvalidArgument(fmt::format("[{}] there is no figure '{}'", where, end->figure));
        }
        for (const auto& [name, label] : end->place) require_label(name, label, where);
        end->place = in_order(end->place, where);
      }
    }
    for (const SweepFile::Selections& excluded : file_.exclude) require_labels(excluded);
    for (const SweepFile::When& when : file_.when) require_labels(when.is);
    if (file_.quick) require_labels(file_.quick->selections);
    for (const std::string& label : options_.rows) require_label("row", label, "sweep");
  }

  /// Sorts a place: row first, then axes as in the file; all of them are required.
  Place in_order(const Place& place, const std::string& where) const {
    Place ordered;
    const auto take = [&](const std::string& name) {
      const auto found = std::ranges::find(place, name, &Place::value_type::first);
      if (found == place.end()) {
        throw InvalidArgument(fmt::format("[{}] says nothing of {}", where, name));
      }
      ordered.push_back(*found);
    };
    if (!file_.rows.front().label.empty()) take("row");
    for (const SweepFile::Axis& axis : file_.axes) take(axis.name);
    return ordered;
  }

  void check_where() const {
    for (const auto& [name, path] : options_.where) {
      if (needs_path(name)) continue;
      throw InvalidArgument(fmt::format(
          "[sweep] --where {}={}: '{}' is no dataset that is read from files", name, path, name));
    }
  }

  const SweepFile::Selection* selection(std::string_view name) const {
    if (!options_.quick) return nullptr;
    const auto found =
        std::ranges::find(file_.quick->selections, name, &SweepFile::Selection::name);
    return found == file_.quick->selections.end() ? nullptr : &*found;
  }

  /// Selects the points of every axis that take part.
  void select() {
    for (const SweepFile::Axis& axis : file_.axes) {
      std::vector<std::size_t>& chosen = chosen_.emplace_back();
      const SweepFile::Selection* only = selection(axis.name);
      for (std::size_t i = 0; i < axis.points.size(); ++i) {
        if (only == nullptr || std::ranges::count(only->labels, axis.points[i].label) > 0) {
          chosen.push_back(i);
        }
      }
    }
  }

  bool row_is_chosen(const SweepFile::Row& row) const {
    const SweepFile::Selection* only = selection("row");
    return only == nullptr || std::ranges::count(only->labels, row.label) > 0;
  }

  bool is_wanted(const SweepFile::Row& row) const {
    return options_.rows.empty() || std::ranges::count(options_.rows, row.label) > 0;
  }

  /// The seeds of the file, or of its quick profile, then those added on the command line.
  void find_seeds() {
    seeds_ = options_.quick && !file_.quick->seeds.empty() ? file_.quick->seeds : file_.seeds;
    if (options_.seeds.size() > SweepFile::kMostRuns) refuse_many();
    std::vector<std::uint64_t> given;
    for (const std::uint64_t seed : options_.seeds) {
      if (std::ranges::count(given, seed) > 0) {
        throw InvalidArgument(fmt::format("[sweep] --seeds has {} twice", seed));
      }
      given.push_back(seed);
      if (std::ranges::count(seeds_, seed) == 0) seeds_.push_back(seed);
    }
  }

  /// Adds the row at every combination of points, the last axis fastest.
  void add_rows(const SweepFile::Row& row, std::vector<SweepRow>& rows) {
    double combinations = 1;
    for (const std::vector<std::size_t>& points : chosen_) {
      combinations *= static_cast<double>(points.size());
    }
    if (combinations > static_cast<double>(SweepFile::kMostRuns)) refuse_many();
    std::vector<std::size_t> digit(file_.axes.size(), 0);
    for (;;) {
      std::vector<const SweepFile::Point*> points;
      std::size_t flat = 0;
      for (std::size_t a = 0; a < digit.size(); ++a) {
        const std::size_t index = chosen_[a][digit[a]];
        points.push_back(&file_.axes[a].points[index]);
        flat = flat * file_.axes[a].points.size() + index;
      }
      add_row(row, points, flat, rows);
      std::size_t a = digit.size();
      while (a > 0 && ++digit[a - 1] == chosen_[a - 1].size()) digit[--a] = 0;
      if (a == 0) return;
    }
  }

  /// Unless the file excludes it.
  void add_row(const SweepFile::Row& row, const std::vector<const SweepFile::Point*>& points,
               std::size_t flat, std::vector<SweepRow>& rows) {
    SweepRow made;
    made.missing = row.missing;
    made.wanted = is_wanted(row);
    made.line = row.line;
    if (!row.label.empty()) made.place.emplace_back("row", row.label);
    for (std::size_t a = 0; a < points.size(); ++a) {
      const std::string& name = file_.axes[a].name;
      made.place.emplace_back(name, points[a]->label);
      if (made.missing.empty()) made.missing = points[a]->missing;
    }
    for (const SweepFile::Selections& excluded : file_.exclude) {
      if (is_among(made.place, excluded)) return;
    }
    made.label = made.place.empty() ? file_.title : label_of(made.place);
    for (const SweepFile::Printed& printed : row.printed) {
      if (!std::isnan(printed.values[flat])) {
        made.printed.emplace_back(printed.figure, printed.values[flat]);
      }
    }
    try {
      if (made.missing.empty()) fill_configs(row, points, made);
    } catch (const InvalidArgument& error) {
      if (made.wanted) throw;
      made.missing = error.what();
      made.configs.clear();
    }
    rows.push_back(std::move(made));
  }

  void fill_configs(const SweepFile::Row& row, const std::vector<const SweepFile::Point*>& points,
                    SweepRow& made) {
    RowSettings settings(here_);
    settings.apply(file_.base);
    for (const SweepFile::Point* point : points) settings.apply(point->settings);
    settings.apply(row.settings);
    for (const SweepFile::When& when : file_.when) {
      if (is_among(made.place, when.is)) settings.apply(when.settings);
    }
    if (options_.quick) {
      settings.apply(file_.quick->base);
      settings.apply(row.quick);
    }
    Settings given;
    for (const auto& [key, value] : options_.settings) given.push_back({key, value, 0});
    settings.apply(given);
    made.missing = settings.complete(options_.where, options_.settings);
    if (!made.missing.empty()) return;

    train::RunOptions config = settings.options(name_);
    runs_ += seeds_.size();
    if (runs_ > SweepFile::kMostRuns) refuse_many();
    for (const std::uint64_t seed : seeds_) {
      config.seed = seed;
      try {
        made.configs.push_back(train::resolve(config));
      } catch (const InvalidArgument& error) {
        if (!made.wanted) fail(row.line, fmt::format("row '{}': {}", made.label, error.what()));
        made.refused.emplace_back(seed, error.what());
      }
    }
  }

  [[noreturn]] void refuse_many() const {
    throw InvalidArgument(fmt::format("[{}] has more than {} runs; make it several sweeps", name_,
                                      SweepFile::kMostRuns));
  }

  SweepFile file_;
  const std::string name_;
  const SweepOptions& options_;
  std::string here_;  ///< the folder of the file, for graphs that are read from files
  std::vector<std::vector<std::size_t>> chosen_;  ///< points of each axis
  std::vector<std::uint64_t> seeds_;
  std::size_t runs_ = 0;
};

}  // namespace

Sweep read_sweep(std::string_view text, const std::string& file, const SweepOptions& options) {
  return Maker(parse_sweep_file(text, file), file, options).make();
}

Sweep read_sweep_file(const std::string& file, const SweepOptions& options) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    throw InvalidArgument(fmt::format("[sweep] there is no file '{}'", file));
  }
  return read_sweep(read_file(file), file, options);
}

std::string label_of(const Place& place) {
  std::string label;
  for (const auto& [name, its] : place) {
    label += (label.empty() ? "" : ", ") + (name == "row" ? its : fmt::format("{} {}", name, its));
  }
  return label;
}

std::string name_of(const Sweep& sweep) {
  const std::filesystem::path file(sweep.file);
  const std::string folder = file.parent_path().filename().string();
  const std::string name = folder.empty() || folder == "." || folder == ".."
                               ? file.stem().string()
                               : fmt::format("{}-{}", folder, file.stem().string());
  return name + (sweep.quick ? "-quick" : "");
}

}  // namespace hearsay::sweep
