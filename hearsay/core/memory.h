#pragma once

#include <string_view>

namespace hearsay {

/// The bytes that this process may have at most: the memory of the machine, or less by a limit of
/// its own (ulimit -v, a control group).
double memory_limit();

/// Throws InvalidArgument if `bytes` are more than this process may ever have: "[WHERE] needs 4 TB
/// of memory, and 16.4 GB is all there is; ADVICE". To be called before they are taken, by whoever
/// knows how many they will be; an estimate must not exceed what is really needed.
void require_memory(double bytes, std::string_view where, std::string_view advice);

}  // namespace hearsay
