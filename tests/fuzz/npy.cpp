// SPDX-License-Identifier: MIT
// Any bytes as a .npy file: refused with a message, or elements of which there are as many bytes as
// they take.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "collector/model/input/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpmeter;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  try {
    const model::Npy npy =
        model::parse_npy(std::vector<std::byte>(bytes, bytes + size), "fuzz.npy", Element::f32);
    if (npy.count * bytes_of(npy.element) != npy.data.size() || npy.data.size() > size) {
      std::abort();
    }
  } catch (const Error& refused) {
    if (std::string_view(refused.what()).empty()) std::abort();
  }
  return 0;
}
