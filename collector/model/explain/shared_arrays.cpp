#include "collector/model/explain/shared_arrays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <regex>

#include "base/error.h"
#include "base/expression.h"
#include "base/kernel_name.h"

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

Range range_of(const Subject& subject, std::size_t site) {
  Range whole;
  for (const auto& [pattern, places] : subject.recording.sites[site].patterns()) {
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

/// Names with a number: #define TILE 16, constexpr int rows = 2 * TILE;
Symbols constants_of(const std::string& source) {
  static const std::regex definition(
      R"((?:#define[ \t]+(\w+)[ \t]+([^\n/]+))|(?:const(?:expr)?[ \t]+(?:unsigned|int|size_t|std::size_t|auto|[ \t])+(\w+)[ \t]*=[ \t]*([^;\n]+);))");
  Symbols symbols;
  for (std::sregex_iterator match(source.begin(), source.end(), definition), end; match != end;
       ++match) {
    const bool is_macro = (*match)[1].matched;
    const std::string name = (*match)[is_macro ? 1 : 3], value = (*match)[is_macro ? 2 : 4];
    try {
      symbols[name] = evaluate(value, symbols);
    } catch (const ExpressionFault&) {
      symbols.erase(name);
    }
  }
  return symbols;
}

/// Bytes of a type by its name; 0: not known, as of a template's parameter.
std::uint32_t bytes_of_type(const std::string& declaration) {
  static const std::regex type(
      R"(\b(?:(double|long long|size_t|float2|int2|uint2|u?int64_t)|(float4|int4|uint4|double2)|(float|int|unsigned|u?int32_t|uchar4|char4|half2|__half2)|(short|ushort|half|__half|u?int16_t)|(char|uchar|bool|u?int8_t|std::byte))\b)");
  std::smatch found;
  if (!std::regex_search(declaration, found, type)) return 0;
  const std::uint32_t sizes[] = {8, 16, 4, 2, 1};
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    if (!found[i + 1].matched) continue;
    const bool is_narrower = declaration.find("unsigned char") != std::string::npos;
    const bool is_short = declaration.find("unsigned short") != std::string::npos;
    return is_narrower ? 1 : is_short ? 2 : sizes[i];
  }
  return 0;
}

/// The extents of the last `__shared__ … name[a][b]` of the source before a line that fits the
/// variable's size; empty where they cannot be told.
std::vector<std::uint32_t> declared_extents(const std::string& source, const std::string& name,
                                            std::uint32_t bytes, int before) {
  static const std::regex statement(R"(__shared__[^;]*;)");
  const std::regex declarator("\\b" + name + R"(\s*((?:\[[^\]]*\]\s*)+))");
  const Symbols symbols = constants_of(source);
  std::vector<std::uint32_t> best;
  for (std::sregex_iterator shared(source.begin(), source.end(), statement), end; shared != end;
       ++shared) {
    const auto at = source.begin() + shared->position();
    if (before > 0 && std::count(source.begin(), at, '\n') >= before) break;
    const std::string text = shared->str();
    std::smatch found;
    if (!std::regex_search(text, found, declarator)) continue;
    const std::string brackets = found[1];
    static const std::regex extent(R"(\[([^\]]*)\])");
    std::vector<std::uint32_t> extents;
    std::uint64_t elements = 1;
    try {
      for (std::sregex_iterator one(brackets.begin(), brackets.end(), extent); one != end; ++one) {
        extents.push_back(static_cast<std::uint32_t>(
            evaluate_whole((*one)[1].str(), symbols, 1, std::int64_t{1} << 20)));
        elements *= extents.back();
      }
    } catch (const ExpressionFault&) {
      continue;
    }
    if (elements == 0 || bytes % elements != 0) continue;
    const auto element = static_cast<std::uint32_t>(bytes / elements);
    const std::uint32_t known = bytes_of_type(found.prefix());
    if (known != 0 ? element == known : std::has_single_bit(element) && element <= 16) {
      best = extents;
    }
  }
  return best;
}

struct Part {
  Range range;
  std::vector<std::size_t> sites;
};

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
  for (const std::size_t site : array.sites) {
    const SiteRecording& recording = subject.recording.sites[site];
    array.is_whole &= !recording.is_full();
    for (const auto& [pattern, places] : recording.patterns()) {
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

/// `bytes`: of the whole variable.
void take_declaration(const Subject& subject, SharedArray& array, std::uint32_t bytes) {
  const auto given = std::find_if(subject.options.shapes.begin(), subject.options.shapes.end(),
                                  [&](const Shape& shape) { return shape.array == array.name; });
  if (given != subject.options.shapes.end()) {
    array.extents = given->extents;
    array.element_bytes = given->element_bytes;
    array.is_given = true;
    return;
  }
  if (!array.part.empty() || !subject.options.source || array.name.empty()) return;
  if (array.name.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != std::string::npos) {
    return;
  }
  std::map<std::string, int> files;  // and the first line there
  for (const std::size_t site : array.sites) {
    const Place& place = subject.place(subject.site(site));
    if (static_cast<std::size_t>(place.file) < subject.program.files.size()) {
      int& line = files[subject.program.files[static_cast<std::size_t>(place.file)]];
      line = line == 0 ? place.line : std::min(line, place.line);
    }
  }
  for (const auto& [file, line] : files) {
    array.extents = declared_extents(subject.options.source(file), array.name, bytes, line);
    if (array.extents.empty()) continue;
    std::uint32_t elements = 1;
    for (const std::uint32_t extent : array.extents) elements *= extent;
    array.element_bytes = bytes / elements;
    return;
  }
}

std::uint64_t elements_of(const Shape& shape) {
  std::uint64_t elements = 1;
  for (const std::uint32_t extent : shape.extents) elements *= extent;
  return elements;
}

void check_shapes(const Subject& subject, const std::vector<SharedArray>& arrays) {
  for (const Shape& shape : subject.options.shapes) {
    std::vector<std::string> names;
    for (const SharedArray& array : arrays) {
      names.push_back(fmt::format("{} of {} bytes", array.name, array.bytes));
    }
    const auto array = std::find_if(arrays.begin(), arrays.end(), [&](const SharedArray& other) {
      return other.name == shape.array;
    });
    if (array == arrays.end()) {
      throw Error(ExitCode::usage,
                  fmt::format("--shape names '{}', which is no array that the kernel accesses; {}",
                              shape.array,
                              names.empty() ? "it accesses none"
                                            : fmt::format("there is {}", fmt::join(names, ", "))));
    }
    if (elements_of(shape) * shape.element_bytes > array->bytes) {
      throw Error(ExitCode::usage,
                  fmt::format("--shape gives '{}' {} bytes, and it has {}", shape.array,
                              elements_of(shape) * shape.element_bytes, array->bytes));
    }
  }
}

/// Whether the site went to shared memory, alone or as part of another one's request.
bool is_shared(const SiteRecording& recording) {
  return !recording.patterns().empty() &&
         recording.patterns().begin()->first.space == AddressSpace::shared;
}

}  // namespace

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
    const bool is_merged = subject.outcome.counts[i].shared.requests == 0;
    if (subject.site(i).is_apart || (is_merged && !is_shared(subject.recording.sites[i]))) continue;
    Range range = range_of(subject, i);
    if (range.is_empty()) range = {0, static_cast<std::uint32_t>(all_bytes)};  // too many ways
    ranges.emplace_back(range, i);
  }
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.begin, a.second) < std::pair(b.first.begin, b.second);
  });
  std::vector<SharedArray> arrays;
  std::vector<SharedVariable> variables = subject.program.shared_variables;
  for (const Part& part : parts_of(ranges)) {
    SharedArray& array = arrays.emplace_back();
    array.offset = part.range.begin;
    array.bytes = part.range.end - part.range.begin;
    array.sites = part.sites;
    std::uint32_t declared_bytes = array.bytes;
    for (const SharedVariable& variable : variables) {
      const bool is_dynamic = variable.bytes == 0;
      const std::size_t end =
          is_dynamic ? all_bytes : std::size_t{variable.offset} + variable.bytes;
      if (part.range.begin < variable.offset || part.range.end > end) continue;
      array.name = own_name(variable.name);
      array.part = part.range.begin == variable.offset
                       ? ""
                       : fmt::format("from byte {} on", shown(part.range.begin - variable.offset));
      if (!is_dynamic) declared_bytes = variable.bytes;
    }
    take_accesses(subject, array);
    take_declaration(subject, array, declared_bytes);
  }
  check_shapes(subject, arrays);
  return arrays;
}

std::vector<std::uint32_t> row_lengths(const Subject& subject, const SharedArray& array) {
  if (!array.extents.empty() && array.extents.size() > 1) {
    std::vector<std::uint32_t> lengths;  // rows, planes
    std::uint32_t length = array.element_bytes;
    for (std::size_t i = array.extents.size(); i-- > 1;) {
      lengths.push_back(length *= array.extents[i]);
    }
    return lengths;
  }
  // Distances between neighbouring lanes, by how often conflicts have them.
  std::map<std::uint32_t, std::uint64_t> distances;
  for (const Placed& access : array.accesses) {
    const SiteInfo& site = subject.site(access.site);
    unsigned last = warp_lanes;
    for_each_lane(access.pattern->mask, [&](unsigned lane) {
      if (last != warp_lanes) {
        const auto distance =
            static_cast<std::int64_t>(access.pattern->delta[lane] - access.pattern->delta[last]);
        const std::int64_t length = distance < 0 ? -distance : distance;
        if (length > site.width && length < array.bytes) {
          distances[static_cast<std::uint32_t>(length)] += access.times;
        }
      }
      last = lane;
    });
  }
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted;
  for (const auto& [length, times] : distances) sorted.emplace_back(times, length);
  std::sort(sorted.rbegin(), sorted.rend());
  constexpr std::size_t most = 3;
  std::vector<std::uint32_t> lengths;
  for (const auto& [times, length] : sorted) {
    if (lengths.size() < most && length % 4 == 0) lengths.push_back(length);
  }
  constexpr std::uint32_t all_banks = 128;
  if (std::find(lengths.begin(), lengths.end(), all_banks) == lengths.end()) {
    lengths.push_back(all_banks);
  }
  return lengths;
}

}  // namespace warpmeter::model::explain
