#include "hearsay/compress/code/value_code.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/compress/code/float16.h"

namespace hearsay::compress {

namespace {

constexpr float kLevels = 127;

std::size_t bytes_each(ValueFormat format) {
  switch (format) {
    case ValueFormat::kF32:
      return 4;
    case ValueFormat::kF16:
      return 2;
    case ValueFormat::kBf16:
      return 2;
    case ValueFormat::kQ8:
      return 1;
  }
  return 0;
}

/// Round to 16 bits, and append those to `out` unless null.
template <std::uint16_t (*narrow)(float), float (*widen)(std::uint16_t)>
void round16(std::span<float> values, Bytes* out) {
  const std::size_t at = out ? out->size() : 0;
  if (out) out->resize(at + 2 * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t code = narrow(values[i]);
    values[i] = widen(code);
    if (out) std::memcpy(out->data() + at + 2 * i, &code, 2);
  }
}

template <float (*widen)(std::uint16_t)>
void read16(ByteReader& in, std::span<float> values) {
  const ByteView bytes = in.take(2 * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t code;
    std::memcpy(&code, bytes.data() + 2 * i, 2);
    values[i] = widen(code);
  }
}

/// max |v|, or NaN if a value is not finite.
float largest(std::span<const float> values) {
  float scale = 0;
  for (const float v : values) {
    if (!std::isfinite(v)) return std::numeric_limits<float>::quiet_NaN();
    scale = std::max(scale, std::abs(v));
  }
  return scale;
}

float from_level(std::int8_t level, float scale) {
  return static_cast<float>(level) / kLevels * scale;
}

std::int8_t to_level(float v, float scale) {
  if (!(scale > 0)) return 0;
  return static_cast<std::int8_t>(std::nearbyint(v / scale * kLevels));
}

void round_q8(std::span<const Unit> units, std::span<float> values, Bytes* out) {
  std::size_t at = out ? out->size() : 0;
  if (out) out->resize(at + value_bytes(ValueFormat::kQ8, units));
  std::size_t level_at = at + sizeof(float) * units.size();
  for (const Unit& unit : units) {
    const std::span<float> mine = values.first(unit.keep);
    const float scale = largest(mine);
    if (out) std::memcpy(out->data() + at, &scale, sizeof scale);
    at += sizeof scale;
    for (float& v : mine) {
      const std::int8_t level = to_level(v, scale);
      v = from_level(level, scale);
      if (out) (*out)[level_at++] = static_cast<std::uint8_t>(level);
    }
    values = values.subspan(unit.keep);
  }
}

void read_q8(ByteReader& in, std::span<const Unit> units, std::span<float> values) {
  ByteReader scales(in.take(sizeof(float) * units.size()), in.what());
  for (const Unit& unit : units) {
    const float scale = scales.read<float>();
    const ByteView levels = in.take(unit.keep);
    for (std::size_t i = 0; i < unit.keep; ++i) {
      values[i] = from_level(static_cast<std::int8_t>(levels[i]), scale);
    }
    values = values.subspan(unit.keep);
  }
}

}  // namespace

std::size_t value_bytes(ValueFormat format, std::span<const Unit> units) {
  std::size_t bytes = format == ValueFormat::kQ8 ? sizeof(float) * units.size() : 0;
  for (const Unit& unit : units) bytes += bytes_each(format) * unit.keep;
  return bytes;
}

void round_values(ValueFormat format, std::span<const Unit> units, std::span<float> values,
                  Bytes* out) {
  switch (format) {
    case ValueFormat::kF32:
      if (out) append<float>(*out, values);
      break;
    case ValueFormat::kF16:
      round16<to_half, from_half>(values, out);
      break;
    case ValueFormat::kBf16:
      round16<to_bfloat, from_bfloat>(values, out);
      break;
    case ValueFormat::kQ8:
      round_q8(units, values, out);
      break;
  }
}

void read_values(ByteReader& in, ValueFormat format, std::span<const Unit> units,
                 std::span<float> values) {
  switch (format) {
    case ValueFormat::kF32:
      in.read(values);
      break;
    case ValueFormat::kF16:
      read16<from_half>(in, values);
      break;
    case ValueFormat::kBf16:
      read16<from_bfloat>(in, values);
      break;
    case ValueFormat::kQ8:
      read_q8(in, units, values);
      break;
  }
}

double value_quality(ValueFormat format, std::size_t k) {
  switch (format) {
    case ValueFormat::kF32:
      return 1;
    case ValueFormat::kF16:
      return 1 - 0x1p-22;  // relative error at most 2^-11
    case ValueFormat::kBf16:
      return 1 - 0x1p-16;  // at most 2^-8, at the largest float; else 2^-9
    case ValueFormat::kQ8: {
      // With A = |v|^2 and s = max |v|: the largest value is exact and no error is above s / 254,
      // so at least max(s^2, A - (k-1) s^2 / 254^2) >= A / (1 + (k-1) / 254^2) is preserved.
      const double others = static_cast<double>(k) - 1;
      return 1 / (1 + others / (254.0 * 254.0)) * (1 - 0x1p-20);  // margin for float arithmetic
    }
  }
  return 0;
}

}  // namespace hearsay::compress
