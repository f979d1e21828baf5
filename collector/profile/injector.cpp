// SPDX-License-Identifier: MIT
#include "collector/profile/injector.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"

extern "C" {
extern const char warpmeter_injector[], warpmeter_injector_end[];
extern const char warpmeter_runtime[], warpmeter_runtime_end[];
extern const char warpmeter_libcuda_so_1[], warpmeter_libcuda_so_1_end[];
extern const char warpmeter_libcudart_so_12[], warpmeter_libcudart_so_12_end[];
extern const char warpmeter_libcudart_so_13[], warpmeter_libcudart_so_13_end[];
}

namespace warpmeter::profile {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_folder = 80;  // a socket's path has 107 characters

const char* file_name_of(Library library) {
  return library == Library::runtime ? "libwarpmeter_runtime.so" : "libwarpmeter_inject.so";
}

std::string_view bytes_between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::string_view embedded(Library library) {
  const bool is_runtime = library == Library::runtime;
  const char* begin = is_runtime ? warpmeter_runtime : warpmeter_injector;
  const char* end = is_runtime ? warpmeter_runtime_end : warpmeter_injector_end;
  return bytes_between(begin, end);
}

/// Throws Error{file}.
void write_file(const fs::path& file, std::string_view bytes) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (stream) return;
  throw Error(ExitCode::file,
              fmt::format("{} cannot be written; set TMPDIR to a folder with 20 MB of room",
                          file.string()));
}

/// True if the linker wrote a hash of all that a library holds into this beginning of it (the ELF
/// note NT_GNU_BUILD_ID).
bool has_build_id(std::string_view beginning) {
  constexpr std::string_view note{"\4\0\0\0\24\0\0\0\3\0\0\0GNU\0", 16};
  return beginning.find(note) != std::string_view::npos;
}

/// An older or newer library would not understand us. Piece by piece: memory for all of it would
/// take longer than the comparison.
bool is_ours(Library library, const fs::path& file) {
  constexpr std::size_t with_notes = 4096;
  std::error_code ignored;
  std::string_view rest = embedded(library);
  if (fs::file_size(file, ignored) != rest.size() || ignored) return false;
  if (has_build_id(rest.substr(0, with_notes))) rest = rest.substr(0, with_notes);
  std::ifstream stream(file, std::ios::binary);
  std::string piece(std::size_t{1} << 16, '\0');
  while (!rest.empty()) {
    const std::size_t size = std::min(piece.size(), rest.size());
    stream.read(piece.data(), static_cast<std::streamsize>(size));
    if (!stream || std::string_view(piece).substr(0, size) != rest.substr(0, size)) return false;
    rest.remove_prefix(size);
  }
  return true;
}

}  // namespace

PrivateFolder::PrivateFolder() : TemporaryFolder(longest_folder) {}

fs::path find_library(Library library, const fs::path& program, const fs::path& folder) {
  const char* file_name = file_name_of(library);
  const fs::path beside = program.parent_path();
  for (const fs::path& file : {beside / file_name, beside / ".." / "lib" / file_name}) {
    if (is_ours(library, file)) return file.lexically_normal();
  }
  const fs::path file = folder / file_name;
  write_file(file, embedded(library));
  return file;
}

fs::path write_stand_ins(const fs::path& folder) {
  const fs::path libraries = folder / "lib";
  std::error_code ignored;
  fs::create_directory(libraries, ignored);
  const auto write = [&](const char* name, const char* begin, const char* end) {
    write_file(libraries / name, bytes_between(begin, end));
  };
  write("libcuda.so.1", warpmeter_libcuda_so_1, warpmeter_libcuda_so_1_end);
  write("libcudart.so.12", warpmeter_libcudart_so_12, warpmeter_libcudart_so_12_end);
  write("libcudart.so.13", warpmeter_libcudart_so_13, warpmeter_libcudart_so_13_end);
  // Programs ask dlopen for this name.
  fs::create_symlink("libcuda.so.1", libraries / "libcuda.so", ignored);
  fs::create_symlink("libcudart.so.13", libraries / "libcudart.so", ignored);
  return libraries;
}

}  // namespace warpmeter::profile
