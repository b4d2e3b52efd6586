#include "hearsay/backend/device.h"

#include "hearsay/backend/cpu/int8/product.h"

namespace hearsay::backend {

namespace {

std::unique_ptr<Kernels> make_cpu(const Arguments& arguments, ThreadPool& pool) {
  constexpr Precision kChoices[] = {Precision::kFp32, Precision::kInt8};
  const Precision precision = kChoices[arguments.choice("precision")];
  if (precision == Precision::kInt8) cpu::byte_product_set();  // refuses what HEARSAY_ISA may ask
  return make_cpu_kernels(pool, precision);
}

constexpr Parameter kCpuParameters[] = {
    {"precision", "fp32", "fp32|int8", "of convolutions and matrix products"},
};

constexpr Parameter kCudaParameters[] = {
    {"precision", "tf32", "tf32|fp32|bf16|int8", "of convolutions and matrix products"},
    {"index", "0", "[0, 63]", "which GPU of the machine"},
};

constexpr DeviceEntry kRegistry[] = {
    {"cpu", "cpu", "all cores, bit-identical for any number of threads", kCpuParameters, make_cpu},
    {"cuda", "cuda:precision=bf16", "an NVIDIA GPU: all peers in one launch", kCudaParameters,
     make_cuda_kernels},
};

}  // namespace

Registry<DeviceEntry> device_registry() { return {"device", kRegistry}; }

std::string with_precision(std::string_view device, std::string_view precision) {
  const DeviceEntry& row = device_registry().find(device);
  const Arguments arguments(device, row.parameters);
  std::string spec(row.name);
  char separator = ':';
  const auto add = [&](const Parameter& parameter, std::string_view value) {
    if (value == parameter.fallback) return;
    spec += separator + std::string(parameter.key) + '=' + std::string(value);
    separator = ',';
  };
  for (const Parameter& parameter : row.parameters) {
    const bool other = parameter.key != "precision";
    add(parameter, other ? std::string_view(arguments.text(parameter.key)) : precision);
  }
  Arguments(spec, row.parameters).choice("precision");
  return spec;
}

bool is_precision(std::string_view name) {
  for (int k = 0; k <= static_cast<int>(Precision::kInt8); ++k) {
    if (name == name_of(static_cast<Precision>(k))) return true;
  }
  return false;
}

std::unique_ptr<Kernels> make_kernels(std::string_view spec, ThreadPool& pool) {
  return device_registry().make(spec, pool);
}

}  // namespace hearsay::backend
