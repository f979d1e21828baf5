// SPDX-License-Identifier: MIT
#include "reports/explain/sentences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "base/with_noun.h"
#include "reports/record.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

enum class Form {
  a_request,  ///< "8 transactions a request, 1 is possible"
  in_all,     ///< "4,096 sectors, 1,024 would do"
  share,      ///< only what it is a share of
};

struct KindWords {
  const char* kind;
  Form form;
  const char* what;  ///< where the finding has no access
  const char* then;  ///< for in_all: what the fewest are; of share: what stands before it
};

constexpr std::array<KindWords, 20> kind_words = {{
    {"bank_conflict", Form::a_request, "bank conflicts", ""},
    {"strided_access", Form::a_request, "a strided access", ""},
    {"scattered_access", Form::a_request, "a scattered access", ""},
    {"misaligned_access", Form::a_request, "a misaligned access", ""},
    {"overlapping_access", Form::in_all, "loads that overlap", "are new to the warp"},
    {"refetched_sectors", Form::in_all, "sectors fetched again", "are new to the block"},
    {"repeated_load", Form::in_all, "repeated loads", "are no repeats"},
    {"repeated_store", Form::in_all, "stores that are stored over",
     "would do if the last were made"},
    {"narrow_access", Form::in_all, "narrow accesses", "would do with vectors"},
    {"divergence", Form::share, "lanes that wait for others", "they cost "},
    {"contended_atomic", Form::share, "atomics at one address", ""},
    {"local_memory", Form::in_all, "local memory", "would do without"},
    {"low_occupancy", Form::share, "low occupancy", ""},
    {"small_grid", Form::share, "a grid smaller than the device", ""},
    {"partial_warp", Form::share, "blocks that are no whole warps", ""},
    {"tail", Form::share, "a last wave of few blocks", ""},
    {"double_arithmetic", Form::share, "double arithmetic in code of floats", "in "},
    {"excess_transactions", Form::a_request, "more transactions than its bytes need", ""},
    {"below_copy", Form::share, "slower than a copy", ""},
    {"waiting", Form::share, "waiting", ""},
}};

/// Kinds of a later version are told by their name.
KindWords words_of(const std::string& kind) {
  const auto found = std::find_if(kind_words.begin(), kind_words.end(),
                                  [&](const KindWords& words) { return kind == words.kind; });
  return found == kind_words.end() ? KindWords{kind.c_str(), Form::in_all, kind.c_str(), "would do"}
                                   : *found;
}

/// Between backticks, whatever it holds.
std::string code(std::string text) {
  std::replace(text.begin(), text.end(), '`', '\'');
  return "`" + text + "`";
}

/// A name, or words for what has none: "memory of 4,096 bytes (allocated in main)".
std::string object_text(const ExplainedFinding& finding) {
  return finding.object.starts_with("memory of ") ? "the " + finding.object : code(finding.object);
}

const char* unit(const ExplainedFinding& finding) {
  return finding.access.starts_with("shared") || finding.kind == "contended_atomic" ? "transaction"
                                                                                    : "sector";
}

/// "3.7 million"; below a million all digits.
std::string count_text(std::int64_t count) {
  constexpr std::pair<double, const char*> scales[] = {
      {1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}};
  for (const auto& [scale, name] : scales) {
    const double value = static_cast<double>(count) / scale;
    if (value >= 1) {
      return value >= 100 ? fmt::format("{:.0f} {}", value, name)
                          : fmt::format("{:.1f} {}", value, name);
    }
  }
  return grouped_number(count);
}

std::string quotient(std::int64_t transactions, std::int64_t requests) {
  return readable_number(static_cast<double>(transactions) / static_cast<double>(requests),
                         Zeros::trim);
}

/// "89 % of the launch's shared wavefronts"
std::string percent_of(double share, const std::string& all) {
  const std::string number = share < 0.1 ? "under 0.1"
                             : share < 10
                                 ? readable_number(std::round(share * 10) / 10, Zeros::trim)
                                 : fmt::format("{:.0f}", share);
  return fmt::format("{} % of {}", number, all);
}

std::string share_text(const ExplainedFinding& finding) {
  if (finding.share_of.empty() || finding.share <= 0) return "";
  return percent_of(finding.share, finding.share_of);
}

/// The share where no counts stand before it. For accesses that could be fewer it is of those that
/// would be spared.
std::string share_alone(const ExplainedFinding& finding) {
  const std::string share = share_text(finding);
  if (share.empty()) return "";
  const KindWords words = words_of(finding.kind);
  if (words.form == Form::share) return words.then + share;
  return finding.kind == "narrow_access" ? share + " too many" : share;
}

/// "shared load of `tile`"; the kind in words where it is no access.
std::string subject(const ExplainedFinding& finding, const KindWords& words) {
  const std::string what = finding.access.empty() ? words.what : finding.access;
  return finding.object.empty() ? what : fmt::format("{} of {}", what, object_text(finding));
}

/// " (3.7 million too many, 88 % of the launch's shared wavefronts)"
std::string in_parentheses(const ExplainedFinding& finding, const char* too_many) {
  std::string text = fmt::format("{} {}", count_text(finding.excess), too_many);
  const std::string share = share_text(finding);
  if (!share.empty()) text += ", " + share;
  return " (" + text + ")";
}

/// True if transactions a request say less than all transactions do.
bool has_other_requests(const ExplainedRemedy& remedy) {
  return remedy.spared_requests > 0 || remedy.changes_requests;
}

/// "16,384 transactions instead of 32,768"
std::string fewer_transactions(const ExplainedFinding& finding, const ExplainedRemedy& remedy) {
  if (remedy.transactions == finding.transactions) return fmt::format("as many {}s", unit(finding));
  return fmt::format("{} instead of {}",
                     with_noun(grouped_number(remedy.transactions), unit(finding)),
                     grouped_number(finding.transactions));
}

std::string is_or_are(const std::string& number) { return number == "1" ? "is" : "are"; }

/// The counts that remedies change: the counts where there are some, and the others of the array.
std::string others(const ExplainedFinding& finding, const ExplainedRemedy& remedy) {
  if (finding.other_transactions == 0 && remedy.other_transactions == 0) return "";
  const std::string of = finding.object.empty() ? "" : " of " + object_text(finding);
  if (finding.other_transactions == remedy.other_transactions) {
    return fmt::format("the other accesses{} cost as now", of);
  }
  return fmt::format("the other accesses{} {} instead of {}", of,
                     grouped_number(remedy.other_transactions),
                     grouped_number(finding.other_transactions));
}

/// The saving of a change, as a part of the finding's whole: all accesses of the array together:
/// less than the share where it leaves some, more where it helps other lines too.
std::string saving(const ExplainedFinding& finding, const ExplainedRemedy& remedy) {
  const std::int64_t spared = finding.transactions + finding.other_transactions -
                              remedy.transactions - remedy.other_transactions;
  if (finding.excess <= 0 || spared <= 0 || share_text(finding).empty()) return "";
  const double share =
      finding.share * static_cast<double>(spared) / static_cast<double>(finding.excess);
  return fmt::format("{} {} fewer, {}",
                     has_other_requests(remedy) ? "in all" : "for as many requests",
                     count_text(spared), percent_of(share, finding.share_of));
}

std::string memory(const ExplainedRemedy& remedy, const ExplainedLaunch& launch) {
  if (!remedy.shared_bytes || !launch.shared_bytes) return "";
  const std::int64_t more = *remedy.shared_bytes - *launch.shared_bytes;
  if (more == 0) return "no memory more";
  return fmt::format("{} {} a block",
                     counted(static_cast<std::size_t>(std::abs(more)), "byte", "bytes"),
                     more > 0 ? "more" : "less");
}

std::string occupancy(const ExplainedRemedy& remedy, const ExplainedLaunch& launch) {
  if (!remedy.blocks || !launch.resident_blocks || *remedy.blocks == *launch.resident_blocks) {
    return "";
  }
  return fmt::format("{} a multiprocessor instead of {}",
                     counted(static_cast<std::size_t>(*remedy.blocks), "block", "blocks"),
                     grouped_number(*launch.resident_blocks));
}

}  // namespace

std::string kind_in_words(const std::string& kind) { return words_of(kind).what; }

std::string finding_clause(const ExplainedFinding& finding) {
  const KindWords words = words_of(finding.kind);
  std::string text = words.what;
  if (const std::string place = finding.place(); !place.empty()) text += " at " + place;
  const std::string who = subject(finding, words);
  return who == words.what ? text : fmt::format("{} ({})", text, who);
}

std::string finding_figures(const ExplainedFinding& finding) {
  const KindWords words = words_of(finding.kind);
  const std::string share = share_text(finding);
  const bool has_excess = finding.transactions > finding.ideal;
  if (words.form == Form::a_request && finding.requests > 0 && has_excess) {
    const std::string today = quotient(finding.transactions, finding.requests);
    const std::string best = quotient(finding.ideal, finding.requests);
    return fmt::format("{} a request, {} {} possible{}", with_noun(today, unit(finding)), best,
                       is_or_are(best), in_parentheses(finding, "too many"));
  }
  if (words.form != Form::share && has_excess) {
    if (finding.ideal == 0) {
      return fmt::format("{}, all of them too many{}",
                         with_noun(count_text(finding.transactions), unit(finding)),
                         share.empty() ? "" : " (" + share + ")");
    }
    const char* then = *words.then == '\0' ? "are possible" : words.then;
    return fmt::format("{}, {} {}{}", with_noun(count_text(finding.transactions), unit(finding)),
                       count_text(finding.ideal), then, in_parentheses(finding, "too many"));
  }
  return share_alone(finding);
}

std::string finding_headline(const ExplainedFinding& finding) {
  const std::string figures = finding_figures(finding);
  return subject(finding, words_of(finding.kind)) + (figures.empty() ? "." : ": " + figures + ".");
}

namespace {

std::string with_capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

std::string finding_sentence(const ExplainedFinding& finding) {
  std::string text = finding_headline(finding);
  if (!finding.evidence.empty()) text += " " + finding.evidence;
  if (!mark_of(finding.grade).empty()) {
    text +=
        fmt::format(" ({}.)", finding.grade_reason.empty() ? "of grade " + finding.grade
                                                           : with_capital(finding.grade_reason));
  }
  return text;
}

std::string unit_of(const ExplainedFinding& finding) {
  return fmt::format("{}s{}", unit(finding), finding.requests > 0 ? " a request" : "");
}

std::string cost_text(const ExplainedFinding& finding, std::int64_t transactions) {
  return finding.requests > 0 ? quotient(transactions, finding.requests) : count_text(transactions);
}

namespace {

/// "16,384 requests instead of 65,536"
std::string fewer_requests(const ExplainedFinding& finding, const ExplainedRemedy& remedy) {
  return fmt::format(
      "{} instead of {}",
      with_noun(grouped_number(finding.requests - remedy.spared_requests), "request"),
      grouped_number(finding.requests));
}

}  // namespace

std::string finding_in_short(const ExplainedFinding& finding) {
  const std::string place = finding.place();
  std::string text = (place.empty() ? "" : place + " ") + kind_in_words(finding.kind);
  if (finding.transactions > finding.ideal) {
    const std::string best = cost_text(finding, finding.ideal);
    text += fmt::format(": {} {}, {} {} possible", cost_text(finding, finding.transactions),
                        unit_of(finding), best, is_or_are(best));
  } else if (const std::string share = share_alone(finding); !share.empty()) {
    text += ": " + share;
  }
  const auto best = std::find_if(finding.remedies.begin(), finding.remedies.end(),
                                 [](const ExplainedRemedy& remedy) { return remedy.is_advised; });
  if (best == finding.remedies.end()) return text;
  text += "; " + best->title();
  if (finding.transactions == 0) return text;
  return fmt::format("{}: {}", text,
                     best->spared_requests > 0   ? fewer_requests(finding, *best)
                     : has_other_requests(*best) ? fewer_transactions(finding, *best)
                                                 : cost_text(finding, best->transactions));
}

namespace {

/// The same changes of the same array, which an earlier finding told of another line.
const ExplainedFinding* told_before(const ExplainedFinding& finding,
                                    const ExplainedLaunch& launch) {
  const auto changes = [](const ExplainedFinding& one) {
    std::vector<std::string> all;
    for (const ExplainedRemedy& remedy : one.remedies) {
      if (remedy.is_advised) all.push_back(remedy.change);
    }
    return all;
  };
  if (finding.object.empty() || changes(finding).empty()) return nullptr;
  for (const ExplainedFinding& earlier : launch.findings) {
    if (earlier.rank >= finding.rank) break;
    const bool is_same = earlier.kind == finding.kind && earlier.object == finding.object;
    if (is_same && changes(earlier) == changes(finding)) return &earlier;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> advice(const ExplainedFinding& finding, const ExplainedLaunch& launch) {
  if (const ExplainedFinding* earlier = told_before(finding, launch)) {
    const auto helps = std::find_if(
        finding.remedies.begin(), finding.remedies.end(), [&](const ExplainedRemedy& remedy) {
          return remedy.is_advised && remedy.transactions < finding.transactions;
        });
    const char* of_request = finding.requests > 0 ? " a request" : "";
    const std::string now = cost_text(finding, finding.transactions);
    if (helps != finding.remedies.end() && has_other_requests(*helps)) {
      return {fmt::format("as of {}: {}.", earlier->rank, fewer_transactions(finding, *helps))};
    }
    if (helps != finding.remedies.end()) {
      return {fmt::format("as of {}: {}{} instead of {}.", earlier->rank,
                          cost_text(finding, helps->transactions), of_request, now)};
    }
    return {fmt::format("as of {}, which leaves these at {}{}.", earlier->rank, now, of_request)};
  }
  std::vector<std::string> lines;
  for (const ExplainedRemedy& remedy : finding.remedies) {
    if (!remedy.is_advised) continue;
    std::string line = remedy.change.empty() ? remedy.name : code(remedy.change);
    if (!remedy.words.empty()) line += fmt::format(" ({})", remedy.words);
    std::vector<std::string> parts;
    if (finding.transactions > 0) {
      const std::string before = cost_text(finding, finding.transactions);
      const std::string after = cost_text(finding, remedy.transactions);
      const char* of_request = finding.requests > 0 ? " a request" : "";
      if (has_other_requests(remedy)) {  // so no quotient says it
        if (remedy.spared_requests > 0) parts.push_back(fewer_requests(finding, remedy));
        parts.push_back(fewer_transactions(finding, remedy));
      } else {
        parts.push_back(before == after
                            ? fmt::format("still {}{} here", after, of_request)
                            : fmt::format("{}{} instead of {}", after, of_request, before));
      }
    }
    for (std::string part :
         {others(finding, remedy), memory(remedy, launch), occupancy(remedy, launch)}) {
      if (!part.empty()) parts.push_back(std::move(part));
    }
    if (!parts.empty()) line += fmt::format(": {}", fmt::join(parts, ", "));
    if (const std::string spared = saving(finding, remedy); !spared.empty()) {
      line += (parts.empty() ? ": " : "; ") + spared;
    }
    lines.push_back(line + ".");
  }
  return lines;
}

}  // namespace warpmeter::reports
