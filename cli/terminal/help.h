#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace hearsay::cli {

/// `text` in lines of at most `width` characters, broken at blanks: the first begins at column
/// `at`, the others at column `indent`. Words that are longer than a line are broken behind ',' and
/// '|', or stay whole.
std::string wrapped(std::string_view text, std::size_t at, std::size_t indent, std::size_t width);

/// The word for an option's value: "N", without the range that CLI11 appends; empty for a flag.
std::string value_name(const CLI::Option& option);

/// What --help prints: names on the left, meanings beside them, wrapped at the terminal's width, or
/// at 100 columns where standard output is none.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* command) const override;
};

}  // namespace hearsay::cli
