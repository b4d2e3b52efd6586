#include "hearsay/compress/compressor.h"

#include "hearsay/compress/identity.h"
#include "hearsay/compress/qsgd.h"
#include "hearsay/compress/random_k.h"
#include "hearsay/compress/sign.h"
#include "hearsay/compress/top_k.h"

namespace hearsay::compress {

namespace {

constexpr Entry kRegistry[] = {
    {"identity", "identity", "every entry, 4 bytes each", {}, make_identity},
    {"topk", "topk:keep=0.01,scope=layer,value=f16", "the k entries of largest magnitude",
     kTopKParameters, make_top_k},
    {"randk", "randk:keep=0.01", "k entries drawn at random", kRandomKParameters, make_random_k},
    {"qsgd", "qsgd:bits=4", "stochastic rounding to levels of each tensor's norm", kQsgdParameters,
     make_qsgd},
    {"int8",
     "int8",
     "every entry rounded to 8 bits, and each tensor's largest magnitude",
     {},
     make_int8},
    {"sign", "sign", "one bit per entry, and each tensor's mean magnitude", {}, make_sign},
};

}  // namespace

Registry<Entry> registry() { return {"compressor", kRegistry}; }

std::unique_ptr<Compressor> make_compressor(std::string_view spec) { return registry().make(spec); }

double topk_keep(const Compressor& compressor) {
  const Kind kind = compressor.kind();
  const auto* top_k = std::get_if<TopKKind>(&kind);
  return top_k == nullptr ? 0 : top_k->keep;
}

}  // namespace hearsay::compress
