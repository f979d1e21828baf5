// SPDX-License-Identifier: MIT
#include "collector/runtime/image/ptx_items.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace warpmeter::runtime {
namespace {

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

std::size_t end_of(std::string_view text, std::size_t from, std::string_view mark) {
  const std::size_t at = text.find(mark, from);
  return at == std::string_view::npos ? text.size() : at + mark.size();
}

std::size_t end_while(std::string_view text, std::size_t from, bool (*is_one)(char)) {
  while (from < text.size() && is_one(text[from])) ++from;
  return from;
}

int number_of(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool is_space_directive(std::string_view word) {
  return word == ".global" || word == ".const" || word == ".shared" || word == ".local" ||
         word == ".tex" || word == ".param";
}

/// Reads one item after the other.
class Reader {
 public:
  explicit Reader(std::string_view module) : module_(module) {}

  std::vector<PtxItem> read() {
    std::vector<PtxItem> items;
    while (skip_space()) {
      const std::size_t begin = at_;
      PtxItem item = next_item();
      item.text = module_.substr(begin, at_ - begin);
      items.push_back(item);
    }
    return items;
  }

 private:
  /// False at the end of the module.
  bool skip_space() {
    while (at_ < module_.size()) {
      const PtxWord word = word_at(module_, at_);
      if (word.kind != PtxWord::Kind::space && word.kind != PtxWord::Kind::comment) return true;
      at_ += word.text.size();
    }
    return false;
  }

  /// The next word that says something; empty at the end.
  PtxWord take() {
    if (!skip_space()) return {};
    const PtxWord word = word_at(module_, at_);
    at_ += word.text.size();
    return word;
  }

  PtxItem next_item() {
    PtxItem item;
    const PtxWord first = take();
    if (first.text == ".version" || first.text == ".target" || first.text == ".address_size") {
      item.kind = first.text == ".version"  ? PtxItem::Kind::version
                  : first.text == ".target" ? PtxItem::Kind::target
                                            : PtxItem::Kind::section;  // ours is written anew
      skip_space();
      item.name = rest_of_line();
    } else if (first.text == ".file") {
      item.kind = PtxItem::Kind::file;
      item.number = number_of(take().text);
      item.path = take().text;
      rest_of_line();
    } else if (first.text == ".section") {
      item.kind = PtxItem::Kind::section;
      item.name = take().text;
      skip_to("{");
      skip_block();
    } else {
      declaration(item, first);
    }
    return item;
  }

  void declaration(PtxItem& item, const PtxWord& first) {
    const std::size_t begin = at_ - first.text.size();
    PtxWord word = first;
    for (; word.kind == PtxWord::Kind::directive; word = take()) {
      if (word.text == ".visible") item.linkage = PtxItem::Linkage::visible;
      if (word.text == ".extern") item.linkage = PtxItem::Linkage::external;
      if (word.text == ".weak" || word.text == ".common") item.linkage = PtxItem::Linkage::weak;
      if (word.text == ".func" || word.text == ".entry") {
        item.is_entry = word.text == ".entry";
        return function(item, begin);
      }
      if (is_space_directive(word.text)) return variable(item);
    }
    skip_to(";");
  }

  void function(PtxItem& item, std::size_t begin) {
    item.kind = PtxItem::Kind::function;
    PtxWord word = take();
    while (word.text == "(") {  // the return value
      skip_to(")");
      word = take();
    }
    item.name = word.text;
    while (skip_space() && module_[at_] != ';' && module_[at_] != '{') take();
    item.head = module_.substr(begin, at_ - begin);
    item.is_definition = at_ < module_.size() && module_[at_] == '{';
    take();
    if (item.is_definition) skip_block();
  }

  /// `.align 4 .attribute(.managed) .b8 name[16] = {…};`
  void variable(PtxItem& item) {
    item.kind = PtxItem::Kind::variable;
    item.is_definition = item.linkage != PtxItem::Linkage::external;
    PtxWord word = take();
    while (word.kind == PtxWord::Kind::directive || word.kind == PtxWord::Kind::number ||
           word.text == "(") {
      if (word.text == "(") skip_to(")");
      word = take();
    }
    item.name = word.text;
    skip_to(";");
  }

  std::string_view rest_of_line() {
    const std::size_t begin = at_;
    at_ = std::min(module_.find('\n', at_), module_.size());
    std::string_view line = module_.substr(begin, at_ - begin);
    line = line.substr(0, line.find("//"));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) {
      line.remove_suffix(1);
    }
    return line;
  }

  void skip_to(std::string_view punctuation) {
    for (PtxWord word = take(); !word.text.empty() && word.text != punctuation;) word = take();
  }

  /// Behind the '}' of the '{' that was read.
  void skip_block() {
    for (int depth = 1; depth > 0;) {
      const PtxWord word = take();
      if (word.text.empty()) return;
      if (word.text == "{") ++depth;
      if (word.text == "}") --depth;
    }
  }

  const std::string_view module_;
  std::size_t at_ = 0;
};

}  // namespace

PtxWord word_at(std::string_view text, std::size_t offset) {
  const auto word = [&](PtxWord::Kind kind, std::size_t end) {
    return PtxWord{kind, text.substr(offset, end - offset)};
  };
  const char c = text[offset];
  const auto is_space = [](char s) { return std::isspace(static_cast<unsigned char>(s)) != 0; };
  if (is_space(c)) return word(PtxWord::Kind::space, end_while(text, offset, is_space));
  if (text.substr(offset, 2) == "//") {
    return word(PtxWord::Kind::comment, end_of(text, offset, "\n"));
  }
  if (text.substr(offset, 2) == "/*") {
    return word(PtxWord::Kind::comment, end_of(text, offset + 2, "*/"));
  }
  if (c == '"') return word(PtxWord::Kind::text, end_of(text, offset + 1, "\""));
  // ".visible" and the parts of "ld.global.u32", none of which names anything.
  if (c == '.' && offset + 1 < text.size() && is_of_name(text[offset + 1])) {
    return word(PtxWord::Kind::directive, end_while(text, offset + 1, is_of_name));
  }
  if (is_of_name(c)) {
    const bool is_number = std::isdigit(static_cast<unsigned char>(c)) != 0;
    return word(is_number ? PtxWord::Kind::number : PtxWord::Kind::name,
                end_while(text, offset, is_of_name));
  }
  return word(PtxWord::Kind::punctuation, offset + 1);
}

std::vector<PtxItem> items_of(std::string_view module) { return Reader(module).read(); }

}  // namespace warpmeter::runtime
