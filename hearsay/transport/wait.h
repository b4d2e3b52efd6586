#pragma once

#include <functional>

#include "hearsay/transport/transport.h"

namespace hearsay::transport {

/// Called ten times per second by a waiting process, to check whether it should go on. May throw,
/// and may be empty.
using Idle = std::function<void()>;

/// Transport calls for runs that cannot lose a process: they wait without a timeout, and throw
/// RunFailed, naming the process, if one is gone.
void send_or_fail(Transport& transport, std::size_t process, Label label, ByteView head,
                  ByteView body);
Arrival receive_or_fail(Transport& transport, Label label, const Idle& idle);
void flush_or_fail(Transport& transport, Label label, const Idle& idle);

}  // namespace hearsay::transport
