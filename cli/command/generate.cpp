#include <filesystem>
#include <memory>
#include <string>

#include "cli/command/commands.h"
#include "cli/manual/completion.h"
#include "cli/manual/man_page.h"
#include "hearsay/core/durable_file.h"

namespace hearsay::cli {

Action add_generate(CLI::App& app) {
  CLI::App* command = app.add_subcommand("generate", "Write the man pages and completions");
  command->group("");  // for the build of packages (cli/CMakeLists.txt)
  auto directory = std::make_shared<std::string>();
  command->add_option("directory", *directory, "where to")->required()->type_name("DIR");
  return [&app, directory] {
    const CommandText program = describe(app);
    const std::filesystem::path to = *directory;
    std::filesystem::create_directories(to);
    for (const auto& [name, text] : man_pages(program)) write_user_file(to / name, text);
    write_user_file(to / "hearsay.bash", bash_completion(program));
    write_user_file(to / "_hearsay", zsh_completion(program));
    write_user_file(to / "hearsay.fish", fish_completion(program));
    return 0;
  };
}

}  // namespace hearsay::cli
