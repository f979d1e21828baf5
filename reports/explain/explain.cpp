// SPDX-License-Identifier: MIT
#include "reports/explain/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/numbers.h"
#include "reports/explain/sentences.h"
#include "reports/table/json.h"
#include "reports/table/number.h"
#include "reports/unfinished.h"

namespace warpmeter::reports {
namespace {

constexpr std::int64_t shown_findings = 5;
/// A row of a table lists at most so many equal amounts of a remedy.
constexpr std::size_t most_amounts = 3;

/// A launch stands for others that have the same findings with other counts.
struct Told {
  const ExplainedLaunch* launch = nullptr;
  std::int64_t launches = 0;
  bool differ = false;
};

/// The findings and their places, without the counts.
std::string shape_of(const ExplainedLaunch& launch) {
  std::string shape = launch.title;
  for (const ExplainedFinding& finding : launch.findings) {
    shape += fmt::format("\n{}\n{}\n{}\n{}", finding.kind, finding.place(), finding.object,
                         finding.access);
  }
  return shape;
}

/// Those with findings, the worst first; of launches that differ in counts alone the worst.
std::vector<Told> told_launches(const std::vector<ExplainedLaunch>& launches) {
  std::vector<Told> told;
  std::map<std::string, std::size_t> known;
  for (const ExplainedLaunch& launch : launches) {
    if (launch.findings.empty()) continue;
    const auto [place, is_new] = known.try_emplace(shape_of(launch), told.size());
    if (is_new) {
      told.push_back({&launch, launch.launches});
      continue;
    }
    Told& same = told[place->second];
    same.launches += launch.launches;
    same.differ = true;
    if (launch.badness() > same.launch->badness()) same.launch = &launch;
  }
  std::stable_sort(told.begin(), told.end(), [](const Told& a, const Told& b) {
    return a.launch->badness() > b.launch->badness();
  });
  return told;
}

std::string heading_for(const Told& told) {
  if (told.launches == 1) return told.launch->title;
  return fmt::format("{}, {}{}", told.launch->title,
                     counted(static_cast<std::size_t>(told.launches), "launch", "launches"),
                     told.differ ? ", the worst of them" : "");
}

/// "transpose/tiled at 4,096, transpose/copy at 4,096 (3 launches) and 5 more"
std::string some_names(const std::vector<const ExplainedLaunch*>& launches) {
  constexpr std::size_t most = 6;
  std::map<std::string, std::int64_t> counts;
  std::vector<std::string> titles;
  for (const ExplainedLaunch* launch : launches) {
    std::int64_t& count = counts[launch->title];
    if (count == 0) titles.push_back(launch->title);
    count += launch->launches;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(most, titles.size()); ++i) {
    const bool is_last = i + 1 == titles.size();
    text += (i == 0 ? "" : is_last ? " and " : ", ") + titles[i];
    if (counts[titles[i]] > 1) {
      text += fmt::format(
          " ({})", counted(static_cast<std::size_t>(counts[titles[i]]), "launch", "launches"));
    }
  }
  if (titles.size() > most) text += fmt::format(" and {} more", titles.size() - most);
  return text;
}

std::string finding_title(const ExplainedLaunch& launch, const ExplainedFinding& finding) {
  std::string title = launch.title;
  if (!finding.access.empty()) title += ": " + finding.access;
  if (!finding.object.empty()) title += " of " + finding.object;
  if (!finding.place().empty()) title += ", " + finding.place();
  return title;
}

class Explaining {
 public:
  Explaining(const schema::Reader& reader, const ExplainOptions& options,
             const std::vector<ExplainedLaunch>& launches)
      : reader_(reader), options_(options), launches_(launches) {}

  Document document() {
    if (options_.format != Format::table) {
      document_.heading(1, "What was found in " + run_name(reader_, options_.run));
    } else if (has_other_runs()) {
      const char* others = options_.is_of_module ? "." : "; --run names another.";
      document_.paragraph("Of " + run_name(reader_, options_.run) + others);
    }
    const std::string cut_short = why_unfinished(reader_, options_.run);
    if (!cut_short.empty()) document_.paragraph(cut_short + ".");
    for (const Told& told : told_launches(launches_)) add_launch(told);
    if (options_.show) return std::move(document_);
    if (options_.format != Format::table && has_others()) {
      document_.heading(2, "Of the other launches");
    }
    add_clean();
    add_not_looked_for();
    add_without([](const ExplainedLaunch& l) { return !l.failed && !l.reason.empty(); },
                "Not explained");
    add_without([](const ExplainedLaunch& l) { return l.failed; }, "Failed");
    return std::move(document_);
  }

 private:
  void add_launch(const Told& told) {
    const ExplainedLaunch& launch = *told.launch;
    document_.heading(options_.format == Format::table ? 3 : 2, heading_for(told));
    bool drawn = false;
    for (const ExplainedFinding& finding : launch.findings) {
      if (options_.show && finding.line && *finding.line != options_.show->line) {
        document_.paragraph(fmt::format("Line {} is counted with line {}, whose warp this is.",
                                        options_.show->line, *finding.line));
      }
      document_.entry({static_cast<std::size_t>(finding.rank), finding.place(),
                       finding_sentence(finding), "Change", advice(finding, launch)});
      if (options_.what_if) add_tried(finding, launch);
      // The worst finding alone has a picture: of all they would hide the words.
      if (options_.show || (!drawn && options_.format != Format::table)) {
        drawn = add_pictures(finding, launch) || drawn;
      }
    }
    const auto shown = static_cast<std::int64_t>(launch.findings.size());
    if (launch.found > shown && !options_.show) {
      document_.paragraph(fmt::format("{} more with {}{}.", grouped_number(launch.found - shown),
                                      options_.is_of_module ? "top=" : "--top ", launch.found));
    }
    if (options_.show && !drawn) {
      document_.paragraph(
          "There is no picture of it: the addresses of one warp were not recorded.");
    }
  }

  bool add_pictures(const ExplainedFinding& finding, const ExplainedLaunch& launch) {
    const auto today = read_lanes(finding.lanes);
    if (!today) return false;
    const std::string title = finding_title(launch, finding);
    document_.picture(warp_picture(*today, finding.access, title + ", as it is"));
    for (const ExplainedRemedy& remedy : finding.remedies) {
      const auto then = remedy.is_advised ? read_lanes(remedy.lanes) : std::nullopt;
      if (!then) continue;
      document_.picture(warp_picture(*then, finding.access, title + ", with " + remedy.title()));
      break;
    }
    return true;
  }

  void add_tried(const ExplainedFinding& finding, const ExplainedLaunch& launch) {
    if (finding.remedies.empty()) {
      if (finding.access.empty()) return;  // nobody expects a layout for a grid
      document_.paragraph("Nothing was tried: there is no change that could be counted.");
      return;
    }
    const bool are_fewer =
        std::any_of(finding.remedies.begin(), finding.remedies.end(),
                    [](const ExplainedRemedy& remedy) { return remedy.spared_requests > 0; });
    // How many requests a line makes is known of today's; of changes, only what they spare.
    const bool is_in_all = std::any_of(
        finding.remedies.begin(), finding.remedies.end(), [](const ExplainedRemedy& remedy) {
          return remedy.changes_requests && remedy.spared_requests == 0;
        });
    Table table;
    table.caption = finding_title(launch, finding);
    table.columns = {Column::text("change", "", Kind::code),
                     Column::text("meaning"),
                     Column::number("cost", is_in_all ? "in all" : unit_of(finding), "",
                                    is_in_all ? Kind::count : Kind::quotient),
                     Column::number("other_transactions", "of the others", "", Kind::count),
                     Column::number("shared_bytes", "shared bytes", "", Kind::count),
                     Column::number("blocks", "blocks a multiprocessor", "", Kind::count),
                     Column::text("advised")};
    const auto cost = [&](std::int64_t transactions, std::int64_t requests) -> Cell {
      if (requests <= 0 || is_in_all) return transactions;
      return static_cast<double>(transactions) / static_cast<double>(requests);
    };
    const auto known = [](const std::optional<std::int64_t>& value) -> Cell {
      return value ? Cell(*value) : Cell(Missing{"it is not concerned or not known"});
    };
    table.rows.push_back({Missing{}, "as it is", cost(finding.transactions, finding.requests),
                          finding.other_transactions, known(launch.shared_bytes),
                          known(launch.resident_blocks), ""});
    for (const ExplainedRemedy& remedy : finding.remedies) {
      table.rows.push_back({remedy.title(), meaning(remedy),
                            cost(remedy.transactions, finding.requests - remedy.spared_requests),
                            remedy.other_transactions, known(remedy.shared_bytes),
                            known(remedy.blocks), remedy.is_advised ? "yes" : "no"});
    }
    if (are_fewer) {
      constexpr std::size_t at = 2;
      table.columns.insert(table.columns.begin() + at,
                           Column::number("requests", "requests", "", Kind::count));
      for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const std::int64_t spared = i == 0 ? 0 : finding.remedies[i - 1].spared_requests;
        table.rows[i].insert(table.rows[i].begin() + at, finding.requests - spared);
      }
    }
    document_.table(std::move(table));
  }

  /// "2 words of padding a row (or 6, 10, …, 30)": what gives the same counts.
  static std::string meaning(const ExplainedRemedy& remedy) {
    std::string text = remedy.words.empty() ? remedy.name : remedy.words;
    const std::vector<std::int64_t>& also = remedy.also_amounts;
    if (also.empty()) return text;
    const char* shift = remedy.name.starts_with("swizzle") ? ">> " : "";
    const auto first = [&](std::size_t count) {
      std::string list;
      for (std::size_t i = 0; i < count; ++i) {
        list += fmt::format("{}{}{}", i == 0 ? "" : ", ", shift, also[i]);
      }
      return list;
    };
    if (also.size() <= most_amounts) return fmt::format("{} (or {})", text, first(also.size()));
    const bool is_even = std::adjacent_find(also.begin() + 1, also.end(), [&](auto one, auto next) {
                           return next - one != also[1] - also[0];
                         }) == also.end();
    return is_even ? fmt::format("{} (or {}, …, {}{})", text, first(2), shift, also.back())
                   : fmt::format("{} (or {} and {} more)", text, first(3), also.size() - 3);
  }

  bool has_other_runs() const {
    const schema::Rows rows =
        reader_.query("SELECT 1 FROM runs WHERE run_id <> :run LIMIT 1", {{":run", options_.run}});
    return !rows.rows.empty();
  }

  bool has_others() const {
    return std::any_of(launches_.begin(), launches_.end(),
                       [](const ExplainedLaunch& launch) { return launch.findings.empty(); });
  }

  void add_clean() {
    std::vector<const ExplainedLaunch*> clean;
    std::vector<std::int64_t> ids;
    for (const ExplainedLaunch& launch : launches_) {
      if (!launch.is_clean()) continue;
      clean.push_back(&launch);
      ids.push_back(launch.launch_id);
    }
    if (clean.empty()) return;
    document_.paragraph(
        fmt::format("{}: nothing was found that is large enough to be told (4 % of the launch for "
                    "most kinds). Looked for: {}. What "
                    "several blocks have in common (sectors fetched again, addresses where their "
                    "atomics meet) is not looked at.",
                    some_names(clean), fmt::join(read_looked_for(reader_, ids), ", ")));
  }

  void add_not_looked_for() {
    std::vector<std::int64_t> ids;
    std::map<std::int64_t, const ExplainedLaunch*> by_id;
    for (const ExplainedLaunch& launch : launches_) {
      if (launch.failed || !launch.reason.empty()) continue;
      ids.push_back(launch.launch_id);
      by_id[launch.launch_id] = &launch;
    }
    std::vector<LookedFor> reasons;  // in `words` all kinds of a reason
    for (const LookedFor& kind : read_not_looked_for(reader_, ids)) {
      const auto same = std::find_if(reasons.begin(), reasons.end(), [&](const LookedFor& r) {
        return r.reason == kind.reason && r.launches == kind.launches &&
               r.launch_id == kind.launch_id;
      });
      if (same == reasons.end()) {
        reasons.push_back(kind);
      } else {
        same->words += ", " + kind.words;
      }
    }
    for (const LookedFor& reason : reasons) {
      std::string where;
      if (reason.launches < static_cast<std::int64_t>(ids.size())) {
        const auto launch = by_id.find(reason.launch_id);
        if (launch == by_id.end()) refuse_stored("the launch that something was looked for in");
        where = " in " + launch->second->title;
        if (reason.launches > 1) {
          where += fmt::format(" and {} more", grouped_number(reason.launches - 1));
        }
      }
      document_.paragraph(
          fmt::format("Not looked for{}: {} ({}).", where, reason.words, reason.reason));
    }
  }

  template <class Is>
  void add_without(Is&& is, const char* lead) {
    std::map<std::string, std::vector<const ExplainedLaunch*>> by_reason;
    std::vector<std::string> order;
    for (const ExplainedLaunch& launch : launches_) {
      if (!is(launch)) continue;
      auto& same = by_reason[launch.reason];
      if (same.empty()) order.push_back(launch.reason);
      same.push_back(&launch);
    }
    for (const std::string& reason : order) {
      document_.paragraph(fmt::format("{}: {}{}{}.", lead, some_names(by_reason[reason]),
                                      reason.empty() ? "" : ": ", reason));
    }
  }

  const schema::Reader& reader_;
  const ExplainOptions& options_;
  const std::vector<ExplainedLaunch>& launches_;
  Document document_;
};

bool has_line(const ExplainedFinding& finding, std::int64_t line) {
  const auto& also = finding.also_lines;
  return finding.line == line || std::find(also.begin(), also.end(), line) != also.end();
}

bool is_at(const ExplainedFinding& finding, const ShownLine& shown) {
  if (!has_line(finding, shown.line)) return false;
  // Either may have folders that the other has not: "a.cu", "./a.cu", "/home/me/a.cu".
  return finding.file == shown.file || finding.file.ends_with("/" + shown.file) ||
         (!finding.file.empty() && shown.file.ends_with("/" + finding.file));
}

/// Leaves the findings of the line. Throws Error{usage} with the lines that there are.
void keep_shown(std::vector<ExplainedLaunch>& launches, const ShownLine& shown) {
  std::vector<std::string> places;
  bool any = false, has_findings = false;
  for (ExplainedLaunch& launch : launches) {
    has_findings = has_findings || launch.found > 0;
    for (const ExplainedFinding& finding : launch.findings) {
      const std::string place = finding.place();
      if (place.empty() || std::find(places.begin(), places.end(), place) != places.end()) continue;
      places.push_back(place);
    }
    std::erase_if(launch.findings,
                  [&](const ExplainedFinding& finding) { return !is_at(finding, shown); });
    any = any || !launch.findings.empty();
  }
  if (any) return;
  throw Error(ExitCode::usage,
              fmt::format("nothing was found at {}:{}: {}", shown.file, shown.line,
                          !has_findings    ? std::string("nothing was found in these launches")
                          : places.empty() ? std::string("no finding of these launches has a line")
                                           : fmt::format("there is {}", fmt::join(places, ", "))));
}

std::string written(const Document& document, const ExplainOptions& options,
                    std::vector<PlotFile>& files) {
  switch (options.format) {
    case Format::html:
      return document_html(document);
    case Format::markdown:
      return options.picture_folder.empty()
                 ? document_markdown_with_pictures(document)
                 : document_markdown(document, options.picture_folder, files);
    default:
      return document_text(document, options.width);
  }
}

}  // namespace

ShownLine parse_shown_line(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0 || colon + 1 == text.size()) {
    throw Error(
        ExitCode::usage,
        fmt::format("--show needs a file and a line, kernels/transpose.cu:44, not '{}'", text));
  }
  ShownLine shown;
  shown.file = std::string(text.substr(0, colon));
  shown.line = whole_number("the line of --show", text.substr(colon + 1), 1, INT32_MAX);
  return shown;
}

ExplainedText explain(const schema::Reader& reader, const ExplainOptions& options) {
  const bool is_json = options.format == Format::json;
  ExplainRequest request;
  request.run = options.run;
  request.selectors = options.selectors;
  request.top = options.top.value_or(is_json || options.show ? every_finding : shown_findings);
  request.all_remedies = is_json || options.what_if;
  request.predictions = is_json;
  request.pictures = options.format != Format::table || options.show.has_value();
  std::vector<ExplainedLaunch> launches = read_explained(reader, request);
  if (options.show) keep_shown(launches, *options.show);
  ExplainedText result;
  result.text =
      is_json ? explained_json(reader, options.run, launches)
              : written(Explaining(reader, options, launches).document(), options, result.files);
  return result;
}

}  // namespace warpmeter::reports
