// SPDX-License-Identifier: MIT
// Files that a stranger made: fat binaries, ELF programs, cubins and .npy files whose sizes,
// offsets, counts and indexes are false. Each input is a whole file of the seeds with a few of its
// fields changed, found by the format's grammar; its number is the seed of all that is random in
// it. No input ends the program by a signal, takes 20 s or 1 GB. One alone:
// WARPMETER_HOSTILE_INPUT and --gtest_filter.
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "collector/model/input/npy.h"
#include "collector/model/ptx/module.h"
#include "collector/runtime/image/fat_binary.h"
#include "collector/runtime/image/program_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);  // cubin.cpp

namespace warpmeter {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A number of a file: where it stands, and how wide it is.
struct Field {
  std::size_t at = 0;
  unsigned bytes = 0;
};

/// Adds the fields of a record, by their widths in its order.
void add_record(std::vector<Field>& fields, std::size_t at,
                std::initializer_list<unsigned> widths) {
  for (const unsigned width : widths) {
    fields.push_back({at, width});
    at += width;
  }
}

void add_fat_fields(std::vector<Field>& fields, std::string_view text, std::size_t begin) {
  const auto whole = runtime::fat_binary_in(rest(bytes_in(text), begin));
  if (!whole) return;
  add_record(fields, begin, {4, 2, 2, 8});
  std::size_t at = *number_at<std::uint16_t>(*whole, 6);
  while (at + 64 <= whole->size()) {
    for (int weight = 0; weight < 30; ++weight) {  // a program has few of them
      add_record(fields, begin + at, {2, 2, 4, 8, 4, 4, 4, 4, 8, 8, 8, 8});
    }
    at += *number_at<std::uint32_t>(*whole, at + 4) + *number_at<std::uint64_t>(*whole, at + 8);
  }
}

/// The fields of an ELF file: its header, the headers of its sections, and what stands in those
/// that are read.
/// The fields of fat binaries in it stand apart.
struct Fields {
  std::vector<Field> elf, fat;
};
Fields fields_of(std::string_view text) {
  Fields all;
  std::vector<Field>& fields = all.elf;
  const Bytes bytes = bytes_in(text);
  add_record(fields, 16, {2, 2, 4, 8, 8, 8, 4, 2, 2, 2, 2, 2, 2});
  const auto header = number_at<Elf64_Ehdr>(bytes, 0);
  if (!header) return all;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const std::size_t at = header->e_shoff + i * sizeof(Elf64_Shdr);
    const auto section = number_at<Elf64_Shdr>(bytes, at);
    if (!section) break;
    add_record(fields, at, {4, 4, 8, 8, 8, 8, 4, 4, 8, 8});
    if (section->sh_type == SHT_SYMTAB || section->sh_type == SHT_DYNSYM) {
      for (std::size_t k = 0; k < std::min<std::size_t>(section->sh_size / 24, 40); ++k) {
        add_record(fields, section->sh_offset + k * 24, {4, 1, 1, 2, 8, 8});
      }
    } else if (section->sh_type != SHT_NOBITS && section->sh_size < 4096) {
      for (std::size_t k = 0; k + 4 <= section->sh_size; k += 4) {
        fields.push_back({section->sh_offset + k, 4});
      }
    }
    for (std::size_t k = 0; section->sh_type == SHT_PROGBITS && k < section->sh_size; k += 8) {
      add_fat_fields(all.fat, text, section->sh_offset + k);
    }
  }
  return all;
}

struct Seed {
  std::string text;
  std::vector<Field> fields;
};

/// A number that formats like to be wrong about.
std::uint64_t false_number(std::mt19937_64& random, std::uint64_t today, std::size_t file_bytes) {
  const std::uint64_t small = random() % 64;
  switch (random() % 12) {
    case 0:
      return 0;
    case 1:
      return small;
    case 2:
      return 0 - small;
    case 3:
      return file_bytes - small;
    case 4:
      return file_bytes + small;
    case 5:
      return today + small;
    case 6:
      return today - small;
    case 7:
      return 0x7fffffff - random() % 2;
    case 8:
      return std::uint64_t{1} << random() % 64;
    case 9:
      return 0x8000000000000000 - small;
    case 10:
      return today ^ (std::uint64_t{1} << random() % 64);
    default:
      return random();
  }
}

std::string changed(const Seed& seed, std::mt19937_64& random) {
  std::string text = seed.text;
  for (std::uint64_t count = 1 + random() % 4; count > 0 && !seed.fields.empty(); --count) {
    const Field& field = seed.fields[random() % seed.fields.size()];
    if (field.at + field.bytes > text.size()) continue;
    std::uint64_t today = 0;
    std::memcpy(&today, &text[field.at], field.bytes);
    const std::uint64_t number = false_number(random, today, text.size());
    std::memcpy(&text[field.at], &number, field.bytes);
  }
  if (random() % 8 == 0) text.resize(random() % (text.size() + 1));
  return text;
}

/// As the fuzzer of cubins reads one, audit included.
void read_cubin(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

/// As `doctor` and `profile` read a program before it starts.
void read_program(const std::string& text) {
  const int file = memfd_create("program", MFD_CLOEXEC);
  ASSERT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  const auto path = "/proc/self/fd/" + std::to_string(file);
  runtime::names_driver(path);
  const runtime::ProgramFile program = runtime::read_program(path, 90);
  for (const runtime::ModuleSource& module : program.modules) {
    model::ptx::parse(std::string(module.ptx));
    read_cubin({reinterpret_cast<const char*>(module.cubin.data()), module.cubin.size()});
  }
  close(file);
}

void read_npy(const std::string& text) {
  const Bytes bytes = bytes_in(text);
  try {
    const model::Npy npy = model::parse_npy({bytes.begin(), bytes.end()}, "x.npy", Element::f32);
    EXPECT_LE(npy.data.size(), text.size());
  } catch (const Error& refused) {
    EXPECT_EQ(refused.code(), ExitCode::file);
  }
}

char running[64];
void say_input(int signal) {
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, running, sizeof running);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// The inputs of each kind.
std::vector<std::uint64_t> inputs() {
  if (const char* one = std::getenv("WARPMETER_HOSTILE_INPUT")) {
    return {std::strtoull(one, nullptr, 10)};
  }
  const bool in_full = std::getenv("WARPMETER_IN_FULL") != nullptr;
  std::vector<std::uint64_t> all(in_full ? 20'000 : 1000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

using Reader = void (*)(const std::string&);
class HostileFiles : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) std::signal(signal, say_input);
  }
  /// Reads changed seeds, which take turns.
  static void read_changed(const std::vector<Seed>& seeds, Reader read) {
    for (const std::uint64_t number : inputs()) {
      std::snprintf(running, sizeof running, "hostile input %llu\n",
                    static_cast<unsigned long long>(number));
      std::mt19937_64 random(number);
      const std::string text = changed(seeds[number % seeds.size()], random);
      const auto begin = std::chrono::steady_clock::now();
      try {
        read(text);
      } catch (const Error&) {
      }
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << running;
    }
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    EXPECT_LT(used.ru_maxrss, 1'000'000) << "kilobytes";
  }
  static std::vector<Seed> programs(std::vector<Field> Fields::*fields) {
    std::vector<Seed> seeds;
    for (const char* name : {"launches_shared", "apart", "no_cuda"}) {
      const std::string text = file_text(std::string(WARPMETER_PROGRAMS) + "/" + name);
      EXPECT_FALSE(text.empty()) << name;
      seeds.push_back({text, fields_of(text).*fields});
    }
    return seeds;
  }
};

TEST_F(HostileFiles, OfProgramsEndNoReader) { read_changed(programs(&Fields::elf), read_program); }

TEST_F(HostileFiles, OfFatBinariesEndNoReader) {
  std::vector<Seed> seeds = programs(&Fields::fat);
  std::erase_if(seeds, [](const Seed& seed) { return seed.fields.empty(); });
  ASSERT_EQ(seeds.size(), 2U);
  read_changed(seeds, read_program);
}

TEST_F(HostileFiles, OfCubinsEndNoReader) {
  std::vector<Seed> seeds;
  for (const char* name : {"lines_sm_80", "lines_sm_90", "no_lines"}) {
    const std::string text = file_text(std::string(WARPMETER_CORPUS) + "/cubin/" + name + ".cubin");
    ASSERT_FALSE(text.empty()) << name;
    seeds.push_back({text, fields_of(text).elf});
  }
  for (const char* name : {"transpose.sm_90", "reduction.sm_80"}) {
    const std::string text = file_text(std::string(WARPMETER_IMAGES) + "/" + name + ".cubin");
    ASSERT_FALSE(text.empty()) << name;
    seeds.push_back({text, fields_of(text).elf});
  }
  read_changed(seeds, read_cubin);
}

TEST_F(HostileFiles, OfArraysEndNoReader) {
  Seed npy{model::npy_header(Element::f32, 64) + std::string(64, '\0'), {}};
  for (std::size_t at = 6; at < 64; ++at) npy.fields.push_back({at, at < 10 ? 2u : 1u});
  read_changed({npy}, read_npy);
}

}  // namespace
}  // namespace warpmeter
