// SPDX-License-Identifier: MIT
// `warpmeter explain`: what the launches of a run do at a cost, in sentences, worst first; what was
// tried against it as a table; a warp drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/document.h"
#include "reports/explain/explained.h"
#include "reports/table/table.h"
#include "schema/store.h"

namespace warpmeter::reports {

struct ShownLine {
  std::string file;  ///< or the end of its path
  std::int64_t line = 0;
};

/// "kernels/transpose.cu:44". Throws Error{usage} for what is no file and line.
ShownLine parse_shown_line(std::string_view text);

struct ExplainOptions {
  std::int64_t run = 0;
  std::vector<Selector> selectors;
  Format format = Format::table;
  std::size_t width = 0;
  std::optional<std::int64_t> top;  ///< none: 5 of a launch, in JSON all
  bool what_if = false;
  bool is_of_module = false;  ///< Python asks: its arguments are named, not our options
  std::optional<ShownLine> show;
  std::string picture_folder;  ///< the picture folder of markdown, relative to it; empty: pictures
                               ///< stand in the text
};

struct ExplainedText {
  std::string text;
  std::vector<PlotFile> files;  ///< that belong into the folder of pictures
};

/// Throws Error{usage}: no such run, a selector that matches nothing, a line without a finding,
/// HTML that was not built in; Error{nothing}: a run without launches.
ExplainedText explain(const schema::Reader& reader, const ExplainOptions& options);

/// The version that the JSON document names; a change that a reader could trip over raises it.
inline constexpr int explain_format_version = 1;

/// As explain.schema.json describes it.
std::string explained_json(const schema::Reader& reader, std::int64_t run,
                           const std::vector<ExplainedLaunch>& launches);

}  // namespace warpmeter::reports
