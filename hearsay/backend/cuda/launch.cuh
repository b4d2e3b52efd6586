#pragma once

#include <nv/target>

namespace hearsay::backend::cuda {

/// The first statement of every kernel that a LaunchRecorder launches: programmatic dependent
/// launch (sm_90 on). The blocks of the next kernel of a stream are scheduled while this one still
/// runs, and wait here until the kernel before has finished and its writes are visible; then the
/// next may be scheduled in turn. It hides launch latency; what it gains was not measured by itself
/// (docs/decisions.md). Only what reads no device memory of earlier launches may come before it.
__device__ inline void begin_launch() {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("griddepcontrol.wait;" ::
                                                    : "memory");
                                   asm volatile("griddepcontrol.launch_dependents;");))
}

}  // namespace hearsay::backend::cuda
