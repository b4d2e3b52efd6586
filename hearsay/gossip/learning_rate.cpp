#include "hearsay/gossip/learning_rate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::gossip {

namespace {

/// `warmup`: epochs, or a part of the run.
class Warmup {
 public:
  explicit Warmup(const Arguments& arguments) {
    std::string_view text = arguments.text("warmup");
    const bool in_percent = text.ends_with('%');
    if (in_percent) text.remove_suffix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
        value < 0 || (in_percent && value > 100)) {
      arguments.reject("warmup", "epochs in [0, inf), or a part of the run such as 5%");
    }
    (in_percent ? part_ : epochs_) = in_percent ? value / 100 : value;
  }

  double epochs(double total_epochs) const { return epochs_ + part_ * total_epochs; }

 private:
  double epochs_ = 0, part_ = 0;
};

class Base : public LearningRate {
 public:
  explicit Base(const Arguments& arguments)
      : rate_(arguments.number_in_range("rate")), warmup_(arguments) {}

  double at(double epoch, double total_epochs) const final {
    const double warmup = warmup_.epochs(total_epochs);
    const double warm = epoch < warmup ? 0.1 + 0.9 * epoch / warmup : 1;
    return rate_ * warm * factor(epoch, total_epochs);
  }

 private:
  virtual double factor(double epoch, double total_epochs) const = 0;

  double rate_;
  Warmup warmup_;
};

class Constant final : public Base {
 public:
  using Base::Base;

 private:
  double factor(double, double) const override { return 1; }
};

class Steps final : public Base {
 public:
  explicit Steps(const Arguments& arguments)
      : Base(arguments), factor_(arguments.number_in_range("factor")) {
    const std::string& text = arguments.text("at");
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find('+', begin), text.size());
      double epoch = 0;
      const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, epoch);
      const double before = at_.empty() ? 0 : at_.back();
      if (error != std::errc() || stop != text.data() + end || !std::isfinite(epoch) ||
          epoch <= before) {
        arguments.reject("at", "ascending epochs > 0 joined by '+', such as 100+150");
      }
      at_.push_back(epoch);
      begin = end + 1;
    }
  }

 private:
  double factor(double epoch, double) const override {
    const auto passed = std::ranges::upper_bound(at_, epoch) - at_.begin();
    return std::pow(factor_, static_cast<double>(passed));
  }

  double factor_;
  std::vector<double> at_;
};

class Halve final : public Base {
 public:
  explicit Halve(const Arguments& arguments)
      : Base(arguments), every_(arguments.number_in_range("every")) {}

 private:
  double factor(double epoch, double) const override {
    return std::exp2(-std::floor(epoch / every_));
  }

  double every_;
};

class Cosine final : public Base {
 public:
  using Base::Base;

 private:
  double factor(double epoch, double total_epochs) const override {
    const double progress = total_epochs > 0 ? std::min(1.0, epoch / total_epochs) : 0;
    return (1 + std::cos(std::numbers::pi * progress)) / 2;
  }
};

template <class Kind>
std::unique_ptr<LearningRate> make(const Arguments& arguments) {
  return std::make_unique<Kind>(arguments);
}

constexpr Parameter kRate{"rate", "0.1", "[0, inf)", "the rate after warm-up"};
constexpr Parameter kWarmup{"warmup", "0", "[0, inf) or P%",
                            "epochs of linear warm-up, or a part of the run"};

constexpr Parameter kPlain[] = {kRate, kWarmup};
constexpr Parameter kSteps[] = {
    kRate,
    {"at", "100+150", "epochs joined by '+'", "where the rate is multiplied, ascending"},
    {"factor", "0.1", "(0, 1]", "by what it is multiplied"},
    kWarmup,
};
constexpr Parameter kHalve[] = {
    kRate,
    {"every", "30", "(0, inf)", "epochs between halvings"},
    kWarmup,
};

constexpr LearningRateEntry kRegistry[] = {
    {"constant", "constant:0.1", "the same all along; a plain number means this", kPlain,
     make<Constant>},
    {"steps", "steps:0.1,at=100+150,factor=0.1", "multiplied at given epochs", kSteps, make<Steps>},
    {"halve", "halve:0.05,every=30", "halved every few epochs", kHalve, make<Halve>},
    {"cosine", "cosine:0.1,warmup=5", "half a cosine wave, down to zero at the end", kPlain,
     make<Cosine>},
};

}  // namespace

Registry<LearningRateEntry> learning_rate_registry() {
  return {"learning rate schedule", kRegistry};
}

std::string full_learning_rate(std::string_view spec) {
  const bool plain = !spec.empty() &&
                     std::string_view("0123456789.+-").find(spec.front()) != std::string_view::npos;
  const std::size_t comma = spec.find(',');
  if (plain && comma != std::string_view::npos && spec.find('=', comma) == std::string_view::npos) {
    throw InvalidArgument(
        fmt::format("[learning rate] '{}' is several numbers; give one, or a schedule as "
                    "steps:0.1,at=100+150",
                    spec));
  }
  return plain ? "constant:" + std::string(spec) : std::string(spec);
}

std::unique_ptr<LearningRate> make_learning_rate(std::string_view spec) {
  return learning_rate_registry().make(full_learning_rate(spec));
}

}  // namespace hearsay::gossip
