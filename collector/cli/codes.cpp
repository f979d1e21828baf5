// SPDX-License-Identifier: MIT
#include "collector/cli/codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/kernel_name.h"
#include "base/temporary.h"
#include "collector/model/input/kernel_file.h"
#include "collector/model/input/toolkit.h"
#include "collector/runtime/image/program_file.h"
#include "reports/record.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

constexpr std::size_t most_bytes = 1 << 20;

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string_view trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

/// The number that the text begins with, which is taken off it.
std::optional<int> take_number(std::string_view& text) {
  text = trimmed(text);
  int number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
  return number;
}

/// The text between the first two quotes.
std::string quoted(std::string_view text) {
  const std::size_t begin = text.find('"');
  if (begin == std::string_view::npos) return "";
  const std::size_t end = text.find('"', begin + 1);
  return end == std::string_view::npos ? "" : std::string(text.substr(begin + 1, end - begin - 1));
}

/// Adds lines; a source line is said where another begins.
class Text {
 public:
  void place(const std::string& file, int line) {
    std::string comment = fmt::format("// {}:{}\n", model::relative_path(file), line);
    if (line == 0 || comment == last_) return;
    last_ = std::move(comment);
    is_new_ = true;
  }
  void add(std::string_view line) {
    if (std::exchange(is_new_, false)) text_ += last_;
    text_ += fmt::format("{}\n", line);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_, last_;
  bool is_new_ = false;
};

/// Nothing without nvdisasm, or when it fails.
std::map<std::string, std::string> disassembled(std::span<const std::byte> cubin) {
  const auto nvdisasm = model::toolkit_program("nvdisasm");
  if (!nvdisasm || cubin.empty()) return {};
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "module.cubin";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(cubin.data()),
             static_cast<std::streamsize>(cubin.size()));
  const model::ToolOutcome made = model::run_tool({nvdisasm->string(), "-g", "-c", file.string()});
  if (made.exit_code != 0) return {};
  return machine_code_of(made.output);
}

/// family/variant, or of a program the kernel itself → the file in which it has most lines.
std::map<std::string, std::string> files_of_kernels(const std::string& database,
                                                    std::int64_t run_id,
                                                    bool is_of_program = false) {
  const schema::Rows rows = schema::Reader(database).query(
      "SELECT iif(:of_program, l.kernel, l.family || '/' || l.variant) AS name, n.file, "
      "count(DISTINCT n.line) AS lines FROM lines n JOIN launches l ON l.launch_id = n.launch_id "
      "WHERE n.run_id = :run GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2",
      {{":run", run_id}, {":of_program", std::int64_t{is_of_program}}});
  std::map<std::string, std::string> files;
  for (const reports::Row& row : reports::each_row(rows)) {
    files.try_emplace(row.text("name"), row.text("file"));
  }
  return files;
}

/// A module in both forms.
struct Compiled {
  std::variant<std::unique_ptr<model::ptx::Module>, model::ptx::Diagnostic> ptx;
  std::map<std::string, std::string> machine_code;  // by the kernels' names

  void add_to(std::vector<schema::CodeText>& codes, const std::string& entry,
              const std::string& title, const std::string& file) const {
    const auto add = [&](const char* form, const std::string& text) {
      if (text.empty() || text.size() > most_bytes) return;
      codes.push_back({file, title, form, text});
    };
    if (const auto* module = std::get_if<std::unique_ptr<model::ptx::Module>>(&ptx)) {
      add("PTX", ptx_of_entry(**module, entry));
    }
    const auto found = machine_code.find(entry);
    if (found != machine_code.end()) add("machine code", found->second);
  }
};

}  // namespace

std::string ptx_of_entry(const model::ptx::Module& module, std::string_view entry) {
  const auto function =
      std::find_if(module.functions.begin(), module.functions.end(),
                   [&](const auto& one) { return one.is_entry && one.name == entry; });
  if (function == module.functions.end()) return "";
  std::map<int, model::ptx::Location> places;  // by the line of the PTX
  for (const model::ptx::Instruction& instruction : function->body) {
    if (instruction.location) places.emplace(instruction.line, *instruction.location);
  }
  const std::vector<std::string_view> lines = lines_in(module.text);
  Text text;
  int depth = 0;
  bool has_begun = false;
  for (auto at = static_cast<std::size_t>(std::max(function->line, 1)) - 1;
       at < lines.size() && (!has_begun || depth > 0); ++at) {
    const std::string_view line = trimmed(lines[at]);
    if (line.starts_with(".loc")) continue;
    if (const auto place = places.find(static_cast<int>(at) + 1); place != places.end()) {
      const auto file = static_cast<std::size_t>(place->second.file);
      text.place(std::string(module.files.at(file)), place->second.own_line);
    }
    for (const char c : line) depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    has_begun = has_begun || depth > 0;
    if (!line.empty()) text.add(lines[at]);
  }
  return text.text();
}

std::map<std::string, std::string> machine_code_of(const std::string& disassembly) {
  constexpr std::string_view section = ".text.", place = "//## File \"";
  std::map<std::string, Text> functions;
  Text* text = nullptr;
  for (const std::string_view line : lines_in(disassembly)) {
    const std::string_view inner = trimmed(line);
    if (inner.starts_with(section) && inner.ends_with(":")) {
      text =
          &functions[std::string(inner.substr(section.size(), inner.size() - section.size() - 1))];
    } else if (inner.starts_with(".section")) {
      text = nullptr;
    } else if (text != nullptr && inner.starts_with(place)) {
      const std::size_t number = inner.find("\", line ");
      if (number == std::string_view::npos) continue;
      std::string_view rest = inner.substr(number + 8);
      // "… inlined at …" are the callers of what was inlined.
      const auto line_number = take_number(rest);
      if (line_number) text->place(quoted(inner), *line_number);
    } else if (text != nullptr && (inner.starts_with("/*") || inner.starts_with(".L_"))) {
      text->add(line);
    }
  }
  std::map<std::string, std::string> texts;
  for (const auto& [name, of_function] : functions) {
    if (!of_function.text().empty()) texts[name] = of_function.text();
  }
  return texts;
}

void keep_code(const std::string& database, std::int64_t run_id, const run::Choice& choice,
               int arch) {
  const auto files = files_of_kernels(database, run_id);
  std::map<const kernels::Image*, Compiled> modules;
  std::vector<schema::CodeText> codes;
  for (const run::Selection& selection : choice.selections) {
    for (const kernels::Variant* variant : selection.variants) {
      const auto file = files.find(fmt::format("{}/{}", selection.family->name, variant->name));
      const kernels::Image* image = variant->image;
      if (file == files.end() || image == nullptr) continue;
      const kernels::Code* code = nullptr;
      for (const kernels::Code& one : image->codes) {
        if (one.arch <= arch) code = &one;
      }
      if (code == nullptr) continue;
      const auto [known, is_new] = modules.try_emplace(image);
      if (is_new)
        known->second = {model::ptx::parse(std::string(code->ptx)),
                         disassembled(std::as_bytes(std::span(code->cubin)))};
      known->second.add_to(codes, variant->entry, file->first, file->second);
    }
  }
  if (!codes.empty()) schema::Store(database).add_codes(run_id, codes);
}

void keep_code_of_program(const std::string& database, std::int64_t run_id,
                          const std::string& program) {
  const auto files = files_of_kernels(database, run_id, true);
  const schema::Rows devices = schema::Reader(database).query(
      "SELECT max(compute_capability) FROM devices WHERE run_id = :run", {{":run", run_id}});
  const auto* arch = std::get_if<std::int64_t>(&devices.rows.front()[0]);
  if (files.empty() || arch == nullptr) return;
  const std::string family = std::filesystem::path(program).filename();
  std::vector<schema::CodeText> codes;
  for (const runtime::ModuleSource& source :
       runtime::read_program(program, static_cast<int>(*arch)).modules) {
    std::optional<Compiled> compiled;
    for (const auto& [entry, file] : files) {
      if (source.ptx.find(entry) == std::string::npos) continue;
      if (!compiled) compiled = {model::ptx::parse(source.ptx), disassembled(source.cubin)};
      compiled->add_to(codes, entry, fmt::format("{}/{}", family, name_with_parameters(entry)),
                       file);
    }
  }
  if (!codes.empty()) schema::Store(database).add_codes(run_id, codes);
}

}  // namespace warpmeter::cli
