#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "hearsay/model/network.h"

namespace hearsay::model {

/// A small network: what a plan may fuse, and what looks like it but must not be.
struct Chain {
  std::string name;
  Shape input;
  std::function<Value(Network&)> build;  ///< returns the value that a linear layer then reads
};

std::ostream& operator<<(std::ostream& out, const Chain& chain);

std::vector<Chain> chains();

/// The chain -> flatten -> linear to 3 classes.
Network chain_network(const Chain& chain);

}  // namespace hearsay::model
