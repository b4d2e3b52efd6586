#pragma once

#include <hwy/highway.h>

#include <cstdint>

namespace hearsay::support {

/// While it lives, the vector loops use this instruction set, one of
/// hwy::SupportedAndGeneratedTargets(); afterwards the widest again.
class InstructionSet {
 public:
  explicit InstructionSet(std::int64_t target) { choose(target); }
  ~InstructionSet() { choose(0); }
  InstructionSet(const InstructionSet&) = delete;
  InstructionSet& operator=(const InstructionSet&) = delete;

 private:
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

}  // namespace hearsay::support
