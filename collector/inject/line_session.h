// Accesses by source line of one launch, from CUPTI's SASS metrics: counts of each machine
// instruction, whose address the code's line table (-lineinfo) leads to a line.
//
// With CUDA 13.0 only the first kernel that a process launches after the first Enable is collected:
// neither Disable and Enable, nor another context, nor UnsetConfig brings another (measured). So
// there is one of these a process. It costs the launch about a millisecond.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "collector/cupti/library.h"
#include "schema/records.h"

namespace warpmeter::inject {

/// The machine code that a process loads, for as long as its lines are wanted.
class Modules {
 public:
  /// Keeps those that name `kernel`: a process may load more code than memory wants to hold twice.
  explicit Modules(std::string kernel) : kernel_(std::move(kernel)) {}

  /// To be called when CUPTI tells of a module; other calls of CUPTI may hang there.
  void add(const CUpti_ModuleResourceData& module);
  /// The one with CUPTI's checksum; empty when there is none.
  std::string find(const cupti::CuptiApi& api, std::uint32_t crc) const;

 private:
  const std::string kernel_;
  mutable std::mutex mutex_;
  std::vector<std::string> cubins_;
};

/// What an instruction counted, by CUPTI's name of the metric.
struct InstructionCounts {
  std::uint32_t crc = 0;  ///< of the cubin
  std::string function;
  std::uint32_t offset = 0;
  std::map<std::string, std::uint64_t, std::less<>> values;
};

class LineSession {
 public:
  /// The next launch of `context` is counted. Throws Error{no_hardware}.
  LineSession(const cupti::CuptiApi& api, CUcontext context, std::uint32_t device,
              const std::string& chip);
  /// To be called when that launch has ended. Throws Error{no_hardware}.
  std::vector<InstructionCounts> finish();

 private:
  const cupti::CuptiApi& api_;
  CUcontext context_;
  std::map<std::uint64_t, std::string> metrics_;  ///< names by CUPTI's numbers
};

/// Whether any of them reads or writes shared or global memory.
bool counts_accesses(const std::vector<InstructionCounts>& counts);

/// A place in the source; line 0: not known.
struct SourcePlace {
  std::string file;
  int line = 0;
};

/// Where an instruction of a cubin's function came from.
SourcePlace place_of(const cupti::CuptiApi& api, const std::string& cubin,
                     const std::string& function, std::uint32_t offset);

/// Adds up by file, line and kind of access; `place` says where an instruction came from, and those
/// without a line are left out. The lines have no text.
std::vector<schema::Line> lines_of(
    const std::vector<InstructionCounts>& counts,
    const std::function<SourcePlace(const InstructionCounts&)>& place);

}  // namespace warpmeter::inject
