// SPDX-License-Identifier: MIT
// The compiler's flags that a file may ask for. A file may be a stranger's, and a compiler has
// flags that start programs (-ccbin, -Xcompiler -fplugin) and read files (-include): only those
// pass that change device code and nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpmeter::model {

/// Throws Error{usage}, beginning with the option, for a flag that is not on the list.
void check_device_flags(std::string_view option, const std::vector<std::string>& flags);

}  // namespace warpmeter::model
