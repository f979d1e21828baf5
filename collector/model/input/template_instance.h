// SPDX-License-Identifier: MIT
// A kernel's template in the text of a source: a compiled file knows its instances alone.
#pragma once

#include <string>
#include <string_view>

namespace warpmeter::model {

/// An instance of the template of that name, as -k takes it: "tr<32>" for `template <int T>`. Empty
/// where the source has no such template.
std::string instance_of_template(std::string_view source, std::string_view name);

}  // namespace warpmeter::model
