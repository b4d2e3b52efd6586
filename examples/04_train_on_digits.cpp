// `hearsay train --algorithm sparse-push --epochs 30` from C++: the options are the long ones.

#include <fmt/core.h>

#include "hearsay/train/trainer.h"

int main() {
  const hearsay::train::RunOptions options{.algorithm = "sparse-push", .epochs = 30};
  hearsay::train::Trainer trainer(hearsay::train::resolve(options));

  while (trainer.round() < trainer.total_rounds()) trainer.run_round(false);

  const hearsay::train::Metrics metrics = trainer.evaluate();
  const double accuracy = metrics.find("accuracy")->mean.value();
  fmt::print("{} peers, {:.2f} % accuracy, {} bytes sent\n", trainer.peers(), accuracy,
             metrics.traffic.bytes);
  return accuracy > 80 ? 0 : 1;
}
