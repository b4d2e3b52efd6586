#include "hearsay/report/page/svg_axis.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/core/text.h"

namespace hearsay::report {

SvgAxis::SvgAxis(double low, double high, bool log, double from_pixel, double to_pixel)
    : log_(log), low_(low), high_(high), from_(from_pixel), to_(to_pixel) {
  if (low_ < high_) return;
  low_ = log_ ? low / 2 : low - (low == 0 ? 1 : std::abs(low) / 10);
  high_ = log_ ? high * 2 : high + (high == 0 ? 1 : std::abs(high) / 10);
}

double SvgAxis::place(double value) const { return log_ ? std::log10(value) : value; }

bool SvgAxis::shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }

double SvgAxis::pixel(double value) const {
  const double part = (place(value) - place(low_)) / (place(high_) - place(low_));
  return from_ + std::clamp(part, 0.0, 1.0) * (to_ - from_);
}

std::vector<double> SvgAxis::ticks() const {
  std::vector<double> ticks;
  if (!log_) {
    const double rough = (high_ - low_) / 5, power = std::pow(10, std::floor(std::log10(rough)));
    const double digit = rough / power;
    const double step = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
    const double first = std::ceil(low_ / step - 1e-9);
    for (int k = 0; k < 20 && (first + k) * step <= high_ + 1e-9 * step; ++k) {
      ticks.push_back((first + k) * step);
    }
    return ticks;
  }
  const double decades = std::log10(high_ / low_);
  const int every = std::max(1, static_cast<int>(std::ceil(decades / 8)));
  const auto add = [&](const std::vector<double>& digits) {
    ticks.clear();
    const int from = static_cast<int>(std::floor(std::log10(low_)));
    for (int power = from; power <= std::log10(high_); power += every) {
      for (const double digit : digits) {
        const double tick = digit * std::pow(10, power);
        if (tick >= low_ * (1 - 1e-9) && tick <= high_ * (1 + 1e-9)) ticks.push_back(tick);
      }
    }
  };
  add(decades <= 2.5 ? std::vector<double>{1, 2, 5} : std::vector<double>{1});
  if (ticks.size() < 2) add({1, 2, 3, 4, 5, 6, 7, 8, 9});
  return ticks;
}

std::string SvgAxis::text(double tick, Numbers numbers) const {
  if (numbers == Numbers::kBytes && tick >= 0) return human_bytes(tick);
  if (std::abs(tick) < 1e-12 * (high_ - low_) && !log_) return "0";
  return std::abs(tick) >= 1e5 || std::abs(tick) < 1e-3 ? fmt::format("{:.3g}", tick)
                                                        : fmt::format("{:.6g}", tick);
}

}  // namespace hearsay::report
