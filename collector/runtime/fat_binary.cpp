#include "collector/runtime/fat_binary.h"

#include <elf.h>
#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "collector/runtime/link_ptx.h"

namespace warpmeter::runtime {
namespace {

constexpr std::uint32_t magic = 0xba55ed50, wrapper_magic = 0x466243b1;
constexpr std::uint64_t lz4_flag = 0x2000, zstd_flag = 0x8000;
constexpr std::uint16_t ptx_kind = 1, machine_code_kind = 2;
/// The most that a member may unpack to: more than any compiler writes.
constexpr std::size_t most_raw_bytes = std::size_t{1} << 30;

template <class Number>
Number number_at(const std::byte* bytes, std::size_t offset) {
  Number value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

FatEntry entry_at(const std::byte* header) {
  FatEntry entry;
  entry.kind = number_at<std::uint16_t>(header, 0) == ptx_kind ? FatEntry::Kind::ptx
                                                               : FatEntry::Kind::machine_code;
  const auto header_bytes = number_at<std::uint32_t>(header, 4);
  const auto padded_bytes = number_at<std::uint64_t>(header, 8);
  const auto packed_bytes = number_at<std::uint32_t>(header, 16);
  entry.arch = static_cast<int>(number_at<std::uint32_t>(header, 28));
  const auto flags = number_at<std::uint64_t>(header, 40);
  entry.payload = header + header_bytes;
  entry.payload_bytes = padded_bytes;
  entry.raw_bytes = padded_bytes;
  if ((flags & (lz4_flag | zstd_flag)) != 0) {
    entry.packing = (flags & lz4_flag) != 0 ? FatEntry::Packing::lz4 : FatEntry::Packing::zstd;
    entry.payload_bytes = packed_bytes;
    entry.raw_bytes = number_at<std::uint64_t>(header, 56);
  }
  return entry;
}

}  // namespace

const void* unwrapped(const void* data) {
  const auto* bytes = static_cast<const std::byte*>(data);
  if (data == nullptr || number_at<std::uint32_t>(bytes, 0) != wrapper_magic) return data;
  return number_at<const void*>(bytes, 8);
}

bool is_fat_binary(const void* data) {
  return data != nullptr &&
         number_at<std::uint32_t>(static_cast<const std::byte*>(data), 0) == magic;
}

std::size_t fat_binary_bytes(const void* data) {
  const auto* bytes = static_cast<const std::byte*>(data);
  return number_at<std::uint16_t>(bytes, 6) + number_at<std::uint64_t>(bytes, 8);
}

std::vector<FatEntry> entries_of(const void* fat_binary) {
  std::vector<FatEntry> entries;
  if (!is_fat_binary(fat_binary)) return entries;
  const auto* bytes = static_cast<const std::byte*>(fat_binary);
  const std::byte* at = bytes + number_at<std::uint16_t>(bytes, 6);
  const std::byte* end = bytes + fat_binary_bytes(fat_binary);
  while (at + 64 <= end) {
    const auto kind = number_at<std::uint16_t>(at, 0);
    const std::uint64_t step = number_at<std::uint32_t>(at, 4) + number_at<std::uint64_t>(at, 8);
    if (step < 64 || step > static_cast<std::uint64_t>(end - at)) break;
    if (kind == ptx_kind || kind == machine_code_kind) entries.push_back(entry_at(at));
    at += step;
  }
  return entries;
}

std::vector<std::byte> unpack(const FatEntry& entry) {
  if (entry.packing == FatEntry::Packing::none) {
    return {entry.payload, entry.payload + entry.payload_bytes};
  }
  if (entry.raw_bytes > most_raw_bytes) return {};
  std::vector<std::byte> raw(entry.raw_bytes);
  if (entry.packing == FatEntry::Packing::lz4) {
    const int bytes = LZ4_decompress_safe(
        reinterpret_cast<const char*>(entry.payload), reinterpret_cast<char*>(raw.data()),
        static_cast<int>(entry.payload_bytes), static_cast<int>(raw.size()));
    if (bytes < 0) return {};
    raw.resize(static_cast<std::size_t>(bytes));
  } else {
    const std::size_t bytes =
        ZSTD_decompress(raw.data(), raw.size(), entry.payload, entry.payload_bytes);
    if (ZSTD_isError(bytes) != 0) return {};
    raw.resize(bytes);
  }
  return raw;
}

std::string ptx_text(const FatEntry& entry) {
  const std::vector<std::byte> raw = unpack(entry);
  std::string text(reinterpret_cast<const char*>(raw.data()), raw.size());
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

std::string fat_binary_of(std::string_view ptx, int arch) {
  constexpr std::size_t header_bytes = 16, entry_bytes = 64;
  const std::size_t padded = (ptx.size() + 8) / 8 * 8;  // with a NUL at least
  std::string all(header_bytes + entry_bytes + padded, '\0');
  const auto put = [&](std::size_t at, auto number) {
    std::memcpy(&all[at], &number, sizeof number);
  };
  put(0, magic);
  put(4, std::uint16_t{1});
  put(6, static_cast<std::uint16_t>(header_bytes));
  put(8, static_cast<std::uint64_t>(entry_bytes + padded));
  put(header_bytes, ptx_kind);
  put(header_bytes + 2, std::uint16_t{0x101});
  put(header_bytes + 4, static_cast<std::uint32_t>(entry_bytes));
  put(header_bytes + 8, static_cast<std::uint64_t>(padded));
  put(header_bytes + 28, static_cast<std::uint32_t>(arch));
  std::memcpy(&all[header_bytes + entry_bytes], ptx.data(), ptx.size());
  return all;
}

namespace {

/// What follows the architecture where it is first named behind these words: 'a' or 'f', of code
/// for that chip or its family alone; else 0.
char letter_behind(std::string_view text, std::string_view words, int arch) {
  const std::string target = fmt::format("{}sm_{}", words, arch);
  const std::size_t at = text.find(target);
  if (at == std::string_view::npos || at + target.size() >= text.size()) return 0;
  const char letter = text[at + target.size()];
  return letter == 'a' || letter == 'f' ? letter : '\0';
}
char letter_of_ptx(std::string_view ptx, int arch) { return letter_behind(ptx, ".target ", arch); }
/// By the note of the tool's command line.
char letter_of_cubin(const std::vector<std::byte>& cubin, int arch) {
  return letter_behind({reinterpret_cast<const char*>(cubin.data()), cubin.size()}, "-arch ", arch);
}

/// The PTX that a device of this architecture is given: that for its chip alone, where there is
/// one.
const FatEntry* best_ptx(const std::vector<FatEntry>& entries, int arch) {
  const FatEntry* best = nullptr;
  for (const FatEntry& entry : entries) {
    if (entry.kind != FatEntry::Kind::ptx || entry.arch > arch) continue;
    const bool is_nearer = best == nullptr || best->arch < entry.arch;
    if (is_nearer || (best->arch == entry.arch && letter_of_ptx(ptx_text(entry), arch) != 0)) {
      best = &entry;
    }
  }
  return best;
}

/// The first architecture after this one that there is PTX for; 0: none.
int later_ptx(const std::vector<FatEntry>& entries, int arch) {
  int first = 0;
  for (const FatEntry& entry : entries) {
    const bool is_later = entry.kind == FatEntry::Kind::ptx && entry.arch > arch;
    if (is_later && (first == 0 || entry.arch < first)) first = entry.arch;
  }
  return first;
}

}  // namespace

namespace {

void note_apart(ModuleSource& source, int arch) {
  const char letter = letter_of_cubin(source.cubin, arch);
  if (letter == letter_of_ptx(source.ptx, arch) || source.ptx.empty()) return;
  source.cubin_letter = letter;
  source.cubin.clear();  // it is of other code
}

}  // namespace

ModuleSource source_of(const void* fat_binary, const std::vector<const void*>& linked, int arch) {
  ModuleSource source;
  const std::vector<FatEntry> entries = entries_of(fat_binary);
  for (const FatEntry& entry : entries) {
    const bool is_own = entry.kind == FatEntry::Kind::machine_code && entry.arch == arch;
    if (is_own && source.cubin.empty()) source.cubin = unpack(entry);
  }
  if (linked.empty()) {
    if (const FatEntry* ptx = best_ptx(entries, arch)) source.ptx = ptx_text(*ptx);
    if (source.ptx.empty()) source.later_ptx = later_ptx(entries, arch);
    note_apart(source, arch);
    return source;
  }
  std::vector<std::string> texts;
  for (const void* part : linked) {
    const std::vector<FatEntry> members = entries_of(part);
    if (const FatEntry* ptx = best_ptx(members, arch)) texts.push_back(ptx_text(*ptx));
    source.later_ptx = std::max(source.later_ptx, later_ptx(members, arch));
  }
  if (texts.empty()) return source;  // machine code alone, or PTX for later ones
  source.later_ptx = 0;
  LinkedPtx result = link_ptx(texts);
  source.ptx = std::move(result.text);
  source.is_linked = true;
  source.why_no_ptx = std::move(result.failure);
  note_apart(source, arch);
  return source;
}

ModuleSource source_of_image(const void* image, int arch) {
  image = unwrapped(image);
  if (is_fat_binary(image)) return source_of(image, {}, arch);
  ModuleSource source;
  const auto* bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes, ELFMAG, SELFMAG) != 0) {
    source.ptx = bytes;
    return source;
  }
  return source;  // machine code alone
}

std::string without_ptx(int later_ptx, int arch) {
  if (later_ptx > 0) {
    return fmt::format(
        "there is PTX for sm_{0} only, and the program finds an sm_{1} here: --arch sm_{0} gives "
        "it such a device; or compile for sm_{1} too (-gencode "
        "arch=compute_{1},code=[sm_{1},compute_{1}])",
        later_ptx, arch);
  }
  return fmt::format(
      "there is machine code only, which the model does not execute: compile with PTX too (nvcc's "
      "default; -gencode arch=compute_{0},code=[sm_{0},compute_{0}])",
      arch);
}

}  // namespace warpmeter::runtime
