#pragma once

#include <filesystem>

#include "hearsay/model/description.h"
#include "hearsay/model/network.h"
#include "hearsay/train/safetensors.h"

namespace hearsay::run {

/// A trained network that was read from a file, with all that is needed to use it.
struct SavedNetwork {
  model::Description description;
  model::Network network;
  train::SavedModel model;
};

/// Reads a safetensors file that says what it is, or, if it lies in the models/ of a run directory
/// of an older version, is what its run says (the run's data is read then). Throws as
/// `read_safetensors`; InvalidArgument too if nobody says what it is, if it is no network, and if
/// it lacks the running statistics that its batch norm needs.
SavedNetwork load_network(const std::filesystem::path& file);

}  // namespace hearsay::run
