// SPDX-License-Identifier: MIT
#include "collector/cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace warpmeter::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool is_terminal(int descriptor) {
  return isatty(descriptor) == 1 && environment("TERM") != "dumb";
}

int terminal_width(int descriptor) {
  struct winsize size {};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string coloured(int descriptor, Colour colour, std::string_view text) {
  if (!is_terminal(descriptor) || !environment("NO_COLOR").empty()) return std::string(text);
  const int code = colour == Colour::red ? 31 : colour == Colour::green ? 32 : 33;
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void say(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace warpmeter::cli
