// SPDX-License-Identifier: MIT
#include "tests/paths.h"
// The arrows between folders, as docs/building.md draws them: which folder may include what. The
// test reads every source file's #include lines and names each one that no arrow allows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Layer {
  std::string folder;
  std::vector<std::string> folders;  ///< the folders of ours that it may include, besides itself
  std::vector<std::string>
      libraries;  ///< prefixes of <…> includes, besides the standard library and fmt
};

const std::vector<Layer>& layers() {
  // The deepest folder that holds a file decides. A folder may include those above it in this
  // table; "folder/*" names a folder with all below it.
  static const std::vector<Layer> table = {
      {"base", {}, {"sanitizer/", "utf8proc.h"}},
      {"kernels", {"base"}, {}},
      {"schema", {"base"}, {"sqlite3.h", "nlohmann/"}},
      {"schema/figures", {"base", "schema"}, {}},
      {"schema/nvprof_file", {"base", "schema", "schema/figures"}, {}},
      {"schema/merge", {"base", "schema", "schema/nvprof_file"}, {}},
      {"schema/upkeep", {"base", "schema"}, {}},
      {"schema/server", {"base", "schema", "schema/merge"}, {"libpq-fe.h"}},
      {"collector/run", {"base", "kernels", "schema"}, {"nvtx3/"}},
      {"collector/cupti",
       {"base", "collector/model/counts/sass/waiting.h", "collector/run/backend.h",
        "kernels/family.h", "schema"},
       {"cuda.h", "cupti"}},
      {"collector/cupti/peaks",
       {"base", "collector/cupti", "kernels/family.h", "schema", "schema/upkeep/peaks.h"},
       {"cuda.h", "cuda_fp16.h", "cupti"}},
      {"collector/inject/lines", {"base", "collector/cupti", "schema"}, {"cuda.h", "cupti"}},
      {"collector/inject/names", {"base", "collector/cupti"}, {"cuda.h", "cupti"}},
      {"collector/inject",
       {"base", "collector/cupti", "collector/inject/lines", "collector/inject/names",
        "collector/model/counts/sass/waiting.h", "schema"},
       {"cuda.h", "cupti", "nvtx3/"}},
      {"collector/profile", {"base", "collector/inject", "schema"}, {}},
      // The rooms of the model.
      {"collector/model/ptx", {}, {}},
      {"collector/model/ptx/flow", {"collector/model/ptx"}, {}},
      {"collector/model/ptx/memory", {"collector/model/ptx", "collector/model/ptx/flow"}, {}},
      {"collector/model/ptx/parse", {"collector/model/ptx", "collector/model/ptx/flow"}, {}},
      {"collector/model/counts/rules", {"base"}, {}},
      {"collector/model/machine/memory", {"base", "collector/model/counts/rules"}, {}},
      {"collector/model/machine/operations", {}, {}},
      {"collector/model/machine/warp",
       {"base", "collector/model/machine/operations", "collector/model/ptx",
        "collector/model/ptx/memory"},
       {"xmmintrin.h"}},
      // An instruction holds what executes it, hence the single headers.
      {"collector/model/machine",
       {"base", "collector/model/counts/rules", "collector/model/machine/execute/narrow.h",
        "collector/model/machine/launch/launch.h", "collector/model/machine/memory",
        "collector/model/machine/native/code.h", "collector/model/machine/texture/access.h",
        "collector/model/machine/warp", "collector/model/ptx"},
       {}},
      {"collector/model/machine/texture",
       {"base", "collector/model/machine", "collector/model/machine/memory",
        "collector/model/machine/warp"},
       {}},
      {"collector/model/machine/execute",
       {"collector/model/machine", "collector/model/machine/texture",
        "collector/model/machine/warp"},
       {}},
      {"collector/model/machine/native",
       {"collector/model/machine", "collector/model/machine/execute",
        "collector/model/machine/warp"},
       {"xbyak/"}},
      {"collector/model/machine/decode",
       {"base", "collector/model/counts/rules", "collector/model/machine",
        "collector/model/machine/memory", "collector/model/machine/warp", "collector/model/ptx/*"},
       {}},
      {"collector/model/machine/launch",
       {"base", "collector/model/counts/rules", "collector/model/machine",
        "collector/model/machine/execute", "collector/model/machine/memory",
        "collector/model/machine/texture", "collector/model/machine/warp"},
       {}},
      {"collector/model/counts/sass",
       {"base", "collector/model/machine/*", "collector/model/ptx/*"},
       {}},
      {"collector/model/counts",
       {"base", "collector/model/counts/sass", "collector/model/machine/*", "schema",
        "schema/figures"},
       {}},
      {"collector/model/counts/steps",
       {"base", "collector/model/counts/sass", "collector/model/machine/*",
        "collector/model/ptx/*"},
       {}},
      {"collector/model/check/unset",
       {"base", "collector/model/counts/rules", "collector/model/machine",
        "collector/model/machine/memory", "collector/model/machine/warp"},
       {}},
      {"collector/model/check",
       {"base", "collector/model/check/unset", "collector/model/counts/rules",
        "collector/model/machine", "collector/model/machine/launch",
        "collector/model/machine/memory", "collector/model/machine/warp"},
       {}},
      {"collector/model/explain",
       {"base", "collector/model/counts", "collector/model/counts/rules",
        "collector/model/machine/*", "schema"},
       {}},
      {"collector/model/input",
       {"base", "collector/model/ptx/*", "collector/model/machine/*", "schema/catalogue.h"},
       {"nlohmann/", "nvrtc.h", "yaml-cpp/"}},
      {"collector/model/session",
       {"base", "collector/model/check/*", "collector/model/counts/*", "collector/model/explain",
        "collector/model/input", "collector/model/machine/*", "collector/model/ptx/*",
        "collector/run/backend.h", "kernels/family.h", "kernels/images.h", "schema"},
       {}},
      // The rooms of the library that answers CUDA's API; each one may include those above it.
      {"collector/runtime/device",
       {"base", "collector/model/machine/*", "schema/records.h"},
       {"cuda.h", "cuda_runtime_api.h"}},
      {"collector/runtime/memory", {"collector/model/machine/*", "collector/runtime/device"}, {}},
      {"collector/runtime/image",
       {"base", "collector/model/counts/sass", "collector/model/counts/steps",
        "collector/model/input", "collector/model/machine/*", "collector/model/ptx/*",
        "collector/runtime/device", "collector/runtime/memory"},
       {"lz4.h", "zstd.h"}},
      {"collector/runtime/graph",
       {"base", "collector/model/machine/*", "collector/runtime/device",
        "collector/runtime/memory"},
       {}},
      {"collector/runtime/check",
       {"base", "collector/inject/channel.h", "collector/inject/filter.h",
        "collector/inject/protocol.h", "collector/inject/ranges.h",
        "collector/inject/shape_numbers.h", "collector/model/check/*", "collector/model/counts",
        "collector/model/explain", "collector/model/input", "collector/model/machine/*",
        "collector/runtime/device", "collector/runtime/graph", "collector/runtime/image",
        "collector/runtime/memory", "schema/records.h"},
       {"backtrace.h", "ucontext.h", "unwind.h"}},
      {"collector/runtime/process",
       {"base", "collector/inject/names/named.h", "collector/model/check/*",
        "collector/model/machine/*", "collector/runtime/check", "collector/runtime/device",
        "collector/runtime/graph", "collector/runtime/image", "collector/runtime/memory"},
       {"cuda_occupancy.h"}},
      {"collector/runtime/stream",
       {"base", "collector/model/check/*", "collector/model/counts", "collector/model/machine/*",
        "collector/runtime/check", "collector/runtime/device", "collector/runtime/graph",
        "collector/runtime/image", "collector/runtime/memory", "collector/runtime/process"},
       {}},
      {"collector/runtime/api",
       {"base", "collector/model/machine/*", "collector/model/ptx/*", "collector/runtime/check",
        "collector/runtime/device", "collector/runtime/graph", "collector/runtime/image",
        "collector/runtime/memory", "collector/runtime/process", "collector/runtime/stream"},
       {"nvJitLink.h"}},
      {"collector/runtime/api/driver",
       {"collector/model/machine/*", "collector/model/ptx/*", "collector/runtime/api",
        "collector/runtime/device", "collector/runtime/graph", "collector/runtime/image",
        "collector/runtime/memory", "collector/runtime/process", "collector/runtime/stream"},
       {}},
      {"collector/runtime/blas",
       {"base/own_stack.h", "collector/model/machine/order.h", "collector/runtime/api/answers.h",
        "collector/runtime/check", "collector/runtime/device", "collector/runtime/process",
        "collector/runtime/stream"},
       {}},
      {"collector/runtime/entry",
       {"base/own_stack.h", "base/sanitizer.h", "collector/inject/channel.h",
        "collector/inject/protocol.h", "collector/model/input", "collector/model/machine/order.h",
        "collector/runtime/api", "collector/runtime/blas/handles.h",
        "collector/runtime/check/checks.h", "collector/runtime/check/sources.h",
        "collector/runtime/device", "collector/runtime/image", "collector/runtime/process",
        "collector/runtime/stream"},
       {"cuda_runtime_api.h", "nvJitLink.h", "nvrtc.h"}},
      {"collector/family",
       {"base", "collector/model/input", "collector/model/ptx/*", "collector/model/counts/sass",
        "collector/model/machine/decode/decode.h", "collector/model/machine/program.h", "kernels",
        "schema/catalogue.h"},
       {"nlohmann/", "yaml-cpp/"}},
      {"collector/lab", {"base"}, {"nlohmann/"}},
      {"reports/sql", {}, {}},
      {"reports/table", {"base", "schema"}, {"nlohmann/"}},
      {"reports/trace", {"base", "schema"}, {"nlohmann/", "protozero/", "zlib.h"}},
      {"reports/plot", {"base", "reports/table"}, {}},
      {"reports/nvprof", {"base", "schema", "reports/trace"}, {}},
      {"reports",
       {"base", "reports/plot", "reports/sql", "reports/table", "schema", "schema/figures"},
       {"boost/"}},
      {"reports/limits", {"base", "reports", "reports/sql", "reports/table", "schema"}, {}},
      {"reports/explain",
       {"base", "reports", "reports/plot", "reports/sql", "reports/table", "schema",
        "schema/figures"},
       {"nlohmann/"}},
      {"reports/compare",
       {"base", "reports", "reports/explain", "reports/limits", "reports/sql", "reports/table",
        "schema", "schema/figures"},
       {"nlohmann/"}},
      {"reports/gates",
       {"base", "reports", "reports/compare", "reports/sql", "reports/table", "schema",
        "schema/figures"},
       {"nlohmann/", "pugixml.hpp", "toml++/"}},
      {"reports/sections",
       {"base", "reports", "reports/compare", "reports/explain", "reports/limits", "reports/plot",
        "reports/sql", "reports/table", "reports/trace", "schema"},
       {}},
      {"reports/render",
       {"base", "reports", "reports/sections", "reports/sql", "reports/table", "schema"},
       {}},
      // For programs that measure themselves.
      {"collector/library",
       {"base", "collector/cli/request/run_record.h", "collector/cli/version.h", "collector/cupti",
        "collector/inject/channel.h", "collector/inject/protocol.h", "collector/model/input",
        "collector/profile", "reports/*", "schema"},
       {}},
      // The commands. The last ones may use what others measure.
      {"collector/cli",
       {"base", "collector/cupti", "collector/family", "collector/model/*", "collector/run",
        "collector/runtime/image", "reports/*", "schema"},
       {"CLI/"}},
      {"collector/cli/tables",
       {"base", "collector/cli", "collector/model/*", "collector/profile", "reports/*", "schema",
        "schema/figures"},
       {}},
      {"collector/cli/request",
       {"base", "collector/cli", "collector/family", "collector/model/*", "collector/run",
        "reports/*", "schema"},
       {"CLI/"}},
      {"collector/cli/report",
       {"base", "collector/cli", "collector/cupti", "collector/family", "collector/model/*",
        "reports/*", "schema/*"},
       {"CLI/"}},
      {"collector/cli/profile",
       {"base", "collector/cli", "collector/cli/request", "collector/cli/tables", "collector/cupti",
        "collector/inject", "collector/lab", "collector/model/*", "collector/profile",
        "collector/run", "collector/runtime/image", "reports/*", "schema", "schema/nvprof_file"},
       {"CLI/"}},
      {"collector/cli/nvprof",
       {"base", "collector/cli", "collector/cli/profile", "collector/cli/tables", "collector/cupti",
        "collector/inject", "collector/profile", "reports/nvprof", "reports/table", "schema",
        "schema/nvprof_file"},
       {"CLI/"}},
      {"collector/cli/run",
       {"base", "collector/cli", "collector/cli/profile", "collector/cli/request",
        "collector/cli/tables", "collector/family", "collector/lab", "collector/model/*",
        "collector/run", "reports/*", "schema"},
       {"CLI/"}},
      {"collector/cli/submit",
       {"base", "collector/cli", "collector/cli/request", "collector/cli/run", "collector/lab",
        "collector/profile", "reports/*", "schema"},
       {"CLI/"}},
      {"collector/cli/model",
       {"base", "collector/cli", "collector/cli/report", "collector/cli/request",
        "collector/cli/tables", "collector/cupti", "collector/cupti/peaks", "collector/family",
        "collector/model/*", "collector/profile", "collector/runtime/image", "reports/*",
        "schema/*"},
       {"CLI/"}},
  };
  return table;
}

const Layer* layer_of(const std::string& path) {
  const Layer* best = nullptr;
  for (const Layer& layer : layers()) {
    if (path.rfind(layer.folder + "/", 0) != 0) continue;
    if (best == nullptr || layer.folder.size() > best->folder.size()) best = &layer;
  }
  return best;
}

bool starts_with_any(const std::string& text, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return text.rfind(prefix, 0) == 0; });
}

bool is_standard_or_system(const std::string& header) {
  // The standard library has no dot; POSIX and compiler headers are named.
  static const std::vector<std::string> system = {
      "sys/",      "unistd.h", "fcntl.h",  "fnmatch.h",   "dlfcn.h",   "sched.h",  "signal.h",
      "termios.h", "poll.h",   "spawn.h",  "immintrin.h", "elf.h",     "cxxabi.h", "regex.h",
      "glob.h",    "link.h",   "stdlib.h", "fmt/",        "pthread.h", "stddef.h", "stdint.h"};
  return header.find('.') == std::string::npos || starts_with_any(header, system);
}

std::vector<fs::path> sources() {
  std::vector<fs::path> files;
  for (const char* folder : {"base", "kernels", "schema", "collector", "reports"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(warpmeter::source_dir()) / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".h" || extension == ".cpp" || extension == ".cu" || extension == ".inc") {
        files.push_back(entry.path());
      }
    }
  }
  return files;
}

/// The name in an #include line, with its opening '"' or '<'; nullopt for any other line.
std::optional<std::string> included(const std::string& line) {
  std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string::npos || line[at] != '#') return std::nullopt;
  at = line.find_first_not_of(" \t", at + 1);
  if (at == std::string::npos || line.compare(at, 7, "include") != 0) return std::nullopt;
  const std::size_t open = line.find_first_of("<\"", at + 7);
  if (open == std::string::npos) return std::nullopt;
  const std::size_t close = line.find(line[open] == '<' ? '>' : '"', open + 1);
  if (close == std::string::npos) return std::nullopt;
  return line.substr(open, close - open);
}

/// True if an entry of the table names a header that this layer holds.
bool holds(const std::string& entry, const Layer& layer, const std::string& header) {
  if (entry == header || entry == layer.folder) return true;
  if (!entry.ends_with("/*")) return false;
  const std::string folder = entry.substr(0, entry.size() - 2);
  return layer.folder == folder || layer.folder.starts_with(folder + "/");
}

bool is_allowed(const Layer& layer, const std::string& include) {
  const std::string header = include.substr(1);
  if (include.front() == '<') {
    return is_standard_or_system(header) || starts_with_any(header, layer.libraries);
  }
  const Layer* of_header = layer_of(header);
  if (of_header == nullptr || of_header == &layer) return of_header != nullptr;
  return std::any_of(layer.folders.begin(), layer.folders.end(),
                     [&](const std::string& entry) { return holds(entry, *of_header, header); });
}

/// The includes of one file that its layer does not allow, as "path: #include …".
std::vector<std::string> violations(const std::string& path, std::istream& text) {
  const Layer* layer = layer_of(path);
  if (layer == nullptr) return {path + ": no layer holds this file"};
  std::vector<std::string> found;
  for (std::string line; std::getline(text, line);) {
    const std::optional<std::string> include = included(line);
    if (include && !is_allowed(*layer, *include)) found.push_back(path + ": " + line);
  }
  return found;
}

std::vector<std::string> violations_in(const std::string& path, const std::string& text) {
  std::istringstream stream(text);
  return violations(path, stream);
}

TEST(Layering, EveryIncludeFollowsAnArrow) {
  const std::vector<fs::path> files = sources();
  ASSERT_GT(files.size(), 20U);
  for (const fs::path& file : files) {
    std::ifstream text(file);
    ASSERT_TRUE(text) << file;
    const std::string path = fs::relative(file, warpmeter::source_dir()).string();
    for (const std::string& violation : violations(path, text)) ADD_FAILURE() << violation;
  }
}

TEST(Layering, NoArrowLeadsUp) {
  for (auto layer = layers().begin(); layer != layers().end(); ++layer) {
    for (const std::string& entry : layer->folders) {
      for (auto other = layer; other != layers().end(); ++other) {
        EXPECT_FALSE(holds(entry, *other, "")) << layer->folder << " → " << other->folder;
      }
    }
  }
}

TEST(Layering, NoFolderHoldsMoreThanFortyFiles) {
  std::map<fs::path, int> files;
  for (const fs::path& file : sources()) ++files[file.parent_path()];
  for (const auto& [folder, count] : files) {
    if (folder.filename() != "base") EXPECT_LE(count, 40) << folder;
  }
}

/// Our headers by what they include of ours.
using Includes = std::map<std::string, std::vector<std::string>>;

Includes headers() {
  Includes includes;
  for (const fs::path& file : sources()) {
    if (file.extension() != ".h") continue;
    std::ifstream text(file);
    std::vector<std::string>& all = includes[fs::relative(file, warpmeter::source_dir()).string()];
    for (std::string line; std::getline(text, line);) {
      const std::optional<std::string> include = included(line);
      if (include && include->front() == '"') all.push_back(include->substr(1));
    }
  }
  return includes;
}

/// The first headers that lead back to one of them, "a.h → b.h → a.h"; empty when none do.
std::string circle_from(const Includes& includes, const std::string& header,
                        std::vector<std::string>& way, std::set<std::string>& done) {
  const bool is_on_the_way = std::find(way.begin(), way.end(), header) != way.end();
  way.push_back(header);
  if (is_on_the_way) {
    std::string circle;
    for (auto at = std::find(way.begin(), way.end(), header); at != way.end(); ++at) {
      circle += (circle.empty() ? "" : " → ") + *at;
    }
    return circle;
  }
  if (const auto known = includes.find(header);
      known != includes.end() && done.insert(header).second) {
    for (const std::string& next : known->second) {
      std::string circle = circle_from(includes, next, way, done);
      if (!circle.empty()) return circle;
    }
  }
  way.pop_back();
  return "";
}

std::string circle_in(const Includes& includes) {
  std::set<std::string> done;
  for (const auto& [header, all] : includes) {
    std::vector<std::string> way;
    std::string circle = circle_from(includes, header, way, done);
    if (!circle.empty()) return circle;
  }
  return "";
}

TEST(Layering, NoHeaderLeadsBackToItself) {
  EXPECT_EQ(circle_in(headers()), "");
  EXPECT_EQ(circle_in({{"a.h", {"b.h", "d.h"}}, {"b.h", {"c.h"}}, {"c.h", {"b.h"}}, {"d.h", {}}}),
            "b.h → c.h → b.h");
  EXPECT_EQ(circle_in({{"a.h", {"b.h", "c.h"}}, {"b.h", {"c.h"}}, {"c.h", {}}}), "");
}

TEST(Layering, ForbiddenArrowsAreFound) {
  const struct {
    std::string path, line;
  } forbidden[] = {
      {"reports/a.cpp", "#include \"collector/run/session.h\""},
      {"reports/a.cpp", "#include <sqlite3.h>"},
      {"schema/a.cpp", "#include <libpq-fe.h>"},
      {"kernels/a.cpp", "#include \"schema/store.h\""},
      {"collector/run/a.cpp", "  #  include <cupti.h>"},
      {"collector/model/ptx/a.cpp", "#include \"base/error.h\""},
      {"collector/model/machine/a.cpp", "#include \"collector/model/counts/grades.h\""},
      {"collector/model/machine/a.cpp", "#include \"collector/model/check/checker.h\""},
      {"collector/model/machine/a.cpp", "#include \"collector/model/input/kernel_file.h\""},
      {"collector/model/machine/a.cpp", "#include <xbyak/xbyak.h>"},
      {"collector/model/check/a.cpp", "#include \"collector/model/counts/grades.h\""},
  };
  for (const auto& [path, line] : forbidden) {
    // Beside one that is allowed, which is not named.
    EXPECT_THAT(violations_in(path, "#include <vector>\n" + line + "\n"),
                testing::ElementsAre(path + ": " + line));
  }
  EXPECT_THAT(violations_in("collector/model/a.cpp", "#include <vector>\n"),
              testing::ElementsAre("collector/model/a.cpp: no layer holds this file"));
}

TEST(Layering, AllowedArrowsAreNotReported) {
  EXPECT_TRUE(violations_in("reports/a.cpp",
                            "#include <vector>\n#include <fmt/format.h>\n"
                            "#include \"schema/store.h\"\n")
                  .empty());
  EXPECT_TRUE(violations_in("collector/cupti/a.cpp",
                            "#include <cupti.h>\n#include \"collector/run/backend.h\"\n")
                  .empty());
}

}  // namespace
