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
  const double accuracy = metrics.find("accuracy")->mean.value();
  fmt::print("{} peers, {:.2f} % accuracy, {} bytes sent\n", simulation.peers(), accuracy,
             metrics.traffic.bytes);
  return accuracy > 80 ? 0 : 1;
}
