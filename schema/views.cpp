// SPDX-License-Identifier: MIT
// The documentation of the public views, read from the comment at the head of each file:
//   -- What one row is.
//   --
//   -- column: what it holds
//   --   and more about it
// with what stands in braces filled in.
#include <string_view>

#include "schema/embedded.h"
#include "schema/store.h"
#include "schema/view_sql.h"

namespace warpmeter::schema {
namespace {

void append(std::string& text, std::string_view more) {
  if (!text.empty()) text += ' ';
  text += more;
}

ViewInfo parse(const embedded::File& file) {
  ViewInfo view;
  view.name = file.name;
  bool in_columns = false;
  const std::string text = view_sql(file.text);
  std::string_view rest = text;
  while (rest.starts_with("--")) {
    const std::string_view line = rest.substr(2, rest.find('\n') - 2);
    rest.remove_prefix(rest.find('\n') + 1);
    const std::size_t colon = line.find(": ");
    if (line.empty()) {
      in_columns = true;
    } else if (!in_columns) {
      append(view.description, line.substr(1));
    } else if (line.starts_with("   ")) {
      append(view.columns.back().description, line.substr(3));
    } else {
      view.columns.push_back(
          {std::string(line.substr(1, colon - 1)), std::string(line.substr(colon + 2))});
    }
  }
  return view;
}

}  // namespace

std::span<const ViewInfo> views() {
  static const std::vector<ViewInfo> all = [] {
    std::vector<ViewInfo> result;
    for (const embedded::File& file : embedded::public_views()) result.push_back(parse(file));
    return result;
  }();
  return all;
}

}  // namespace warpmeter::schema
