// SPDX-License-Identifier: MIT
// The output of `check`: a table for people, rows for programs, annotations for GitHub, SARIF for
// editors and code scanning, JUnit XML for everything else that runs tests.
#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>

#include "base/escapes.h"
#include "base/utf8.h"
#include "reports/document.h"
#include "reports/gates/check.h"
#include "reports/gates/sarif.h"
#include "reports/gates/sentences.h"
#include "reports/record.h"
#include "reports/table/json.h"

namespace warpmeter::reports {
namespace {

std::string where(const Finding& finding) {
  return finding.file.empty() ? "" : fmt::format("{}:{}", finding.file, finding.line);
}

Table table_of_open(const Check& check) {
  Table table;
  table.columns = {Column::text("verdict"), Column::text("launch"),
                   Column::text("gate"),    Column::number("measured", "", "", Kind::quotient),
                   Column::text("by"),      Column::text("where"),
                   Column::text("because")};
  for (const Finding& finding : check.findings) {
    if (finding.outcome == Outcome::holds) continue;
    Cell measured =
        finding.measured ? Cell(finding.measured_text()) : Cell(Missing{finding.reason});
    measured.mark = mark_of(finding.grade);
    const auto text = [](const std::string& value) {
      return value.empty() ? Cell(Missing{}) : Cell(value);
    };
    table.rows.push_back({std::string(to_string(finding.outcome)), text(finding.launch),
                          finding.gate, std::move(measured), text(finding.by_how_much()),
                          text(where(finding)), text(finding.reason)});
  }
  return table;
}

Document document_of(const Check& check) {
  Document document;
  document.paragraph(summary_of(check));
  Table table = table_of_open(check);
  if (!table.rows.empty()) document.table(std::move(table));
  return document;
}

Table rows_of(const Check& check) {
  Table table;
  table.columns = {Column::text("verdict"),
                   Column::text("kind"),
                   Column::text("gate"),
                   Column::text("family"),
                   Column::text("variant"),
                   Column::number("size", "", "", Kind::exact),
                   Column::text("grid"),
                   Column::text("block"),
                   Column::number("measured", "", "", Kind::exact),
                   Column::text("relation"),
                   Column::number("limit", "", "", Kind::exact),
                   Column::text("grade"),
                   Column::text("file"),
                   Column::number("line", "", "", Kind::exact),
                   Column::text("reason"),
                   Column::text("device")};
  const auto text = [](const std::string& value) {
    return value.empty() ? Cell(Missing{}) : Cell(value);
  };
  const auto number = [](const std::optional<double>& value) {
    return value ? Cell(*value) : Cell(Missing{});
  };
  for (const Finding& finding : check.findings) {
    table.rows.push_back(
        {std::string(to_string(finding.outcome)), std::string(to_string(finding.kind)),
         finding.gate, text(finding.name.family), text(finding.name.variant),
         finding.name.size ? Cell(*finding.name.size) : Cell(Missing{}), text(finding.name.grid),
         text(finding.name.block), number(finding.measured), finding.relation,
         number(finding.limit), text(finding.grade), text(finding.file),
         finding.line > 0 ? Cell(finding.line) : Cell(Missing{}), text(finding.reason),
         text(finding.name.device)});
  }
  return table;
}

std::string json_of(const Check& check) {
  constexpr int json_version = 1;
  return fmt::format(
      "{{\n  \"schema_version\": {},\n  \"run\": {},\n  \"outcome\": \"{}\",\n"
      "  \"holds\": {},\n  \"broken\": {},\n  \"inconclusive\": {},\n  \"remarks\": {},\n"
      "  \"findings\": {}\n}}\n",
      json_version, check.run, to_string(check.outcome()), check.count(Outcome::holds),
      check.count(Outcome::broken), check.count(Outcome::inconclusive),
      json_text(nlohmann::ordered_json(check.remarks)), json_array(rows_of(check), "  "));
}

// ---- GitHub's workflow commands

/// Characters that end a command or a property of it are percent-encoded, as the runner's
/// documentation says.
std::string escaped(std::string_view text, bool is_property) {
  const std::string_view special = is_property ? "%\r\n:," : "%\r\n";
  return percent_encoded(printable(text),
                         [special](char c) { return special.find(c) != special.npos; });
}

std::string annotations(const Check& check) {
  std::string text;
  for (const Finding& finding : check.findings) {
    if (finding.outcome == Outcome::holds) continue;
    const char* command = finding.outcome == Outcome::broken ? "error" : "warning";
    const std::string place =
        finding.file.empty()
            ? ""
            : fmt::format("file={},line={},", escaped(finding.file, true), finding.line);
    text += fmt::format("::{} {}title=warpmeter check::{}\n", command, place,
                        escaped(sentence_of(finding), false));
  }
  return text +
         fmt::format("::notice title=warpmeter check::{}\n", escaped(summary_of(check), false));
}

// ---- JUnit XML

void add_case(pugi::xml_node suite, const Finding& finding) {
  pugi::xml_node test = suite.append_child("testcase");
  const std::string launch = !finding.launch.empty()         ? printable(finding.launch)
                             : finding.kind == GateKind::run ? "the run"
                                                             : "no launch";
  test.append_attribute("classname").set_value(launch.c_str());
  test.append_attribute("name").set_value(printable(finding.gate).c_str());
  if (!finding.file.empty()) {
    test.append_attribute("file").set_value(finding.file.c_str());
    test.append_attribute("line").set_value(static_cast<long long>(finding.line));
  }
  if (finding.outcome == Outcome::holds) return;
  const bool skipped =
      finding.outcome == Outcome::inconclusive && finding.kind == GateKind::expectation;
  pugi::xml_node result = test.append_child(finding.outcome == Outcome::broken ? "failure"
                                            : skipped                          ? "skipped"
                                                                               : "error");
  result.append_attribute("message").set_value(printable(sentence_of(finding)).c_str());
}

std::string junit(const Check& check) {
  std::size_t failures = 0, errors = 0, skipped = 0;
  for (const Finding& finding : check.findings) {
    if (finding.outcome == Outcome::broken) ++failures;
    if (finding.outcome != Outcome::inconclusive) continue;
    ++(finding.kind == GateKind::expectation ? skipped : errors);
  }
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  declaration.append_attribute("encoding").set_value("UTF-8");
  const auto count = [&](pugi::xml_node node) {
    node.append_attribute("name").set_value("warpmeter check");
    node.append_attribute("tests").set_value(
        static_cast<unsigned long long>(check.findings.size()));
    node.append_attribute("failures").set_value(static_cast<unsigned long long>(failures));
    node.append_attribute("errors").set_value(static_cast<unsigned long long>(errors));
    node.append_attribute("skipped").set_value(static_cast<unsigned long long>(skipped));
    return node;
  };
  pugi::xml_node suite =
      count(count(document.append_child("testsuites")).append_child("testsuite"));
  for (const Finding& finding : check.findings) add_case(suite, finding);
  if (!check.remarks.empty()) {
    suite.append_child("system-out").text().set(printable(summary_of(check)).c_str());
  }
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return text.str();
}

}  // namespace

std::string render(const Check& check, CheckFormat format, std::size_t width) {
  switch (format) {
    case CheckFormat::csv:
      return render_csv(rows_of(check));
    case CheckFormat::json:
      return json_of(check);
    case CheckFormat::github:
      return annotations(check);
    case CheckFormat::junit:
      return junit(check);
    case CheckFormat::sarif:
      return render_sarif(sarif_of(check));
    case CheckFormat::markdown:
      return document_markdown(document_of(check));
    default:
      return document_text(document_of(check), width);
  }
}

}  // namespace warpmeter::reports
