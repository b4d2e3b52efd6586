#pragma once

#include <span>
#include <string>

#include "hearsay/model/description.h"
#include "hearsay/model/network.h"

namespace hearsay::model {

/// A trained network as an ONNX file (operator set 13), in evaluation mode: whole, from the entries
/// of the data files to logits or to numbers in the targets' own unit.
///
///   input    float, N x channels x height x width, or N x features if a sample has one pixel:
///            normalized in the graph
///   logits   float, N x classes; or, of a regression, `prediction`, N x targets
///
/// Batch norm uses `buffers`, the running statistics; dropout is left out. Group norms and EvoNorms
/// are expressed in operators that every runtime has. The description is the file's metadata
/// property "hearsay". Constants have the names of the network's tensors.
///
/// `description` is of that network. Throws InvalidArgument for models beyond 2 GB, which no such
/// file can hold.
std::string to_onnx(const Network& network, const Description& description,
                    std::span<const float> parameters, std::span<const float> buffers);

}  // namespace hearsay::model
