#include "hearsay/backend/cpu/loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearsay/backend/cpu/loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "hearsay/backend/cpu/limit-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hearsay::backend::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;

/// body(d, i) for whole vectors, then for single floats: the same formula with CappedTag<float, 1>.
template <class Body>
HWY_INLINE void for_each_vector(std::size_t n, const Body& body) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(d, i);
  const hn::CappedTag<float, 1> one;
  for (; i < n; ++i) body(one, i);
}

const char* instruction_set() { return hwy::TargetName(HWY_TARGET); }

void fill(float value, float* y, std::size_t n) {
  for_each_vector(n, [=](auto d, std::size_t i) { hn::StoreU(hn::Set(d, value), d, y + i); });
}

void axpy(float a, const float* x, float* y, std::size_t n) {
  for_each_vector(n, [=](auto d, std::size_t i) {
    hn::StoreU(hn::MulAdd(hn::Set(d, a), hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  });
}

float dot(const float* x, const float* y, std::size_t n) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  auto even = hn::Zero(d), odd = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    even = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), even);
    odd = hn::MulAdd(hn::LoadU(d, x + i + lanes), hn::LoadU(d, y + i + lanes), odd);
  }
  for (; i + lanes <= n; i += lanes) {
    even = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), even);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

void sum_rows(const float* a, std::size_t stride, const float* rows, std::size_t count, float* y,
              std::size_t n) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    auto y0 = hn::Zero(d), y1 = hn::Zero(d), y2 = hn::Zero(d), y3 = hn::Zero(d);
    for (std::size_t k = 0; k < count; ++k) {
      const auto factor = hn::Set(d, a[k * stride]);
      const float* row = rows + k * n + i;
      y0 = hn::MulAdd(factor, hn::LoadU(d, row), y0);
      y1 = hn::MulAdd(factor, hn::LoadU(d, row + lanes), y1);
      y2 = hn::MulAdd(factor, hn::LoadU(d, row + 2 * lanes), y2);
      y3 = hn::MulAdd(factor, hn::LoadU(d, row + 3 * lanes), y3);
    }
    hn::StoreU(y0, d, y + i);
    hn::StoreU(y1, d, y + i + lanes);
    hn::StoreU(y2, d, y + i + 2 * lanes);
    hn::StoreU(y3, d, y + i + 3 * lanes);
  }
  for_each_vector(n - i, [=](auto part, std::size_t j) {
    auto sum = hn::Zero(part);
    for (std::size_t k = 0; k < count; ++k) {
      sum = hn::MulAdd(hn::Set(part, a[k * stride]), hn::LoadU(part, rows + k * n + i + j), sum);
    }
    hn::StoreU(sum, part, y + i + j);
  });
}

void axpby(float a, const float* x, float b, float* y, std::size_t n) {
  for_each_vector(n, [=](auto d, std::size_t i) {
    const auto by = hn::Mul(hn::Set(d, b), hn::LoadU(d, y + i));
    hn::StoreU(hn::MulAdd(hn::Set(d, a), hn::LoadU(d, x + i), by), d, y + i);
  });
}

void divide(const float* x, float u, float* z, std::size_t n) {
  for_each_vector(n, [=](auto d, std::size_t i) {
    hn::StoreU(hn::Div(hn::LoadU(d, x + i), hn::Set(d, u)), d, z + i);
  });
}

void add(const float* x, const float* y, float* z, std::size_t n) {
  for_each_vector(n, [=](auto d, std::size_t i) {
    hn::StoreU(hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, z + i);
  });
}

void relu(const float* x, float* y, std::size_t n) {
  for_each_vector(n, [=](auto d, std::size_t i) {
    hn::StoreU(at_least(hn::Zero(d), hn::LoadU(d, x + i)), d, y + i);
  });
}

void relu_backward(const float* y, float* dy, std::size_t n) {
  for_each_vector(n, [=](auto d, std::size_t i) {
    const auto positive = hn::Gt(hn::LoadU(d, y + i), hn::Zero(d));
    hn::StoreU(hn::IfThenElseZero(positive, hn::LoadU(d, dy + i)), d, dy + i);
  });
}

void adam(float b1, float b2, float epsilon, float c1, float c2, float* m, float* v, float* g,
          std::size_t n) {
  for_each_vector(n, [=](auto d, std::size_t i) {
    const auto grad = hn::LoadU(d, g + i);
    const auto first =
        hn::MulAdd(hn::Set(d, 1.0f - b1), grad, hn::Mul(hn::Set(d, b1), hn::LoadU(d, m + i)));
    const auto second = hn::MulAdd(hn::Mul(hn::Set(d, 1.0f - b2), grad), grad,
                                   hn::Mul(hn::Set(d, b2), hn::LoadU(d, v + i)));
    hn::StoreU(first, d, m + i);
    hn::StoreU(second, d, v + i);
    const auto root = hn::Sqrt(hn::Div(second, hn::Set(d, c2)));
    hn::StoreU(hn::Div(hn::Div(first, hn::Set(d, c1)), hn::Add(root, hn::Set(d, epsilon))), d,
               g + i);
  });
}

void mix_row(const float c[2], const float* own, const float* weight, const float* const* q,
             std::size_t count, float* x, std::size_t n) {
  for_each_vector(n, [=](auto d, std::size_t i) {
    const auto self = hn::LoadU(d, own + i);
    auto sum = hn::Mul(hn::Set(d, c[0]), self);
    sum = hn::MulAdd(hn::Set(d, c[1]), self, sum);
    for (std::size_t k = 0; k < count; ++k) {
      sum = hn::MulAdd(hn::Set(d, weight[k]), hn::Sub(hn::LoadU(d, q[k] + i), self), sum);
    }
    hn::StoreU(hn::Add(hn::LoadU(d, x + i), sum), d, x + i);
  });
}

/// a b - p, exactly, for p = a b rounded: what the rounding lost.
template <class DF, class V>
HWY_INLINE V product_error([[maybe_unused]] DF d, V a, V b, V p) {
#if HWY_NATIVE_FMA
  return hn::MulSub(a, b, p);
#else
  // Dekker 1971: halves of 12 bits, whose products are exact. Overflows where |a| > 2^115.
  const auto high = [&](V x) {
    const V wide = hn::Mul(hn::Set(d, 4097.0f), x);
    return hn::Sub(wide, hn::Sub(wide, x));
  };
  const V a1 = high(a), b1 = high(b), a2 = hn::Sub(a, a1), b2 = hn::Sub(b, b1);
  const V upper = hn::Sub(hn::Mul(a1, b1), p);
  return hn::Add(hn::Add(hn::Add(upper, hn::Mul(a1, b2)), hn::Mul(a2, b1)), hn::Mul(a2, b2));
#endif
}

void mix_row_compensated(const float c[2], const float* own, const float* weight,
                         const float* const* q, std::size_t count, float keep, float* x, float* low,
                         std::size_t n) {
  for_each_vector(n, [=](auto d, std::size_t i) {
    const auto self = hn::LoadU(d, own + i), before = hn::LoadU(d, x + i);
    const auto kept = hn::Set(d, keep);
    // A rounded product. The compiler may fuse a Mul with a subsequent Add, and TwoSum is exact
    // only for floats; a MulAdd is left alone.
    const auto product = [&](auto a, auto b) { return hn::MulAdd(a, b, hn::Zero(d)); };
    auto sum = product(kept, before);
    auto error = hn::MulAdd(kept, hn::LoadU(d, low + i), product_error(d, kept, before, sum));
    const auto add = [&](auto term) {
      const auto next = hn::Add(sum, term);
      const auto added = hn::Sub(next, sum);
      const auto lost = hn::Add(hn::Sub(sum, hn::Sub(next, added)), hn::Sub(term, added));
      error = hn::Add(error, lost);
      sum = next;
    };
    add(product(hn::Set(d, c[0]), self));
    error = hn::MulAdd(hn::Set(d, c[1]), self, error);
    for (std::size_t k = 0; k < count; ++k) {
      add(product(hn::Set(d, weight[k]), hn::Sub(hn::LoadU(d, q[k] + i), self)));
    }
    const auto high = hn::Add(sum, error), added = hn::Sub(high, sum);
    hn::StoreU(high, d, x + i);
    hn::StoreU(hn::Add(hn::Sub(sum, hn::Sub(high, added)), hn::Sub(error, added)), d, low + i);
  });
}

void add_to_double(const float* x, double* sum, std::size_t n) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const std::size_t lanes = hn::Lanes(dd);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto wide = hn::PromoteTo(dd, hn::LoadU(df, x + i));
    hn::StoreU(hn::Add(hn::LoadU(dd, sum + i), wide), dd, sum + i);
  }
  for (; i < n; ++i) sum[i] += static_cast<double>(x[i]);
}

double magnitude(const float* x, std::size_t n) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const std::size_t lanes = hn::Lanes(dd);
  auto sums = hn::Zero(dd);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    sums = hn::Add(sums, hn::Abs(hn::PromoteTo(dd, hn::LoadU(df, x + i))));
  }
  double sum = hn::GetLane(hn::SumOfLanes(dd, sums));
  for (; i < n; ++i) sum += x[i] < 0 ? -static_cast<double>(x[i]) : static_cast<double>(x[i]);
  return sum;
}

double squared_norm(const float* x, std::size_t n) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const std::size_t lanes = hn::Lanes(dd);
  auto even = hn::Zero(dd), odd = hn::Zero(dd);
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto a = hn::PromoteTo(dd, hn::LoadU(df, x + i));
    const auto b = hn::PromoteTo(dd, hn::LoadU(df, x + i + lanes));
    even = hn::MulAdd(a, a, even);
    odd = hn::MulAdd(b, b, odd);
  }
  double sum = hn::GetLane(hn::SumOfLanes(dd, hn::Add(even, odd)));
  for (; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

}  // namespace hearsay::backend::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearsay::backend::cpu {

HWY_EXPORT(instruction_set);
HWY_EXPORT(fill);
HWY_EXPORT(axpy);
HWY_EXPORT(dot);
HWY_EXPORT(sum_rows);
HWY_EXPORT(axpby);
HWY_EXPORT(divide);
HWY_EXPORT(add);
HWY_EXPORT(relu);
HWY_EXPORT(relu_backward);
HWY_EXPORT(adam);
HWY_EXPORT(mix_row);
HWY_EXPORT(mix_row_compensated);
HWY_EXPORT(magnitude);
HWY_EXPORT(add_to_double);
HWY_EXPORT(squared_norm);

const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(instruction_set)(); }
void fill(float value, float* y, std::size_t n) { HWY_DYNAMIC_DISPATCH(fill)(value, y, n); }
void axpy(float a, const float* x, float* y, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(axpy)(a, x, y, n);
}
float dot(const float* x, const float* y, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(dot)(x, y, n);
}
void sum_rows(const float* a, std::size_t stride, const float* rows, std::size_t count, float* y,
              std::size_t n) {
  HWY_DYNAMIC_DISPATCH(sum_rows)(a, stride, rows, count, y, n);
}
void axpby(float a, const float* x, float b, float* y, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(axpby)(a, x, b, y, n);
}
void divide(const float* x, float u, float* z, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(divide)(x, u, z, n);
}
void add(const float* x, const float* y, float* z, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(add)(x, y, z, n);
}
void relu(const float* x, float* y, std::size_t n) { HWY_DYNAMIC_DISPATCH(relu)(x, y, n); }
void relu_backward(const float* y, float* dy, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(relu_backward)(y, dy, n);
}
void adam(float b1, float b2, float epsilon, float c1, float c2, float* m, float* v, float* g,
          std::size_t n) {
  HWY_DYNAMIC_DISPATCH(adam)(b1, b2, epsilon, c1, c2, m, v, g, n);
}
void mix_row(const float c[2], const float* own, const float* weight, const float* const* q,
             std::size_t count, float* x, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(mix_row)(c, own, weight, q, count, x, n);
}
void mix_row_compensated(const float c[2], const float* own, const float* weight,
                         const float* const* q, std::size_t count, float keep, float* x, float* low,
                         std::size_t n) {
  HWY_DYNAMIC_DISPATCH(mix_row_compensated)(c, own, weight, q, count, keep, x, low, n);
}
double magnitude(const float* x, std::size_t n) { return HWY_DYNAMIC_DISPATCH(magnitude)(x, n); }
void add_to_double(const float* x, double* sum, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(add_to_double)(x, sum, n);
}
double squared_norm(const float* x, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(squared_norm)(x, n);
}

}  // namespace hearsay::backend::cpu
#endif  // HWY_ONCE
