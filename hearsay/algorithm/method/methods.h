#pragma once

#include <memory>

#include "hearsay/algorithm/algorithm.h"

/// The factories behind the registry, one file each; each file starts with the method's formulas.
namespace hearsay::algorithm {

using Maker = std::unique_ptr<Algorithm>(const Arguments&, const Bank&);

Maker make_psgd;
Maker make_dsgd;
Maker make_sgp;
Maker make_deep_squeeze;
Maker make_sparse_push;
Maker make_scsp;
Maker make_choco;
Maker make_quant_sgp;
Maker make_dcd;
Maker make_ecd;
Maker make_exact_diffusion;
Maker make_d2;
Maker make_extra;
Maker make_gradient_tracking;
Maker make_push_diging;
Maker make_dmsgd;
Maker make_qg_dmsgd;
Maker make_qg_choco;
Maker make_qg_quant_sgp;
Maker make_slowmo;
Maker make_pga;
Maker make_local_sgd;
Maker make_aga;
Maker make_silent;

}  // namespace hearsay::algorithm
