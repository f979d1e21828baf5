#include "collector/model/ptx/types.h"

#include <array>

namespace warpmeter::model::ptx {
namespace {

struct Type {
  std::string_view name;
  std::uint32_t bits;
};

// The commonest first: a module declares little else.
constexpr std::array types = {
    Type{"b32", 32},    Type{"b64", 64},        Type{"u64", 64},     Type{"u32", 32},
    Type{"f32", 32},    Type{"pred", 1},        Type{"b8", 8},       Type{"f64", 64},
    Type{"b16", 16},    Type{"s32", 32},        Type{"s64", 64},     Type{"u16", 16},
    Type{"s16", 16},    Type{"u8", 8},          Type{"s8", 8},       Type{"b128", 128},
    Type{"f16", 16},    Type{"f16x2", 32},      Type{"bf16", 16},    Type{"bf16x2", 32},
    Type{"tf32", 32},   Type{"u16x2", 32},      Type{"s16x2", 32},   Type{"f32x2", 64},
    Type{"texref", 64}, Type{"samplerref", 64}, Type{"surfref", 64},
};

}  // namespace

std::optional<std::uint32_t> bits_of_type(std::string_view type) {
  for (const Type& known : types) {
    if (known.name == type) return known.bits;
  }
  return std::nullopt;
}

}  // namespace warpmeter::model::ptx
