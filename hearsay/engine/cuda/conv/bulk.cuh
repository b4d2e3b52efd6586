#pragma once

#include <cstdint>

#include <cuda.h>
#include <nv/target>

/// Copies to shared memory that one thread asks for and the hardware carries out (sm_90 on). Those
/// who wait do so at a barrier, which counts the bytes that arrive.
namespace hearsay::engine::cuda {

using Barrier = std::uint64_t;  ///< in shared memory

/// For one thread that arrives; before anybody waits, all threads must synchronise.
__device__ inline void make_barrier(std::uint32_t barrier) {
  NV_IF_TARGET(NV_PROVIDES_SM_90,
               (asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier)
                             : "memory");
                asm volatile("fence.mbarrier_init.release.cluster;" ::
                                 : "memory");))
}

/// This phase of the barrier ends when so many bytes have arrived.
__device__ inline void expect_bytes(std::uint32_t barrier, std::uint32_t bytes) {
  NV_IF_TARGET(
      NV_PROVIDES_SM_90,
      (asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                    "r"(bytes)
                    : "memory");))
}

/// Waits for the end of a phase; phases are 0 and 1 in turn.
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

/// A multiple of 16 bytes.
__device__ inline void copy_bulk(std::uint32_t to, const void* from, std::uint32_t bytes,
                                 std::uint32_t barrier) {
  NV_IF_TARGET(
      NV_PROVIDES_SM_90,
      (asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                    "%2, [%3];" ::"r"(to),
                    "l"(from), "r"(bytes), "r"(barrier)
                    : "memory");))
}

/// A box of a tensor of images, whose map says how large it is, from (image, y, x, channel) on;
/// what lies beside the images is zeros.
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
