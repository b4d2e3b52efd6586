#pragma once

#include <cstddef>

/// The vector loops of the CPU backend over plain ranges, for the widest instruction set the machine
/// has (Google Highway, chosen at run time). Serial: the caller cuts the work for its threads.
namespace hearsay::backend::cpu {

const char* instruction_set();  ///< "AVX3_DL", "AVX2", ...

void fill(float value, float* y, std::size_t n);
void axpy(float a, const float* x, float* y, std::size_t n);             ///< y += a x
void axpby(float a, const float* x, float b, float* y, std::size_t n);   ///< y = a x + b y
void divide(const float* x, float u, float* z, std::size_t n);           ///< z = x / u

/// m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2; g = (m / c1) / (sqrt(v / c2) + epsilon).
void adam(float b1, float b2, float epsilon, float c1, float c2, float* m, float* v, float* g,
          std::size_t n);

/// out = x + w[0] q[0] + ... + w[k-1] q[k-1], added in that order, each with one rounding (FMA where
/// the machine has it). k >= 1; out may be x.
void weighted_sum(const float* x, const float* weight, const float* const* q, std::size_t k, float* out,
                  std::size_t n);

/// sum += x, in double.
void add_to_double(const float* x, double* sum, std::size_t n);

/// |x|^2 in double.
double squared_norm(const float* x, std::size_t n);

}  // namespace hearsay::backend::cpu
