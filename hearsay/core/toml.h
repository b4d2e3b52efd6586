#pragma once

// The packaged config of toml++ would require a shared library, which users would need too.
#define TOML_HEADER_ONLY 1
// It asserts conditions that a file may violate ("[.a]"), just before it checks and reports them.
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>
