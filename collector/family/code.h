// SPDX-License-Identifier: MIT
// A family's kernels, compiled: for each configuration the image and the entry that it launches, or
// the compiler's words. Configurations of the same defines are compiled some together and the rest
// in parallel; where several instances fail together each is tried by itself, so that only those
// fail that are wrong.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/family/configurations.h"
#include "collector/model/input/kernel_file.h"
#include "collector/model/machine/program.h"
#include "kernels/family.h"

namespace warpmeter::family {

/// One compilation. Others point into it, so it stays where it is.
struct Unit {
  model::KernelFile file;
  std::string name, source_path, source;
  kernels::Code code;
  kernels::Image image;
};

struct Kernel {
  const Unit* unit = nullptr;
  std::string entry;        ///< the kernel's name in the machine code
  std::string declaration;  ///< "void tiled(float* out, const float* in, int n)", where it is known
  std::vector<model::Parameter> parameters;
  /// Their C++ types, "float const*" of a mangled name or "const float* in" of a source; none where
  /// they are not known.
  std::vector<std::string> types;
  std::string failure;  ///< the compiler's words; the rest is empty then
};

/// The kernels' code for one architecture (90 is sm_90).
class CodeBase {
 public:
  /// A function of the done and all compilations, from any thread.
  using Progress = std::function<void(std::size_t done, std::size_t all)>;

  CodeBase(const FamilySpec& spec, int arch) : spec_(spec), arch_(arch) {}

  /// One for each configuration; those of an earlier call are gone. Throws Error{usage} for a
  /// kernel that the file does not hold, for a file that cannot be read Error{file}, and
  /// Error{no_hardware} where no compiler is.
  std::vector<Kernel> compile(const std::vector<Configuration>& configurations,
                              const Progress& progress = {});

  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  struct Job;
  Unit& add_unit(model::KernelFile file);
  model::KernelFile compiled_file() const;
  [[noreturn]] void refuse_compiled(const Text& at, std::string_view what) const;
  std::vector<Job> jobs_of(const std::vector<Configuration>& configurations) const;
  void run(std::vector<Job>& jobs, const Progress& progress) const;
  std::vector<Job> split(const Job& failed, const std::vector<Configuration>& configurations) const;
  void refuse_unknown(const std::vector<Configuration>& configurations,
                      const std::string& source) const;
  std::vector<Kernel> compile_source(const std::vector<Configuration>& configurations,
                                     const Progress& progress);
  std::string kernels_elsewhere(const Unit& unit,
                                const std::vector<Configuration>& configurations) const;
  Kernel kernel_of(const Unit& unit, const Configuration& configuration,
                   const std::vector<Configuration>& all) const;

  const FamilySpec& spec_;
  const int arch_;
  std::deque<Unit> units_;
  std::vector<std::string> remarks_;
};

}  // namespace warpmeter::family
