#pragma once

#include <nv/target>

namespace hearsay::backend::cuda {

/// The first statement of every kernel that a Tape launches. Launches overlap: the blocks of the
/// next kernel are brought in while this one runs, and wait here until all that it follows is done.
__device__ inline void begin_launch() {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("griddepcontrol.wait;" ::
                                                    : "memory");
                                   asm volatile("griddepcontrol.launch_dependents;");))
}

}  // namespace hearsay::backend::cuda
