#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "hearsay/core/spec.h"
#include "hearsay/graph/schedule.h"

namespace hearsay::graph {

/// The graph families, one source file per kind; their registry is in schedule.cpp. Peers are
/// numbered from 0. Only `random` checks that its graph is connected; for the others make_schedule
/// does.
using Family = std::unique_ptr<Schedule>(const Arguments&, const GraphContext&);

Family make_ring, make_star, make_complete;          // simple.cpp
Family make_grid, make_torus;                        // grid.cpp
Family make_exponential, make_one_peer_exponential;  // exponential.cpp
Family make_random;                                  // random.cpp
Family make_sparse_push;                             // sparse_push.cpp
Family make_file;                                    // file.cpp
Family make_cycle;                                   // cycle.cpp

/// The number of peers of a graph that works with any: the context's, or 4.
std::size_t any_peers(const GraphContext& context);

/// Checks that the size implied by a spec matches the context; throws "[graph] torus:3x5 has 15
/// peers but --peers is 16; use torus:4x4, or drop --peers"
void check_peers(std::string_view spec, std::size_t implied, const GraphContext& context,
                 std::string_view instead = "");

/// Rejects graphs with too many edges for memory (more than 2^26, or 2 GiB).
void check_edges(std::string_view name, double edges);

/// make_schedule without the connectivity check: members of a cycle need only be jointly connected.
std::unique_ptr<Schedule> make_unchecked(std::string_view spec, const GraphContext& context);

}  // namespace hearsay::graph
