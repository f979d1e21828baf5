// SPDX-License-Identifier: MIT
// An nvprof file that is read. It comes from anybody: it is opened read-only, only plain tables are
// read, a column is asked for by its name, and each value is checked against the range that CUPTI
// gives it. For this folder only.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "schema/sqlite.h"

namespace warpmeter::schema {

class NvprofSource {
 public:
  /// Bounds of numbers that CUPTI does not bound further.
  static constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t any_32 = std::numeric_limits<std::uint32_t>::max();

  /// Throws Error{file} for a file that is damaged, is none of nvprof's, or has tables in a version
  /// that nobody knows.
  explicit NvprofSource(const std::string& path);

  sqlite3* db() const { return db_.get(); }
  const std::string& path() const { return path_; }
  std::int64_t version() const { return version_; }

  /// "CUPTI_ACTIVITY_KIND_" goes before the name. A table without a row may be missing.
  bool has(std::string_view table) const;
  /// "SELECT a, NULL AS b FROM …" of the columns "a b": NULL for one that the file's version lacks.
  /// Throws Error{file} where one of the first `needed` columns is missing.
  std::string select(std::string_view table, std::string_view columns, std::size_t needed) const;

  /// A text of StringTable. Throws Error{file} where there is none.
  const std::string& text(std::int64_t number) const;

  /// A kernel's name in its forms; each is found out once, for a file may name it in every row.
  struct KernelName {
    std::string mangled, with_parameters, function;
  };
  const KernelName& kernel(std::int64_t text_number);

  /// Accounts for names that are stored anew. Throws Error{file} past 1 GiB: a small file can
  /// repeat a long name in very many shapes.
  void charge(std::size_t bytes);

  /// A whole number of a row within bounds. Throws Error{file}, which names the column.
  std::int64_t number(const Statement& row, int column, std::int64_t least,
                      std::int64_t most) const;
  /// The same; nullopt for a column that the file's version lacks.
  std::optional<std::int64_t> optional_number(const Statement& row, int column, std::int64_t least,
                                              std::int64_t most) const;

  Error fault(const std::string& what) const;

 private:
  void find_tables();
  void check_kind() const;
  void read_version();
  void read_strings();

  std::string path_;
  Handle db_;
  std::map<std::string, std::set<std::string>> tables_;  ///< plain tables and their columns
  std::int64_t version_ = 0;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::unordered_map<std::int64_t, KernelName> kernels_;
  std::size_t charged_bytes_ = 0;
};

}  // namespace warpmeter::schema
