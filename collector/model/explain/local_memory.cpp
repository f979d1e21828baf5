// SPDX-License-Identifier: MIT
// Memory of a thread's own that is no register: arrays with computed indices, and what ptxas
// spills.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/with_noun.h"
#include "base/words.h"
#include "collector/model/explain/shared_arrays.h"

namespace warpmeter::model::explain {
namespace {

/// Local memory lies behind the same caches as global memory, in sectors of a lane's word each.
constexpr double cycles_of_local_access = cycles_of_request + 4 * cycles_of_sector;

/// True if a type stands before the name, and an extent behind it: `float name[8]`.
bool is_declared_array(std::string_view source, const std::string& name) {
  for (std::size_t at = source.find(name + "["); at != std::string::npos;
       at = source.find(name + "[", at + 1)) {
    const std::size_t before = source.find_last_not_of(" \t", at == 0 ? 0 : at - 1);
    if (at > 0 && !is_of_word(source[at - 1]) && before != std::string::npos &&
        is_of_word(source[before]) &&
        source.compare(before - std::min<std::size_t>(before, 5), 6, "return") != 0) {
      return true;
    }
  }
  return false;
}

/// The array that the line names with an index, if the source declares one of that name.
std::string array_on_line(const Subject& subject, const schema::Finding& finding) {
  if (subject.options.sources == nullptr || finding.text.empty()) return "";
  const std::string_view source = subject.options.sources->text(finding.file);
  for (std::size_t at = finding.text.find('['); at != std::string::npos;
       at = finding.text.find('[', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && is_of_word(finding.text[begin - 1])) --begin;
    const std::string name = finding.text.substr(begin, at - begin);
    if (!name.empty() && is_declared_array(source, name)) return name;
  }
  return "";
}

/// Accesses to local memory, of one line or of all lines that name one array.
struct LocalAccesses {
  schema::Finding at;  ///< place and array of the line that is executed most often
  double of_line = 0;  ///< its executions
  double executions = 0;
  std::vector<int> also;  ///< the other lines

  void add(const schema::Finding& line, double times) {
    if (executions > 0) also.push_back(times > of_line ? at.line : line.line);
    if (times > of_line) {
      at = line;
      of_line = times;
    }
    executions += times;
  }
};

void find_arrays(const Subject& subject, std::vector<Weighed>& found) {
  std::map<LineKey, double> lines;
  std::map<LineKey, const Place*> places;
  for (const SiteInfo& site : subject.program.sites) {
    if (site.space != AddressSpace::local) continue;
    const Place& place = subject.place(site);
    lines[line_key(place)] += subject.issues[site.instruction];
    places[line_key(place)] = &place;
  }
  std::map<std::tuple<int, std::string, int>, LocalAccesses> arrays;
  const bool is_promoted = subject.program.resources.local_bytes == 0;  // to registers, by ptxas
  for (const auto& [key, executions] : lines) {
    if (executions <= 0 || is_promoted) continue;
    schema::Finding line;
    locate(subject, *places[key], line);
    line.object = array_on_line(subject, line);
    arrays[{key.first, line.object, line.object.empty() ? key.second : 0}].add(line, executions);
  }
  for (auto& [key, accesses] : arrays) {
    Weighed& weighed = found.emplace_back();
    weighed.cycles = cycles_of_local_access * accesses.executions;
    schema::Finding& finding = weighed.finding;
    finding = std::move(accesses.at);
    finding.kind = "local_memory";
    finding.requests = static_cast<std::uint64_t>(accesses.executions);
    finding.share =
        accesses.executions / std::max(1.0, static_cast<double>(subject.outcome.warp_instructions));
    finding.share_of = "the launch's instructions";
    finding.evidence = fmt::format(
        "An array of the thread's own lies in local memory, {} a thread: with an index that "
        "is not known when it is compiled it cannot be in registers.",
        with_noun(shown(subject.program.local_bytes), "byte"));
    std::sort(accesses.also.begin(), accesses.also.end());
    if (!accesses.also.empty()) {
      const bool is_one = accesses.also.size() == 1;
      finding.evidence += fmt::format(" Counted here {} line{} {} too.", is_one ? "is" : "are",
                                      is_one ? "" : "s", fmt::join(accesses.also, ", "));
      finding.also_lines = std::move(accesses.also);
    }
    finding.grade = schema::Grade::ptx;
    finding.grade_reason = "ptxas may keep it in registers after all";
  }
}

/// The machine code says by its lines where it spills, unless it has none: then it is told of the
/// launch as a whole.
void find_spills(const Subject& subject, std::vector<Weighed>& found) {
  const Program& program = subject.program;
  const std::int64_t spilled =
      program.resources.local_bytes.value_or(0) - static_cast<std::int64_t>(program.local_bytes);
  if (spilled <= 0 || program.has_calls || program.takes_stack) return;
  std::map<LineKey, double> lines;
  double executions = 0;
  for (const std::uint32_t instruction : program.spills) {
    const double times = subject.issues[instruction];
    executions += times;
    if (program.places[instruction].line > 0) lines[line_key(program.places[instruction])] += times;
  }
  const auto most = std::max_element(
      lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  Weighed& weighed = found.emplace_back();
  weighed.is_of_launch = true;
  weighed.cycles =
      program.spills.empty() ? 0.1 * subject.cycles : cycles_of_local_access * executions;
  schema::Finding& finding = weighed.finding;
  finding.kind = "local_memory";
  finding.grade = schema::Grade::exact;
  finding.evidence = fmt::format(
      "ptxas spills {} a thread to local memory: {} are not enough. Fewer values "
      "alive at once, or a __launch_bounds__ or -maxrregcount that leaves more registers, would "
      "do.",
      with_noun(shown(static_cast<double>(spilled)), "byte"),
      with_noun(program.resources.registers.value_or(0), "register"));
  if (most == lines.end()) return;
  for (const std::uint32_t instruction : program.spills) {
    if (line_key(program.places[instruction]) != most->first) continue;
    locate(subject, program.places[instruction], finding);
    break;
  }
  finding.evidence += fmt::format(
      " Its warps make about {} and stores of what is spilled, {:.0f} % of them in this "
      "line.",
      with_noun(shown(executions), "load"), 100 * most->second / executions);
}

}  // namespace

void find_local_memory(const Subject& subject, std::vector<Weighed>& found) {
  find_arrays(subject, found);
  find_spills(subject, found);
}

}  // namespace warpmeter::model::explain
