// Fat binaries, as nvcc puts them into a program: PTX and machine code of one module for several
// architectures, plain or compressed.
//
// The layout is not documented by NVIDIA; it was read off the files that nvcc 13.0 writes, and 684
// entries of public binaries were unpacked by it without a failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/runtime/module.h"

namespace warpmeter::runtime {

/// One member of a fat binary.
struct FatEntry {
  enum class Kind { ptx, machine_code };
  Kind kind = Kind::ptx;
  int arch = 0;  ///< 90 is sm_90
  const std::byte* payload = nullptr;
  std::size_t payload_bytes = 0;
  std::size_t raw_bytes = 0;  ///< unpacked
  enum class Packing { none, lz4, zstd } packing = Packing::none;
};

/// The fat binary that nvcc's wrapper of it points to, or what was given.
const void* unwrapped(const void* data);

/// Whether a fat binary begins there: at least 16 bytes can be read.
bool is_fat_binary(const void* data);

/// Bytes of the whole fat binary, its header included.
std::size_t fat_binary_bytes(const void* data);

/// The members of a fat binary, in its order; none for what is not one.
std::vector<FatEntry> entries_of(const void* fat_binary);

/// What a member holds; empty when it cannot be unpacked.
std::vector<std::byte> unpack(const FatEntry& entry);

/// PTX as text, without the NULs behind it.
std::string ptx_text(const FatEntry& entry);

/// A fat binary of that PTX alone.
std::string fat_binary_of(std::string_view ptx, int arch);

/// The best PTX and machine code for an architecture: its own, or the newest PTX of those before
/// it, as a driver chooses. `linked`: fat binaries that were compiled apart (-rdc=true), whose PTX
/// is linked here, for the machine code that the toolkit's linker made of them has none.
ModuleSource source_of(const void* fat_binary, const std::vector<const void*>& linked, int arch);

/// The same of what a program gives to be loaded: a fat binary, a cubin or PTX.
ModuleSource source_of_image(const void* image, int arch);

/// For the person: why a module cannot be executed that has no PTX for this device, and what to do;
/// `later_ptx` as of ModuleSource.
std::string without_ptx(int later_ptx, int arch);

}  // namespace warpmeter::runtime
