// SPDX-License-Identifier: MIT
#include "collector/runtime/image/fat_binary.h"

#include <elf.h>
#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "collector/runtime/image/link_ptx.h"
#include "collector/runtime/image/readable_memory.h"

namespace warpmeter::runtime {
namespace {

constexpr std::uint32_t magic = 0xba55ed50, wrapper_magic = 0x466243b1;
constexpr std::uint64_t lz4_flag = 0x2000, zstd_flag = 0x8000;
constexpr std::uint16_t ptx_kind = 1, machine_code_kind = 2;
constexpr std::uint64_t alignment = 8;

/// The most that so many bytes are unpacked to. LZ4 cannot go beyond 255 times; a file that claims
/// far more is made to fill memory.
std::uint64_t most_raw_bytes(std::uint64_t packed_bytes) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30, usual = std::uint64_t{1} << 26;
  return std::min(most, 256 * std::min(packed_bytes, most) + usual);
}

/// The header before a member's payload, by offsets.
struct MemberHeader {
  std::uint16_t kind = 0, version = 0;
  std::uint32_t header_bytes = 0;
  std::uint64_t padded_bytes = 0;
  std::uint32_t packed_bytes = 0, reserved = 0, name_at = 0, arch = 0;
  std::uint64_t name_bytes = 0, flags = 0, unknown = 0, raw_bytes = 0;
};
static_assert(offsetof(MemberHeader, arch) == 28 && offsetof(MemberHeader, flags) == 40 &&
              offsetof(MemberHeader, raw_bytes) == 56 && sizeof(MemberHeader) == 64);

/// The member that is all of `bytes`; nothing where it claims more than it has.
std::optional<FatEntry> entry_in(Bytes bytes, const MemberHeader& header) {
  FatEntry entry;
  entry.kind = header.kind == ptx_kind ? FatEntry::Kind::ptx : FatEntry::Kind::machine_code;
  entry.arch = static_cast<int>(header.arch);
  const bool is_packed = (header.flags & (lz4_flag | zstd_flag)) != 0;
  const auto payload = part(bytes, header.header_bytes,
                            is_packed ? std::uint64_t{header.packed_bytes} : header.padded_bytes);
  if (!payload) return std::nullopt;
  entry.payload = *payload;
  entry.raw_bytes = payload->size();
  if (is_packed) {
    entry.packing =
        (header.flags & lz4_flag) != 0 ? FatEntry::Packing::lz4 : FatEntry::Packing::zstd;
    if (header.raw_bytes > most_raw_bytes(payload->size())) return std::nullopt;
    entry.raw_bytes = header.raw_bytes;
  }
  return entry;
}

/// The members, and whether all of them are as they say.
std::pair<std::vector<FatEntry>, bool> read_entries(Bytes fat_binary) {
  std::vector<FatEntry> entries;
  const auto whole = fat_binary_in(fat_binary);
  if (!whole) return {entries, false};
  Bytes left = rest(*whole, *number_at<std::uint16_t>(*whole, 6));
  while (const auto header = number_at<MemberHeader>(left, 0)) {
    std::uint64_t step = 0;
    const bool wraps =
        __builtin_add_overflow(header->padded_bytes, std::uint64_t{header->header_bytes}, &step);
    const auto member = part(left, 0, step);
    if (wraps || !member || step < sizeof(MemberHeader)) return {entries, false};
    if (header->kind == ptx_kind || header->kind == machine_code_kind) {
      const auto entry = entry_in(*member, *header);
      if (!entry) return {entries, false};
      entries.push_back(*entry);
    }
    left = rest(left, step);
  }
  return {entries, true};
}

}  // namespace

bool has_fat_mark(Bytes data) { return number_at<std::uint32_t>(data, 0) == magic; }

std::optional<Bytes> fat_binary_in(Bytes data) {
  const auto header_bytes = number_at<std::uint16_t>(data, 6);
  const auto payload_bytes = number_at<std::uint64_t>(data, 8);
  if (!has_fat_mark(data) || !payload_bytes || *header_bytes < 16) return std::nullopt;
  if (!part(data, *header_bytes, *payload_bytes)) return std::nullopt;
  return data.first(*header_bytes + *payload_bytes);
}

FatBinaries fat_binaries_in(Bytes section) {
  FatBinaries found;
  std::uint64_t left = most_raw_bytes(section.size());  // for all together
  for (std::uint64_t at = 0; at < section.size();) {
    const auto binary = fat_binary_in(rest(section, at));
    at += rounded_up(binary ? binary->size() : alignment, alignment).value_or(section.size());
    if (!binary) {
      found.is_damaged |= has_fat_mark(rest(section, at - alignment));
      continue;
    }
    const auto [entries, is_whole] = read_entries(*binary);
    found.is_damaged |= !is_whole;
    for (const FatEntry& entry : entries) {
      if (entry.raw_bytes > left) return {std::move(found.all), true};
      left -= entry.raw_bytes;
    }
    found.all.push_back(*binary);
  }
  return found;
}

std::vector<FatEntry> entries_of(Bytes fat_binary) { return read_entries(fat_binary).first; }

std::vector<std::byte> unpack(const FatEntry& entry) {
  const Bytes from = entry.payload;
  if (entry.packing == FatEntry::Packing::none) return {from.begin(), from.end()};
  if (entry.raw_bytes > most_raw_bytes(from.size())) return {};
  std::vector<std::byte> raw(entry.raw_bytes);
  if (entry.packing == FatEntry::Packing::lz4) {
    if (from.size() > LZ4_MAX_INPUT_SIZE) return {};
    const int bytes = LZ4_decompress_safe(
        reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(raw.data()),
        static_cast<int>(from.size()), static_cast<int>(raw.size()));
    if (bytes < 0) return {};
    raw.resize(static_cast<std::size_t>(bytes));
  } else {
    const std::size_t bytes = ZSTD_decompress(raw.data(), raw.size(), from.data(), from.size());
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

/// The letter behind the architecture where it is first named behind these words: 'a' or 'f', of
/// code for that chip or its family alone; else 0.
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

constexpr const char* damage =
    "its fat binary is damaged: a size in it leads out of it; build the program again";

void note_apart(ModuleSource& source, int arch) {
  const char letter = letter_of_cubin(source.cubin, arch);
  if (letter == letter_of_ptx(source.ptx, arch) || source.ptx.empty()) return;
  source.cubin_letter = letter;
  source.cubin.clear();  // it is of other code
}

}  // namespace

ModuleSource source_of(Bytes fat_binary, const std::vector<Bytes>& linked, int arch) {
  ModuleSource source;
  const auto [entries, is_whole] = read_entries(fat_binary);
  for (const FatEntry& entry : entries) {
    const bool is_own = entry.kind == FatEntry::Kind::machine_code && entry.arch == arch;
    if (is_own && source.cubin.empty()) source.cubin = unpack(entry);
  }
  if (linked.empty()) {
    if (const FatEntry* ptx = best_ptx(entries, arch)) source.ptx = ptx_text(*ptx);
    if (source.ptx.empty()) source.later_ptx = later_ptx(entries, arch);
    if (source.ptx.empty() && !is_whole) source.why_no_ptx = damage;
    note_apart(source, arch);
    return source;
  }
  std::vector<std::string> texts;
  bool are_whole = true;
  for (const Bytes part : linked) {
    const auto [members, is_whole_part] = read_entries(part);
    are_whole &= is_whole_part;
    if (const FatEntry* ptx = best_ptx(members, arch)) texts.push_back(ptx_text(*ptx));
    source.later_ptx = std::max(source.later_ptx, later_ptx(members, arch));
  }
  if (texts.empty()) {  // machine code alone, or PTX for later ones
    if (!are_whole) source.why_no_ptx = damage;
    return source;
  }
  source.later_ptx = 0;
  LinkedPtx result = link_ptx(texts);
  source.ptx = std::move(result.text);
  source.is_linked = true;
  source.why_no_ptx = std::move(result.failure);
  note_apart(source, arch);
  return source;
}

namespace {

/// The fat binary that nvcc's wrapper of it points to, or the image itself.
Bytes unwrapped(const void* image) {
  const Bytes bytes = readable_from(image);
  if (number_at<std::uint32_t>(bytes, 0) != wrapper_magic) return bytes;
  const auto place = number_at<const void*>(bytes, 8);
  return place ? readable_from(*place) : Bytes();
}

}  // namespace

bool is_fat_binary(const void* image) { return has_fat_mark(unwrapped(image)); }

ModuleSource source_in_memory(const void* image, const std::vector<const void*>& linked, int arch) {
  const Bytes bytes = unwrapped(image);
  std::vector<Bytes> parts;
  for (const void* part : linked) parts.push_back(unwrapped(part));
  if (has_fat_mark(bytes) || !parts.empty()) return source_of(bytes, parts, arch);
  ModuleSource source;
  const std::string_view text = as_text(bytes);
  if (text.starts_with(ELFMAG)) return source;  // machine code alone
  source.ptx = text.substr(0, text.find('\0'));
  return source;
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
