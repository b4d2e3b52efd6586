#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hearsay/backend/precision.h"
#include "hearsay/cost/energy.h"
#include "hearsay/model/network.h"

namespace hearsay::cost {

/// The cost of one training round on one device, by precision: memory and compute as in Fig. 3 of
/// the Sparse-Push paper (Aketi, Singh, Rabaey 2021) and of its successor in 8 bits (Aketi, Kodge,
/// Roy 2022), plus bytes and energy.
///
/// With d parameters, W of them weights of convolutions and linear layers, B samples per batch, v
/// arrays of d floats (the model, the gradient, the state of the optimizer and the algorithm), and
/// for one sample
///   M  multiplications of convolutions and linear layers in the forward pass,
///   N  values that a norm puts out,
///   A  values that a backward pass reads again: outputs of convolutions, linear layers, norms,
///      pools, sums and dropout (a relu works in place); K such outputs,
/// and by precision
///                                                  fp32   tf32   bf16   int8
///   a  bytes of an activation                         4      4      2      1
///   g  bytes of its gradient                          4      4      2      2
///   s  bytes of a sample's scales                     0      0      0     4 (K - 1)
///   c  bytes of a weight's code                       0      0      0      1
///   p  products for the gradient of a weight          1      1      1      2
///   bits of a product's factors                      32     16     16      8
/// the device needs
///   memory         4 v d + c W + B (a A + s) bytes
///   multiply-adds  B (M + 2 N) forward, as the first paper counts;
///                  B ((2 + p) M + 6 N) in training: forward, gradients of data and of weights
///   bytes moved    B (A (3 a + 2 g) + 3 s) + 8 v d + 2 c W: an activation is written, read forward
///                  and backward, its gradient written and read; an array is read and written once.
/// Only the M products are of that precision; norms are in 32 bits. In 8 bits
///   - the outputs of the network's last operation stay floats: 4 bytes, no scale;
///   - the gradient of a weight takes the 16-bit gradient of its layer's output as two bytes, so
///     two products ("gradient bifurcation");
///   - the model, its gradient and all state of d floats stay in 32 bits, and what is sent is the
///     compressor's.
/// Gradients of activations are in no memory above: one layer has them at a time, in any precision.
/// tf32 (11-bit significands) and bf16 (8) count as 16-bit floats (11): an upper bound for bf16.
///
/// The first paper prints no formula; for its ResNet-20 these give its 20.3 MB and 5.24 G to 0.5 %,
/// its 0.33 G to 0.8 % and its 243 MB to 1.2 %. The second claims 3.5 times less memory and about 4
/// times less compute in 8 bits; docs/energy.md says what these give.
struct Cost {
  backend::Precision precision = backend::Precision::kFp32;
  std::uint64_t batch = 0;
  double model_bytes = 0;         ///< 4 v d
  double code_bytes = 0;          ///< c W
  double activation_bytes = 0;    ///< B (a A + s)
  double products = 0;            ///< B M, forward
  double training_products = 0;   ///< B (2 + p) M
  double norm_multiply_adds = 0;  ///< 2 B N, forward; training takes three times that
  double sent_bytes = 0, received_bytes = 0;
  Energy energy;

  double memory_bytes() const { return model_bytes + code_bytes + activation_bytes; }
  double multiply_adds() const { return products + norm_multiply_adds; }  ///< forward
  double training_multiply_adds() const { return training_products + 3 * norm_multiply_adds; }

  /// Multiply-adds, each weighted by the bits of its factors: those of 8 bits count a quarter of
  /// those of 32. Forward, and in training.
  double weighted_multiply_adds() const;
  double weighted_training_multiply_adds() const;
};

/// The precision of that name, "int8". Throws InvalidArgument.
backend::Precision parse_precision(std::string_view name);

/// The work of one device.
struct Task {
  std::uint64_t batch = 1;
  std::size_t arrays = 2;                     ///< v
  double sent_bytes = 0, received_bytes = 0;  ///< in one round
  backend::Precision precision = backend::Precision::kFp32;
};

/// Counts any network, also one that cannot be trained in the task's precision.
Cost cost_of(const model::Network& network, const Task& task, std::string_view energy);

/// The number of arrays of d floats per peer: model, gradient, those of the optimizer and of the
/// algorithm for a peer with `in_degree` in-neighbours. Throws InvalidArgument.
std::size_t arrays_of(std::string_view algorithm, std::string_view optimizer,
                      std::size_t in_degree);

/// Bytes of one vector on the wire, header included, for random parameters of that layout. Throws
/// InvalidArgument.
double vector_bytes(std::string_view compressor, const Layout& layout);

/// Bytes of all vectors that an algorithm sends over an edge in a round.
double message_bytes(std::string_view algorithm, std::string_view compressor, const Layout& layout);

}  // namespace hearsay::cost
