#include <memory>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "hearsay/core/error.h"
#include "hearsay/report/catalogue.h"

namespace hearsay::cli {

Action add_list(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("list", "List what there is: graphs, compressors, algorithms, ...");
  auto family = std::make_shared<std::string>();
  auto markdown = std::make_shared<bool>(false);
  std::string names = "one of";
  for (const report::FamilyNames& known : report::component_names()) {
    names += " " + std::string(known.family);
  }
  command->add_option("family", *family, names)->type_name("FAMILY");
  command->add_flag("--markdown", *markdown, "as the config reference in docs/ has it");
  return [family, markdown] {
    if (*markdown) {
      fmt::print("{}", report::config_reference());
    } else {
      fmt::print("{}", report::catalogue(*family));
    }
    return 0;
  };
}

}  // namespace hearsay::cli
