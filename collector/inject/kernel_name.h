// A kernel's name in its three forms, as Nsight Compute calls them.
#pragma once

#include <string>
#include <string_view>

namespace warpmeter::inject {

/// "_ZN3foo6reduceILi4EEEvPf" → "void foo::reduce<4>(float*)"; a name that is not mangled as it is.
std::string demangled(const std::string& name);

/// The bare name of a function: "void foo::reduce<4>(float*)" → "reduce". Takes both forms.
std::string function_name(const std::string& name);

}  // namespace warpmeter::inject
