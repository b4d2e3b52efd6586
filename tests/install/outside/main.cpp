// A project that uses hearsay only as an installed package.

#include <cstdio>
#include <string_view>

#include "hearsay/core/sha256.h"
#include "hearsay/core/version.h"
#include "hearsay/train/trainer.h"

// Usage: outside VERSION. Fails unless the installed library has that version and works.
int main(int argc, char** argv) {
  if (argc != 2 || hearsay::version() != argv[1]) {
    std::fputs("the installed library has another version\n", stderr);
    return 1;
  }

  // FIPS 180-2, appendix B.1.
  constexpr std::string_view kDigest =
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  hearsay::Sha256 hash;
  hash.update("abc", 3);
  if (hash.finish_hex() != kDigest) {
    std::fputs("the installed library computes a wrong SHA-256\n", stderr);
    return 1;
  }

  hearsay::train::Trainer peers(hearsay::train::resolve({.algorithm = "sgp", .data = "consensus"}));
  const double apart = peers.evaluate().divergence;
  for (int round = 0; round < 50; ++round) peers.run_round(false);
  if (!(peers.evaluate().divergence < 1e-3 * apart)) {
    std::fputs("fifty rounds of push-sum did not average four peers\n", stderr);
    return 1;
  }
  return 0;
}
