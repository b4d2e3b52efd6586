#pragma once

#include <functional>

#include "hearsay/transport/transport.h"

namespace hearsay::transport {

/// What a process that waits does ten times a second: look whether it shall go on. May throw, and
/// may be empty.
using Idle = std::function<void()>;

/// The calls of a transport for runs that need everybody: they wait as long as it takes, and throw
/// RunFailed, naming the process, if one is gone.
void send_or_fail(Transport& transport, std::size_t process, Label label, ByteView head,
                  ByteView body);
Arrival receive_or_fail(Transport& transport, Label label, const Idle& idle);
void flush_or_fail(Transport& transport, Label label, const Idle& idle);

}  // namespace hearsay::transport
