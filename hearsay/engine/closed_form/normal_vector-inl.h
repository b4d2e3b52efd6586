#pragma once

#include <Eigen/Core>

#include "hearsay/core/random.h"

namespace hearsay::engine {

/// `size` standard normal draws. Not installed, so that the library's users need no Eigen.
inline Eigen::VectorXd normal_vector(Random& random, Eigen::Index size) {
  Eigen::VectorXd draw(size);
  for (double& entry : draw) entry = random.normal();
  return draw;
}

}  // namespace hearsay::engine
