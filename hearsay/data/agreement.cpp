#include "hearsay/data/agreement.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/error.h"
#include "hearsay/core/text.h"

namespace hearsay::data {

namespace {

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  if (list == "none") return parts;
  while (true) {
    const std::size_t comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

std::vector<float> numbers(std::string_view list, std::string_view key, bool positive) {
  std::vector<float> values;
  for (const std::string& text : split(list)) {
    float value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    if (!whole || !std::isfinite(value) || (positive && !(value > 0))) {
      throw InvalidArgument(fmt::format("[config] {} must be {}numbers, such as [0.5, 2], got '{}'",
                                        key, positive ? "positive " : "", text));
    }
    values.push_back(value);
  }
  return values;
}

/// Whether each device would compute a mean and a deviation of its own (source/own_data.h).
bool scales_itself(const Dataset& dataset) {
  return dataset.name == "npz" || dataset.name == "csv";
}

[[noreturn]] void refuse(const Dataset& dataset, std::string_view what) {
  throw InvalidArgument(fmt::format("[partition] own data of {}: {}", dataset.name, what));
}

/// Whether the name is a label alone, as in npz, and counts one of `classes`.
bool is_place_in(const std::vector<std::string>& classes, const Dataset& dataset,
                 const std::string& name) {
  return dataset.name == "npz" && std::stoul(name) < classes.size();
}

/// `classes` by the labels that samples have now.
std::vector<std::uint16_t> new_labels(const Dataset& dataset,
                                      const std::vector<std::string>& classes) {
  std::vector<std::uint16_t> labels(dataset.classes);
  if (dataset.class_names.empty() && classes.size() < dataset.classes) {
    refuse(dataset, fmt::format("it has labels up to {}, and classes are only {}",
                                dataset.classes - 1, classes.size()));
  }
  for (std::size_t label = 0; label < dataset.classes; ++label) {
    labels[label] = static_cast<std::uint16_t>(label);
    if (dataset.class_names.empty()) continue;
    const std::string& name = dataset.class_names[label];
    const auto found = std::ranges::find(classes, name);
    if (found == classes.end() && is_place_in(classes, dataset, name)) {
      labels[label] = static_cast<std::uint16_t>(std::stoul(name));
      continue;
    }
    if (found == classes.end()) {
      refuse(dataset, fmt::format("it has a class '{}', which is not among classes = ['{}']", name,
                                  name_list(classes, "', '")));
    }
    labels[label] = static_cast<std::uint16_t>(found - classes.begin());
  }
  return labels;
}

void relabel(Samples& samples, const std::vector<std::uint16_t>& labels) {
  for (std::uint16_t& label : samples.labels()) label = labels[label];
}

void set_classes(Dataset& dataset, const std::vector<std::string>& classes) {
  if (classes.empty()) {
    if (dataset.class_names.empty() && !scales_itself(dataset)) return;  // the same everywhere
    refuse(dataset,
           dataset.class_names.empty()
               ? fmt::format("the fleet must say how many classes there are: classes = "
                             "['0', '1', ...]; this device has labels up to {}",
                             dataset.classes - 1)
               : fmt::format("the fleet must say which classes there are, since devices may have "
                             "others; this one has classes = ['{}']",
                             name_list(dataset.class_names, "', '")));
  }
  const std::vector<std::uint16_t> labels = new_labels(dataset, classes);
  for (Samples* samples : {&dataset.train, &dataset.test, &dataset.validation}) {
    if (samples->size() > 0) relabel(*samples, labels);
  }
  dataset.classes = classes.size();
  dataset.class_names = classes;
}

void set_scale(Dataset& dataset, const Agreement& agreement) {
  const auto of_all = [&](const std::vector<float>& values, std::string_view what) {
    if (values.size() == 1) return std::vector<float>(dataset.channels, values[0]);
    if (values.size() == dataset.channels) return values;
    refuse(dataset, fmt::format("{} has {} numbers, and a sample has {} channels", what,
                                values.size(), dataset.channels));
  };
  if (agreement.mean.empty() != agreement.deviation.empty()) {
    refuse(dataset, "of mean and deviation one is given; give both");
  }
  if (!agreement.mean.empty()) {
    dataset.mean = of_all(agreement.mean, "mean");
    dataset.deviation = of_all(agreement.deviation, "deviation");
  } else if (scales_itself(dataset)) {
    refuse(dataset, fmt::format("the fleet must say mean and deviation, since each device has its "
                                "own; those of this one are mean = {}, deviation = {}",
                                dataset.mean, dataset.deviation));
  }
}

}  // namespace

Agreement parse_agreement(std::string_view classes, std::string_view mean,
                          std::string_view deviation) {
  Agreement agreement{.classes = split(classes),
                      .mean = numbers(mean, "mean", false),
                      .deviation = numbers(deviation, "deviation", true)};
  std::vector<std::string> sorted = agreement.classes;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    throw InvalidArgument(fmt::format("[config] classes name '{}' twice", *twice));
  }
  return agreement;
}

std::shared_ptr<const Dataset> adopt(std::shared_ptr<const Dataset> dataset,
                                     const Agreement& agreement) {
  if (dataset->task() == Task::kRegression) {
    refuse(*dataset,
           "numbers cannot be predicted yet: devices would have other units; give labels");
  }
  auto adopted = std::make_shared<Dataset>(*dataset);
  set_classes(*adopted, agreement.classes);
  set_scale(*adopted, agreement);
  return adopted;
}

}  // namespace hearsay::data
