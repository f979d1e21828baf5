// Which function of the program made a call: its name from the symbol table of the object that the
// return address lies in.
#pragma once

#include <string>

namespace warpmeter::runtime {

/// "main"; empty where the object has no symbols.
std::string function_at(const void* address);

}  // namespace warpmeter::runtime
