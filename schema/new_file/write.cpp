// SPDX-License-Identifier: MIT
// Writes the pieces of a new database (new_file.h): rows of { offset, bytes }. The one argument is
// the name of a file that it may write meanwhile.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "schema/database.h"
#include "schema/new_file/new_file.h"

namespace warpmeter::schema::embedded {

std::span<const Piece> new_file() { return {}; }

}  // namespace warpmeter::schema::embedded

namespace {

/// A piece ends where this many zeros follow.
constexpr std::size_t gap = 32;

void print(std::size_t offset, std::string_view bytes) {
  std::printf("{%zu, {\"", offset);
  for (const char c : bytes) std::printf("\\%03o", static_cast<unsigned char>(c));
  std::printf("\", %zu}},\n", bytes.size());
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string path = arguments[1];
  std::filesystem::remove(path);
  warpmeter::schema::open_for_writing(path).reset();
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  const std::string zeros(gap, '\0');
  std::size_t begin = 0;
  while ((begin = text.find_first_not_of('\0', begin)) != std::string::npos) {
    const std::size_t end = std::min(text.find(zeros, begin), text.size());
    print(begin, std::string_view(text).substr(begin, end - begin));
    begin = end;
  }
  if (text.empty()) return 1;
  if (text.back() == '\0') print(text.size() - 1, std::string_view("\0", 1));
  return 0;
}
