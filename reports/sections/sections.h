// The sections of a report, in the order in which they appear. Each adds its blocks to the
// document, and nothing when there is nothing to say.
#pragma once

#include "reports/document.h"
#include "reports/record.h"
#include "schema/store.h"

namespace warpmeter::reports::sections {

/// Title; when, where, with what and how it ended.
void add_provenance(Document& document, const schema::Reader& reader, const RunRecord& run);

/// The launches that failed, each with its reason.
void add_failures(Document& document, const RunRecord& run);

/// One table a family and size, the variants as rows.
void add_comparison(Document& document, const RunRecord& run);

/// How many expectations hold, and those that do not.
void add_expectations(Document& document, const schema::Reader& reader, const RunRecord& run);

/// The source lines that cost most beyond their ideal.
void add_costly_lines(Document& document, const schema::Reader& reader, const RunRecord& run);

/// Figures without a value, gathered by reason.
void add_unavailable(Document& document, const schema::Reader& reader, const RunRecord& run);

/// The full list of expectations, with the reasons in words.
void add_every_expectation(Document& document, const schema::Reader& reader, const RunRecord& run);

}  // namespace warpmeter::reports::sections
