// SPDX-License-Identifier: MIT
#include "collector/run/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "base/error.h"
#include "base/nearest.h"
#include "base/variant_name.h"
#include "collector/run/backend.h"

namespace warpmeter::run {
namespace {

std::string full_name(const kernels::Family& family, const kernels::Variant& variant) {
  return fmt::format("{}/{}", family.name, variant.name);
}

bool matches(const std::string& selector, const kernels::Family& family,
             const kernels::Variant& variant) {
  return means_variant(selector, family.name, variant.name);
}

using Families = std::span<const kernels::Family* const>;

std::vector<std::string> all_names(Families families) {
  std::vector<std::string> names;
  for (const kernels::Family* family : families) {
    names.emplace_back(family->name);
    for (const kernels::Variant& variant : family->variants) {
      names.push_back(full_name(*family, variant));
    }
  }
  return names;
}

void check_selector(Families families, const std::string& selector) {
  for (const kernels::Family* family : families) {
    for (const kernels::Variant& variant : family->variants) {
      if (matches(selector, *family, variant)) return;
    }
  }
  const bool is_catalogue = !families.empty() && !families.front()->is_of_file;
  throw Error(ExitCode::usage,
              fmt::format("no kernel variant matches '{}'{}{}{}", selector,
                          did_you_mean(selector, all_names(families)),
                          selector.find('.') == std::string::npos
                              ? ""
                              : "; a file of kernels is named .yaml, .json, .cu, .ptx or .cubin",
                          is_catalogue ? " (see: warpmeter list kernels)"
                                       : " (see what a file holds: warpmeter run FILE --dry-run)"));
}

std::vector<std::int64_t> sizes_of(const kernels::Family& family,
                                   std::span<const std::int64_t> sizes) {
  if (!family.has_sizes()) return {0};
  if (sizes.empty()) return family.sizes;
  std::vector<std::int64_t> unique(sizes.begin(), sizes.end());
  std::sort(unique.begin(), unique.end());
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  return unique;
}

/// Bytes that this machine can still give; 0 when it does not say.
std::uint64_t available_host_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    unsigned long long kib = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %llu kB", &kib) == 1) return kib * 1024;
  }
  return 0;
}

std::string gib(std::uint64_t bytes) {
  return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0));
}

void check_size(const kernels::Family& family, std::int64_t size, const Backend& backend) {
  if (family.has_sizes() && size > family.largest_size) {
    throw Error(ExitCode::usage,
                fmt::format("{} cannot be run at size {}: its largest size is {} ({})", family.name,
                            size, family.largest_size, family.size_meaning));
  }
  const std::uint64_t bytes = family.footprint(size);
  const std::uint64_t capacity = backend.problem_capacity();
  if (bytes > capacity) {
    throw Error(ExitCode::usage,
                fmt::format("{} at size {} needs {} of buffers, but {} can hold {}; choose a "
                            "smaller --size",
                            family.name, size, gib(bytes), backend.device().name, gib(capacity)));
  }
  // The host holds the input, the reference and the result at once.
  constexpr std::uint64_t copies = 3;
  const std::uint64_t available = available_host_bytes();
  if (available != 0 && bytes > available / copies) {
    throw Error(ExitCode::usage,
                fmt::format("{} at size {} needs {} of memory on this machine (input, reference "
                            "and result), which has {} left; choose a smaller --size",
                            family.name, size, gib(bytes * copies), gib(available)));
  }
}

}  // namespace

std::size_t Choice::launches() const {
  std::size_t count = 0;
  for (const Selection& selection : selections) {
    count += selection.variants.size() * selection.sizes.size();
  }
  return count;
}

Choice choose(std::span<const kernels::Family* const> families,
              std::span<const std::string> selectors, std::span<const std::int64_t> sizes) {
  for (const std::string& selector : selectors) check_selector(families, selector);
  Choice choice;
  for (const kernels::Family* family : families) {
    Selection selection{.family = family, .variants = {}, .sizes = sizes_of(*family, sizes)};
    for (const kernels::Variant& variant : family->variants) {
      const bool chosen =
          selectors.empty() ||
          std::any_of(selectors.begin(), selectors.end(), [&](const std::string& selector) {
            return matches(selector, *family, variant);
          });
      if (chosen) selection.variants.push_back(&variant);
    }
    if (selection.variants.empty()) continue;
    if (!sizes.empty() && !family->has_sizes()) {
      choice.notes.push_back(fmt::format("{} has one fixed size and ignores --size", family->name));
    }
    choice.selections.push_back(std::move(selection));
  }
  return choice;
}

void check_fits(std::span<const Selection> selections, const Backend& backend) {
  for (const Selection& selection : selections) {
    for (const std::int64_t size : selection.sizes) {
      check_size(*selection.family, size, backend);
      for (const kernels::Variant* variant : selection.variants) {
        variant->geometry(size);
        if (variant->work) variant->work(size);
        if (variant->check) variant->check(size);
        const kernels::Variant* reference = selection.family->find(variant->reference);
        if (reference != nullptr && reference->check) reference->check(size);
      }
    }
  }
}

}  // namespace warpmeter::run
