// SPDX-License-Identifier: MIT
#include "schema/catalogue/built_in_json.h"

#include <charconv>
#include <stdexcept>

namespace warpmeter::schema {
namespace {

/// Goes through the text once.
class Walk {
 public:
  explicit Walk(std::string_view text) : rest_(text) {}

  BuiltInJson whole() {
    BuiltInJson value = next();
    if (begin() != '\0') fail();
    return value;
  }

 private:
  /// The first character of what comes next; 0 at the end.
  char begin() {
    const std::size_t first = rest_.find_first_not_of(" \n\t\r");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
    return rest_.empty() ? '\0' : rest_.front();
  }

  std::string_view take(std::size_t length) {
    if (length > rest_.size()) fail();
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return taken;
  }

  std::string_view quoted() {
    if (begin() != '"') fail();
    take(1);
    const std::string_view text = take(rest_.find('"'));
    if (text.find('\\') != std::string_view::npos) fail();
    take(1);
    return text;
  }

  /// `last`: the bracket that closes it.
  BuiltInJson children(char last) {
    BuiltInJson value;
    take(1);
    if (begin() == last) {
      take(1);
      return value;
    }
    for (;;) {
      std::string_view name;
      if (last == '}') {
        name = quoted();
        if (begin() != ':') fail();
        take(1);
      }
      value.children.push_back(next());
      value.children.back().name = name;
      const char separator = begin();
      take(1);
      if (separator == last) return value;
      if (separator != ',') fail();
    }
  }

  BuiltInJson next() {
    switch (begin()) {
      case '{':
        return children('}');
      case '[':
        return children(']');
      case '"':
        return {{}, quoted(), {}};
      default:
        break;
    }
    const std::size_t end = rest_.find_first_of(",]} \n\t\r");
    if (end == 0 || rest_.empty()) fail();
    return {{}, take(end == std::string_view::npos ? rest_.size() : end), {}};
  }

  [[noreturn]] static void fail() { throw std::logic_error("built-in JSON is none"); }

  std::string_view rest_;
};

}  // namespace

BuiltInJson BuiltInJson::parse(std::string_view text) { return Walk(text).whole(); }

const BuiltInJson* BuiltInJson::find(std::string_view member) const {
  for (const BuiltInJson& child : children) {
    if (child.name == member) return &child;
  }
  return nullptr;
}

const BuiltInJson& BuiltInJson::at(std::string_view member) const {
  if (const BuiltInJson* found = find(member)) return *found;
  throw std::logic_error("built-in JSON: there is no " + std::string(member));
}

std::string BuiltInJson::text_of(std::string_view member, std::string_view otherwise) const {
  const BuiltInJson* found = find(member);
  return std::string(found != nullptr ? found->text : otherwise);
}

bool BuiltInJson::is_true(std::string_view member) const { return text_of(member) == "true"; }

double BuiltInJson::number() const {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::logic_error("built-in JSON: no number: " + std::string(text));
  }
  return value;
}

std::vector<std::string> BuiltInJson::texts_of(std::string_view member) const {
  std::vector<std::string> texts;
  if (const BuiltInJson* found = find(member)) {
    for (const BuiltInJson& child : found->children) texts.emplace_back(child.text);
  }
  return texts;
}

}  // namespace warpmeter::schema
