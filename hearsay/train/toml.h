#pragma once

// The packaged config of toml++ asks for a shared library that users would need too.
#define TOML_HEADER_ONLY 1
// It asserts of files what they need not hold ("[.a]"), just before it checks and reports it.
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>
