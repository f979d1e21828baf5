// SPDX-License-Identifier: MIT
#include "collector/runtime/device/error_texts.h"

#include <algorithm>
#include <iterator>

namespace warpmeter::runtime {
namespace {

struct Text {
  int error;
  const char* name;
  const char* text;
};

constexpr Text texts[] = {
#include "collector/runtime/device/error_texts.inc"
};

struct DriverName {
  int error;
  const char* name;
};

constexpr DriverName driver_names[] = {
#include "collector/runtime/device/driver_error_names.inc"
};

const Text* text_of(int error) {
  const auto* found = std::find_if(std::begin(texts), std::end(texts),
                                   [&](const Text& text) { return text.error == error; });
  return found == std::end(texts) ? nullptr : found;
}

}  // namespace

const char* error_name(int error) {
  const Text* text = text_of(error);
  return text != nullptr ? text->name : "unrecognized error code";
}

const char* error_text(int error) {
  const Text* text = text_of(error);
  return text != nullptr ? text->text : "unrecognized error code";
}

const char* driver_error_name(int error) {
  const auto* found = std::find_if(std::begin(driver_names), std::end(driver_names),
                                   [&](const DriverName& known) { return known.error == error; });
  return found == std::end(driver_names) ? nullptr : found->name;
}

}  // namespace warpmeter::runtime
