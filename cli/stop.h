#pragma once

namespace hearsay::cli {

/// Exit status of a run that was stopped by Ctrl-C: what shells give to SIGINT.
inline constexpr int kStopped = 130;

/// From now on the first SIGINT (Ctrl-C), SIGTERM or SIGUSR1 only asks to stop; the second of its
/// kind kills, as it does without this. SIGUSR1 is what mpirun passes on at once, and what
/// schedulers can be told to send before time is up.
void catch_signals();

/// Whether a signal has asked.
bool stop_requested();

}  // namespace hearsay::cli
