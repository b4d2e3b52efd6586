#include "hearsay/algorithm/method/methods.h"

namespace hearsay::algorithm {

namespace {

using Graph = Needs::Graph;
using Change = Needs::Change;
using Compression = Needs::Compression;

constexpr Parameter kOrder[] = {
    {"order", "atc", "atc|awc", "adapt then combine, or while combining"}};
constexpr Parameter kOverlap[] = {
    {"overlap", "0", "0|1", "send before the gradient, one step old"}};
constexpr Parameter kEta[] = {
    {"eta", "auto", "(0, 1]",
     "averaging rate; auto: Table 5 of the Sparse-Push paper for a top-k, 1 for int8"}};
constexpr Parameter kEtaFinal[] = {
    {"eta", "auto", "(0, 1]",
     "averaging rate; auto: Table 5 of the Sparse-Push paper for a top-k, 1 for int8"},
    {"final", "auto", "[0, 1000000]",
     "uncompressed rounds at the end; auto: until the graph shrinks the consensus distance to "
     "1e-3"}};
constexpr Parameter kDifferenceEta[] = {{"eta", "auto", "(0, 1]",
                                         "averaging rate; auto: 1 for int8, twice the contraction "
                                         "of a top-k, at most 1; that of others"}};
constexpr Parameter kDmsgd[] = {{"beta", "0.9", "[0, 1)", "momentum"},
                                {"vanilla", "0", "0|1", "1: the momentum stays local"}};
constexpr Parameter kQgDmsgd[] = {{"beta", "0.9", "[0, 1)", "momentum"},
                                  {"mu", "0.1", "(0, 1]", "how fast it follows the model"},
                                  {"nesterov", "0", "0|1", "Nesterov's form of the direction"}};
constexpr Parameter kQgDifference[] = {kDifferenceEta[0], kQgDmsgd[0], kQgDmsgd[1], kQgDmsgd[2]};
constexpr Parameter kSlowmo[] = {{"period", "12", "[1, 1000000]", "rounds between global averages"},
                                 {"beta", "0.7", "[0, 1)", "slow momentum"},
                                 {"alpha", "1", "(0, 10]", "slow learning rate"}};
constexpr Parameter kPeriod[] = {{"period", "6", "[1, 1000000]", "rounds between global averages"}};
constexpr Parameter kAga[] = {{"period", "4", "[1, 1000000]", "first period H0"},
                              {"exponent", "0.25", "(0, 4]", "of the loss ratio"}};

constexpr Needs kSymmetricStatic{
    .graph = Graph::kSymmetric, .change = Change::kStatic, .linear_optimizer = true};
constexpr Needs kExtra{.graph = Graph::kSymmetric,
                       .change = Change::kStatic,
                       .linear_optimizer = true,
                       .constant_rate = true};
constexpr Needs kD2{.graph = Graph::kSymmetric,
                    .change = Change::kStatic,
                    .linear_optimizer = true,
                    .lambda_min_above_third = true};
constexpr Needs kMild{.graph = Graph::kSymmetric,
                      .change = Change::kStatic,
                      .compression = Compression::kMild,
                      .every_message = true};

constexpr Entry kRegistry[] = {
    {{"psgd", "psgd", "global average every round: the baseline with all-reduce", {}, make_psgd},
     {.graph = Graph::kNone},
     {},
     "-",
     "-",
     "x = mean_j (x_j - g d_j)"},
    {{"dsgd", "dsgd:order=atc", "D-PSGD: local step, then neighbour average", kOrder, make_dsgd},
     {.graph = Graph::kDoublyStochastic, .sends_model = true},
     {.sent = 1},
     "x",
     "-",
     "x = W (x - g d); awc: W x - g d"},
    {{"sgp", "sgp:overlap=0", "stochastic gradient push, for directed graphs", kOverlap, make_sgp},
     {.asynchronous = true, .sends_model = true},
     {.sent = 1, .kept = 1},
     "x, u",
     "z",
     "x = W (x - g d(z)), u = W u, z = x/u"},
    {{"deep-squeeze", "deep-squeeze:eta=auto", "error-feedback compression of the model", kEta,
      make_deep_squeeze},
     {.graph = Graph::kDoublyStochastic, .compression = Compression::kContractive},
     {.sent = 1, .kept = 1},
     "C[v]",
     "delta",
     "v = x - g d + delta, delta = v - C[v], x = x - g d + eta (W - I) C[v]"},
    {{"sparse-push", "sparse-push:eta=auto", "error feedback with push-sum, for directed graphs",
      kEta, make_sparse_push},
     {.compression = Compression::kContractive, .asynchronous = true},
     {.sent = 1, .kept = 2},
     "C[v], u",
     "z, delta",
     "as deep-squeeze, with u += eta (W - I) u, z = x/u, d at z"},
    {{"scsp", "scsp:eta=auto,final=auto",
      "sparse-push, then a few uncompressed rounds against skew", kEtaFinal, make_scsp},
     {.compression = Compression::kContractive, .asynchronous = true},
     {.sent = 1, .kept = 2},
     "C[v], u; then x, u",
     "z, delta",
     "sparse-push, then `final` rounds x = W x, u = W u, z = x/u"},
    {{"choco", "choco:eta=auto", "CHOCO-SGD: gossip on compressed differences", kDifferenceEta,
      make_choco},
     {.graph = Graph::kSymmetric,
      .change = Change::kPhases,
      .compression = Compression::kContractive,
      .every_message = true},
     {.sent = 1, .kept = 1, .public_copies = true},
     "C[x - hat]",
     "hats",
     "x = x - g d, hat += C[x - hat], x += eta (W - I) hat"},
    {{"quant-sgp", "quant-sgp:eta=auto", "choco with push-sum, for directed graphs", kDifferenceEta,
      make_quant_sgp},
     {.change = Change::kPhases, .compression = Compression::kContractive, .every_message = true},
     {.sent = 1, .kept = 2, .public_copies = true},
     "C[x - hat], u",
     "z, hats",
     "as choco, with u += eta (W - I) u, z = x/u, d at z"},
    {{"dcd", "dcd", "difference compression D-PSGD; mild compression only", {}, make_dcd},
     kMild,
     {.sent = 1, .kept = 2, .public_copies = true},
     "C",
     "hats, mixed",
     "half = W hat - g d, hat += C[half - hat], x = hat"},
    {{"ecd", "ecd", "extrapolation compression D-PSGD; mild compression only", {}, make_ecd},
     kMild,
     {.sent = 1, .kept = 2, .public_copies = true},
     "C",
     "hats, mixed",
     "x+ = W hat - g d, hat = (1 - 2/t) hat + (2/t) C[(1 - t/2) x + (t/2) x+]"},
    {{"exact-diffusion",
      "exact-diffusion",
      "removes the bias of data that differs",
      {},
      make_exact_diffusion},
     kSymmetricStatic,
     {.sent = 1, .kept = 2},
     "half",
     "p, low",
     "half = x - g [(x_old - x)/g_old + d - d_old], x = W' half, W' = (I+W)/2"},
    {{"d2", "d2", "exact-diffusion with W itself (needs lambda_min > -1/3)", {}, make_d2},
     kD2,
     {.sent = 1, .kept = 2},
     "half",
     "p, low",
     "as exact-diffusion, with W in place of W'"},
    {{"nids", "nids", "another name of d2: the recursions coincide", {}, make_d2},
     kD2,
     {.sent = 1, .kept = 2},
     "half",
     "p, low",
     "as d2"},
    {{"extra", "extra", "the first exact method; constant learning rate", {}, make_extra},
     kExtra,
     {.sent = 1, .kept = 3},
     "2x - x_old",
     "p, low, v",
     "x = W' (2x - x_old) - g (d - d_old)"},
    {{"gradient-tracking",
      "gradient-tracking",
      "exact; follows the average gradient",
      {},
      make_gradient_tracking},
     {.graph = Graph::kDoublyStochastic, .every_message = true},
     {.sent = 2, .kept = 2},
     "x, y",
     "y, d_old",
     "y += d - d_old, x = W (x - g y), y = W y"},
    {{"push-diging",
      "push-diging",
      "gradient tracking with push-sum, for directed graphs",
      {},
      make_push_diging},
     {.every_message = true},
     {.sent = 2, .kept = 3},
     "x, y, u",
     "z, y, d_old",
     "as gradient-tracking, with u = W u, z = x/u, d at z"},
    {{"dmsgd", "dmsgd:beta=0.9,vanilla=0", "momentum that is mixed too", kDmsgd, make_dmsgd},
     {.graph = Graph::kDoublyStochastic, .own_momentum = true},
     {.sent = 2, .kept = 1},
     "x, m",
     "m",
     "m' = W (b m + d), x = W (x - g m); vanilla: m = b m + d, x = W (x - g m)"},
    {{"qg-dmsgd", "qg-dmsgd:beta=0.9,mu=0.1", "quasi-global momentum, for data that differs",
      kQgDmsgd, make_qg_dmsgd},
     {.graph = Graph::kDoublyStochastic, .own_momentum = true, .sends_model = true},
     {.sent = 1, .kept = 1},
     "x",
     "m",
     "x+ = W (x - g (b m + d)), m = (1 - mu) m + mu (x - x+)/g"},
    {{"qg-choco", "qg-choco:eta=auto,beta=0.9,mu=0.1",
      "quasi-global momentum over compressed differences", kQgDifference, make_qg_choco},
     {.graph = Graph::kSymmetric,
      .change = Change::kPhases,
      .compression = Compression::kContractive,
      .every_message = true,
      .own_momentum = true},
     {.sent = 1, .kept = 2, .public_copies = true},
     "C[x - hat]",
     "hats, m",
     "choco with the direction b m + d, m = (1 - mu) m + mu (x - x+)/g"},
    {{"qg-quant-sgp", "qg-quant-sgp:eta=auto,beta=0.9,mu=0.1",
      "qg-choco with push-sum, for directed graphs", kQgDifference, make_qg_quant_sgp},
     {.change = Change::kPhases,
      .compression = Compression::kContractive,
      .every_message = true,
      .own_momentum = true},
     {.sent = 1, .kept = 3, .public_copies = true},
     "C[x - hat], u",
     "z, hats, m",
     "quant-sgp with the direction b u m + d, m = (1 - mu) m + mu (z - z+)/g"},
    {{"slowmo", "slowmo:period=12", "SGP with a slow momentum at periodic global averages", kSlowmo,
      make_slowmo},
     {},
     {.sent = 1, .kept = 3},
     "x, u",
     "z, y, b",
     "every period: b = beta b + (y - xbar)/g, y -= alpha g b, x = y"},
    {{"pga", "pga:period=6", "D-SGD with periodic global averages", kPeriod, make_pga},
     {.graph = Graph::kDoublyStochastic},
     {.sent = 1},
     "x",
     "-",
     "every H-th round x = mean, else x = W (x - g d)"},
    {{"local-sgd", "local-sgd:period=6", "silent but for periodic global averages (FedAvg)",
      kPeriod, make_local_sgd},
     {.graph = Graph::kNone},
     {},
     "-",
     "-",
     "every H-th round x = mean, else x = x - g d"},
    {{"aga", "aga:period=4", "pga whose period follows the loss", kAga, make_aga},
     {.graph = Graph::kDoublyStochastic},
     {.sent = 1},
     "x",
     "-",
     "H = (f0/f)^(1/4) H0"},
    {{"silent", "silent", "every peer alone: what the others have to beat", {}, make_silent},
     {.graph = Graph::kNone},
     {},
     "-",
     "-",
     "x = x - g d"},
};

}  // namespace

Registry<Entry> registry() { return {"algorithm", kRegistry}; }

std::unique_ptr<Algorithm> make_algorithm(std::string_view spec, const Bank& bank) {
  return registry().make(spec, bank);
}

Method make_method(std::string_view spec) {
  const Entry& entry = registry().find(spec);
  return {
      .name = std::string(entry.name),
      .needs = entry.needs,
      .make = [spec = std::string(spec)](const Bank& bank) { return make_algorithm(spec, bank); }};
}

}  // namespace hearsay::algorithm
