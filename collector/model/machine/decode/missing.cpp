#include "collector/model/machine/decode/missing.h"

#include <fmt/format.h>

#include <string_view>

#include "collector/model/machine/decode/table.h"

namespace warpmeter::model {
namespace {

/// Instructions by what their name starts with, the longest first.
struct Missing {
  std::string_view prefix, what, instead;
};
constexpr std::string_view measure = "measure this kernel on a GPU";
constexpr Missing all_missing[] = {
    {"cp.async.bulk", "copies by the tensor memory accelerator", measure},
    {"cp.reduce.async.bulk", "copies by the tensor memory accelerator", measure},
    {"tensormap", "changes a descriptor of the tensor memory accelerator", measure},
    {"st.bulk", "fills memory by the tensor memory accelerator", measure},
    {"st.async", "stores into another block of a cluster", measure},
    {"red.async", "adds in another block of a cluster", measure},
    {"barrier.cluster", "waits for the other blocks of a cluster", measure},
    {"mapa", "addresses another block of a cluster", measure},
    {"getctarank", "asks for a block of a cluster", measure},
    {"clusterlaunchcontrol", "launches clusters", measure},
    {"wgmma", "multiplies matrices", measure},
    {"tcgen05", "multiplies matrices", measure},
    {"wmma", "multiplies matrices", measure},
    {"mma", "multiplies matrices", measure},
    {"stmatrix", "stores a matrix", measure},
    {"movmatrix", "moves a matrix", measure},
    {"multimem", "reaches the memory of several devices", measure},
    {"txq", "asks for a texture", "pass what it asks for as an argument"},
    {"tex", "reads a texture", "read through a pointer instead, or measure on a GPU"},
    {"tld4", "reads a texture", "read through a pointer instead, or measure on a GPU"},
    {"suld", "reads a surface", "read through a pointer instead, or measure on a GPU"},
    {"sust", "writes a surface", "write through a pointer instead, or measure on a GPU"},
    {"sured", "changes a surface", "use red through a pointer instead, or measure on a GPU"},
    {"suq", "asks for a surface", "pass what it asks for as an argument"},
    {"istypep", "asks for the type of a handle", measure},
};

}  // namespace

std::string what_is_missing(const ptx::Instruction& instruction) {
  for (const Missing& missing : all_missing) {
    if (!instruction.text.starts_with(missing.prefix)) continue;
    const std::string_view rest = instruction.text.substr(missing.prefix.size());
    if (!rest.empty() && rest.front() != '.') continue;
    return fmt::format("{}, which the model does not do; {}", missing.what, missing.instead);
  }
  const bool is_known_opcode =
      fmt::format(", {},", supported_opcodes()).find(fmt::format(" {},", instruction.opcode)) !=
      std::string::npos;
  return is_known_opcode
             ? fmt::format("is a form of {} that the model does not have; {}", instruction.opcode,
                           measure)
             : fmt::format("is not one of the instructions that the model has, which are {}; {}",
                           supported_opcodes(), measure);
}

}  // namespace warpmeter::model
