// `hearsay train --algorithm sparse-push --epochs 30` from C++: the settings are the long options.

#include <fmt/core.h>

#include "hearsay/train/trainer.h"

int main() {
  hearsay::train::Config config;
  config.set("algorithm", "sparse-push");
  config.set("epochs", "30");
  hearsay::train::Trainer trainer(hearsay::train::resolve(config));

  while (trainer.round() < trainer.total_rounds()) trainer.run_round(false);

  const hearsay::train::Metrics metrics = trainer.evaluate();
  const double accuracy = metrics.find("accuracy")->mean.value();
  fmt::print("{} peers, {:.2f} % accuracy, {} bytes sent\n", trainer.peers(), accuracy,
             metrics.traffic.bytes);
  return accuracy > 80 ? 0 : 1;
}
