// SPDX-License-Identifier: MIT
#include "collector/model/counts/source_lines.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "collector/model/counts/counter_names.h"
#include "collector/model/counts/grades.h"

namespace warpmeter::model {

using schema::Grade;

std::string_view access_name(const SiteInfo& site, AddressSpace space) {
  const AccessKind kind = kind_in(site, space);
  if (site.carrier == Carrier::matrix)
    return kind == AccessKind::load ? "shared matrix load" : "shared matrix store";
  if (writes_copy(site)) return "shared async copy";
  const bool shared = space == AddressSpace::shared;
  switch (kind) {
    case AccessKind::load:
      return shared ? "shared load" : "global load";
    case AccessKind::store:
      return shared ? "shared store" : "global store";
    case AccessKind::atomic:
      return shared ? "shared atomic" : "global atomic";
    case AccessKind::reduction:
      break;
  }
  return "global reduction";
}

std::string line_text(std::string_view source, int line) {
  for (int i = 1; i < line; ++i) {
    const std::size_t end = source.find('\n');
    if (end == std::string_view::npos) return "";
    source.remove_prefix(end + 1);
  }
  source = source.substr(0, source.find('\n'));
  const std::size_t first = source.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(source.substr(first, source.find_last_not_of(" \t\r") - first + 1));
}

namespace {

/// The line of a site. Functions that the compiler made by itself (a destructor that frees) have
/// none: their accesses are counted at the kernel's first line. Null: the program has no lines.
const Place* line_place(const Program& program, const SiteInfo& site) {
  const auto has_line = [&](const Place& place) {
    return place.line != 0 && static_cast<std::size_t>(place.file) < program.files.size();
  };
  const Place& own = program.places[site.instruction];
  if (has_line(own)) return &own;
  const auto first = std::find_if(program.places.begin(), program.places.end(), has_line);
  return first == program.places.end() ? nullptr : &*first;
}

}  // namespace

std::vector<schema::Line> source_lines(const Program& program, const LaunchOutcome& outcome,
                                       std::string_view source_path, std::string_view source) {
  std::map<std::tuple<std::string, int, AddressSpace, AccessKind, Carrier>, schema::Line> lines;
  for (std::size_t i = 0; i < program.sites.size(); ++i) {
    const SiteInfo& site = program.sites[i];
    const Place* const known = line_place(program, site);
    // The lines add up to the launch's counters.
    if ((site.is_apart && !writes_copy(site)) || site.carrier == Carrier::product ||
        known == nullptr) {
      continue;
    }
    const Place& place = *known;
    const std::string& file = program.files[static_cast<std::size_t>(place.file)];
    const auto add = [&](AddressSpace space, AccessKind kind, std::string_view access,
                         const AccessCounts& counts) {
      if (counts.requests == 0) return;
      const Carrier carrier = writes_copy(site) ? site.carrier : counter_carrier(site);
      schema::Line& line = lines[{file, place.own_line, space, kind, carrier}];
      line.file = file;
      line.line = place.own_line;
      if (line.text.empty() && file == source_path) line.text = line_text(source, place.own_line);
      line.access = access;
      line.requests += counts.requests;
      line.transactions += counts.transactions;
      line.ideal += counts.ideal;
      if (space == AddressSpace::global) line.bytes = line.bytes.value_or(0) + counts.bytes;
      line.grade = std::max(line.grade, grade_of_sectors(program, i, space, outcome).grade);
      if (outcome.sampled) line.grade = std::max(line.grade, Grade::sampled);
    };
    for (const AddressSpace space : {AddressSpace::shared, AddressSpace::global}) {
      add(space, kind_in(site, space), access_name(site, space),
          outcome.counts[i].*counts_of(space));
    }
    add(AddressSpace::shared, AccessKind::load, "shared load", outcome.counts[i].loop_loads);
  }
  std::vector<schema::Line> result;
  for (auto& [key, line] : lines) result.push_back(std::move(line));
  return result;
}

}  // namespace warpmeter::model
