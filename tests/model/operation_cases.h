#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hearsay/model/network.h"
#include "model/reference.h"

namespace hearsay::model {

/// One operation on one input, to be checked at some batch size.
struct OperationCase {
  std::string name;
  Shape input;
  Kind kind;
};

std::ostream& operator<<(std::ostream& out, const OperationCase& test);

/// Every kind of operation, with channels that fill vectors and that do not, groups, strides,
/// paddings and images that are not square.
std::vector<OperationCase> operation_cases();

/// input -> lens -> the operation -> flatten -> linear to 3 classes. The lens is a 1x1 convolution,
/// so that its weights' gradient shows what gradient the operation passes on to its input. An
/// addition reads two lenses.
Network lens_network(const OperationCase& test);

/// Parameters, buffers and samples for a test: all of them generic, and exact as floats.
struct Example {
  Doubles parameters, buffers;
  Samples samples;
};

Example make_example(const Network& net, std::size_t batch, std::uint64_t seed);

}  // namespace hearsay::model
