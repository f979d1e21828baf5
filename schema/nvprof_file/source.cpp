// SPDX-License-Identifier: MIT
#include "schema/nvprof_file/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/kernel_name.h"
#include "schema/database.h"

namespace warpmeter::schema {
namespace {

constexpr std::string_view prefix = "CUPTI_ACTIVITY_KIND_";
/// Public readers of CUDA 8 to 11 name versions up to 11. No nvprof came after CUDA 12.
constexpr std::int64_t newest_known = 20;
constexpr std::size_t longest_name = std::size_t{1} << 20;

std::string full_name(std::string_view table) { return std::string(prefix) + std::string(table); }

}  // namespace

NvprofSource::NvprofSource(const std::string& path) : path_(path), db_(open_foreign(path)) {
  const std::vector<std::string> faults = faults_of(db_.get(), "quick_check", 1);
  if (!faults.empty()) throw damaged(path_, faults.front());
  execute(db_.get(), "BEGIN");  // all of it at one moment
  find_tables();
  check_kind();
  read_version();
  read_strings();
}

/// A virtual table has no root page, and a view is no table: neither is read. Generated columns are
/// not listed.
void NvprofSource::find_tables() {
  Statement statement(db_.get(),
                      "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c "
                      "WHERE m.type = 'table' AND m.rootpage > 0");
  while (statement.step()) tables_[statement.text(0)].insert(statement.text(1));
}

void NvprofSource::check_kind() const {
  if (tables_.contains("t_run")) {
    throw Error(ExitCode::file,
                fmt::format("{} is a database of warpmeter and no file of nvprof -o: read it with "
                            "`warpmeter report --db {}`",
                            path_, path_));
  }
  if (tables_.contains("StringIds") && !tables_.contains("StringTable")) {
    throw Error(ExitCode::file,
                fmt::format("{} is an export of Nsight Systems and not nvprof's: merge takes "
                            "databases of warpmeter and files of nvprof -o",
                            path_));
  }
  const auto begins = tables_.lower_bound(std::string(prefix));
  if (begins == tables_.end() || !begins->first.starts_with(prefix) ||
      !tables_.contains("StringTable")) {
    throw Error(ExitCode::file,
                fmt::format("{} is no database of warpmeter and no file of nvprof -o: name another "
                            "file with --db",
                            path_));
  }
}

void NvprofSource::read_version() {
  const auto table = tables_.find("Version");
  if (table != tables_.end() && table->second.contains("version")) {
    version_ = integer_of(db_.get(), "SELECT version FROM Version");
  }
  if (version_ >= 1 && version_ <= newest_known) return;
  throw Error(ExitCode::file,
              fmt::format("{} has nvprof's tables in version {}, which nobody knows (1 to {} are "
                          "known): open it with the nvprof that wrote it",
                          path_, version_, newest_known));
}

void NvprofSource::read_strings() {
  const std::set<std::string>& columns = tables_.at("StringTable");
  if (!columns.contains("_id_") || !columns.contains("value")) {
    throw fault("its StringTable has no columns _id_ and value");
  }
  Statement statement(db_.get(), "SELECT _id_, value FROM StringTable");
  while (statement.step()) {
    std::string text = statement.text(1);
    if (text.size() > longest_name) throw fault("a text has more than 1 MiB");
    strings_.emplace(statement.integer(0), std::move(text));
  }
}

bool NvprofSource::has(std::string_view table) const { return tables_.contains(full_name(table)); }

std::string NvprofSource::select(std::string_view table, std::string_view columns,
                                 std::size_t needed) const {
  const std::string name = full_name(table);
  const std::set<std::string>& there = tables_.at(name);
  std::string list;
  for (std::size_t i = 0; !columns.empty(); ++i) {
    const std::size_t end = std::min(columns.find(' '), columns.size());
    const std::string column(columns.substr(0, end));
    columns.remove_prefix(std::min(end + 1, columns.size()));
    const bool is_there = there.contains(column);
    if (!is_there && i < needed) {
      throw Error(ExitCode::file,
                  fmt::format("{} has nvprof's tables in a form that nobody knows (version {}, {} "
                              "without {}): open it with the nvprof that wrote it",
                              path_, version_, name, column));
    }
    list += fmt::format("{}{}\"{}\"", list.empty() ? "" : ", ", is_there ? "" : "NULL AS ", column);
  }
  return fmt::format("SELECT {} FROM \"{}\"", list, name);
}

const std::string& NvprofSource::text(std::int64_t number) const {
  const auto found = strings_.find(number);
  if (found == strings_.end()) {
    throw fault(fmt::format("a row refers to text {}, which StringTable lacks", number));
  }
  return found->second;
}

const NvprofSource::KernelName& NvprofSource::kernel(std::int64_t text_number) {
  const auto [place, is_new] = kernels_.try_emplace(text_number);
  if (is_new) {
    const std::string& mangled = text(text_number);
    place->second = {mangled, demangled(mangled), function_name(mangled)};
  }
  return place->second;
}

void NvprofSource::charge(std::size_t bytes) {
  constexpr std::size_t most = std::size_t{1} << 30;
  charged_bytes_ += bytes;
  if (charged_bytes_ > most) throw fault("the names of its kernels take more than 1 GiB");
}

std::int64_t NvprofSource::number(const Statement& row, int column, std::int64_t least,
                                  std::int64_t most) const {
  const Value value = row.value(column);
  const auto* whole = std::get_if<std::int64_t>(&value);
  if (whole != nullptr && *whole >= least && *whole <= most) return *whole;
  throw fault(fmt::format("a row has a {} that is no whole number from {} to {}",
                          row.column_name(column), least, most));
}

std::optional<std::int64_t> NvprofSource::optional_number(const Statement& row, int column,
                                                          std::int64_t least,
                                                          std::int64_t most) const {
  if (row.is_null(column)) return std::nullopt;
  return number(row, column, least, most);
}

Error NvprofSource::fault(const std::string& what) const {
  return {ExitCode::file,
          fmt::format("{} is no file as nvprof writes it ({}): use another copy", path_, what)};
}

}  // namespace warpmeter::schema
