// Functions that come with the driver, which a kernel calls as if they were its own: printf,
// assert, malloc and free.
#include <fmt/format.h>

#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {

/// False: it is none of them.
bool Decoder::decode_system_call(std::string_view name, const std::vector<Passed>& results,
                                 const std::vector<Passed>& arguments) {
  const auto argument = [&](std::size_t i) {
    if (i >= arguments.size()) refuse(fmt::format("passes too few arguments to {}", name));
    const auto [base, offset] = local_place(arguments[i].symbol);
    const unsigned bytes = arguments[i].bytes >= 8 ? 8 : 4;
    const std::uint16_t row = scratch(bytes);
    emit_local(true, base, true, offset, row, bytes, false);
    return row;
  };
  const auto result = [&](std::uint16_t row, unsigned bytes) {
    if (results.empty()) return;
    const auto [base, offset] = local_place(results[0].symbol);
    emit_local(false, base, true, offset, row, bytes, false);
  };
  if (name == "vprintf") {
    const std::uint16_t format = argument(0), values = argument(1), count = scratch(4);
    Operation& print = emit(Code::print, false);
    print.d = count;
    print.a = format;
    print.b = values;
    program_.prints = true;
    result(count, 4);
  } else if (name == "__assertfail") {
    const std::uint16_t message = argument(0), file = argument(1), line = argument(2);
    const std::uint16_t function = argument(3);
    Operation& fail = emit(Code::assertion, false);
    fail.a = message;
    fail.b = file;
    fail.c = line;
    fail.e = function;
  } else if (name == "malloc") {
    const std::uint16_t bytes = argument(0), address = scratch(8);
    Operation& allocate = emit(Code::allocate, false);
    allocate.d = address;
    allocate.a = bytes;
    program_.allocates = true;
    result(address, 8);
  } else if (name == "free") {
    const std::uint16_t address = argument(0);
    emit(Code::deallocate, false).a = address;
  } else {
    return false;
  }
  // What they say or give depends on the order of the blocks.
  if (name != "__assertfail") program_.blocks_communicate = true;
  return true;
}

}  // namespace warpmeter::model
