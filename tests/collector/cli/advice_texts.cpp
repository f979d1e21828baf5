// SPDX-License-Identifier: MIT
#include "tests/collector/cli/advice_texts.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "tests/paths.h"

namespace warpmeter::cli {
namespace {

namespace fs = std::filesystem;

/// The string literals of C++, those beside each other as one.
class Literals {
 public:
  explicit Literals(std::string source) : source_(std::move(source)) {}

  std::vector<std::string> read() {
    while (at_ < source_.size()) {
      if (starts("//")) {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else if (starts("R\"")) {
        raw();
      } else if (source_[at_] == '\'') {
        quoted('\'');
        ends_ = true;
      } else if (source_[at_] == '"') {
        add(quoted('"'));
      } else {
        if (std::isspace(static_cast<unsigned char>(source_[at_])) == 0) ends_ = true;
        ++at_;
      }
    }
    return all_;
  }

 private:
  bool starts(std::string_view text) const { return source_.compare(at_, text.size(), text) == 0; }

  void add(const std::string& text) {
    if (ends_) all_.emplace_back();
    all_.back() += text;
    ends_ = false;
  }

  std::string quoted(char end) {
    std::string text;
    for (++at_; at_ < source_.size() && source_[at_] != end; ++at_) {
      if (source_[at_] == '\\' && ++at_ < source_.size() && source_[at_] == 'n') {
        text += '\n';
      } else {
        text += source_[at_];
      }
    }
    ++at_;
    return text;
  }

  void raw() {
    const std::size_t open = source_.find('(', at_);
    const std::string end = ")" + source_.substr(at_ + 2, open - at_ - 2) + "\"";
    const std::size_t close = source_.find(end, open);
    add(source_.substr(open + 1, close - open - 1));
    at_ = close + end.size();
  }

  std::string source_;
  std::size_t at_ = 0;
  std::vector<std::string> all_;
  bool ends_ = true;  ///< the next literal is a text of its own
};

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::vector<Text> program_texts() {
  std::vector<Text> texts;
  const fs::path root = source_dir();
  for (const char* folder : {"base", "kernels", "schema", "collector", "reports"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".cpp" && ending != ".h") continue;
      const std::string place = fs::relative(entry.path(), root).string();
      for (std::string& text : Literals(contents(entry.path())).read()) {
        texts.push_back({place, std::move(text)});
      }
    }
  }
  return texts;
}

std::vector<Text> page_texts() {
  std::vector<Text> texts;
  const fs::path root = source_dir();
  std::vector<fs::path> pages = {root / "README.md"};
  for (const auto& entry : fs::directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  for (const fs::path& page : pages) {
    texts.push_back({fs::relative(page, root).string(), contents(page)});
  }
  return texts;
}

}  // namespace warpmeter::cli
