#include "hearsay/engine/objective.h"

#include "hearsay/core/thread_pool.h"
#include "hearsay/model/description.h"

namespace hearsay::engine {

void Objective::gradients_together(std::span<const GradientRequest> requests) {
  for (const GradientRequest& request : requests) {
    request.objective->gradients(request.round, request.at, request.out, request.losses);
  }
}

std::optional<model::Description> Objective::description() const { return {}; }

std::vector<Score> evaluate_rows(const Objective& objective, backend::ConstBlock at,
                                 ThreadPool& pool) {
  std::vector<Score> scores(at.rows);
  pool.run(at.rows,
           [&](std::size_t i) { scores[i] = objective.evaluate(at.row(i), objective.buffers(i)); });
  return scores;
}

}  // namespace hearsay::engine
