// A layer that uses one above it: layers.py must find it.
#include "hearsay/graph/edge.h"
