#pragma once

#include <cstddef>
#include <string>

#include "hearsay/model/families.h"

namespace hearsay::model {

/// How the residual networks of resnet.cpp and resnet18.cpp differ within a block.
struct ResidualStyle {
  Norm norm = Norm::kBatch;
  bool projects = true;    ///< shortcut B: 1x1 convolution and norm; false: A, subsample, pad zeros
  bool zero_last = false;  ///< weights of the last norm of a block start at 0: see below
  std::string shortcut = "shortcut";  ///< name of the projection in tensor names

  /// k x k, padded so that only the stride shrinks the image. Has a bias if there is no norm.
  Conv2d convolution(std::size_t out, std::size_t kernel, std::size_t stride) const {
    return {.out = out,
            .kernel = kernel,
            .stride = stride,
            .padding = kernel / 2,
            .bias = norm == Norm::kNone,
            .start = Start::kFanOut};
  }
};

/// The style that the arguments `norm` and `zero_last` ask for. Throws InvalidArgument for
/// zero_last=1 without a norm.
ResidualStyle style_of(const Arguments& arguments);

/// The basic block of He et al. 2016:  y = relu(N(conv(relu(N(conv(x))))) + shortcut(x)), N the
/// norm. If N is an activation too (activates(norm)), both relus are omitted, and a projection is
/// activated as well.
///
/// With zero_last the weights of the second norm start at 0 (Goyal et al. 2017), so every block
/// starts as its shortcut and the network as a shallow one; its convolutions learn once those
/// weights have moved.
Value add_basic_block(Network& net, const std::string& name, const ResidualStyle& style,
                      std::size_t out, std::size_t stride, Value x);

}  // namespace hearsay::model
