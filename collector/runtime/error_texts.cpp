#include "collector/runtime/error_texts.h"

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
#include "collector/runtime/error_texts.inc"
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

}  // namespace warpmeter::runtime
