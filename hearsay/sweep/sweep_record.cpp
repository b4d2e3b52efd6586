#include "hearsay/sweep/sweep_record.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/utf8.h"
#include "hearsay/run/json_file.h"

namespace hearsay::sweep {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Written = nlohmann::ordered_json;  // ordered, as people read it too

constexpr int kVersion = 1;
constexpr std::array<const char*, 3> kRelations{"is", "about", "at most"};

Written to_json(const Figure& figure) {
  Written json{{"name", figure.name}, {"key", figure.key}};
  switch (figure.at) {
    case Figure::At::kEnd:
      json["at"] = "end";
      break;
    case Figure::At::kTrained:
      json["at"] = "trained";
      break;
    case Figure::At::kRound:
      json["at"] = figure.round;
      break;
  }
  json["unit"] = figure.unit;
  json["digits"] = figure.digits;
  json["scale"] = figure.scale;
  if (figure.window > 0) json["window"] = figure.window;
  if (figure.squared) json["squared"] = true;
  if (!figure.against.empty()) json["against"] = figure.against;
  if (figure.above > 0) json["above"] = figure.above;
  return json;
}

/// An integer of at most `most`; 0 if it is anything else.
std::uint64_t whole(const Json& json, const char* key, std::uint64_t most) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_unsigned()) return 0;
  return std::min(found->get<std::uint64_t>(), most);
}

Figure figure_of(const Json& json) {
  Figure figure{.name = json.at("name"), .key = json.at("key"), .unit = json.at("unit")};
  const Json& at = json.at("at");
  if (at.is_number_unsigned()) {
    figure.at = Figure::At::kRound;
    figure.round = at;
  } else if (at.get<std::string>() == "trained") {
    figure.at = Figure::At::kTrained;
  }
  figure.digits = static_cast<int>(whole(json, "digits", 12));
  figure.scale = json.at("scale");
  figure.window = whole(json, "window", std::numeric_limits<std::uint32_t>::max());
  figure.squared = json.value("squared", false);
  figure.against = json.value("against", "");
  figure.above = json.value("above", 0.0);
  if (figure.above > 0 && figure.window == 0) {
    throw CorruptData(fmt::format("figure '{}' has 'above' without 'window'", figure.name));
  }
  return figure;
}

Written to_json(const Place& place) {
  Written json = Written::object();
  for (const auto& [name, label] : place) json[name] = label;
  return json;
}

/// Row first, then axes as in the file; JSON has them in the order of their names.
Place place_of(const Json& json, const std::vector<std::string>& axes) {
  Place place;
  for (const auto& [name, label] : json.items()) {
    if (name != "figure") place.emplace_back(name, label.get<std::string>());
  }
  std::ranges::stable_sort(place, {}, [&](const auto& its) {
    return its.first == "row" ? -1 : std::ranges::find(axes, its.first) - axes.begin();
  });
  return place;
}

Written to_json(const Difference::End& end) {
  Written json = to_json(end.place);
  json["figure"] = end.figure;
  return json;
}

Written to_json(const Difference& difference) {
  Written json{{"label", difference.label},
               {"from", to_json(difference.from)},
               {"minus", to_json(difference.minus)},
               {"relation", kRelations[static_cast<std::size_t>(difference.relation)]}};
  if (difference.printed) json["printed"] = *difference.printed;
  return json;
}

Difference difference_of(const Json& json, const std::vector<std::string>& axes) {
  Difference difference;
  difference.label = json.at("label");
  difference.from = {place_of(json.at("from"), axes), json.at("from").at("figure")};
  difference.minus = {place_of(json.at("minus"), axes), json.at("minus").at("figure")};
  const std::string relation = json.at("relation");
  for (std::size_t i = 0; i < kRelations.size(); ++i) {
    if (relation == kRelations[i]) difference.relation = static_cast<Difference::Relation>(i);
  }
  if (json.contains("printed")) difference.printed = json.at("printed").get<double>();
  return difference;
}

}  // namespace

fs::path record_path(const Sweep& sweep, const fs::path& out) {
  return out / (name_of(sweep) + ".sweep.json");
}

void write_sweep_record(const fs::path& file, const Sweep& sweep, const SweepRuns& runs,
                        const SweepRecord::Failures& failed) {
  Written json{{"v", kVersion},
               {"title", sweep.title},
               {"source", sweep.source},
               {"note", sweep.note},
               {"quick", sweep.quick},
               {"banner", sweep.banner},
               {"axes", Written::array()},
               {"figures", Written::array()},
               {"rows", Written::array()},
               {"differences", Written::array()}};
  for (const auto& [name, label] : sweep.rows.empty() ? Place() : sweep.rows.front().place) {
    if (name != "row") json["axes"].push_back(name);
  }
  for (const Figure& figure : sweep.figures) json["figures"].push_back(to_json(figure));
  for (std::size_t r = 0; r < sweep.rows.size(); ++r) {
    const SweepRow& row = sweep.rows[r];
    Written one{{"label", row.label}, {"place", to_json(row.place)}, {"runs", Written::array()}};
    for (const std::size_t i : runs.of_row[r]) {
      one["runs"].push_back(runs.runs[i].out.filename().string());
    }
    one["printed"] = Written::object();
    for (const auto& [figure, value] : row.printed) one["printed"][figure] = value;
    one["missing"] = escape_non_utf8(row.missing);  // may name a path
    json["rows"].push_back(std::move(one));
  }
  for (const Difference& one : sweep.differences) json["differences"].push_back(to_json(one));
  for (const auto& [run, why] : failed) json["failed"][run] = escape_non_utf8(why);
  DurableFile out(file, DurableFile::Writers::kSeveral);
  out.write(json.dump(1) + "\n");
  out.commit();
}

SweepRecord read_sweep_record(const fs::path& file) {
  SweepRecord record;
  const Json json = run::read_json_file(file, "sweep");
  try {
    if (!json.contains("v") || json.at("v") != kVersion) {
      throw CorruptData(fmt::format("its 'v' is not {}", kVersion));
    }
    Sweep& sweep = record.sweep;
    sweep.title = json.at("title");
    sweep.source = json.at("source");
    sweep.note = json.at("note");
    sweep.quick = json.at("quick");
    sweep.banner = json.at("banner");
    const auto axes = json.value("axes", std::vector<std::string>());  // older ones do not say
    for (const Json& one : json.at("figures")) sweep.figures.push_back(figure_of(one));
    for (const Json& one : json.at("rows")) {
      SweepRow row;
      row.label = one.at("label");
      row.place = place_of(one.at("place"), axes);
      for (const auto& [figure, value] : one.at("printed").items()) {
        row.printed.emplace_back(figure, value.get<double>());
      }
      row.missing = one.at("missing");
      std::vector<fs::path>& runs = record.runs.emplace_back();
      for (const Json& run : one.at("runs")) {
        // Only the name of the path: a record refers to directories next to it.
        runs.push_back(file.parent_path() / fs::path(run.get<std::string>()).filename());
      }
      sweep.rows.push_back(std::move(row));
    }
    for (const Json& one : json.at("differences")) {
      sweep.differences.push_back(difference_of(one, axes));
    }
    if (json.contains("failed")) record.failed = json.at("failed").get<SweepRecord::Failures>();
  } catch (const Json::exception&) {
    throw CorruptData(
        fmt::format("[sweep] {} is no record of a sweep: {}; remove it, or sweep again",
                    file.string(), "a value is missing or of another type than hearsay writes"));
  } catch (const CorruptData& error) {
    throw CorruptData(fmt::format("[sweep] {} is no record that this version reads: {}",
                                  file.string(), error.what()));
  }
  return record;
}

}  // namespace hearsay::sweep
