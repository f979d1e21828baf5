#include "base/temporary.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "base/error.h"

namespace warpmeter {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(std::size_t longest) {
  std::error_code ignored;
  fs::path base = fs::temp_directory_path(ignored);
  if (ignored || base.string().size() > longest) base = "/tmp";
  std::string pattern = (base / "warpmeter.XXXXXX").string();
  const SignalsHeld held;
  if (mkdtemp(pattern.data()) == nullptr) {
    throw Error(ExitCode::file, fmt::format("no folder can be made in {} ({}); set TMPDIR to one "
                                            "that can be written",
                                            base.string(), std::strerror(errno)));
  }
  path_ = pattern;
  doomed_ = std::make_unique<Doomed>(pattern);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

mode_t usual_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace warpmeter
