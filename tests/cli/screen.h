#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/process.h"

namespace hearsay::cli {

/// The output of a program on a terminal, byte for byte.
struct TerminalResult {
  int status;  ///< exit status, or -SIGNAL
  std::string said;
};

/// Environment variables, "NAME=VALUE" each, or "NAME" to unset one.
using Variables = std::vector<std::string>;

/// Runs `hearsay` to its end on a terminal of that size (TERM=xterm unless `variables` say
/// otherwise), in `directory`. `signal`: sent once it has printed `after`, if that is not empty.
TerminalResult hearsay_on_terminal(const Words& arguments, const std::filesystem::path& directory,
                                   int width, int height, const Variables& variables = {},
                                   const std::string& after = "", int signal = 0);

/// A terminal of unlimited height that supports what our programs use: \r, \n, SGR, cursor up (CSI
/// n A), clear to the end of the line (CSI K) and of the screen (CSI J). Long lines wrap, and
/// unknown escapes are recorded.
class Screen {
 public:
  explicit Screen(int width) : width_(width) {}

  void write(std::string_view bytes);

  const std::vector<std::string>& lines() const { return lines_; }  ///< trailing blanks dropped
  std::string text() const;                                         ///< lines with \n each
  bool wrapped() const { return wrapped_; }                ///< whether any line was too long
  bool coloured() const { return coloured_; }              ///< whether there was any SGR
  const std::string& unknown() const { return unknown_; }  ///< unknown escapes
  std::size_t redraws() const { return redraws_; }         ///< how often the cursor moved up

 private:
  void put(char byte);
  void escape(int number, char kind);

  int width_;
  std::vector<std::string> lines_{""};
  std::size_t row_ = 0, column_ = 0, redraws_ = 0;
  bool wrapped_ = false, coloured_ = false;
  std::string unknown_;
};

}  // namespace hearsay::cli
