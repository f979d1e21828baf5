// SPDX-License-Identifier: MIT
// Tables of an HTML report: plain ones, a source file with figures beside its lines, heat maps.
#pragma once

#include <string>
#include <string_view>

#include "reports/document.h"
#include "reports/plot/plot.h"
#include "reports/table/table.h"

namespace warpmeter::reports::html {

/// Any text as HTML that shows it.
std::string shown(std::string_view text);

/// ` name="value"`, nothing for an empty value.
std::string attribute(std::string_view name, std::string_view value);

void add_table(std::string& html, const Table& table, std::string_view caption);

/// Numbers stand right; source text goes below its row where the window is narrow.
std::string class_of(const Column& column);

/// A cell with its exact number, for sorting and drawing.
std::string cell_html(const Column& column, const Cell& cell, bool is_row_heading);

/// The listing is folded; lines with figures are marked, those with transactions too many as
/// costly. Its compiled forms stand beside it where the window is wide (html_listing.cpp).
std::string listing_html(const Listing& listing);

/// The map is the table itself, with coloured cells: it needs no script, no other table beside it,
/// and can be copied.
void add_heat(std::string& html, const Plot& plot);

}  // namespace warpmeter::reports::html
