// SPDX-License-Identifier: MIT
// The empty HTML page that html/bundle.py makes of the style, the script and the chart library.
#pragma once

#include <string_view>

namespace warpmeter::reports {

/// With the marks <!--title-->, <!--navigation--> and <!--contents-->, each once and in this order;
/// empty where the program was built without HTML.
std::string_view html_page();

}  // namespace warpmeter::reports
