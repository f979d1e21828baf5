// SPDX-License-Identifier: MIT
#include "schema/server/names_there.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "schema/server/copy_rows.h"
#include "schema/server/text_there.h"

namespace warpmeter::schema::server {
namespace {

std::int64_t number_of(const Text& text) {
  std::int64_t number = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

}  // namespace

void NamesThere::learn(const RunContent& content) {
  learn_devices(content.devices);
  learn_texts(Reference::counter, "t_counter", "counter_id", "name", "unit", content.counters);
  learn_texts(Reference::reason, "t_reason", "reason_id", "text", nullptr, content.reasons);
  learn_explanations(content.explanations);
}

void NamesThere::learn_devices(const std::set<std::int64_t>& devices) {
  const std::vector<std::string> columns = without(shapes_.device.columns, "device_id");
  std::vector<std::string> same, marks;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    marks.push_back(fmt::format("${}", i + 1));
    same.push_back(fmt::format("{} IS NOT DISTINCT FROM ${}", columns[i], i + 1));
  }
  const std::string list = fmt::format("{}", fmt::join(columns, ", "));
  const std::string find =
      fmt::format("SELECT device_id FROM warpmeter.t_device WHERE {}", fmt::join(same, " AND "));
  const std::string add =
      fmt::format("INSERT INTO warpmeter.t_device ({}) VALUES ({}) ON CONFLICT DO NOTHING", list,
                  fmt::join(marks, ", "));
  for (const std::int64_t device : devices) {
    if (known(Reference::device).contains(device)) continue;
    Statement row(db_, fmt::format("SELECT {} FROM t_device WHERE device_id = ?", list));
    row.bind(1, device);
    row.step();
    std::vector<Text> values;
    for (int i = 0; i < row.columns(); ++i) {
      values.push_back(row.is_null(i) ? Text{} : text_there(row.text(i)));
    }
    Text number = server_.value(find, values);
    if (!number) {
      server_.query(add, values);
      number = server_.value(find, values);
    }
    known(Reference::device)[device] = number_of(number);
  }
}

NamesThere::Named NamesThere::unknown(Reference reference, const std::string& sql,
                                      const std::set<std::int64_t>& numbers) {
  Named named;
  Statement row(db_, sql);
  for (const std::int64_t number : numbers) {
    if (known(reference).contains(number)) continue;
    row.bind(1, number);
    row.step();
    named.emplace_back(text_there(row.text(0)), number);
    row.reset();
  }
  std::sort(named.begin(), named.end());
  return named;
}

void NamesThere::find(Reference reference, const char* table, const char* key, const char* text,
                      Named& named) {
  if (named.empty()) return;
  std::vector<std::string> texts;
  for (const auto& [content, number] : named) texts.push_back(content);
  const TextRows rows = server_.query(
      fmt::format("SELECT w.place, t.{0} FROM unnest($1::text[]) WITH ORDINALITY w (text, place) "
                  "JOIN warpmeter.{1} t ON md5(t.{2}) = md5(w.text) AND t.{2} = w.text",
                  key, table, text),
      {array_of(texts)});
  std::vector<bool> is_found(named.size(), false);
  for (const auto& row : rows) {
    const auto place = static_cast<std::size_t>(number_of(row[0]) - 1);
    known(reference)[named.at(place).second] = number_of(row[1]);
    is_found[place] = true;
  }
  Named rest;
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (!is_found[i]) rest.push_back(std::move(named[i]));
  }
  named = std::move(rest);
}

void NamesThere::learn_texts(Reference reference, const char* table, const char* key,
                             const char* text, const char* more,
                             const std::set<std::int64_t>& numbers) {
  Named named =
      unknown(reference, fmt::format("SELECT {} FROM {} WHERE {} = ?", text, table, key), numbers);
  find(reference, table, key, text, named);
  if (named.empty()) return;
  for (const auto& [content, number] : named) {
    std::vector<Text> values = {content};
    if (more != nullptr) {
      Statement row(db_, fmt::format("SELECT {} FROM {} WHERE {} = ?", more, table, key));
      row.bind(1, number);
      row.step();
      values.push_back(row.is_null(0) ? Text{} : text_there(row.text(0)));
    }
    server_.query(
        fmt::format("INSERT INTO warpmeter.{} ({}{}) VALUES ($1{}) ON CONFLICT DO NOTHING", table,
                    text, more == nullptr ? "" : fmt::format(", {}", more),
                    more == nullptr ? "" : ", $2"),
        values);
  }
  find(reference, table, key, text, named);
}

void NamesThere::learn_explanations(const std::set<std::int64_t>& numbers) {
  constexpr const char *table = "t_explanation", *key = "explanation_id", *text = "digest";
  const Reference reference = Reference::explanation;
  Named named =
      unknown(reference, "SELECT digest FROM t_explanation WHERE explanation_id = ?", numbers);
  find(reference, table, key, text, named);
  if (named.empty()) return;
  const std::vector<std::string> columns = without(shapes_.explanation.columns, key);
  std::vector<std::string> marks;
  for (std::size_t i = 0; i < columns.size(); ++i) marks.push_back(fmt::format("${}", i + 1));
  const std::string add = fmt::format(
      "INSERT INTO warpmeter.t_explanation ({0}) VALUES ({1}) ON CONFLICT DO NOTHING RETURNING "
      "explanation_id",
      fmt::join(columns, ", "), fmt::join(marks, ", "));
  Statement row(db_, fmt::format("SELECT {} FROM t_explanation WHERE explanation_id = ?",
                                 fmt::join(columns, ", ")));
  ServerTransaction transaction(server_);
  std::unordered_map<std::int64_t, std::int64_t> added;
  for (const auto& [content, number] : named) {
    row.bind(1, number);
    row.step();
    std::vector<Text> values;
    for (int i = 0; i < row.columns(); ++i) {
      values.push_back(row.is_null(i) ? Text{} : text_there(row.text(i)));
    }
    row.reset();
    const Text there = server_.value(add, values);
    if (there) added[number] = number_of(there);
  }
  if (!added.empty()) add_rows_of_explanations(added);
  transaction.commit();
  find(reference, table, key, text, named);
}

void NamesThere::add_rows_of_explanations(
    const std::unordered_map<std::int64_t, std::int64_t>& added) {
  for (const TableShape& table : shapes_.of_explanation) {
    RowsThere rows(server_, table.name, table.columns);
    const std::vector<Kind> kinds = kinds_of(db_, table.name, table.columns);
    Statement read(db_, fmt::format("SELECT {} FROM {} WHERE explanation_id = ?",
                                    fmt::join(table.columns, ", "), table.name));
    for (const auto& [here, there] : added) {
      read.bind(1, here);
      while (read.step()) {
        rows.begin_row();
        for (std::size_t i = 0; i < kinds.size(); ++i) {
          const int column = static_cast<int>(i);
          const Reference reference = reference_of(table.columns[i]);
          if (read.is_null(column)) {
            rows.put_null();
          } else if (reference == Reference::explanation) {
            rows.put(there);
          } else if (reference != Reference::none) {
            rows.put(number_there(reference, read.integer(column)));
          } else {
            rows.put(read, column, kinds[i]);
          }
        }
      }
    }
    rows.finish();
  }
}

}  // namespace warpmeter::schema::server
