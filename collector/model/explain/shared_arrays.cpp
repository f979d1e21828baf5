// SPDX-License-Identifier: MIT
#include "collector/model/explain/shared_arrays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/kernel_name.h"
#include "base/with_noun.h"
#include "base/words.h"

namespace warpmeter::model::explain {
namespace {

/// Bytes that a site touches in shared memory.
struct Range {
  std::uint32_t begin = std::numeric_limits<std::uint32_t>::max(), end = 0;
  bool is_empty() const { return begin >= end; }
};

Range range_of(const LanePattern& pattern, std::uint32_t place, unsigned width) {
  Range range;
  for_each_lane(pattern.mask, [&](unsigned lane) {
    const auto at = static_cast<std::uint32_t>(place + pattern.delta[lane]);
    range.begin = std::min(range.begin, at);
    range.end = std::max(range.end, at + width);
  });
  return range;
}

Range range_of(const Subject& subject, std::size_t site, const SiteRecording& recording) {
  Range whole;
  for (const auto& [pattern, places] : recording.patterns()) {
    if (pattern.space != AddressSpace::shared || places.empty()) continue;
    for (const std::uint32_t place : {places.begin()->first, places.rbegin()->first}) {
      const Range range = range_of(pattern, place, subject.site(site).width);
      whole.begin = std::min(whole.begin, range.begin);
      whole.end = std::max(whole.end, range.end);
    }
  }
  return whole;
}

/// "tile" of "_ZZ4copyPfE4tile".
std::string own_name(const std::string& symbol) {
  const std::string readable = demangled(symbol);
  const std::size_t scope = readable.rfind("::");
  return scope == std::string::npos ? readable : readable.substr(scope + 2);
}

struct Part {
  Range range;
  std::vector<std::size_t> sites;
};

/// True if the same code accesses both: the rounds of a loop that was unrolled.
bool share_code(const Subject& subject, const Part& one, const Part& other) {
  const auto code_of = [&](std::size_t site) {
    const Place& place = subject.place(subject.site(site));
    return std::tuple(place.file, place.line, place.own_line);
  };
  return std::any_of(one.sites.begin(), one.sites.end(), [&](std::size_t site) {
    return std::get<1>(code_of(site)) != 0 &&
           std::any_of(other.sites.begin(), other.sites.end(),
                       [&](std::size_t its) { return code_of(site) == code_of(its); });
  });
}

/// The parts of one declared variable that the same code accesses, together: a dynamic one may be
/// several arrays that one function is called for.
std::vector<Part> joined_parts(const Subject& subject, std::vector<Part> parts) {
  const auto variable_of = [&](const Range& range) -> const SharedVariable* {
    for (const SharedVariable& variable : subject.program.shared_variables) {
      const bool is_in =
          range.begin >= variable.offset && range.end <= variable.offset + variable.bytes;
      if (is_in) return &variable;
    }
    return nullptr;
  };
  std::vector<Part> joined;
  for (Part& part : parts) {
    const SharedVariable* const variable = variable_of(part.range);
    const bool goes_on = variable != nullptr && !joined.empty() &&
                         variable_of(joined.back().range) == variable &&
                         share_code(subject, joined.back(), part);
    if (!goes_on) {
      joined.push_back(std::move(part));
      continue;
    }
    joined.back().range.end = part.range.end;
    joined.back().sites.insert(joined.back().sites.end(), part.sites.begin(), part.sites.end());
  }
  return joined;
}

/// Sites whose ranges overlap, together.
std::vector<Part> parts_of(const std::vector<std::pair<Range, std::size_t>>& sorted) {
  std::vector<Part> parts;
  for (const auto& [range, site] : sorted) {
    if (parts.empty() || range.begin >= parts.back().range.end) parts.push_back({range, {}});
    parts.back().range.end = std::max(parts.back().range.end, range.end);
    parts.back().sites.push_back(site);
  }
  return parts;
}

void take_accesses(const Subject& subject, SharedArray& array) {
  const auto kept_of = [&](std::size_t site) -> const SiteRecording& {
    const SiteRecording& recording = subject.recording.sites[site];
    return recording.is_full() ? subject.recording.traces[site].sample : recording;
  };
  std::size_t count = 0;
  for (const std::size_t site : array.sites) {
    for (const auto& [pattern, places] : kept_of(site).patterns()) count += places.size();
  }
  array.accesses.reserve(count);
  for (const std::size_t site : array.sites) {
    array.is_whole &= !subject.recording.sites[site].is_full();
    const SiteRecording& kept = kept_of(site);
    for (const auto& [pattern, places] : kept.patterns()) {
      if (pattern.space != AddressSpace::shared) {
        array.is_whole = false;
        continue;
      }
      for (const auto& [place, times] : places) {
        array.accesses.push_back({site, &pattern, place - array.offset, times});
      }
    }
  }
}

void take_given_shape(const Subject& subject, SharedArray& array) {
  const auto given = std::find_if(
      subject.options.shapes.begin(), subject.options.shapes.end(), [&](const Shape& shape) {
        return shape.array == array.name && misfit(shape, array).empty();
      });
  if (given == subject.options.shapes.end()) return;
  array.extents = given->extents;
  array.element_bytes = given->element_bytes;
  array.is_given = true;
}

void take_declaration(const Subject& subject, SharedArray& array) {
  const std::uint32_t bytes = array.variable_bytes;
  if (array.is_given || bytes == 0 || subject.options.sources == nullptr) return;
  if (array.name.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != std::string::npos) {
    return;
  }
  std::map<std::string_view, int> files;  // and the last line there
  for (const std::size_t site : array.sites) {
    const Place& place = subject.place(subject.site(site));
    if (static_cast<std::size_t>(place.file) < subject.program.files.size()) {
      int& line = files[subject.program.files[static_cast<std::size_t>(place.file)]];
      line = std::max({line, place.line, place.own_line});
    }
  }
  for (const auto& [file, line] : files) {
    array.extents = subject.options.sources->extents(std::string(file), {array.name, bytes, line});
    if (array.extents.empty()) continue;
    std::uint32_t elements = 1;
    for (const std::uint32_t extent : array.extents) elements *= extent;
    array.element_bytes = bytes / elements;
    return;
  }
}

/// Says of each given shape whether an array has it.
void check_shapes(const Subject& subject, const std::vector<SharedArray>& arrays) {
  for (const Shape& shape : subject.options.shapes) {
    bool is_there = false, is_given = false;
    std::string wrong;
    std::vector<std::string> names;
    for (const SharedArray& array : arrays) {
      names.push_back(fmt::format("{} of {}", array.name, with_noun(array.bytes, "byte")));
      if (array.name != shape.array) continue;
      is_given = is_given || array.is_given;
      if (!is_there) wrong = misfit(shape, array);
      is_there = true;
    }
    if (is_given) wrong.clear();  // another part of the same buffer has it
    if (subject.options.shaped != nullptr) {
      if (!is_there) continue;
      std::string& told = subject.options.shaped->try_emplace(shape.array, wrong).first->second;
      if (wrong.empty()) told.clear();  // it is for this kernel
      continue;
    }
    if (!is_there) {
      throw Error(ExitCode::usage,
                  fmt::format("--shape names '{}', which is no array that the kernel accesses; {}",
                              shape.array,
                              names.empty() ? "it accesses none"
                                            : fmt::format("there is {}", fmt::join(names, ", "))));
    }
    if (!wrong.empty()) throw Error(ExitCode::usage, wrong);
  }
}

/// True if the site went to shared memory, alone or as part of another one's request.
bool is_shared(const SiteRecording& recording) {
  return !recording.patterns().empty() &&
         recording.patterns().begin()->first.space == AddressSpace::shared;
}

/// The bytes that a site touches; empty: it goes elsewhere, or to a barrier object.
Range range_in_block(const Subject& subject, std::size_t number) {
  const SiteInfo& site = subject.site(number);
  const SiteRecording& recording = subject.recording.sites[number];
  const auto all_bytes = static_cast<std::uint32_t>(subject.program.shared_bytes(subject.geometry));
  if (site.is_apart) {
    if (site.kind == AccessKind::atomic) return {};
    return range_of(subject, number,
                    recording.is_full() ? subject.recording.traces[number].sample : recording);
  }
  const bool is_merged = subject.outcome.counts[number].shared.requests == 0;
  if (is_merged && !is_shared(recording)) return {};
  const Range range = range_of(subject, number, recording);
  return range.is_empty() ? Range{0, all_bytes} : range;  // too many ways
}

}  // namespace

std::string misfit(const Shape& shape, const SharedArray& array) {
  std::uint64_t bytes = shape.element_bytes;
  for (const std::uint32_t extent : shape.extents) bytes *= extent;
  if (bytes >= array.bytes && bytes <= array.declared) return "";
  const std::string has =
      array.declared == array.bytes
          ? fmt::format("it has {}", shown(array.bytes))
          : fmt::format("{} of its {} are accessed", shown(array.bytes), shown(array.declared));
  return fmt::format("--shape gives '{}' {}, and {}", shape.array,
                     with_noun(shown(static_cast<double>(bytes)), "byte"), has);
}

std::string shared_name(const Program& program, std::uint32_t offset) {
  for (const SharedVariable& variable : program.shared_variables) {
    const bool is_dynamic = variable.bytes == 0;
    if (offset < variable.offset || (!is_dynamic && offset >= variable.offset + variable.bytes)) {
      continue;
    }
    return own_name(variable.name);
  }
  return "";
}

std::vector<SharedArray> shared_arrays(const Subject& subject) {
  const std::size_t all_bytes = subject.program.shared_bytes(subject.geometry);
  std::vector<std::pair<Range, std::size_t>> ranges;
  for (std::size_t i = 0; i < subject.program.sites.size(); ++i) {
    const Range range = range_in_block(subject, i);
    if (!range.is_empty()) ranges.emplace_back(range, i);
  }
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.begin, a.second) < std::pair(b.first.begin, b.second);
  });
  std::vector<SharedArray> arrays;
  for (const Part& part : joined_parts(subject, parts_of(ranges))) {
    SharedArray& array = arrays.emplace_back();
    array.offset = part.range.begin;
    array.bytes = part.range.end - part.range.begin;
    for (const std::size_t site : part.sites) {
      (subject.site(site).is_apart ? array.copies : array.sites).push_back(site);
    }
    std::uint32_t declared_bytes = array.bytes;
    array.declared = array.bytes;
    for (const SharedVariable& variable : subject.program.shared_variables) {
      const bool is_dynamic = variable.bytes == 0;
      const std::size_t end =
          is_dynamic ? all_bytes : std::size_t{variable.offset} + variable.bytes;
      if (part.range.begin < variable.offset || part.range.end > end) continue;
      array.name = own_name(variable.name);
      array.is_dynamic = is_dynamic;
      array.part = part.range.begin == variable.offset
                       ? ""
                       : fmt::format("from byte {} on", shown(part.range.begin - variable.offset));
      if (!is_dynamic) declared_bytes = variable.bytes;
      array.declared = static_cast<std::uint32_t>(end) - array.offset;
    }
    if (array.part.empty() && !array.name.empty()) array.variable_bytes = declared_bytes;
    take_given_shape(subject, array);
  }
  // A formula for the first of several parts must not be taken for one of the whole variable.
  for (SharedArray& first : arrays) {
    if (!first.part.empty() || first.name.empty()) continue;
    const bool has_more = std::any_of(arrays.begin(), arrays.end(), [&](const SharedArray& other) {
      return other.name == first.name && other.offset > first.offset;
    });
    if (has_more) first.part = fmt::format("up to byte {}", shown(first.bytes));
  }
  check_shapes(subject, arrays);
  return arrays;
}

void complete(const Subject& subject, SharedArray& array) {
  take_accesses(subject, array);
  take_declaration(subject, array);
}

std::vector<std::uint32_t> row_lengths(const Subject& subject, const SharedArray& array) {
  if (!array.extents.empty() && array.extents.size() > 1) {
    std::vector<std::uint32_t> rows_and_planes;
    std::uint32_t length = array.element_bytes;
    for (std::size_t i = array.extents.size(); i-- > 1;) {
      rows_and_planes.push_back(length *= array.extents[i]);
    }
    return rows_and_planes;
  }
  std::vector<std::uint32_t> lengths;
  if (array.element_bytes > 4) lengths.push_back(array.element_bytes);
  // Distances between neighbouring lanes, by how often conflicts have them.
  std::map<std::uint32_t, std::uint64_t> distances;
  for (std::size_t i = 0; i < array.accesses.size();) {
    const Placed& access = array.accesses[i];
    std::uint64_t times = 0;  // the times of all places together
    for (; i < array.accesses.size() && array.accesses[i].site == access.site &&
           array.accesses[i].pattern == access.pattern;
         ++i) {
      times += array.accesses[i].times;
    }
    const std::uint32_t width = subject.site(access.site).width;
    unsigned last = warp_lanes;
    for_each_lane(access.pattern->mask, [&](unsigned lane) {
      if (last != warp_lanes) {
        const auto distance =
            static_cast<std::int64_t>(access.pattern->delta[lane] - access.pattern->delta[last]);
        const std::int64_t length = distance < 0 ? -distance : distance;
        if (length > width && length < array.bytes) {
          distances[static_cast<std::uint32_t>(length)] += times;
        }
      }
      last = lane;
    });
  }
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted;
  for (const auto& [length, times] : distances) sorted.emplace_back(times, length);
  std::sort(sorted.rbegin(), sorted.rend());
  constexpr std::size_t most = 3;
  for (const auto& [times, length] : sorted) {
    const bool is_new = std::find(lengths.begin(), lengths.end(), length) == lengths.end();
    if (lengths.size() < most && length % 4 == 0 && is_new) lengths.push_back(length);
  }
  constexpr std::uint32_t all_banks = 128;
  if (std::find(lengths.begin(), lengths.end(), all_banks) == lengths.end()) {
    lengths.push_back(all_banks);
  }
  return lengths;
}

}  // namespace warpmeter::model::explain
