#include "cli/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

namespace hearsay::cli {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// A window dimension: the system's if known, else that of an environment variable, else
/// `fallback`.
int size_of(unsigned short known, const char* variable, int fallback) {
  if (known > 0) return known;
  const std::string_view text = environment(variable);
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value > 0 ? value : fallback;
}

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

/// The first characters of a text, at most `room`, which is reduced by as many.
std::string take(std::string_view text, int& room) {
  std::string taken;
  for (const char byte : text) {
    if (begins_character(byte) && --room < 0) break;
    const auto code = static_cast<unsigned char>(byte);
    taken += code < 0x20 || code == 0x7F ? ' ' : byte;
  }
  room = std::max(room, 0);
  return taken;
}

}  // namespace

Terminal terminal_of(std::FILE* stream) {
  const int descriptor = ::fileno(stream);
  const std::string_view kind = environment("TERM");
  winsize window{};
  if (::ioctl(descriptor, TIOCGWINSZ, &window) != 0) window = {};
  Terminal terminal;
  terminal.moves = ::isatty(descriptor) != 0 && !kind.empty() && kind != "dumb";
  terminal.colours = terminal.moves && environment("NO_COLOR").empty();
  terminal.width = size_of(window.ws_col, "COLUMNS", terminal.width);
  terminal.height = size_of(window.ws_row, "LINES", terminal.height);
  return terminal;
}

std::string fit(const Line& line, int width, bool colours) {
  std::string text;
  int room = std::max(width, 0);
  for (const Piece& piece : line) {
    const std::string part = take(piece.text, room);
    const bool coloured = colours && !piece.colour.empty() && !part.empty();
    text += coloured ? fmt::format("\x1b[{}m{}\x1b[0m", piece.colour, part) : part;
  }
  return text;
}

void Block::draw(const std::vector<Line>& lines) {
  const Terminal terminal = terminal_of(stream_);
  if (!terminal.moves) return;
  // One write, so that it is never shown half-drawn. One column stays free: terminals differ in
  // where the cursor is after the last column.
  std::string text = drawn_ > 0 ? fmt::format("\r\x1b[{}A", drawn_) : "\r";
  const auto shown = std::min<std::size_t>(lines.size(), std::max(terminal.height - 1, 0));
  for (std::size_t i = 0; i < shown; ++i) {
    text += fit(lines[i], terminal.width - 1, terminal.colours) + "\x1b[K\n";
  }
  text += "\x1b[J";  // clears the rest below
  drawn_ = static_cast<int>(shown);
  put(text);
}

void Block::wipe() {
  if (drawn_ > 0) put(fmt::format("\r\x1b[{}A\x1b[J", drawn_));
  drawn_ = 0;
}

void Block::put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stream_);
  std::fflush(stream_);
}

}  // namespace hearsay::cli
