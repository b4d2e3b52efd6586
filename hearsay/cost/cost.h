#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hearsay/cost/energy.h"
#include "hearsay/model/network.h"

namespace hearsay::cost {

/// The cost of one training round on one device: memory and compute as in Fig. 3 of the Sparse-Push
/// paper (Aketi, Singh, Rabaey 2021), plus bytes and energy.
///
/// With d parameters, B samples per batch, v arrays of d floats (the model, the gradient, the state
/// of the optimizer and the algorithm), and for one sample
///   M  multiplications of convolutions and linear layers in the forward pass,
///   N  values that a norm puts out,
///   A  values that a backward pass reads again: outputs of convolutions, linear layers, norms,
///      pools, sums and dropout (a relu works in place),
/// the device needs
///   memory         4 (v d + B A) bytes
///   multiply-adds  B (M + 2 N) forward, as the paper counts; training takes three times that
///   words moved    5 B A + 2 v d: an activation is written, read forward and backward, its
///                  gradient written and read; an array is read and written once.
/// The paper prints no formula; for its ResNet-20 these give its 20.3 MB and 5.24 G to 0.5 %,
/// its 0.33 G to 0.8 % and its 243 MB to 1.2 % (docs/energy.md).
struct Cost {
  std::uint64_t batch = 0;
  double model_bytes = 0;       ///< 4 v d
  double activation_bytes = 0;  ///< 4 B A
  double multiply_adds = 0;     ///< forward
  double sent_bytes = 0, received_bytes = 0;
  Energy energy;

  double memory_bytes() const { return model_bytes + activation_bytes; }
  double training_flops() const { return 2 * 3 * multiply_adds; }
};

/// The work of one device.
struct Task {
  std::uint64_t batch = 1;
  std::size_t arrays = 2;                     ///< v
  double sent_bytes = 0, received_bytes = 0;  ///< in one round
};

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
