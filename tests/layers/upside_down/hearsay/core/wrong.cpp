// A layer that uses one above it, and the program: layers.py must find each of these.
// clang-format off
#include "hearsay/graph/edge.h"
#include <hearsay/graph/edge.h>
#  include "../graph/edge.h"
#include "hearsay/core/../graph/edge.h"
#include "cli/main.h"
// These are right.
#include <vector>
#include "vector.h"
