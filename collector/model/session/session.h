// SPDX-License-Identifier: MIT
// Runs the launches of a spec one after the other on the model: their buffers and the module's own
// variables stay from one to the next, as they do in a program.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_claims.h"
#include "base/named_files.h"
#include "base/output.h"
#include "collector/model/check/coverage.h"
#include "collector/model/check/findings.h"
#include "collector/model/check/unset/written.h"
#include "collector/model/counts/estimate.h"
#include "collector/model/explain/explain.h"
#include "collector/model/input/arguments.h"
#include "collector/model/input/kernel_file.h"
#include "collector/model/input/spec.h"
#include "collector/model/input/variables.h"
#include "collector/model/machine/launch/launch.h"
#include "schema/records.h"

namespace warpmeter::model::check {
class Checker;
}

namespace warpmeter::model {

struct SessionOptions {
  unsigned threads = 0;                               ///< the threads of the host; 0: one a core
  std::vector<std::string> counters;                  ///< the counters of the catalogue
  bool check = false;                                 ///< look for mistakes
  std::string blocks;                                 ///< which are run, as of --blocks; empty: all
  std::uint64_t native_after = default_native_after;  ///< see LaunchOptions
  std::vector<explain::Shape> shapes;  ///< the shapes of arrays in shared memory, as a person says
  std::function<bool()> cancelled;
  std::function<void(const std::string& kernel, std::uint64_t done, std::uint64_t blocks)> progress;
};

struct SessionOutcome {
  schema::Launch launch;
  std::vector<check::Finding> findings;
  check::Coverage checked;  ///< where findings were asked for
  std::string remark;       ///< the deed that hardware lets pass; may be empty
  std::string coverage;     ///< by the blocks that were run; empty: all were
  std::vector<Estimate::Range> ranges;
};

/// The coverage of a launch by the checker, as far as it knows.
check::Coverage coverage_of(const check::Checker& checker);

class LaunchSession {
 public:
  /// The file and the claims must outlive the session.
  LaunchSession(const KernelFile& file, SessionOptions options, FileClaims& claims);

  /// Checks a launch as far as that goes without running it: the kernel, its geometry, its
  /// arguments, settings and files. Throws Error. The launches are given in the order in which they
  /// will run.
  void prepare(const LaunchSpec& launch);

  /// Runs the next of the launches that were prepared. A kernel that fails is a record with the
  /// reason; nullopt: cancelled. Saves the buffers that the launch names.
  std::optional<SessionOutcome> run_next();

  /// The remarks on the figures: why the machine code was no help, for example.
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  struct Prepared {
    const LaunchSpec* launch = nullptr;
    const Program* program = nullptr;
    std::string entry;
    std::vector<Argument> arguments;
    std::vector<VariableSetting> settings;
    std::vector<std::pair<std::string, std::unique_ptr<Output>>> saves;  ///< buffer's name, file
  };
  struct Buffer {
    std::uint64_t address = 0;
    Element element = Element::u8;
  };

  std::string audit_with_file(Program& program);
  std::string audit_with_ptxas(Program& program);
  static void check_elements(const Prepared& prepared);
  void prepare_arguments(Prepared& prepared);
  void prepare_settings(Prepared& prepared);
  void prepare_saves(Prepared& prepared);
  void check_buffer(std::string_view text, const std::string& name) const;
  void audit(Program& program);
  const Program& program_of(const std::string& entry);
  std::vector<std::byte> bytes_of(const Argument& argument, std::vector<std::uint64_t>& unnamed);
  void set_variables(const Prepared& prepared);
  void save(const Prepared& prepared);
  std::vector<schema::Line> lines_of(const Program& program, const LaunchOutcome& outcome);
  schema::Explanation explanation_of(const Program& program, const Geometry& geometry,
                                     const LaunchOutcome& outcome);
  std::string text_of(const std::string& file) const;

  const KernelFile& file_;
  const NamedFiles allowed_;  ///< for the sources that the PTX names
  const SessionOptions options_;
  FileClaims& claims_;
  std::map<std::string, std::unique_ptr<Program>> programs_;
  std::vector<Prepared> prepared_;
  std::size_t next_ = 0;
  std::map<std::string, Element> announced_;  ///< buffers of the prepared launches
  std::uint64_t announced_bytes_ = 0;
  std::set<const ptx::Variable*> set_;  ///< variables that have a value before the next one
  std::map<std::string, std::vector<std::byte>> constants_;  ///< set so far
  DeviceMemory memory_;
  std::map<std::string, Buffer> buffers_;  ///< with a name, by it
  check::WrittenMemory written_;
  explain::Sources sources_{[this](const std::string& file) { return text_of(file); }};
  std::optional<Assembled> assembled_;
  std::vector<std::string> remarks_;
};

}  // namespace warpmeter::model
