#include "hearsay/engine/cpu/program.h"

#include "hearsay/engine/cpu/float_program.h"
#include "hearsay/engine/cpu/int8/program.h"

namespace hearsay::engine::cpu {

std::unique_ptr<Program> make_program(backend::Precision precision, const model::Network& network,
                                      std::size_t batch, const Loss& loss, const Lanes& lanes) {
  if (precision == backend::Precision::kInt8) {
    return std::make_unique<int8::Program>(network, batch, loss, lanes);
  }
  return std::make_unique<FloatProgram>(network, batch, loss, lanes);
}

}  // namespace hearsay::engine::cpu
