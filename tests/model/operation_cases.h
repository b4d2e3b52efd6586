#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hearsay/model/network.h"
#include "model/reference.h"

namespace hearsay::model {

/// One operation on one input, to be checked at several batch sizes.
struct OperationCase {
  std::string name;
  Shape input;
  Kind kind;
};

std::ostream& operator<<(std::ostream& out, const OperationCase& test);

/// Every kind of operation, with channels that do and do not fill vectors, groups, strides,
/// paddings and non-square images.
std::vector<OperationCase> operation_cases();

/// input -> lens -> the operation -> flatten -> linear to 3 classes. The lens is a 1x1 convolution:
/// the gradient of its weights shows the gradient that the operation passes to its input. An
/// addition reads two lenses.
Network lens_network(const OperationCase& test);

/// Parameters, buffers and samples for a test: all of them generic, and exactly representable as
/// floats.
struct Example {
  Doubles parameters, buffers;
  Samples samples;
};

Example make_example(const Network& net, std::size_t batch, std::uint64_t seed);

}  // namespace hearsay::model
