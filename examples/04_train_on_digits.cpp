// `hearsay train --algorithm sparse-push --epochs 30` from C++: the settings are the long options.

#include <fmt/core.h>

#include "hearsay/train/simulation.h"

int main() {
  hearsay::train::Config config;
  config.set("algorithm", "sparse-push");
  config.set("epochs", "30");
  hearsay::train::Simulation simulation(hearsay::train::resolve(config));

  while (simulation.round() < simulation.total_rounds()) simulation.run_round(false);

  const hearsay::train::Metrics metrics = simulation.evaluate();
  fmt::print("{} peers, {:.2f} % accuracy, {} bytes sent\n", simulation.peers(),
             *metrics.accuracy_mean, metrics.traffic.bytes);
  return *metrics.accuracy_mean > 80 ? 0 : 1;
}
