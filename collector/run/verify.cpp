#include "collector/run/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace warpmeter::run {
namespace {

using kernels::ElementType;

template <class T>
T element(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <class Body>
auto with_type(ElementType type, const Body& body) {
  switch (type) {
    case ElementType::i32:
      return body(std::int32_t{});
    case ElementType::f32:
      return body(float{});
    case ElementType::f64:
      return body(double{});
  }
  return body(std::int32_t{});
}

std::string compare(const kernels::Buffer& buffer, std::span<const std::byte> expected,
                    std::span<const std::byte> found) {
  if (expected.size() != found.size()) {
    return fmt::format("wrong answer: {} has {} bytes, expected {}", buffer.name, found.size(),
                       expected.size());
  }
  // Equal bytes are equal values; only a difference is worth a look at the elements.
  if (std::memcmp(expected.data(), found.data(), found.size()) == 0) return {};
  return with_type(buffer.type, [&](auto zero) -> std::string {
    using T = decltype(zero);
    const std::size_t count = found.size() / sizeof(T);
    std::size_t wrong = 0, first = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (element<T>(found, i) == element<T>(expected, i)) continue;
      if (wrong++ == 0) first = i;
    }
    if (wrong == 0) return {};
    return fmt::format("wrong answer: {}[{}] is {}, expected {} ({} of {} elements differ)",
                       buffer.name, first, element<T>(found, first), element<T>(expected, first),
                       wrong, count);
  });
}

}  // namespace

std::string verify(const kernels::Problem& problem, std::span<const kernels::Expected> expected,
                   std::span<const std::vector<std::byte>> buffers) {
  for (const kernels::Expected& buffer : expected) {
    std::string difference =
        compare(problem.buffers.at(buffer.buffer), buffer.values, buffers[buffer.buffer]);
    if (!difference.empty()) return difference;
  }
  return {};
}

std::vector<std::string> first_values(const kernels::Buffer& buffer,
                                      std::span<const std::byte> contents, std::size_t count) {
  return with_type(buffer.type, [&](auto zero) {
    using T = decltype(zero);
    std::vector<std::string> values;
    count = std::min(count, contents.size() / sizeof(T));
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(fmt::format("{}", element<T>(contents, i)));
    }
    return values;
  });
}

}  // namespace warpmeter::run
