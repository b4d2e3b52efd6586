#include "cli/screen.h"

#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

namespace hearsay::cli {

namespace {

/// In the child: never returns.
[[noreturn]] void become_hearsay(const Words& arguments, const std::filesystem::path& directory,
                                 const Variables& variables) {
  ::setenv("TERM", "xterm", 1);
  for (const char* name : {"NO_COLOR", "COLUMNS", "LINES"}) ::unsetenv(name);
  for (const std::string& variable : variables) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos) {
      ::unsetenv(variable.c_str());
    } else {
      ::setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
    }
  }
  Words words = {HEARSAY_CLI};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (::chdir(directory.c_str()) == 0) ::execv(argv[0], argv.data());
  ::_exit(127);
}

}  // namespace

TerminalResult hearsay_on_terminal(const Words& arguments, const std::filesystem::path& directory,
                                   int width, int height, const Variables& variables,
                                   const std::string& after, int signal) {
  const winsize window{static_cast<unsigned short>(height), static_cast<unsigned short>(width), 0,
                       0};
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &window);
  if (child < 0) throw std::runtime_error("no terminal");
  if (child == 0) become_hearsay(arguments, directory, variables);
  TerminalResult result{};
  char buffer[4096];
  bool sent = after.empty();
  for (;;) {
    const ssize_t size = ::read(terminal, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;  // EIO: the child has ended
    result.said.append(buffer, static_cast<std::size_t>(size));
    if (!sent && result.said.find(after) != std::string::npos) {
      ::kill(child, signal);
      sent = true;
    }
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ::close(terminal);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return result;
}

void Screen::put(char byte) {
  if (column_ == static_cast<std::size_t>(width_)) {
    wrapped_ = true;
    column_ = 0;
    if (++row_ == lines_.size()) lines_.emplace_back();
  }
  std::string& line = lines_[row_];
  if (line.size() <= column_) line.resize(column_ + 1, ' ');
  line[column_++] = byte;
}

void Screen::escape(int number, char kind) {
  switch (kind) {
    case 'm':
      coloured_ = true;
      break;
    case 'A':
      ++redraws_;
      row_ -= std::min(row_, static_cast<std::size_t>(number));
      break;
    case 'K':
      lines_[row_].resize(std::min(lines_[row_].size(), column_));
      break;
    case 'J':
      lines_.resize(row_ + 1);
      lines_[row_].resize(std::min(lines_[row_].size(), column_));
      break;
    default:
      unknown_ += kind;
  }
}

void Screen::write(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char byte = bytes[i];
    if (byte == '\r') {
      column_ = 0;
    } else if (byte == '\n') {
      if (++row_ == lines_.size()) lines_.emplace_back();
    } else if (byte == '\x1b' && i + 1 < bytes.size() && bytes[i + 1] == '[') {
      int number = 0;
      for (i += 2; i < bytes.size() && bytes[i] >= '0' && bytes[i] <= '9'; ++i) {
        number = 10 * number + (bytes[i] - '0');
      }
      if (i < bytes.size()) escape(number, bytes[i]);
    } else if (static_cast<unsigned char>(byte) < 0x20) {
      unknown_ += byte;
    } else {
      put(byte);
    }
  }
}

std::string Screen::text() const {
  std::string text;
  for (const std::string& line : lines_) {
    const std::size_t end = line.find_last_not_of(' ');
    text += (end == std::string::npos ? "" : line.substr(0, end + 1)) + "\n";
  }
  return text;
}

}  // namespace hearsay::cli
