#pragma once

#include <cstddef>
#include <string>

#include "hearsay/core/spec.h"
#include "hearsay/model/network.h"

namespace hearsay::model {

/// The model families, one source file each; models.cpp has the table of them.
using Family = Network(const Arguments&, Shape input, std::size_t outputs);

Family make_linear;                                                // linear.cpp
Family make_mlp;                                                   // mlp.cpp
Family make_cnn;                                                   // cnn.cpp
Family make_lenet5;                                                // lenet5.cpp
Family make_resnet, make_resnet20, make_resnet54, make_resnet110;  // resnet.cpp
Family make_resnet18;                                              // resnet18.cpp
Family make_vgg11;                                                 // vgg11.cpp

/// The normalization after each convolution, in the order of the values of every `norm` parameter.
enum class Norm {
  kNone,
  kBatch,
  kGroup,
  kEvoNorm,
  kRangeEvoNorm,  ///< = kRangeEvoNormHard
  kRangeEvoNormHard,
  kRangeEvoNormSigmoid,
};

inline constexpr std::string_view kNorms =
    "none|batch|group|evonorm|range-evonorm|range-evonorm-hard|range-evonorm-sigmoid";

/// The value of the parameter `norm`, whose `allowed` is kNorms.
Norm norm_of(const Arguments& arguments);

/// Whether the norm is an activation too. Such networks have no relu at all, not even after a
/// residual addition (as in the code of Aketi, Kodge, Roy).
constexpr bool activates(Norm norm) { return norm >= Norm::kEvoNorm; }

/// Append only the norm, as `name`, whose weights start at `weight`; nothing with Norm::kNone.
Value add_norm(Network& net, std::string name, Norm norm, Value x, double weight = 1);

/// Append the norm, followed by a relu `name`.relu unless the norm is an activation too.
Value add_norm_relu(Network& net, const std::string& name, Norm norm, Value x);

/// Append a flatten if the value has more than one pixel.
Value add_flatten(Network& net, Value x);

/// Throws "[lenet5] got images of 1x8x8, needs at least 16x16 pixels".
void require_pixels(const Arguments& arguments, const Shape& input, std::size_t side);

}  // namespace hearsay::model
