// SPDX-License-Identifier: MIT
// CUPTI's numbers for kinds of copies, memory and managed memory, and our words for them: those of
// the view `activities`. For this folder only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schema/nvprof_file/ids.h"

namespace warpmeter::schema {

/// CUpti_ActivityObjectKind, of the table NAME.
enum class NvprofObject {
  unknown = 0,
  process = 1,
  thread = 2,
  device = 3,
  context = 4,
  stream = 5
};

/// CUpti_ActivityMemcpyKind of "[CUDA memcpy HtoD]", and back; 0 is the unknown kind.
std::int64_t nvprof_copy_kind(std::string_view name);
std::string nvprof_copy_name(std::int64_t kind);

/// CUpti_ActivityMemoryKind of "Pageable", and back; 0 is the unknown kind.
std::int64_t nvprof_memory_kind(std::string_view word);
std::string_view nvprof_memory_word(std::int64_t kind);

/// CUpti_ActivityUnifiedMemoryCounterKind of an activity's kind and name, and back.
std::int64_t nvprof_managed_kind(std::string_view kind, std::string_view name);
struct NvprofManaged {
  std::string_view kind, name;  ///< empty for a number that is none
};
NvprofManaged nvprof_managed(std::int64_t kind);

/// Little endian, as the machines are that nvprof ran on.
std::string little_endian(std::uint64_t bits, std::size_t count);

/// "GPU-00010203-…" as its 16 bytes (zeros for a text that is none), and back ("" for others).
std::string bytes_of_uuid(std::string_view uuid);
std::string uuid_of_bytes(std::string_view bytes);

/// The 8 bytes of a metric's value in the catalogue's unit; nullopt where nvprof did not have that
/// unit.
std::optional<std::uint64_t> nvprof_bits(std::string_view name, NvprofForm form, double value);

}  // namespace warpmeter::schema
