// SPDX-License-Identifier: MIT
// The checks of `profile --check` in this process: mistakes of its kernels, which the model's
// checker sees (model/check), and of the host code around them. Findings are reported at once, so
// that a program that is ended loses none of it.
//
// Device memory is unset when it is allocated; copies, sets and kernels write it. Memory that the
// host reaches itself counts as set: nobody sees it write. So does what cuMemMap has mapped to
// several addresses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/inject/protocol.h"
#include "collector/model/check/checker.h"
#include "collector/model/check/unset/written.h"
#include "collector/runtime/check/caller.h"
#include "collector/runtime/check/failed_calls.h"
#include "collector/runtime/check/races.h"
#include "collector/runtime/check/report.h"
#include "collector/runtime/device/cuda_api.h"
#include "collector/runtime/graph/graph.h"
#include "collector/runtime/memory/memory.h"
#include "collector/runtime/memory/virtual_memory.h"

namespace warpmeter::runtime {

class Checks final : public MemoryObserver {
 public:
  /// Both stay.
  Checks(Report& report, Memory& memory);

  // Memory.
  void allocated(const Block& block) override;
  void released(const Block& block) override;
  void is_fresh(std::uint64_t address, std::uint64_t bytes) override;
  void is_shared(std::uint64_t address, std::uint64_t bytes) override;
  void renewed() override { parting_.clear(); }
  void unmapped(const Stretch& pages) override { races_.unmapped(pages); }
  /// `bytes` from one address to another have been copied, as a row of a copy.
  void copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  /// After all rows of a copy: whether it took what nothing had written.
  void end_of_copy(std::string_view call);
  /// A copy, or a library's function, that the API takes although it is wrong.
  void find_in_call(const std::string& kind, std::string_view call, const std::string& message);
  void set(std::uint64_t to, std::uint64_t bytes);
  /// The former allocation at an address: "'d_a' (allocated at vec.cu:12)"; and whether it began
  /// there.
  struct Freed {
    std::uint64_t bytes = 0;
    std::string name, where;  ///< where it was freed: " at vec.cu:12", " in main", or empty
    MemoryKind kind = MemoryKind::device;
  };
  const Freed* freed_at(std::uint64_t address) const;
  std::uint64_t beginning_of_freed(std::uint64_t address) const;

  // Kernels.
  model::check::WrittenMemory& written() { return written_; }
  /// With other streams, and with the host.
  Races& races() { return races_; }
  /// `has_ended`: it came to its end.
  void launched(const std::string& kernel, const model::check::Checker& checker, bool has_ended);
  /// A kernel has launched another, which the device's runtime refused, and did not ask.
  void launch_refused(const std::string& kernel, const model::check::Finding& finding);
  /// A launch or call that the model does not answer as hardware would. Nobody knows the bytes that
  /// it would have written, so all that there is counts as written from then on.
  void refused();

  // Calls. The mistake of the call that is about to return an error, and of which kind that is.
  void because(std::string kind, std::string why);
  /// A call has returned what hardware would return. `is_unseen`: the launch of `<<<>>>`, which
  /// gives its caller nothing.
  void failed(std::string_view function, cudaError_t error, bool is_unseen);
  /// Kernels have not got what host code has given its own variable of a name.
  void set_on_host_only(const std::string& variable);
  /// A kernel has printed; the program waits, so that it is shown.
  void printed(const std::string& kernel);
  void shown() { unshown_.reset(); }
  /// The program ends without.
  void ends_unshown();
  /// A kernel that ended badly, which a later call would tell.
  void kernel_failed(const std::string& kernel, bool by_driver);
  /// The program has asked for the last error.
  void looked() { unseen_.clear(); }
  /// The failure of a kernel has been returned by a call.
  void surfaced() { unnoticed_.reset(); }
  /// Host code touches what it cannot have, and the process ends or handles it: memory of the
  /// device, or what was freed or lies behind memory that the host shares. False where it is none
  /// of these.
  bool host_touches(std::uint64_t address, bool is_device, bool writes, const void* instruction);

  /// The process ends in order: errors that nobody has seen, and what is still allocated, unless a
  /// kernel has failed, after which nothing can be freed.
  void end(bool has_failed, const std::vector<VirtualMemory::Kept>& physical);

 private:
  struct Reason {
    std::string kind, why;
  };
  /// Runs of bytes that a copy takes and nothing has written.
  struct Unset {
    std::uint64_t copied = 0, bytes = 0, first = 0, gaps = 0, gap_bytes = 0, first_gap = 0;
    std::string name;
  };
  void find_unset(const Block& block, const model::check::MarkedBytes& written,
                  std::uint64_t offset, std::uint64_t bytes);
  /// One finding for `what` of a place: the first message of it stands for all.
  void find(const std::string& kind, const std::string& where, const std::string& what,
            const std::string& message, std::uint64_t times = 1, bool is_remark = false,
            const std::string& other = "");
  /// Finds bytes that host code has written behind the end of memory that it shares.
  void find_overrun(const Block& block);
  std::string element_of(const model::check::Finding& finding) const;
  void find_leaks(const std::vector<VirtualMemory::Kept>& physical);

  Report& report_;
  Memory& memory_;
  Races races_;
  /// The written bytes of a stretch that has gone, or has become another.
  struct Parting {
    std::uint64_t bytes = 0;
    model::check::MarkedBytes written;
  };

  model::check::WrittenMemory written_;
  std::map<std::uint64_t, Parting> parting_;  ///< by address
  std::map<std::uint64_t, Freed> freed_;      ///< by address
  Unset unset_;
  std::optional<Reason> reason_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> unseen_;  ///< place and message
  struct Unnoticed {
    std::string where, kernel;
    bool by_driver = false;  ///< the driver's API has launched it
  };
  std::optional<Unnoticed> unnoticed_;
  std::optional<Unnoticed> unshown_;  ///< its output so far
  /// The first message of a place, and the other line that it names: by kind+where, what.
  std::map<std::pair<std::string, std::string>, std::pair<std::string, std::string>> messages_;
};

}  // namespace warpmeter::runtime
