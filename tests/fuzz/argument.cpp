// SPDX-License-Identifier: MIT
// Any text as a kernel's argument and as a share of blocks: it is refused with a message, or has a
// meaning that can be made into memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "collector/model/counts/block_selection.h"
#include "collector/model/input/arguments.h"

namespace {

using namespace warpmeter;

void expect(bool holds) {
  if (!holds) std::abort();
}

/// The answer, or a refusal that says why.
template <class Read>
void try_to(Read read) {
  try {
    read();
  } catch (const Error& refused) {
    expect(!std::string_view(refused.what()).empty());
  }
}

void make(const model::Argument& argument) {
  constexpr std::uint64_t most_bytes = 1 << 16;
  expect(!argument.type.empty() || argument.kind == model::Argument::Kind::reference);
  if (argument.kind != model::Argument::Kind::buffer) return;
  if (!argument.fill.file.empty()) return;  // no files are read here
  expect(model::contents_of(argument, most_bytes).size() ==
         argument.count * bytes_of(argument.element));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_to([&] { make(model::parse_argument(text)); });
  const Dim3 grid{1000, 10, 3};
  try_to([&] {
    const std::uint64_t count = model::block_count(text, grid);
    expect(count > 0 && count <= grid.count());
  });
  return 0;
}
