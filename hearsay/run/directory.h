#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "hearsay/engine/objective.h"
#include "hearsay/run/run_lock.h"
#include "hearsay/train/metrics.h"
#include "hearsay/train/run_options.h"

/// The files of a run directory (run.h), and what is said of how it ended.
namespace hearsay::run {

/// Creates the directory and its config.toml, and locks it. Throws InvalidArgument, for a directory
/// with a run AlreadyExists.
void create_directory(const train::RunOptions& config, const std::filesystem::path& out,
                      RunLock& lock);

/// Writes OUT/models/NAME.safetensors.
void save_model(const std::filesystem::path& out, const std::string& name,
                const engine::Objective& objective, std::span<const float> model,
                std::span<const float> buffers);

/// Writes OUT/summary.json, the last file of a run.
void write_summary(const std::filesystem::path& out, const std::string& text);

/// A warning if the last evaluation is ten times worse than the first one, else empty.
std::string divergence_warning(const std::optional<train::Metrics>& first,
                               const train::Metrics& last);

}  // namespace hearsay::run
