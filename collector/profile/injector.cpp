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
}

namespace warpmeter::profile {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "libwarpmeter_inject.so";
constexpr std::size_t longest_folder = 80;  // a socket's path has 107 characters

std::string_view embedded() {
  return {warpmeter_injector,
          static_cast<std::size_t>(warpmeter_injector_end - warpmeter_injector)};
}

/// An older or newer library would not understand us.
bool is_ours(const fs::path& file) {
  std::error_code ignored;
  if (fs::file_size(file, ignored) != embedded().size() || ignored) return false;
  std::ifstream stream(file, std::ios::binary);
  return std::string{std::istreambuf_iterator<char>(stream), {}} == embedded();
}

}  // namespace

PrivateFolder::PrivateFolder() : TemporaryFolder(longest_folder) {}

fs::path find_injector(const fs::path& program, const fs::path& folder) {
  const fs::path beside = program.parent_path();
  for (const fs::path& file : {beside / file_name, beside / ".." / "lib" / file_name}) {
    if (is_ours(file)) return file.lexically_normal();
  }
  const fs::path file = folder / file_name;
  std::ofstream stream(file, std::ios::binary);
  stream.write(embedded().data(), static_cast<std::streamsize>(embedded().size()));
  stream.close();
  if (!stream) {
    throw Error(ExitCode::file,
                fmt::format("{} cannot be written; set TMPDIR to a folder with 4 MB of room",
                            file.string()));
  }
  return file;
}

}  // namespace warpmeter::profile
