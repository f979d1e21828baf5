#include "collector/runtime/caller.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/kernel_name.h"
#include "collector/runtime/object_file.h"

namespace warpmeter::runtime {
namespace {

struct Function {
  std::uint64_t address = 0, bytes = 0;
  std::string name;
};

/// The functions of an object by their addresses in its file; read once.
const std::vector<Function>& functions_of(const std::string& path) {
  static std::map<std::string, std::vector<Function>> known;
  const auto [place, is_new] = known.try_emplace(path);
  if (!is_new) return place->second;
  std::vector<Function>& functions = place->second;
  const ObjectFile file(path.c_str());
  file.for_each_function([&](const char* name, std::uint64_t value, std::uint64_t bytes) {
    functions.push_back({value, bytes, name});
  });
  std::sort(functions.begin(), functions.end(),
            [](const Function& a, const Function& b) { return a.address < b.address; });
  return functions;
}

}  // namespace

std::string function_at(const void* address) {
  Dl_info info{};
  void* extra = nullptr;
  if (dladdr1(address, &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) return "";
  const auto& map = *static_cast<const link_map*>(extra);
  const bool is_program = map.l_name == nullptr || map.l_name[0] == '\0';
  const std::vector<Function>& functions = functions_of(is_program ? "/proc/self/exe" : map.l_name);
  const auto offset = reinterpret_cast<std::uintptr_t>(address) - map.l_addr;
  const auto after = std::upper_bound(
      functions.begin(), functions.end(), offset,
      [](std::uint64_t at, const Function& function) { return at < function.address; });
  if (after == functions.begin()) return "";
  const Function& function = *std::prev(after);
  if (function.bytes != 0 && offset - function.address > function.bytes) return "";
  return readable_name(function.name);
}

}  // namespace warpmeter::runtime
