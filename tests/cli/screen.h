#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/process.h"

namespace hearsay::cli {

/// What a program says to a terminal, byte for byte.
struct TerminalResult {
  int status;  ///< exit status, or -SIGNAL
  std::string said;
};

/// Variables of the environment, "NAME=VALUE" each, or "NAME" to have none.
using Variables = std::vector<std::string>;

/// Run `hearsay` to its end on a terminal of that size (TERM=xterm unless `variables` say
/// otherwise), in `directory`. `signal`: sent once it has said `after`, if that is not empty.
TerminalResult hearsay_on_terminal(const Words& arguments, const std::filesystem::path& directory,
                                   int width, int height, const Variables& variables = {},
                                   const std::string& after = "", int signal = 0);

/// A terminal of unlimited height that knows what our programs use: \r, \n, SGR, cursor up (CSI n
/// A), clear to the end of the line (CSI K) and of the screen (CSI J). Long lines wrap, and an
/// unknown escape is remembered.
class Screen {
 public:
  explicit Screen(int width) : width_(width) {}

  void write(std::string_view bytes);

  const std::vector<std::string>& lines() const { return lines_; }  ///< blanks at ends dropped
  std::string text() const;                                         ///< lines with \n each
  bool wrapped() const { return wrapped_; }                ///< whether any line was too long
  bool coloured() const { return coloured_; }              ///< whether any SGR came
  const std::string& unknown() const { return unknown_; }  ///< escapes that it does not know
  std::size_t redraws() const { return redraws_; }         ///< how often the cursor went up

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
