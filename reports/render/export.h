// SPDX-License-Identifier: MIT
// Reports for programs: CSV and JSON, exact. A run's are written as they are read, so that a
// million rows need no memory; report.schema.json describes the JSON.
#pragma once

#include <cstdint>
#include <string>

#include "reports/render/report.h"

namespace warpmeter::reports {

/// Grows when a program that reads the JSON would have to change: a key goes or changes its
/// meaning.
constexpr int json_format_version = 1;

void write_csv(const schema::Reader& reader, std::int64_t run_id, const Sink& sink);
void write_json(const schema::Reader& reader, std::int64_t run_id, const Sink& sink);

/// The one table of a document. Throws Error{usage} when it has none or several.
std::string document_csv(const Document& document);

/// An object with the document's sections, of each its title, text, facts and tables.
std::string document_json(const Document& document);

}  // namespace warpmeter::reports
