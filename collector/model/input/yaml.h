// SPDX-License-Identifier: MIT
// YAML, or the JSON that is YAML, as a person wrote it: each part with its place, so that a mistake
// is said with the file's line and column. Lists of launches (spec.h) and families are read so.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "collector/model/input/compile_options.h"

namespace YAML {
class Node;
}

namespace warpmeter::model {

/// Part of a file.
struct Text {
  std::string text;
  int line = 0, column = 0;  ///< from 1; 0: from no file
  bool empty() const { return text.empty(); }
};

/// "transpose.yaml:12:5: what" as an Error; without what is not known of the place.
[[noreturn]] void refuse(const std::string& path, const Text& at, const std::string& what,
                         ExitCode code = ExitCode::usage);

class YamlFile {
 public:
  /// The files that it may name: those near it, or, of a text of the program's own, any.
  enum class Names { near, any };

  /// `kind` is what the file is, "a family"; `hint` ends the sentence that refuses a part of it.
  YamlFile(std::string path, std::string kind, std::string hint = "", Names names = Names::near)
      : path_(std::move(path)), kind_(std::move(kind)), hint_(std::move(hint)), names_(names) {}

  /// Gives the file's root to `use`. Throws Error{file}, and Error{usage} where the file is larger
  /// than one that somebody wrote, or no YAML.
  void read(const std::function<void(const YAML::Node& root)>& use) const;
  /// The same of a text that is in memory.
  void read(std::string_view text, const std::function<void(const YAML::Node& root)>& use) const;

  [[noreturn]] void refuse(const Text& at, const std::string& what) const;
  [[noreturn]] void refuse(const YAML::Node& node, const std::string& what) const;

  /// Where a part begins, without its text.
  static Text place(const YAML::Node& node);

  /// Refuses what is no table, a name that is not known, and one that is given twice.
  void check_keys(const YAML::Node& node, const std::vector<std::string>& known) const;

  /// Refuses a name that was seen.
  void check_new(std::vector<std::string>& seen, const Text& name) const;

  /// One value; `what` names it where it is none.
  Text text(const YAML::Node& node, std::string_view what) const;

  /// One value or a list of them; none where there is no such node.
  std::vector<Text> texts(const YAML::Node& node, std::string_view what) const;

  /// The texts alone.
  static std::vector<std::string> words(const std::vector<Text>& texts);

  /// A path that is relative to the file's folder.
  std::string beside(const std::string& path) const;

  /// std, include and define of a table. Options that `options` has already
  /// stay.
  void read_compile_options(const YAML::Node& root, CompileOptions& options) const;

  /// Macros, "NAME=VALUE" or "NAME": one, a list, or a table of names and values. None where there
  /// is no such node.
  std::vector<Text> defines(const YAML::Node& node) const;

  /// Variables of a module and their values, one, a list, or a file: "lut=1,2,3". None where there
  /// is no such node.
  std::vector<Text> settings(const YAML::Node& node) const;

  /// The value that `read` makes of a part; what it throws is said with the place.
  template <class Read>
  std::invoke_result_t<Read> checked(const Text& at, Read read) const {
    try {
      return read();
    } catch (const Error& error) {
      refuse(at, error.what());
    }
  }

 private:
  const std::string path_, kind_, hint_;
  const Names names_;
};

}  // namespace warpmeter::model
