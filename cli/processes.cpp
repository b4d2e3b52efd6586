#include "cli/processes.h"

#include <cstdio>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "cli/stop.h"
#include "cli/terminal/complain.h"
#include "cli/terminal/shell_word.h"
#include "hearsay/core/error.h"

namespace hearsay::cli {

int in_all_processes(transport::Transport& transport, const std::function<int(Run&)>& body) {
  const std::size_t process = transport.seat().process;
  bool told = process != 0;
  std::filesystem::path* out = nullptr;
  gossip::ProcessGroup group(transport, [&] {
    if (told || out == nullptr || out->empty() || !stop_requested()) return;
    told = true;
    complain(
        "hearsay: asked to stop; where the processes end before they next save, go on from "
        "the last checkpoint with: hearsay train --resume {}\n",
        shell_word(out->string()));
  });
  Run run{group, {}};
  out = &run.out;
  try {
    return body(run);
  } catch (const std::exception& error) {
    if (group.alone()) throw;
    const int status = status_of(error);
    if (group.has_failed_together()) {
      if (group.leads()) complain("hearsay: {}\n", message_of(error));
      return status;
    }
    complain("hearsay: process {}: {}\n", process, message_of(error));
    std::fflush(nullptr);
    transport.abort(status);
    return status;
  }
}

}  // namespace hearsay::cli
