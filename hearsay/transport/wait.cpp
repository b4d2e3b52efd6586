#include "hearsay/transport/wait.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/error.h"

namespace hearsay::transport {

namespace {

constexpr std::chrono::milliseconds kPatience{100};

void look_around(const Transport& transport, const Idle& idle) {
  const std::vector<std::size_t> gone = transport.gone();
  if (!gone.empty()) {
    std::vector<std::string> names;
    for (const std::size_t process : gone) names.push_back(transport.described(process));
    throw RunFailed(fmt::format("[transport] {} {} gone, and the run needs everybody",
                                fmt::join(names, ", "), gone.size() == 1 ? "is" : "are"));
  }
  if (idle) idle();
}

/// Callers that are left by an exception free what they had sent.
template <class Work>
auto or_let_go(Transport& transport, const Work& work) {
  try {
    return work();
  } catch (...) {
    transport.let_go();
    throw;
  }
}

}  // namespace

void send_or_fail(Transport& transport, std::size_t process, Label label, ByteView head,
                  ByteView body) {
  or_let_go(transport, [&] {
    if (!transport.send(process, label, head, body)) look_around(transport, {});
  });
}

Arrival receive_or_fail(Transport& transport, Label label, const Idle& idle) {
  return or_let_go(transport, [&] {
    while (true) {
      if (auto arrival = transport.receive(label, kPatience)) return std::move(*arrival);
      look_around(transport, idle);
    }
  });
}

void flush_or_fail(Transport& transport, Label label, const Idle& idle) {
  or_let_go(transport, [&] {
    while (!transport.flush(label, kPatience)) look_around(transport, idle);
  });
}

}  // namespace hearsay::transport
