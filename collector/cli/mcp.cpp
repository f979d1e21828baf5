// SPDX-License-Identifier: MIT
// `warpmeter mcp`: a server of the Model Context Protocol. The Python module warpmeter.mcp is the
// server, since the protocol's official SDK is Python. This process becomes it.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "collector/cli/options.h"
#include "collector/cli/usage.h"

namespace warpmeter::cli {
namespace {

/// Run with -P: nothing of the working folder is imported.
constexpr const char* server = R"(
import sys
try:
    import warpmeter
    from warpmeter.mcp import main
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("warpmeter"):
        raise
    print(f"warpmeter: mcp needs the Python module warpmeter, which {sys.executable} lacks or has in "
          "an older version: run pip install . in a checkout of warpmeter, and pip install 'mcp>=2'", file=sys.stderr)
    sys.exit(4)
main()
)";

struct McpCommand {
  std::string folder;
  double time_limit = 60;
};

/// The Python beside the program, where both are in one virtual environment; else the one on PATH.
std::string python_for(const std::filesystem::path& program) {
  const std::filesystem::path folder = program.parent_path(), beside = folder / "python3";
  std::error_code ignored;
  const bool is_environment = std::filesystem::exists(folder.parent_path() / "pyvenv.cfg", ignored);
  return is_environment && access(beside.c_str(), X_OK) == 0 ? beside.string() : "python3";
}

ExitCode run(const McpCommand& command) {
  if (command.folder.empty()) {
    throw Error(ExitCode::usage,
                "mcp needs --folder: the one folder whose files it may read and write");
  }
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(command.folder, error);
  if (error || !std::filesystem::is_directory(folder)) {
    throw Error(ExitCode::file, fmt::format("there is no folder {}", command.folder));
  }
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string python = python_for(program);
  std::vector<std::string> words = {python,         "-P",
                                    "-c",           server,
                                    "--folder",     folder.string(),
                                    "--time-limit", fmt::format("{}", command.time_limit),
                                    "--program",    program.string()};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(python.c_str(), pointers.data());
  throw Error(
      ExitCode::no_hardware,
      fmt::format("mcp needs {}, which cannot be started ({}): install Python 3.11 or newer",
                  python, std::strerror(errno)));
}

}  // namespace

Command add_mcp(CLI::App& program) {
  CLI::App& app =
      add_command(program, "mcp", "Serve agents and editors, by the Model Context Protocol",
                  {{"warpmeter mcp --folder kernels",
                    "how an agent starts it: it speaks over standard input"}});
  auto command = std::make_shared<McpCommand>();
  add_text(app, "--folder", "DIR", command->folder,
           "The folder whose files it may use; nothing outside of it is read or written for a "
           "caller");
  add_seconds(app, "--time-limit", command->time_limit,
              "A call that takes longer is stopped (default: 60)");
  return {&app, [command] { return run(*command); }};
}

}  // namespace warpmeter::cli
