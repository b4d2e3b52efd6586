#include <gtest/gtest.h>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/core/error.h"

/// Unsupported combinations are rejected with a message that names the algorithm, the missing
/// property and an alternative.
namespace hearsay::algorithm {
namespace {

struct Case {
  std::string algorithm, graph, compressor, expected;
  bool linear = true, momentum = false, lossy = false, constant = true;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.algorithm << " on " << c.graph; }

std::string verdict(const Case& c) {
  const auto schedule = graph::make_schedule(c.graph, {0, 1});
  const auto facts = graph::facts_of(*schedule);
  const auto compressor = compress::make_compressor(c.compressor);
  const Layout layout(100);
  try {
    check_fit(c.algorithm, {.graph_spec = c.graph,
                            .graph = facts,
                            .change = schedule->change(),
                            .compressor_spec = c.compressor,
                            .compressor = *compressor,
                            .layout = layout,
                            .linear_optimizer = c.linear,
                            .optimizer_has_momentum = c.momentum,
                            .constant_rate = c.constant,
                            .lossy_links = c.lossy});
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "fits";
}

class CheckFit : public ::testing::TestWithParam<Case> {};

TEST_P(CheckFit, Says) { EXPECT_EQ(verdict(GetParam()), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    Cases, CheckFit,
    ::testing::Values(
        Case{"dsgd", "ring", "identity", "fits"},
        Case{"sparse-push", "cycle:sparse-push:a+sparse-push:b", "topk:keep=0.01", "fits"},
        Case{"sparse-push", "cycle:sparse-push:a+sparse-push:b", "int8", "fits"},
        Case{"deep-squeeze", "exponential", "int8", "fits"},
        Case{"scsp", "sparse-push:a", "int8", "fits"}, Case{"choco", "ring", "int8", "fits"},
        Case{"quant-sgp", "ring:directed", "int8", "fits"},
        Case{"dcd", "complete", "identity", "fits"},
        Case{"psgd", "sparse-push:a", "identity", "fits"},
        Case{
            "dsgd", "sparse-push:a", "identity",
            "[dsgd] needs doubly stochastic weights, and those of sparse-push:a are not; use ring, "
            "exponential or torus, or a push-sum method (sgp, sparse-push, push-diging) on this "
            "graph"},
        Case{"choco", "ring:directed", "topk:keep=0.01",
             "[choco] needs symmetric weights, and ring:directed has none; use ring, torus or "
             "random:p=0.5,symmetric=1"},
        Case{"extra", "cycle:ring+complete", "identity",
             "[extra] needs a graph that does not change, and cycle:ring+complete does; use ring, "
             "or "
             "gradient-tracking on this graph"},
        Case{"quant-sgp", "one-peer-exponential", "topk:keep=0.01",
             "[quant-sgp] keeps copies of its neighbours' models, which one-peer-exponential makes "
             "worthless every round; use a graph with longer phases (cycle:A+B,every=100), or "
             "sparse-push"},
        Case{"d2", "ring", "identity",
             "[d2] needs lambda_min > -1/3, and ring has -0.3333; use exact-diffusion, which mixes "
             "with "
             "(I+W)/2"},
        Case{"sgp", "ring", "topk:keep=0.01",
             "[sgp] does not compress, and the compressor is topk:keep=0.01; drop --compressor, or "
             "use "
             "sparse-push, deep-squeeze, choco or quant-sgp"},
        Case{"sgp", "ring", "int8",
             "[sgp] does not compress, and the compressor is int8; drop --compressor, or use "
             "sparse-push, deep-squeeze, choco or quant-sgp"},
        Case{"qg-dmsgd", "ring", "int8",
             "[qg-dmsgd] does not compress, and the compressor is int8; drop --compressor, or use "
             "qg-choco or qg-quant-sgp"},
        Case{"qg-choco", "ring", "int8", "fits"},
        Case{"qg-quant-sgp", "ring:directed", "topk:keep=0.01", "fits"},
        Case{"dsgd", "ring", "int8",
             "[dsgd] does not compress, and the compressor is int8; drop --compressor, or use "
             "sparse-push, deep-squeeze, choco or quant-sgp"},
        Case{
            "sparse-push", "ring", "qsgd:bits=4,unbiased=1",
            "[sparse-push] needs a contractive compressor, and qsgd:bits=4,unbiased=1 is unbiased: "
            "under error feedback it explodes; use qsgd without unbiased=1, randk "
            "without scale=1, topk, int8 or sign"},
        Case{"dcd", "ring", "topk:keep=0.5",
             "[dcd] needs mild compression: the relative error of topk:keep=0.5 may reach 0.707, "
             "and "
             "ring allows 0.25; use qsgd:bits=8,unbiased=1 or identity, or choco, which takes any"},
        Case{"exact-diffusion", "ring", "identity",
             "[exact-diffusion] takes differences of directions and cannot use adam; use sgd, "
             "momentum "
             "or nesterov",
             false},
        Case{"dmsgd", "ring", "identity",
             "[dmsgd] has a momentum of its own (dmsgd:beta=..); use --optimizer sgd", true, true},
        Case{"quant-sgp", "ring:directed", "topk:keep=0.01",
             "[quant-sgp] needs every message to arrive, and the links lose some; use sgp or "
             "sparse-push",
             true, false, true},
        Case{"dsgd", "ring", "identity",
             "[dsgd] has no push-sum weights, and links that lose messages bias it; use sgp or "
             "sparse-push",
             true, false, true},
        Case{"extra", "ring", "identity",
             "[extra] is made for a constant learning rate: after a change it converges to another "
             "point; use exact-diffusion, or a constant --lr",
             true, false, false, false},
        Case{
            "sgd", "ring", "identity",
            "[algorithm] no algorithm is named 'sgd' (did you mean 'psgd'?); there are psgd, dsgd, "
            "sgp, deep-squeeze, sparse-push, scsp, choco, quant-sgp, dcd, ecd, exact-diffusion, "
            "d2, "
            "nids, extra, gradient-tracking, push-diging, dmsgd, qg-dmsgd, qg-choco, qg-quant-sgp, "
            "slowmo, pga, local-sgd, aga, silent"}));

}  // namespace
}  // namespace hearsay::algorithm
