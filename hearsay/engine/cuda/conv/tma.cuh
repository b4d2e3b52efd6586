#pragma once

#include <cstdint>

#include <cuda.h>
#include <nv/target>

/// TMA (sm_90 on): copies from global to shared memory that one thread issues and the hardware
/// carries out; no registers and no other thread take part. Readers wait at an mbarrier in shared
/// memory (8 bytes), which counts the bytes that arrive. On older architectures these functions are
/// empty, and the kernels that call them are never launched.
namespace hearsay::engine::cuda {

using Barrier = std::uint64_t;  ///< in shared memory

/// mbarrier.init for one arriving thread, the one that issues the copies. The fence makes it
/// visible to the TMA unit; a __syncthreads must follow before any thread waits.
__device__ inline void make_barrier(std::uint32_t barrier) {
  NV_IF_TARGET(NV_PROVIDES_SM_90,
               (asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier)
                             : "memory");
                asm volatile("fence.mbarrier_init.release.cluster;" ::
                                 : "memory");))
}

/// Arrives at the barrier and announces `bytes`: its current phase ends when so many have arrived.
/// Called once per phase, before the copies are issued.
__device__ inline void expect_bytes(std::uint32_t barrier, std::uint32_t bytes) {
  NV_IF_TARGET(
      NV_PROVIDES_SM_90,
      (asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                    "r"(bytes)
                    : "memory");))
}

/// Waits for the end of a phase, by parity: the first phase is 0, the next 1, then 0 again. Threads
/// that see it end also see what was copied.
__device__ inline void wait_at(std::uint32_t barrier, std::uint32_t phase) {
  NV_IF_TARGET(NV_PROVIDES_SM_90,
               (asm volatile("{\n"
                             ".reg .pred done;\n"
                             "again:\n"
                             "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                             "@!done bra again;\n"
                             "}\n" ::"r"(barrier),
                             "r"(phase)
                             : "memory");))
}

/// TMA copy of a contiguous run: `bytes`, `from` and `to` are multiples of 16.
__device__ inline void copy_tma(std::uint32_t to, const void* from, std::uint32_t bytes,
                                std::uint32_t barrier) {
  NV_IF_TARGET(
      NV_PROVIDES_SM_90,
      (asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                    "%2, [%3];" ::"r"(to),
                    "l"(from), "r"(bytes), "r"(barrier)
                    : "memory");))
}

/// TMA copy of a 4-dimensional box of a tensor of images, from (image, y, x, channel) on; the
/// tensor map (image_map.h) has its extent and swizzle. Entries outside the images arrive as zeros,
/// and count as bytes: so padding needs no code.
__device__ inline void copy_box(std::uint32_t to, const CUtensorMap* map, int image, int y, int x,
                                int channel, std::uint32_t barrier) {
  NV_IF_TARGET(
      NV_PROVIDES_SM_90,
      (asm volatile(
           "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
           "{%2, %3, %4, %5}], [%6];" ::"r"(to),
           "l"(map), "r"(channel), "r"(x), "r"(y), "r"(image), "r"(barrier)
           : "memory");))
}

}  // namespace hearsay::engine::cuda
