#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace hearsay::cli {

/// What the reader of a stream can show, as it is now: windows change their size.
struct Terminal {
  bool moves = false;    ///< a terminal on which lines can be drawn again (TERM says no "dumb")
  bool colours = false;  ///< it moves, and NO_COLOR is not set (no-color.org)
  int width = 80, height = 24;  ///< in characters; without a window COLUMNS and LINES say, or these
};
Terminal terminal_of(std::FILE* stream);

/// A part of a line, in a colour of its own if the terminal has any.
struct Piece {
  std::string text;
  std::string_view colour = {};  ///< parameters of an SGR escape, as "32" for green; empty: plain
};
using Line = std::vector<Piece>;

/// The line for a terminal: at most `width` characters (of UTF-8), escapes not counted, and
/// without any if it has no colours. Control characters become blanks.
std::string fit(const Line& line, int width, bool colours);

/// Lines at the bottom of a terminal that are drawn again in place. On anything that cannot move it
/// shows nothing. The cursor stays below, so whatever ends the program leaves a clean line.
class Block {
 public:
  explicit Block(std::FILE* stream) : stream_(stream) {}
  ~Block() { wipe(); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// In place of what was drawn before; cut to the window, in both directions.
  void draw(const std::vector<Line>& lines);
  /// Make room for other output, which begins where the block did.
  void wipe();

 private:
  void put(const std::string& text);  ///< a terminal may go away: that is no error here

  std::FILE* stream_;
  int drawn_ = 0;  ///< lines that stand there
};

}  // namespace hearsay::cli
