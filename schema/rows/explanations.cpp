// SPDX-License-Identifier: MIT
#include "schema/rows/explanations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/members.h"
#include "schema/table_shapes.h"

namespace warpmeter::schema {
namespace {

// The value of a field as its column holds it.
template <class Sort, class Value>
const Value& stored(Sort, const Value& value) {
  return value;
}
auto stored(sorts::TextOrNull, const std::string& text) { return text_or_null(text); }
auto stored(sorts::LineOrNull, int line) { return line == 0 ? std::nullopt : std::optional(line); }
auto stored(sorts::Lanes, const WarpPicture& picture) { return lanes_text(picture); }
/// A JSON array; NULL where it has no element.
template <class List>
std::optional<std::string> array_or_null(const List& numbers) {
  if (numbers.empty()) return std::nullopt;
  return fmt::format("[{}]", fmt::join(numbers.begin(), numbers.end(), ","));
}
auto stored(sorts::Lines, const std::vector<int>& lines) { return array_or_null(lines); }
auto stored(sorts::Amounts, const sorts::Amounts::Made& amounts) { return array_or_null(amounts); }

/// An INSERT of the numbers that a row is known by, then of the record's fields.
template <class Record>
std::string insertion_of(const char* table, std::vector<std::string> columns) {
  for_each_field<Record>([&](const auto& field) { columns.emplace_back(field.name); });
  return insertion(table, columns);
}

template <class Record, class... Key>
void insert(Statement& statement, const Record& record, Key... key) {
  with_fields<Record>([&](const auto&... field) {
    statement.execute(key..., stored(field.sort, record.*field.member)...);
  });
}

/// Two FNV-1a hashes that begin differently: 128 bits. Texts and lists are hashed with their
/// lengths, so that they cannot be cut in another place.
class Digest {
 public:
  template <class Value>
  void add(const Value& value) {
    if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
      add_number(static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_floating_point_v<Value>) {
      add_number(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (requires { value.has_value(); }) {
      add(value.has_value());
      if (value) add(*value);
    } else if constexpr (requires { value.begin(); }) {
      add(value.size());
      for (const auto& one : value) add_one(one);
    } else if constexpr (requires { fields_of(&value); }) {
      for_each_field<Value>([&](const auto& field) { add(value.*field.member); });
      if constexpr (std::is_same_v<Value, Finding>) add(value.remedies);
      if constexpr (std::is_same_v<Value, Remedy>) add(value.predicted);
    } else {
      with_members(value, [&](const auto&... member) { (add(member), ...); });
    }
  }
  std::string text() const { return fmt::format("{:016x}{:016x}", a_, b_); }

 private:
  void add_one(char c) { add_byte(static_cast<unsigned char>(c)); }
  template <class Value>
  void add_one(const Value& value) {
    add(value);
  }
  void add_number(std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) add_byte(static_cast<unsigned char>(value >> 8 * byte));
  }
  void add_byte(unsigned char byte) {
    constexpr std::uint64_t prime = 0x100000001b3;
    a_ = (a_ ^ byte) * prime;
    b_ = (b_ ^ byte) * prime;
  }
  std::uint64_t a_ = 0xcbf29ce484222325, b_ = 0x84222325cbf29ce4;
};

/// Compares what a digest holds, in a fraction of the time that one takes.
template <class Value>
bool is_same(const Value& a, const Value& b) {
  if constexpr (requires { fields_of(&a); }) {
    bool is = true;
    for_each_field<Value>(
        [&](const auto& field) { is = is && is_same(a.*field.member, b.*field.member); });
    if constexpr (std::is_same_v<Value, Finding>) return is && is_same(a.remedies, b.remedies);
    if constexpr (std::is_same_v<Value, Remedy>) return is && is_same(a.predicted, b.predicted);
    return is;
  } else if constexpr (std::is_arithmetic_v<Value> || std::is_enum_v<Value> ||
                       std::is_convertible_v<Value, std::string_view>) {
    return a == b;
  } else if constexpr (requires { a.has_value(); }) {
    return a.has_value() == b.has_value() && (!a || is_same(*a, *b));
  } else if constexpr (requires { a.begin(); }) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& one, const auto& other) { return is_same(one, other); });
  } else {
    return with_members(a, [&](const auto&... of_a) {
      return with_members(b, [&](const auto&... of_b) { return (is_same(of_a, of_b) && ...); });
    });
  }
}

}  // namespace

std::optional<std::string> lanes_text(const WarpPicture& picture) {
  if (picture.mask == 0) return std::nullopt;
  std::string lanes;
  for (unsigned lane = 0; lane < WarpPicture::lane_count; ++lane) {
    if ((picture.mask >> lane & 1U) == 0) continue;
    lanes += fmt::format("{}{{\"lane\":{},\"address\":{},\"pass\":{}}}", lanes.empty() ? "" : ",",
                         lane, picture.address[lane], picture.pass[lane]);
  }
  return fmt::format("{{\"width\":{},\"lanes\":[{}]}}", picture.width, lanes);
}

std::string digest_of(const Explanation& explanation) {
  Digest digest;
  digest.add(explanation.was_made);
  // A later program looks for more.
  for (const FindingKind& kind : finding_kinds) {
    if (!kind.is_measured) digest.add(std::string_view(kind.name));
  }
  digest.add(explanation.missing);
  digest.add(explanation.findings);
  return digest.text();
}

ExplanationWriter::ExplanationWriter(
    sqlite3* db, std::function<std::int64_t(const std::string& counter)> number_of_counter)
    : db_(db),
      number_of_counter_(std::move(number_of_counter)),
      explained_(db, "t_explained", "launch_id, explanation_id"),
      find_(db, "SELECT explanation_id FROM t_explanation WHERE digest = ?"),
      explanation_(db, insertion("t_explanation", "digest, was_made")),
      looked_for_(db, insertion("t_looked_for", "explanation_id, kind, reason")),
      finding_(db, insertion_of<Finding>("t_finding", {"explanation_id", "finding"})),
      remedy_(db, insertion_of<Remedy>("t_remedy", {"explanation_id", "finding", "remedy"})),
      prediction_(db,
                  "INSERT OR REPLACE INTO t_prediction (explanation_id, finding, remedy, "
                  "counter_id, value) VALUES (?, ?, ?, ?, ?)") {}

std::int64_t ExplanationWriter::find_or_make(const std::string& digest, bool was_made,
                                             const std::function<void(std::int64_t)>& insert) {
  find_.bind(1, digest);
  if (find_.step()) {
    const std::int64_t id = find_.integer(0);
    find_.reset();
    return id;
  }
  explanation_.execute(digest, was_made);
  const std::int64_t id = sqlite3_last_insert_rowid(db_);
  insert(id);
  return id;
}

std::optional<std::int64_t> ExplanationWriter::write(std::int64_t launch_id,
                                                     const Explanation& explanation) {
  if (!explanation.was_made && explanation.missing.empty()) return std::nullopt;
  if (last_id_ == 0 || !is_same(explanation, last_)) {
    last_id_ = find_or_make(digest_of(explanation), explanation.was_made, [&](std::int64_t made) {
      insert_looked_for(made, explanation);
      insert_findings(made, 1, explanation.findings);
    });
    last_ = explanation;
  }
  explained_.add({launch_id, last_id_});
  return last_id_;
}

void ExplanationWriter::add_measured(std::int64_t launch_id, const MeasuredFindings& measured) {
  Statement known(db_,
                  "SELECT x.explanation_id, x.digest FROM t_explained e JOIN t_explanation x "
                  "USING (explanation_id) WHERE e.launch_id = ?");
  known.bind(1, launch_id);
  const bool is_known = known.step();
  const std::int64_t before = is_known ? known.integer(0) : 0;
  Digest digest;
  digest.add(is_known ? known.text(1) : std::string());
  digest.add(measured.looked_for);
  digest.add(measured.missing);
  digest.add(measured.findings);
  const std::int64_t id = find_or_make(digest.text(), true, [&](std::int64_t made) {
    std::int64_t ranks = 0;
    if (is_known) {
      copy(before, made);
      Statement last(db_,
                     "SELECT coalesce(max(finding), 0) FROM t_finding WHERE explanation_id = ?");
      last.bind(1, before);
      if (last.step()) ranks = last.integer(0);
    } else {
      Explanation nothing;
      nothing.missing.push_back({"", without_addresses});
      insert_looked_for(made, nothing);
    }
    const std::optional<std::string> no_reason;
    for (const std::string& kind : measured.looked_for) looked_for_.execute(made, kind, no_reason);
    for (const auto& [kind, reason] : measured.missing) looked_for_.execute(made, kind, reason);
    insert_findings(made, ranks + 1, measured.findings);
  });
  known.reset();
  Statement(db_, "DELETE FROM t_explained WHERE launch_id = ?").execute(launch_id);
  explained_.add({launch_id, id});
  explained_.flush();
  Statement(db_,
            "DELETE FROM t_explanation WHERE explanation_id = ?1 AND NOT EXISTS (SELECT 1 FROM "
            "t_explained WHERE explanation_id = ?1)")
      .execute(before);
}

/// All that one explanation holds, for another one.
void ExplanationWriter::copy(std::int64_t from, std::int64_t to) {
  const Shapes shapes(db_);
  for (const TableShape& table : shapes.of_explanation) {
    const std::string columns =
        fmt::format("{}", fmt::join(without(table.columns, "explanation_id"), ", "));
    Statement(db_, fmt::format("INSERT INTO {0} (explanation_id, {1}) SELECT ?, {1} FROM {0} WHERE "
                               "explanation_id = ?",
                               table.name, columns))
        .execute(to, from);
  }
}

void ExplanationWriter::insert_findings(std::int64_t id, std::int64_t first_rank,
                                        const std::vector<Finding>& findings) {
  std::int64_t rank = first_rank;
  for (const Finding& finding : findings) {
    insert(finding_, finding, id, rank);
    insert_remedies(id, rank++, finding);
  }
}

void ExplanationWriter::insert_looked_for(std::int64_t id, const Explanation& explanation) {
  for (const FindingKind& kind : finding_kinds) {
    std::optional<std::string> reason;
    for (const Explanation::Missing& missing : explanation.missing) {
      if (missing.kind.empty() || missing.kind == kind.name) reason = missing.reason;
    }
    if (kind.is_measured) continue;
    if (explanation.was_made || reason) looked_for_.execute(id, kind.name, reason);
  }
}

/// Only those advised keep their lanes: the others are rows of a table.
void ExplanationWriter::insert_remedies(std::int64_t id, std::int64_t rank,
                                        const Finding& finding) {
  std::int64_t number = 0;
  for (const Remedy& remedy : finding.remedies) {
    ++number;
    if (remedy.is_advised || remedy.lanes.mask == 0) {
      insert(remedy_, remedy, id, rank, number);
    } else {
      Remedy without_lanes = remedy;
      without_lanes.lanes = {};
      insert(remedy_, without_lanes, id, rank, number);
    }
    for (const Prediction& p : remedy.predicted) {
      prediction_.execute(id, rank, number, number_of_counter_(std::string(p.counter)), p.value);
    }
  }
}

void remove_unused_explanations(sqlite3* db) {
  execute(db,
          "DELETE FROM t_explanation AS x WHERE NOT EXISTS (SELECT 1 FROM t_explained e WHERE "
          "e.explanation_id = x.explanation_id)");
}

void replace_finding_kinds(sqlite3* db) {
  execute(db, "DELETE FROM t_finding_kind");
  Statement kind(db, insertion("t_finding_kind", "kind, name, words, is_measured"));
  std::int64_t number_of_kind = 0;
  for (const FindingKind& info : finding_kinds) {
    kind.execute(++number_of_kind, info.name, info.looked_for, info.is_measured);
  }
}

}  // namespace warpmeter::schema
