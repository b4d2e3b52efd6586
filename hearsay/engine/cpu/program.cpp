#include "hearsay/engine/cpu/program.h"

#include "hearsay/engine/cpu/float_program.h"
#include "hearsay/engine/cpu/int8/program.h"

namespace hearsay::engine::cpu {

std::unique_ptr<Program> make_program(backend::Precision precision, const model::Network& network,
                                      std::size_t batch, const Loss& loss) {
  if (precision == backend::Precision::kInt8) {
    return std::make_unique<int8::Program>(network, batch, loss);
  }
  return std::make_unique<FloatProgram>(network, batch, loss);
}

}  // namespace hearsay::engine::cpu
