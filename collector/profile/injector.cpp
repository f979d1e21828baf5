#include "collector/profile/injector.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"

extern "C" {
extern const char warpmeter_injector[], warpmeter_injector_end[];
extern const char warpmeter_runtime[], warpmeter_runtime_end[];
}

namespace warpmeter::profile {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_folder = 80;  // a socket's path has 107 characters

const char* file_name_of(Library library) {
  return library == Library::runtime ? "libwarpmeter_runtime.so" : "libwarpmeter_inject.so";
}

std::string_view embedded(Library library) {
  const bool is_runtime = library == Library::runtime;
  const char* begin = is_runtime ? warpmeter_runtime : warpmeter_injector;
  const char* end = is_runtime ? warpmeter_runtime_end : warpmeter_injector_end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

/// An older or newer library would not understand us.
bool is_ours(Library library, const fs::path& file) {
  std::error_code ignored;
  if (fs::file_size(file, ignored) != embedded(library).size() || ignored) return false;
  std::ifstream stream(file, std::ios::binary);
  return std::string{std::istreambuf_iterator<char>(stream), {}} == embedded(library);
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
  std::ofstream stream(file, std::ios::binary);
  stream.write(embedded(library).data(), static_cast<std::streamsize>(embedded(library).size()));
  stream.close();
  if (!stream) {
    throw Error(ExitCode::file,
                fmt::format("{} cannot be written; set TMPDIR to a folder with 20 MB of room",
                            file.string()));
  }
  return file;
}

}  // namespace warpmeter::profile
