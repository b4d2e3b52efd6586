#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "hearsay/engine/objective.h"
#include "hearsay/run/diagnosis.h"
#include "hearsay/run/run_lock.h"
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

/// Writes OUT/failure.json, of a run whose model is no longer finite, if it can.
void write_failure(const std::filesystem::path& out, const Warning& failure);
/// The run begins or goes on: removes failure.json.
void clear_failure(const std::filesystem::path& out);

}  // namespace hearsay::run
