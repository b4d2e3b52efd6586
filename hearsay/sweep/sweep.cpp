#include "hearsay/sweep/sweep.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/backend/device.h"
#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/spec.h"
#include "hearsay/core/text.h"
#include "hearsay/data/dataset.h"
#include "hearsay/engine/score.h"
#include "hearsay/sweep/sweep_file.h"

namespace hearsay::sweep {

namespace {

using Settings = SweepFile::Settings;

constexpr std::size_t kMostRuns = 10'000;

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

/// Removes the location from another part's message: "[config] x" becomes "x".
std::string_view without_place(std::string_view text) {
  return text.starts_with("[config] ") ? text.substr(9) : text;
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
    if (file_.quick) {
      for (const SweepFile::Selection& selection : file_.quick->selections) {
        const std::string where = fmt::format("{}, line {}", name_, selection.line);
        for (const std::string& label : selection.labels) {
          require_label(selection.name, label, where);
        }
      }
    }
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

  /// Whether this is the name of a dataset that needs the path of its files.
  static bool needs_path(std::string_view data) {
    const auto entries = data::dataset_registry();
    const auto entry = std::ranges::find(entries, data, &data::DatasetEntry::name);
    return entry != entries.end() && !entry->parameters.empty() &&
           entry->parameters.front().key == "path";
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
    std::vector<std::size_t> digit(file_.axes.size(), 0);
    for (;;) {
      std::vector<const SweepFile::Point*> points;
      std::size_t flat = 0;
      for (std::size_t a = 0; a < digit.size(); ++a) {
        const std::size_t index = chosen_[a][digit[a]];
        points.push_back(&file_.axes[a].points[index]);
        flat = flat * file_.axes[a].points.size() + index;
      }
      rows.push_back(make_row(row, points, flat));
      std::size_t a = digit.size();
      while (a > 0 && ++digit[a - 1] == chosen_[a - 1].size()) digit[--a] = 0;
      if (a == 0) return;
    }
  }

  SweepRow make_row(const SweepFile::Row& row, const std::vector<const SweepFile::Point*>& points,
                    std::size_t flat) {
    SweepRow made;
    made.missing = row.missing;
    made.wanted = is_wanted(row);
    std::vector<std::string> words;
    if (!row.label.empty()) {
      made.place.emplace_back("row", row.label);
      words.push_back(row.label);
    }
    for (std::size_t a = 0; a < points.size(); ++a) {
      const std::string& name = file_.axes[a].name;
      made.place.emplace_back(name, points[a]->label);
      words.push_back(fmt::format("{} {}", name, points[a]->label));
      if (made.missing.empty()) made.missing = points[a]->missing;
    }
    made.label = words.empty() ? file_.title : fmt::format("{}", fmt::join(words, ", "));
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
    }
    return made;
  }

  void fill_configs(const SweepFile::Row& row, const std::vector<const SweepFile::Point*>& points,
                    SweepRow& made) {
    std::map<std::string, SweepFile::Setting> settings;
    apply(file_.base, settings);
    for (const SweepFile::Point* point : points) apply(point->settings, settings);
    apply(row.settings, settings);
    if (options_.quick) {
      apply(file_.quick->base, settings);
      apply(row.quick, settings);
    }
    Settings given;
    for (const auto& [key, value] : options_.settings) given.push_back({key, value, 0});
    apply(given, settings);

    if (const auto data = settings.find("data");
        data != settings.end() && needs_path(data->second.value)) {
      const auto path = options_.where.find(data->second.value);
      if (path == options_.where.end()) {
        made.missing = fmt::format("no data; give --where {}=PATH", data->second.value);
        return;
      }
      data->second.value += ":" + path->second;
    }
    if (const auto why = why_not_there(settings); !why.empty()) {
      made.missing = why;
      return;
    }
    made.configs = configs_of(settings, row.line, made.label);
  }

  /// A device for all rows, from the command line, may lack the precision of some.
  std::string why_not_there(const std::map<std::string, SweepFile::Setting>& settings) const {
    const auto device = options_.settings.find("device");
    const auto precision = settings.find("precision");
    if (device == options_.settings.end() || precision == settings.end() ||
        options_.settings.contains("precision") || precision->second.value == "auto" ||
        backend::device_registry().arguments(device->second).given("precision") ||
        !backend::is_precision(precision->second.value)) {
      return "";
    }
    try {
      backend::with_precision(device->second, precision->second.value);
    } catch (const InvalidArgument& error) {
      return fmt::format("not on --device {}: {}", device->second, error.what());
    }
    return "";
  }

  /// Later settings override earlier ones, also where epochs and rounds are alternatives.
  void apply(const Settings& layer, std::map<std::string, SweepFile::Setting>& settings) const {
    for (const SweepFile::Setting& setting : layer) {
      if (setting.key == "epochs") settings.erase("rounds");
      if (setting.key == "rounds") settings.erase("epochs");
    }
    for (SweepFile::Setting setting : layer) {
      constexpr std::string_view kHere = "{here}";
      if (const auto at = setting.value.find(kHere); at != std::string::npos) {
        setting.value.replace(at, kHere.size(), here_);
      }
      settings.insert_or_assign(setting.key, std::move(setting));
    }
  }

  std::vector<train::RunOptions> configs_of(
      const std::map<std::string, SweepFile::Setting>& settings, std::size_t line,
      const std::string& label) {
    train::RunOptions config;
    config.compare = train::Compare::kNo;
    for (const auto& [key, setting] : settings) {
      try {
        config.set(key, setting.value);
      } catch (const InvalidArgument& error) {
        if (setting.line == 0) throw;
        fail(setting.line, std::string(without_place(error.what())));
      }
    }
    runs_ += seeds_.size();
    if (runs_ > kMostRuns) {
      throw InvalidArgument(
          fmt::format("[{}] has more than {} runs; make it several sweeps", name_, kMostRuns));
    }
    std::vector<train::RunOptions> configs;
    for (const std::uint64_t seed : seeds_) {
      config.seed = seed;
      try {
        configs.push_back(train::resolve(config));
      } catch (const InvalidArgument& error) {
        fail(line, fmt::format("row '{}': {}", label, without_place(error.what())));
      }
    }
    return configs;
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

std::string name_of(const Sweep& sweep) {
  const std::filesystem::path file(sweep.file);
  const std::string folder = file.parent_path().filename().string();
  const std::string name = folder.empty() || folder == "." || folder == ".."
                               ? file.stem().string()
                               : fmt::format("{}-{}", folder, file.stem().string());
  return name + (sweep.quick ? "-quick" : "");
}

}  // namespace hearsay::sweep
