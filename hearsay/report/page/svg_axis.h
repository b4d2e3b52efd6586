#pragma once

#include <string>
#include <vector>

namespace hearsay::report {

/// An axis of a picture: values, linear or logarithmic, onto a stretch of pixels.
class SvgAxis {
 public:
  enum class Numbers { kPlain, kBytes };

  /// Covers [low, high]; equal ends are moved apart. Logarithmic: both are positive.
  SvgAxis(double low, double high, bool log, double from_pixel, double to_pixel);

  bool shows(double value) const;     ///< finite, and positive on a logarithmic axis
  double pixel(double value) const;   ///< of a value that is shown; ends are not exceeded
  std::vector<double> ticks() const;  ///< 1, 2, 5 or powers of ten, ascending, within the ends
  std::string text(double tick, Numbers numbers) const;

 private:
  double place(double value) const;  ///< linear: itself; logarithmic: its logarithm

  bool log_;
  double low_, high_, from_, to_;
};

}  // namespace hearsay::report
