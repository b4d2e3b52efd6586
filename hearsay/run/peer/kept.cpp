#include "hearsay/run/peer/kept.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/run/json_file.h"
#include "hearsay/train/init.h"

namespace hearsay::run {

namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& out) { return out / "checkpoint"; }
fs::path incarnation_file(const fs::path& out) { return out / "incarnation"; }
fs::path file_of(const fs::path& out) { return folder_of(out) / "peer.json"; }

void write_durably(const fs::path& path, std::string_view text) {
  DurableFile file(path);
  file.write(text);
  file.commit();
}

/// 0: there was none, or what is there is no number.
std::uint64_t last_incarnation(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return 0;
  const std::string text = read_file(file);
  std::uint64_t last = 0;
  std::from_chars(text.data(), text.data() + text.size(), last);
  return last;
}

}  // namespace

std::uint64_t next_incarnation(const fs::path& out) {
  using std::chrono::system_clock;
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch());
  const auto by_clock = static_cast<std::uint64_t>(std::max<std::int64_t>(now.count(), 1));
  return std::max(by_clock, last_incarnation(incarnation_file(out)) + 1);
}

void write_incarnation(const fs::path& out, std::uint64_t incarnation) {
  write_durably(incarnation_file(out), fmt::format("{}\n", incarnation));
}

void keep(const fs::path& out, std::uint64_t clock, double seconds,
          const engine::Objective& objective, const train::SavedModel& model) {
  const fs::path folder = folder_of(out);
  std::error_code error;
  fs::create_directories(folder, error);  // what fails, writing says
  // Two names are enough: a file that peer.json names is never written to.
  std::optional<Kept> kept;
  try {
    kept = read_kept(out);
  } catch (const CorruptData&) {  // it will be replaced
  }
  const bool at_first = kept && kept->model.find("model-1.safetensors") != std::string::npos;
  const fs::path now = folder / (at_first ? "model-2.safetensors" : "model-1.safetensors"),
                 before = folder / (at_first ? "model-1.safetensors" : "model-2.safetensors");
  train::write_safetensors(now, objective.whole_layout(), objective.whole(model.parameters),
                           objective.buffer_layout(), model.buffers);
  const std::string pinned = train::pin_init(now.string());
  const nlohmann::ordered_json text{{"clock", clock},
                                    {"seconds", seconds},
                                    {"model", now.filename().string()},
                                    {"sha256", pinned.substr(pinned.rfind('=') + 1)}};
  write_durably(file_of(out), text.dump(2) + "\n");
  fs::remove(before, error);
}

std::optional<Kept> read_kept(const fs::path& out) {
  const fs::path file = file_of(out);
  std::error_code error;
  if (!fs::exists(file, error)) return {};
  const nlohmann::json json = read_json_file(file, "peer");
  try {
    const fs::path model = fs::path(json.at("model").get<std::string>()).filename();
    return Kept{.clock = json.at("clock").get<std::uint64_t>(),
                .seconds = json.at("seconds").get<double>(),
                .model = fmt::format("{},sha256={}", (folder_of(out) / model).string(),
                                     json.at("sha256").get<std::string>())};
  } catch (const nlohmann::json::exception&) {
    throw CorruptData(
        fmt::format("[peer] {} lacks clock, seconds, model or sha256", file.string()));
  }
}

train::SavedModel load_kept(const Kept& kept, const engine::Objective& objective) {
  train::SavedModel model =
      train::load_init(kept.model, objective.whole_layout(), objective.buffer_layout());
  model.parameters = objective.trained(model.parameters);
  return model;
}

}  // namespace hearsay::run
