// SPDX-License-Identifier: MIT
#include "collector/runtime/image/program_file.h"

#include <algorithm>
#include <set>
#include <utility>

#include "collector/runtime/image/fat_binary.h"
#include "collector/runtime/image/object_file.h"

namespace warpmeter::runtime {
namespace {

/// NVIDIA ships machine code alone for these libraries, which calls the driver's own tables.
constexpr std::string_view of_machine_code[] = {
    "libcublas", "libcudnn", "libcufft",  "libcusparse", "libcusolver", "libcurand",    "libnccl",
    "libnppi",   "libnpps",  "libnvjpeg", "libcutensor", "libnvinfer",  "libcusparseLt"};

bool begins_with_one(std::string_view name) {
  return std::any_of(std::begin(of_machine_code), std::end(of_machine_code),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// nvcc writes members without any kernel too, for files of host code and for its linker.
bool has_code(const FatEntry& entry) {
  const std::vector<std::byte> raw = unpack(entry);
  const std::string_view text(reinterpret_cast<const char*>(raw.data()), raw.size());
  const bool is_ptx = entry.kind == FatEntry::Kind::ptx;
  return text.find(is_ptx ? ".entry" : ".text.") != std::string_view::npos;
}

void keep_architectures(ProgramFile& program, const std::vector<Bytes>& binaries) {
  std::set<int> ptx(program.ptx.begin(), program.ptx.end());
  std::set<int> machine_code(program.machine_code.begin(), program.machine_code.end());
  for (const Bytes binary : binaries) {
    for (const FatEntry& entry : entries_of(binary)) {
      if (!has_code(entry)) continue;
      (entry.kind == FatEntry::Kind::ptx ? ptx : machine_code).insert(entry.arch);
    }
  }
  program.ptx.assign(ptx.begin(), ptx.end());
  program.machine_code.assign(machine_code.begin(), machine_code.end());
}

WayIn way_into(const ObjectFile& file) {
  bool needs_runtime = false, needs_driver = false;
  for (const std::string_view needed : file.needed()) {
    needs_runtime |= needed.starts_with("libcudart.so");
    needs_driver |= needed.starts_with("libcuda.so");
  }
  if (!file.is_program()) return WayIn::no_program;
  if (file.section(".interp").empty()) return WayIn::no_loader;
  bool has_runtime = false;
  file.for_each_function([&](std::string_view name, std::uint64_t, std::uint64_t) {
    has_runtime |= name == "__cudaRegisterFatBinary";
  });
  if (has_runtime) return WayIn::static_runtime;
  if (needs_runtime) return WayIn::shared_runtime;
  if (!file.section(".nv_fatbin").empty()) return WayIn::stripped;
  return needs_driver ? WayIn::driver : WayIn::loaded_later;
}

}  // namespace

WayIn read_way(const std::string& path) { return way_into(ObjectFile(path.c_str())); }

bool names_driver(const std::string& path) {
  return ObjectFile(path.c_str()).all().find("libcuda.so") != std::string_view::npos;
}

ProgramFile read_program(const std::string& path, int arch) {
  const ObjectFile file(path.c_str());
  ProgramFile program;
  for (const std::string_view needed : file.needed()) {
    if (begins_with_one(needed)) program.libraries.emplace_back(needed);
  }
  program.way = way_into(file);
  const auto [whole, is_damaged] = fat_binaries_in(bytes_in(file.section(".nv_fatbin")));
  const auto [apart, is_part_damaged] = fat_binaries_in(bytes_in(file.section("__nv_relfatbin")));
  program.is_damaged = is_damaged || is_part_damaged;
  keep_architectures(program, whole);
  keep_architectures(program, apart);
  for (const Bytes binary : whole) {
    ModuleSource source = source_of(binary, {}, arch);
    const bool has_kernels = source.ptx.find(".entry") != std::string::npos;
    if (has_kernels) program.modules.push_back(std::move(source));
  }
  if (!apart.empty()) {
    ModuleSource source = source_of(apart.front(), apart, arch);
    if (!source.ptx.empty() || !source.why_no_ptx.empty()) {
      program.modules.push_back(std::move(source));
    }
  }
  return program;
}

std::string no_way_into(WayIn way) {
  switch (way) {
    case WayIn::stripped:
      return "the CUDA runtime is linked into it and its symbols are stripped, so that nothing "
             "tells where the runtime's functions are: link it with nvcc -cudart shared, or "
             "without strip and -s";
    case WayIn::no_loader:
      return "it is statically linked as a whole (-static), so that no library can be preloaded: "
             "link it without -static";
    case WayIn::no_program:
      return "it is no program of this kind of machine, perhaps a script: name the program that it "
             "starts";
    default:
      return "";
  }
}

}  // namespace warpmeter::runtime
