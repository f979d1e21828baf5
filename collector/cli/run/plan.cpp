// SPDX-License-Identifier: MIT
#include "collector/cli/run/plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/named_files.h"
#include "collector/cli/progress.h"
#include "collector/cli/terminal.h"
#include "collector/family/catalogue.h"
#include "collector/family/machine_code.h"

namespace warpmeter::cli {
namespace {

/// A library decides itself how its kernels are launched.
reports::Cell extent_of(const kernels::Variant& variant, const Dim3& dim) {
  if (!variant.library.empty()) return reports::Missing{variant.library + " decides"};
  return fmt::format("{} x {} x {}", dim.x, dim.y, dim.z);
}

}  // namespace

reports::Table plan_table(const run::Choice& choice) {
  using reports::Column;
  using reports::Kind;
  reports::Table table;
  table.columns = {Column::text("family"),
                   Column::text("variant"),
                   Column::number("size", "size", "", Kind::exact),
                   Column::text("grid"),
                   Column::text("block"),
                   Column::number("dynamic_shared_bytes", "dynamic shared", "bytes", Kind::exact),
                   Column::number("buffer_bytes", "buffers", "bytes", Kind::count)};
  for (const run::Selection& selection : choice.selections) {
    const kernels::Family& family = *selection.family;
    for (const std::int64_t size : selection.sizes) {
      const auto bytes = static_cast<std::int64_t>(family.footprint(size));
      for (const kernels::Variant* variant : selection.variants) {
        const Geometry geometry = variant->geometry(size);
        table.rows.push_back(
            {std::string(family.name), std::string(variant->name),
             family.has_sizes() ? reports::Cell(size) : reports::Cell(reports::Missing{"one size"}),
             extent_of(*variant, geometry.grid), extent_of(*variant, geometry.block),
             std::int64_t{geometry.dynamic_shared_bytes}, bytes});
      }
    }
  }
  return table;
}

std::string launch_line(const kernels::Family& family, const kernels::Variant& variant,
                        std::int64_t size) {
  const std::string at = family.has_sizes() ? std::to_string(size) : "-";
  return fmt::format("{} {}/{}", at, family.name, variant.name);
}

run::Choice only_launches(const run::Choice& choice, const std::string& file) {
  const ReadFile read = read_regular_file(file);
  if (!read.text) {
    throw Error(ExitCode::file, fmt::format("--launches {} {}", file, read.why_not));
  }
  std::istringstream text(*read.text);
  std::set<std::string> wanted;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty()) wanted.insert(line);
  }
  run::Choice chosen;
  chosen.notes = choice.notes;
  for (const run::Selection& selection : choice.selections) {
    for (const std::int64_t size : selection.sizes) {
      run::Selection part{selection.family, {}, {size}};
      for (const kernels::Variant* variant : selection.variants) {
        if (wanted.erase(launch_line(*selection.family, *variant, size)) > 0) {
          part.variants.push_back(variant);
        }
      }
      if (!part.variants.empty()) chosen.selections.push_back(std::move(part));
    }
  }
  if (!wanted.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("--launches {} names '{}', which is not among the launches of this "
                            "command: each line is a size (- where there is none), a blank and "
                            "family/variant, as run --dry-run lists them",
                            file, *wanted.begin()));
  }
  if (chosen.selections.empty()) {
    throw Error(ExitCode::nothing, fmt::format("--launches {} names no launch", file));
  }
  return chosen;
}

void say_machine_code(const std::vector<family::FamilySpec>& specs, BackendRequest& backend) {
  backend.machine_code.clear();
  backend.has_ptx = specs.empty();
  for (const family::FamilySpec& spec : specs) {
    if (!family::is_machine_code(spec.source)) {
      backend.has_ptx = true;
    } else if (backend.machine_code.empty()) {
      backend.machine_code = spec.source;
    }
  }
}

void check_without_device(const RunRequest& request, const std::vector<family::FamilySpec>& specs,
                          const std::vector<std::int64_t>& sizes) {
  Families families;
  for (const family::FamilySpec& spec : specs) {
    if (!family::is_machine_code(spec.source)) continue;
    families.of_files.push_back(std::make_unique<family::FileFamily>(spec, spec.options.target()));
    families.all.push_back(&families.of_files.back()->family());
  }
  if (families.all.empty() || families.all.size() < specs.size()) return;
  const run::Choice choice = run::choose(families.all, request.selectors, sizes);
  for (const run::Selection& selection : choice.selections) {
    for (const std::int64_t size : selection.sizes) {
      for (const kernels::Variant* variant : selection.variants) variant->geometry(size);
    }
  }
}

void check_machine_code(const std::vector<family::FamilySpec>& specs, const Backends& backends) {
  for (const family::FamilySpec& spec : specs) {
    if (!family::is_machine_code(spec.source)) continue;
    const std::string target = family::target_of(spec.source);
    for (const auto& backend : backends.opened) {
      const schema::Device& device = backend->device();
      if (device.backend == "model") {
        throw Error(ExitCode::no_hardware, family::without_ptx(spec.source));
      }
      const std::string why = family::why_not_on(device.compute_capability, spec.source, target);
      if (!why.empty()) throw Error(ExitCode::no_hardware, why);
    }
  }
}

Families families_of(const RunRequest& request, const std::vector<family::FamilySpec>& specs,
                     const schema::Device& device) {
  Families families;
  if (specs.empty()) {
    const auto catalogue = family::catalogue();
    families.all.assign(catalogue.begin(), catalogue.end());
    return families;
  }
  ProgressBar bar(is_terminal(STDERR_FILENO) && !request.quiet && !request.no_progress);
  std::mutex drawing;
  for (family::FamilySpec spec : specs) {
    const std::string name = spec.name;
    spec.options.is_timed = device.backend != "model";
    const auto progress = [&](std::size_t done, std::size_t all) {
      const std::lock_guard lock(drawing);
      bar.update(done, all, fmt::format("{}: compile", name));
    };
    families.of_files.push_back(
        std::make_unique<family::FileFamily>(std::move(spec), device.compute_capability, progress));
    families.all.push_back(&families.of_files.back()->family());
  }
  bar.clear();
  for (const auto& file : families.of_files) {
    for (const std::string& text : file->remarks()) remark(request, text);
  }
  return families;
}

}  // namespace warpmeter::cli
