#pragma once

#include <cstddef>
#include <string>

#include "hearsay/core/spec.h"
#include "hearsay/model/network.h"

namespace hearsay::model {

/// The families, one source file a kind; models.cpp has the table of them.
using Family = Network(const Arguments&, Shape input, std::size_t classes);

Family make_logistic;                                              // logistic.cpp
Family make_mlp;                                                   // mlp.cpp
Family make_cnn;                                                   // cnn.cpp
Family make_lenet5;                                                // lenet5.cpp
Family make_resnet, make_resnet20, make_resnet54, make_resnet110;  // resnet.cpp
Family make_resnet18;                                              // resnet18.cpp
Family make_vgg11;                                                 // vgg11.cpp

/// What stands between a convolution and the next; the values of every `norm` parameter in order.
enum class Norm { kNone, kBatch, kGroup, kEvoNorm, kRangeEvoNorm };

inline constexpr std::string_view kNorms = "none|batch|group|evonorm|range-evonorm";

/// The value of the parameter `norm`, whose `allowed` is kNorms.
Norm norm_of(const Arguments& arguments);

/// Whether the norm is an activation too. Such networks have no relu at all, not even after a
/// residual addition (as the code of Aketi, Kodge, Roy has it).
constexpr bool activates(Norm norm) {
  return norm == Norm::kEvoNorm || norm == Norm::kRangeEvoNorm;
}

/// Append the norm alone, as `name`; with Norm::kNone nothing.
Value add_norm(Network& net, std::string name, Norm norm, Value x);

/// Append the norm and, unless it activates by itself, a relu as `name`.relu.
Value add_norm_relu(Network& net, const std::string& name, Norm norm, Value x);

/// Append a flatten if the value has more than one pixel.
Value add_flatten(Network& net, Value x);

/// Throws "[lenet5] got images of 1x8x8, needs at least 16x16 pixels".
void require_pixels(const Arguments& arguments, const Shape& input, std::size_t side);

}  // namespace hearsay::model
