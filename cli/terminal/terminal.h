#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace hearsay::cli {

/// The current capabilities of a stream's terminal: windows can be resized.
struct Terminal {
  bool moves = false;           ///< a terminal on which lines can be redrawn (TERM is not "dumb")
  bool colours = false;         ///< can move the cursor, and NO_COLOR is not set (no-color.org)
  int width = 80, height = 24;  ///< in characters; without a window COLUMNS and LINES, or these
};
Terminal terminal_of(std::FILE* stream);

/// A part of a line, with its own colour if the terminal has colours.
struct Piece {
  std::string text;
  std::string_view colour = {};  ///< parameters of an SGR escape, as "32" for green; empty: plain
};
using Line = std::vector<Piece>;

/// The line for a terminal: at most `width` characters (of UTF-8), not counting escapes, which are
/// omitted without colours. Control characters become blanks.
std::string fit(const Line& line, int width, bool colours);

/// Lines at the bottom of a terminal that are redrawn in place. On a stream that cannot move the
/// cursor it shows nothing. The cursor stays below, so the line is clean however the program ends.
class Block {
 public:
  explicit Block(std::FILE* stream) : stream_(stream) {}
  ~Block() { wipe(); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// Replaces what was drawn before; clipped to the window, in both directions.
  void draw(const std::vector<Line>& lines);
  /// Erases the block; other output then begins where the block did.
  void wipe();

 private:
  void put(const std::string& text);  ///< ignores errors: a terminal may go away

  std::FILE* stream_;
  int drawn_ = 0;  ///< lines currently shown
};

}  // namespace hearsay::cli
