#pragma once

#include "hearsay/backend/cpu/int8/product.h"

/// `multiply` by instruction set. A machine that lacks one must not call it.
namespace hearsay::backend::cpu {

using Multiply = void(const ByteProduct&, const std::int8_t* a, const std::int8_t* b,
                      std::int32_t* c);

Multiply multiply_amx, multiply_vnni, multiply_avx2, multiply_plain;

/// Whether the processor has AMX's byte products and the kernel lets this process use them, which
/// it asks for.
bool has_amx();

}  // namespace hearsay::backend::cpu
