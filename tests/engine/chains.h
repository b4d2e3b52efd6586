#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "hearsay/model/network.h"

namespace hearsay::model {

/// A small network: patterns that a plan may fuse, and similar ones that it must not.
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
