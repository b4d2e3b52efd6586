// Included once per instruction set, as Highway's own.
#if defined(HEARSAY_BACKEND_CPU_LIMIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEARSAY_BACKEND_CPU_LIMIT_INL_H_
#undef HEARSAY_BACKEND_CPU_LIMIT_INL_H_
#else
#define HEARSAY_BACKEND_CPU_LIMIT_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hearsay::backend::cpu::HWY_NAMESPACE {

/// The larger and the smaller of a limit and v; NaN if v is. x86's Max and Min return their second
/// operand then, NEON's the one that is a number.
template <class V>
HWY_INLINE V at_least(V limit, V v) {
#if HWY_ARCH_X86
  return hwy::HWY_NAMESPACE::Max(limit, v);
#else
  return hwy::HWY_NAMESPACE::IfThenElse(hwy::HWY_NAMESPACE::Lt(v, limit), limit, v);
#endif
}
template <class V>
HWY_INLINE V at_most(V limit, V v) {
#if HWY_ARCH_X86
  return hwy::HWY_NAMESPACE::Min(limit, v);
#else
  return hwy::HWY_NAMESPACE::IfThenElse(hwy::HWY_NAMESPACE::Gt(v, limit), limit, v);
#endif
}

}  // namespace hearsay::backend::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per instruction set
