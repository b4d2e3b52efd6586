#pragma once

#include <cstddef>

/// The vector loops of the CPU backend over plain ranges, for the widest instruction set the
/// machine has (Google Highway, chosen at run time). Serial: the caller divides the work among its
/// threads.
namespace hearsay::backend::cpu {

const char* instruction_set();  ///< "AVX3_DL", "AVX2", ...

void fill(float value, float* y, std::size_t n);
void axpy(float a, const float* x, float* y, std::size_t n);            ///< y += a x
void axpby(float a, const float* x, float b, float* y, std::size_t n);  ///< y = a x + b y
float dot(const float* x, const float* y, std::size_t n);

/// y = the sum over k < count of a[k stride] times row k, rows being n floats each; in that order.
void sum_rows(const float* a, std::size_t stride, const float* rows, std::size_t count, float* y,
              std::size_t n);

void divide(const float* x, float u, float* z, std::size_t n);  ///< z = x / u

void add(const float* x, const float* y, float* z, std::size_t n);  ///< z = x + y
void relu(const float* x, float* y, std::size_t n);                 ///< y = max(x, 0)
void relu_backward(const float* y, float* dy, std::size_t n);       ///< dy = 0 where y <= 0

/// m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2; g = (m / c1) / (sqrt(v / c2) + epsilon).
void adam(float b1, float b2, float epsilon, float c1, float c2, float* m, float* v, float* g,
          std::size_t n);

/// x += c own + sum over k of weight[k] (q[k] - own), the sum in that order in floats (FMA where
/// the machine has it), then added to x with one rounding. c comes as c[0] + c[1], a double in two
/// floats. No q[k] is x; own may be.
void mix_row(const float c[2], const float* own, const float* weight, const float* const* q,
             std::size_t count, float* x, std::size_t n);

/// x + low = keep (x + low) + c own + sum over k of weight[k] (q[k] - own): as mix_row, but every
/// term, rounded to a float, is added to x with its rounding error (TwoSum of Knuth), and the
/// errors go to low. No q[k] and no own is x or low.
void mix_row_compensated(const float c[2], const float* own, const float* weight,
                         const float* const* q, std::size_t count, float keep, float* x, float* low,
                         std::size_t n);

/// sum += x, in double.
void add_to_double(const float* x, double* sum, std::size_t n);

/// The sum of |x| in double.
double magnitude(const float* x, std::size_t n);

/// |x|^2 in double.
double squared_norm(const float* x, std::size_t n);

}  // namespace hearsay::backend::cpu
