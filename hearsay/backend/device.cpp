#include "hearsay/backend/device.h"

namespace hearsay::backend {

namespace {

std::unique_ptr<Kernels> make_cpu(const Arguments&, ThreadPool& pool) {
  return make_cpu_kernels(pool);
}

constexpr Parameter kCudaParameters[] = {
    {"precision", "tf32", "tf32|fp32|bf16", "of convolutions and matrix products"},
    {"index", "0", "[0, 63]", "which GPU of the machine"},
};

constexpr DeviceEntry kRegistry[] = {
    {"cpu",
     "cpu",
     "all cores, single precision, bit-identical for any number of threads",
     {},
     make_cpu},
    {"cuda", "cuda:precision=bf16", "an NVIDIA GPU: all peers in one launch", kCudaParameters,
     make_cuda_kernels},
};

}  // namespace

Registry<DeviceEntry> device_registry() { return {"device", kRegistry}; }

std::unique_ptr<Kernels> make_kernels(std::string_view spec, ThreadPool& pool) {
  return device_registry().make(spec, pool);
}

}  // namespace hearsay::backend
