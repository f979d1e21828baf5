// SPDX-License-Identifier: MIT
#include "schema/explanations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <utility>

#include "schema/table_shapes.h"

namespace warpmeter::schema {
namespace {

// The value of a field as its column holds it.
const std::string& stored(sorts::Text, const std::string& text) { return text; }
auto stored(sorts::TextOrNull, const std::string& text) { return text_or_null(text); }
auto stored(sorts::Count, std::uint64_t count) { return static_cast<std::int64_t>(count); }
auto stored(sorts::CountOrNull, std::optional<std::int64_t> count) { return count; }
auto stored(sorts::LineOrNull, int line) { return line == 0 ? std::nullopt : std::optional(line); }
auto stored(sorts::Flag, bool flag) { return flag ? 1 : 0; }
auto stored(sorts::Share, double share) { return share; }
auto stored(sorts::GradeName, Grade grade) { return static_cast<int>(grade); }
auto stored(sorts::Lanes, const WarpPicture& picture) { return lanes_text(picture); }
/// A JSON array; NULL where it has no element.
template <class Sort, class List>
std::optional<std::string> stored(Sort, const List& numbers) {
  if (numbers.empty()) return std::nullopt;
  return fmt::format("[{}]", fmt::join(numbers.begin(), numbers.end(), ","));
}

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

/// Two FNV-1a hashes that begin differently: 128 bits.
class Digest {
 public:
  void add(std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) add_byte(static_cast<unsigned char>(value >> 8 * byte));
  }
  void add(std::int64_t value) { add(static_cast<std::uint64_t>(value)); }
  void add(std::uint32_t value) { add(std::uint64_t{value}); }
  void add(int value) { add(static_cast<std::uint64_t>(value)); }
  void add(std::uint8_t value) { add(std::uint64_t{value}); }
  void add(bool value) { add(std::uint64_t{value ? 1U : 0U}); }
  void add(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    add(bits);
  }
  /// With its length, so that two texts cannot be cut in another place.
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
  }
  void add(Grade grade) { add(static_cast<int>(grade)); }
  void add(const std::optional<std::int64_t>& value) {
    add(value.has_value());
    add(value.value_or(0));
  }
  void add(const WarpPicture& picture) {
    add(picture.mask);
    add(picture.width);
    for (const std::uint64_t address : picture.address) add(address);
    for (const std::uint32_t pass : picture.pass) add(pass);
  }
  void add(const Prediction& prediction) {
    add(prediction.counter);
    add(prediction.value);
  }
  void add(const Explanation::Missing& missing) {
    add(missing.kind);
    add(missing.reason);
  }
  void add(const Remedy& remedy) {
    add_fields(remedy);
    add_list(remedy.predicted);
  }
  void add(const Finding& finding) {
    add_fields(finding);
    add_list(finding.remedies);
  }
  void add(const std::vector<int>& numbers) { add_list(numbers); }
  void add(const ShortList<std::uint8_t, 31>& numbers) { add_list(numbers); }
  /// With its length.
  template <class List>
  void add_list(const List& values) {
    add(std::uint64_t{values.size()});
    for (const auto& value : values) add(value);
  }
  std::string text() const { return fmt::format("{:016x}{:016x}", a_, b_); }

 private:
  template <class Record>
  void add_fields(const Record& record) {
    for_each_field<Record>([&](const auto& field) { add(record.*field.member); });
  }
  void add_byte(unsigned char byte) {
    constexpr std::uint64_t prime = 0x100000001b3;
    a_ = (a_ ^ byte) * prime;
    b_ = (b_ ^ byte) * prime;
  }
  std::uint64_t a_ = 0xcbf29ce484222325, b_ = 0x84222325cbf29ce4;
};

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
  digest.add_list(explanation.missing);
  digest.add_list(explanation.findings);
  return digest.text();
}

ExplanationWriter::ExplanationWriter(
    sqlite3* db, std::function<std::int64_t(const std::string& counter)> number_of_counter)
    : db_(db),
      number_of_counter_(std::move(number_of_counter)),
      find_(db, "SELECT explanation_id FROM t_explanation WHERE digest = ?"),
      explanation_(db, "INSERT INTO t_explanation (digest, was_made) VALUES (?, ?)"),
      explained_(db, "INSERT INTO t_explained (launch_id, explanation_id) VALUES (?, ?)"),
      looked_for_(db, "INSERT INTO t_looked_for (explanation_id, kind, reason) VALUES (?, ?, ?)"),
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
  explanation_.execute(digest, was_made ? 1 : 0);
  const std::int64_t id = sqlite3_last_insert_rowid(db_);
  insert(id);
  return id;
}

void ExplanationWriter::write(std::int64_t launch_id, const Explanation& explanation) {
  if (!explanation.was_made && explanation.missing.empty()) return;
  const std::int64_t id =
      find_or_make(digest_of(explanation), explanation.was_made, [&](std::int64_t made) {
        insert_looked_for(made, explanation);
        insert_findings(made, 1, explanation.findings);
      });
  explained_.execute(launch_id, id);
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
  digest.add_list(measured.looked_for);
  digest.add_list(measured.missing);
  digest.add_list(measured.findings);
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
  explained_.execute(launch_id, id);
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
  for (Remedy remedy : finding.remedies) {
    if (!remedy.is_advised) remedy.lanes = {};
    insert(remedy_, remedy, id, rank, ++number);
    for (const Prediction& p : remedy.predicted) {
      prediction_.execute(id, rank, number, number_of_counter_(std::string(p.counter)),
                          static_cast<std::int64_t>(p.value));
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
  Statement kind(db,
                 "INSERT INTO t_finding_kind (kind, name, words, is_measured) VALUES (?, ?, ?, ?)");
  std::int64_t number_of_kind = 0;
  for (const FindingKind& info : finding_kinds) {
    kind.execute(++number_of_kind, info.name, info.looked_for, info.is_measured ? 1 : 0);
  }
}

}  // namespace warpmeter::schema
