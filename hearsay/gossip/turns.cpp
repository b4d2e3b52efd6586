#include <algorithm>

#include "hearsay/gossip/round_driver.h"

/// Rounds of several drivers on one device.
namespace hearsay::gossip {
namespace {

/// Runs `work` for a driver that has not failed, and keeps what it throws.
template <class Work>
void take_turn(Turn& turn, const Work& work) {
  if (turn.error) return;
  try {
    work();
  } catch (...) {
    turn.error = std::current_exception();
  }
}

}  // namespace

void begin_round(std::span<Turn> turns) {
  for (Turn& turn : turns) {
    take_turn(turn, [&] { turn.takes_gradient = turn.driver->begin(turn.settings); });
  }
}

void end_round(std::span<Turn> turns) {
  if (turns.empty()) return;
  Machine& machine = turns.front().driver->machine();
  backend::Kernels& kernels = machine.kernels();
  const bool several = turns.size() > 1;
  try {
    kernels.submit();
  } catch (...) {  // the device failed
    for (Turn& turn : turns) turn.error = std::current_exception();
  }
  // Before any driver waits for the device, after which result buffers may be reused.
  for (Turn& turn : turns) take_turn(turn, [&] { turn.driver->record_losses(); });
  for (std::size_t k = 0; k < turns.size(); ++k) {
    if (several) kernels.use_stream(k + 1);
    take_turn(turns[k], [&] { turns[k].driver->end(); });
  }
  if (several) kernels.use_stream(0);
  const auto measured = [](const Turn& turn) { return turn.settings.measure_mass; };
  try {
    machine.end_round();
    if (std::ranges::any_of(turns, measured)) machine.drain();
  } catch (...) {
    for (Turn& turn : turns) take_turn(turn, [] { throw; });
  }
  for (Turn& turn : turns) take_turn(turn, [&] { turn.driver->check(); });
}

void run_round(std::span<Turn> turns, const std::function<void(std::span<const Turn>)>& gradients) {
  begin_round(turns);
  try {
    gradients(turns);
  } catch (...) {  // it is unknown whose gradients are missing
    for (Turn& turn : turns) turn.error = std::current_exception();
  }
  end_round(turns);
}

}  // namespace hearsay::gossip
