// SPDX-License-Identifier: MIT
#include "schema/explanations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <utility>

#include "schema/table_shapes.h"

namespace warpmeter::schema {
namespace {

std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// A JSON array of numbers; null where there is none.
template <class Numbers>
std::optional<std::string> list_or_null(const Numbers& numbers) {
  if (numbers.empty()) return std::nullopt;
  return fmt::format("[{}]", fmt::join(numbers.begin(), numbers.end(), ","));
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
  template <class... Values>
  void add_all(const Values&... values) {
    (add(values), ...);
  }
  void add(const std::vector<Finding>& findings) {
    for (const Finding& f : findings) {
      add_all(f.kind, f.file, f.line, f.text, f.object, f.access, f.evidence, f.requests,
              f.transactions, f.ideal, f.other_transactions, f.share, f.share_of,
              static_cast<int>(f.grade), f.grade_reason, f.picture, f.remedies.size(),
              f.also_lines.size());
      for (const int line : f.also_lines) add(line);
      for (const Remedy& r : f.remedies) {
        add_all(r.name, r.change, r.words, r.transactions, r.other_transactions, r.shared_bytes,
                r.blocks, r.is_advised, r.picture, r.predicted.size(), r.also_amounts.size());
        for (const std::uint8_t amount : r.also_amounts) add(std::uint64_t{amount});
        for (const Prediction& p : r.predicted) add_all(p.counter, p.value);
      }
    }
  }
  std::string text() const { return fmt::format("{:016x}{:016x}", a_, b_); }

 private:
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
  digest.add_all(explanation.was_made, explanation.missing.size(), explanation.findings.size());
  // A later program looks for more.
  for (const FindingKind& kind : finding_kinds) {
    if (!kind.is_measured) digest.add(std::string_view(kind.name));
  }
  for (const auto& [kind, reason] : explanation.missing) digest.add_all(kind, reason);
  digest.add(explanation.findings);
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
      finding_(db,
               "INSERT INTO t_finding (explanation_id, finding, kind, file, line, text, object, "
               "access, evidence, requests, transactions, ideal, other_transactions, share, "
               "share_of, grade, grade_reason, lanes, also_lines) VALUES (?, ?, ?, ?, ?, ?, ?, ?, "
               "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      remedy_(db,
              "INSERT INTO t_remedy (explanation_id, finding, remedy, name, change, words, "
              "is_advised, transactions, other_transactions, shared_bytes, blocks, lanes, "
              "also_amounts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
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
  for (const std::string& kind : measured.looked_for) digest.add(kind);
  for (const auto& [kind, reason] : measured.missing) digest.add_all(kind, reason);
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
  for (const Finding& f : findings) {
    std::optional<std::int64_t> line;
    if (!f.file.empty()) line = f.line;
    finding_.execute(id, rank, f.kind, text_or_null(f.file), line, text_or_null(f.text),
                     text_or_null(f.object), text_or_null(f.access), f.evidence, number(f.requests),
                     number(f.transactions), number(f.ideal), number(f.other_transactions), f.share,
                     text_or_null(f.share_of), static_cast<int>(f.grade),
                     text_or_null(f.grade_reason), lanes_text(f.picture),
                     list_or_null(f.also_lines));
    insert_remedies(id, rank, f);
    ++rank;
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

/// Only those advised keep their picture: the others are rows of a table.
void ExplanationWriter::insert_remedies(std::int64_t id, std::int64_t rank,
                                        const Finding& finding) {
  std::int64_t number_of_remedy = 0;
  for (const Remedy& r : finding.remedies) {
    ++number_of_remedy;
    remedy_.execute(id, rank, number_of_remedy, r.name, text_or_null(r.change),
                    text_or_null(r.words), r.is_advised ? 1 : 0, number(r.transactions),
                    number(r.other_transactions), r.shared_bytes, r.blocks,
                    r.is_advised ? lanes_text(r.picture) : std::nullopt,
                    list_or_null(r.also_amounts));
    for (const Prediction& p : r.predicted) {
      prediction_.execute(id, rank, number_of_remedy, number_of_counter_(std::string(p.counter)),
                          number(p.value));
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
