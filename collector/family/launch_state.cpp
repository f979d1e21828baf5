// SPDX-License-Identifier: MIT
#include "collector/family/launch_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <system_error>

#include "collector/family/cpu_call.h"
#include "collector/model/input/fill.h"
#include "collector/model/input/includes.h"

namespace warpmeter::family {
namespace {

namespace fs = std::filesystem;

/// The file that an argument or a setting names after its '=', or "".
std::string file_in(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  return model::names_file(value) ? value : "";
}

/// Which contents a file has, without reading it.
std::string version_of(const std::string& path) {
  std::error_code ignored;
  return fmt::format("{} {} {}", path, fs::file_size(path, ignored),
                     fs::last_write_time(path, ignored).time_since_epoch().count());
}

std::string state_of(const std::vector<Text>& texts) {
  std::string state;
  for (const Text& text : texts) {
    const std::string file = file_in(text.text);
    state += fmt::format("{} {}\n", text.text, file.empty() ? "" : version_of(file));
  }
  return state;
}

/// The entry with the module's functions and variables; other entries are none of its business, and
/// neither are line numbers and debug information.
std::string code_of(std::string_view ptx, const std::string& entry) {
  std::string code;
  const std::string own = fmt::format(".entry {}(", entry);
  bool is_other = false;
  for (std::size_t begin = 0; begin < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', begin), ptx.size());
    const std::string_view line = ptx.substr(begin, end - begin);
    begin = end + 1;
    if (line.find(".entry ") != std::string_view::npos) {
      is_other = line.find(own) == std::string_view::npos;
    }
    const std::size_t word = line.find_first_not_of(" \t");
    const std::string_view rest = word == std::string_view::npos ? "" : line.substr(word);
    if (rest.starts_with(".section")) break;
    const bool is_place =
        rest.starts_with(".loc") || rest.starts_with(".file") || rest.starts_with("//");
    if (!is_other && !is_place) code.append(line).append("\n");
    if (line.starts_with('}')) is_other = false;
  }
  return code;
}

/// The digest of machine code: the whole of it.
std::string digest_of(std::span<const unsigned char> cubin) {
  const std::string_view bytes(reinterpret_cast<const char*>(cubin.data()), cubin.size());
  return fmt::format("{} {}\n", bytes.size(), std::hash<std::string_view>()(bytes));
}

/// The state of a launch by itself, whatever it is compared with.
std::string own_state(const FileFamily& file, const kernels::Variant& variant, std::int64_t n) {
  const FamilySpec& spec = file.spec();
  const Configuration& configuration = file.configuration_of(variant);
  const VariantSpec& written = *configuration.variant;
  const Geometry geometry = variant.geometry(n);
  std::string state = fmt::format("{} {}\n", variant.entry, variant.failure);
  for (const Dim3& extent : {geometry.grid, geometry.block, geometry.cluster}) {
    state += fmt::format("{} {} {}\n", extent.x, extent.y, extent.z);
  }
  state += fmt::format("{} {}\n", geometry.dynamic_shared_bytes, geometry.is_cooperative);
  for (const auto& [name, value] : configuration.values) {
    state += fmt::format("{}={}\n", name, value);
  }
  state += state_of(written.arguments ? *written.arguments : spec.arguments);
  state += state_of(spec.settings) + state_of(written.settings);
  if (variant.image == nullptr) return state;
  const kernels::Code& code = variant.image->codes.front();
  state += code.ptx.empty() ? digest_of(code.cubin) : code_of(code.ptx, variant.entry);
  return state;
}

}  // namespace

std::vector<std::string> files_of(const FamilySpec& spec) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& path) {
    if (!path.empty()) files.push_back(path);
  };
  add(spec.path);
  add(spec.source);
  add(spec.cubin);
  if (spec.source.ends_with(".cu")) {
    const auto headers = model::included_files(spec.source, spec.options.includes);
    files.insert(files.end(), headers.begin(), headers.end());
  }
  const auto add_named = [&](const std::vector<Text>& texts) {
    for (const Text& text : texts) add(file_in(text.text));
  };
  add_named(spec.arguments);
  add_named(spec.settings);
  for (const VariantSpec& variant : spec.variants) {
    if (variant.arguments) add_named(*variant.arguments);
    add_named(variant.settings);
  }
  const auto add_results = [&](const Results& results) {
    for (const auto& [buffer, result] : results) {
      if (!is_cpu_call(result.text)) add(result.text);
    }
  };
  add_results(spec.results);
  for (const VariantSpec& variant : spec.variants) add_results(variant.results);
  return files;
}

std::string launch_state(const FileFamily& file, const kernels::Variant& variant, std::int64_t n) {
  const FamilySpec& spec = file.spec();
  std::string state = own_state(file, variant, n);
  state += fmt::format("{} {} {}\n", spec.relative, spec.absolute, spec.nan_equals_nan);
  state += state_of(spec.outputs);
  for (const Results* results : {&spec.results, &file.configuration_of(variant).variant->results}) {
    for (const auto& [buffer, result] : *results) {
      state += fmt::format("{} {}\n", buffer,
                           is_cpu_call(result.text) ? result.text : version_of(result.text));
    }
  }
  const kernels::Variant* reference = file.family().find(variant.reference);
  if (reference != nullptr) state += "reference\n" + own_state(file, *reference, n);
  return state;
}

}  // namespace warpmeter::family
