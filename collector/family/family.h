// SPDX-License-Identifier: MIT
// A family file, a person's or one of the catalogue, made into the record that a session measures
// on any backend, the same way.
#pragma once

#include <string>
#include <vector>

#include "collector/family/code.h"
#include "collector/family/configurations.h"
#include "collector/family/spec.h"
#include "kernels/family.h"

namespace warpmeter::family {

/// Owns all that the record points to; it stays where it is.
class FileFamily {
 public:
  /// Compiles the kernels for one architecture, 90 is sm_90, and checks every configuration's
  /// arguments against its signature. Throws Error{usage} with file, line and column.
  FileFamily(FamilySpec spec, int arch, const CodeBase::Progress& progress = {});
  FileFamily(const FileFamily&) = delete;
  FileFamily& operator=(const FileFamily&) = delete;

  /// A family of the catalogue, whose kernels are compiled already.
  FileFamily(FamilySpec spec, const kernels::Image& image);

  const kernels::Family& family() const { return family_; }
  const std::vector<std::string>& remarks() const { return code_.remarks(); }
  const FamilySpec& spec() const { return spec_; }
  /// The configuration from which a variant of this family was made.
  const Configuration& configuration_of(const kernels::Variant& variant) const {
    return configurations_[static_cast<std::size_t>(&variant - family_.variants.data())];
  }

 private:
  void describe();
  void compile(const CodeBase::Progress& progress);
  kernels::Variant variant_of(const Configuration& configuration, const Kernel& kernel);
  void check(const Configuration& configuration, const Kernel& kernel) const;
  bool is_compared_with_the_familys(const Configuration& configuration) const;
  std::string reference_of(const Configuration& configuration) const;
  /// The results that the configuration is compared with in place of a variant's.
  const Results& results_of(const Configuration& configuration) const;
  const Configuration& configuration_named(const Text& text, std::string_view what,
                                           const std::string& sizes) const;
  std::vector<std::string> ceilings() const;
  Symbols symbols_at(const Configuration& configuration, std::int64_t n) const;
  Geometry geometry_at(const Configuration& configuration, std::int64_t n) const;
  kernels::Work work_at(const WorkSpec& work, const Symbols& symbols) const;
  kernels::Expectation expectation(const ExpectationSpec& spec, const Symbols& symbols) const;
  std::vector<kernels::Expected> expected(const Results& results, const Symbols& symbols,
                                          const kernels::Problem& problem) const;
  const std::vector<Text>& arguments_of(const VariantSpec& variant) const;
  bool has_own_problem(const Configuration& configuration) const;

  FamilySpec spec_;
  CodeBase code_;
  std::vector<Configuration> configurations_;
  std::vector<Kernel> kernels_;
  kernels::Family family_;
};

}  // namespace warpmeter::family
