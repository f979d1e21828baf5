// SPDX-License-Identifier: MIT
#include "reports/page.h"

extern "C" const char warpmeter_page[], warpmeter_page_end[];

namespace warpmeter::reports {

std::string_view html_page() {
  return {warpmeter_page, static_cast<std::size_t>(warpmeter_page_end - warpmeter_page)};
}

}  // namespace warpmeter::reports
