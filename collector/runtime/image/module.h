// SPDX-License-Identifier: MIT
// A module of a program: the PTX that is executed, the machine code that its counts are audited
// with, its variables and its kernels. Nothing is read before something of it is used: a library
// with a hundred kernels costs a program that launches one of them what that one costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/machine/decode/decode.h"
#include "collector/model/machine/program.h"
#include "collector/model/ptx/module.h"
#include "collector/runtime/memory/memory.h"

namespace warpmeter::runtime {

namespace ptx = model::ptx;

/// The source of a module, as the program brought it.
struct ModuleSource {
  std::string ptx;  ///< empty: there is none
  std::vector<std::byte>
      cubin;               ///< the cubin of the modelled architecture; empty: ptxas has to make it
  bool is_linked = false;  ///< the PTX is of files that were compiled apart
  std::string why_no_ptx;  ///< for the person, where there is none
  int later_ptx = 0;       ///< where all PTX is for later architectures, the first of them; else 0
  /// 'a' or 'f': there was machine code for that kind of the architecture, and the PTX is not, so
  /// that they were compiled apart; else 0.
  char cubin_letter = 0;
};

class Module;

class Kernel {
 public:
  Kernel(Module& module, std::string entry) : module_(module), entry_(std::move(entry)) {}

  const std::string& entry() const { return entry_; }
  Module& module() const { return module_; }
  /// Ready to run; null: failure() says why not.
  model::Program* program();
  const std::string& failure() const { return failure_; }
  /// Reads the machine code, so that the counts are the hardware's. Once; takes the time of ptxas
  /// where the program brought none.
  void audit();
  /// Reads of the machine code what the kernel takes of a multiprocessor, for a launch that is not
  /// counted. Once; takes the time of ptxas as audit() does.
  void read_resources();
  /// The barriers of the machine code: see LaunchOptions. Any thread may ask.
  std::vector<std::uint32_t> predicated_barriers();
  /// The resources on a multiprocessor, by the machine code.
  const model::Resources& resources();

  // The value of cudaFuncSetAttribute.
  std::uint32_t most_dynamic_shared_bytes =
      48 << 10;  ///< the most dynamic shared bytes of a program that is read: what is left
  bool allows_large_clusters =
      false;  ///< true if it may have clusters of more than 8 blocks, which not every device has
  int shared_carveout = -1;  ///< percent of the cache that it prefers as shared memory; -1: none
  int cache_preference = 0;  ///< where there is no such percentage: a cudaFuncCache

  bool has_named_sources = false;  ///< name_sources() has had its program

 private:
  void say_unread(const std::string& why);

  Module& module_;
  const std::string entry_;
  std::unique_ptr<model::Program> program_;
  std::string failure_;
  bool is_read_ = false, is_audited_ = false;
  std::optional<model::Resources> resources_;
  std::once_flag barriers_read_;
  std::vector<std::uint32_t> predicated_barriers_;
};

/// Where a module's variable lies for kernels and for copies.
struct VariablePlace {
  std::uint64_t address = 0, bytes = 0;
};

class Module {
 public:
  /// `variables_at`: room for its variables, of most_variable_bytes. `managed`: the same module for
  /// the device that it was loaded for first, whose managed variables are this one's; null: none.
  Module(ModuleSource source, int arch, Memory& memory, std::uint64_t variables_at,
         Module* managed = nullptr);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  static constexpr std::uint64_t most_variable_bytes = std::uint64_t{4} << 30;

  /// The kernel of that name; null when there is none. It may be refused all the same.
  Kernel* kernel(const std::string& entry);
  std::vector<std::string> kernel_names();
  std::optional<VariablePlace> variable(std::string_view name);
  /// The name of the one that the address is of; empty: none.
  std::string_view variable_at(std::uint64_t address) const;
  /// True if it is one that host and device reach at one address.
  bool is_managed(std::string_view variable);
  /// Why nothing of it can run; empty: it can.
  const std::string& failure();

  const ptx::Module* parsed();
  /// The CUresult of a library that cannot be loaded, which a driver tells only when something of
  /// it is asked for; 0: it can.
  int refusal = 0;
  /// The machine code of its own, or what ptxas makes of the PTX; empty: why_no_cubin().
  const std::vector<std::byte>& cubin();
  const std::string& why_no_cubin() const { return why_no_cubin_; }
  /// The machine code is at hand, without ptxas.
  bool has_cubin() const { return !source_.cubin.empty(); }
  /// Why the machine code that a GPU runs may be of other code than the PTX; empty: it is not.
  std::string why_apart() const;
  /// Once, for the person: the same, and what to do.
  std::string apart_remark();
  int arch() const { return arch_; }
  /// The architecture that the PTX was written for, which libraries choose their algorithms by: 75
  /// is sm_75.
  int ptx_arch() const { return ptx_arch_; }
  model::VariableRooms rooms() const {
    return {variables_at_, managed_ != nullptr ? managed_->variables_at_ : variables_at_};
  }
  /// Makes the constants what copies have made of them.
  void set_constants(model::Program& program) const;
  /// Where its variables lie: by the first kernel that can be read, or by themselves.
  void place_variables();

 private:
  void place(const model::Program& program);
  const int arch_;
  Memory& memory_;
  const std::uint64_t variables_at_;
  Module* const managed_;
  ModuleSource source_;
  std::unique_ptr<ptx::Module> parsed_;
  std::string failure_, why_no_cubin_;
  int ptx_arch_ = 0;
  bool is_parsed_ = false, is_assembled_ = false, is_placed_ = false;
  bool is_told_apart_ = false;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
  std::vector<std::byte> constants_;  ///< as copies have made them
  std::map<std::string, VariablePlace, std::less<>> variables_;
  std::vector<std::uint64_t> placed_;  ///< where those lie that are its own
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte[], Free> own_;  ///< for its variables, where none is managed
  Memory::SharedMapping mapped_;            ///< for managed variables, which the host reaches too
  std::size_t mapped_bytes_ = 0;
};

}  // namespace warpmeter::runtime
