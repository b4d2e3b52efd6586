#pragma once

namespace hearsay::cli {

/// Exit status of a run that was stopped by Ctrl-C: what shells give to SIGINT.
inline constexpr int kStopped = 130;

/// From now on the first SIGINT (Ctrl-C), SIGTERM or SIGUSR1 only requests a stop; the second of
/// its kind kills, as by default. SIGUSR1 is forwarded by mpirun immediately, and schedulers can be
/// told to send it before the time limit.
void catch_signals();

/// Whether a signal has requested a stop.
bool stop_requested();

}  // namespace hearsay::cli
