#include "hearsay/engine/cuda/program.h"

#include <cassert>

#include "hearsay/engine/cuda/cross_entropy.h"
#include "hearsay/engine/cuda/float_program.h"
#include "hearsay/engine/cuda/int8/program.h"
#include "hearsay/engine/cuda/number_loss.h"

namespace hearsay::engine::cuda {

using backend::Precision;

Program::Program(const model::Network& network, std::size_t peers, std::size_t batch,
                 backend::cuda::Context& context, const Loss& loss)
    : peers_(peers),
      batch_(batch),
      context_(context),
      loss_(loss),
      labels_(loss.of_numbers() ? 0 : peers * batch),
      numbers_(loss.of_numbers() ? peers * batch * network.outputs() : 0) {
  assert(peers > 0 && batch > 0);
}

void Program::differentiate_loss(Tensor& outputs, std::span<double* const> losses) {
  backend::cuda::LaunchRecorder& recorder = context_.recorder;
  if (loss_.of_numbers()) {
    number_loss(recorder, outputs, numbers(), loss_, recorder.put(losses));
  } else {
    cross_entropy(recorder, outputs, labels(), recorder.put(losses));
  }
}

std::unique_ptr<Program> make_program(const model::Network& network, std::size_t peers,
                                      std::size_t batch, Program::Use use,
                                      backend::cuda::Context& context, const Loss& loss) {
  if (context.precision == Precision::kInt8) {
    return std::make_unique<int8::Program>(network, peers, batch, use, context, loss);
  }
  return std::make_unique<FloatProgram>(network, peers, batch, use, context, loss);
}

std::size_t bytes_per_sample(const model::Network& network, Program::Use use, Precision precision) {
  return precision == Precision::kInt8 ? int8::Program::bytes_per_sample(network, use)
                                       : FloatProgram::bytes_per_sample(network, use, precision);
}

}  // namespace hearsay::engine::cuda
