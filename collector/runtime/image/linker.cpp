// SPDX-License-Identifier: MIT
#include "collector/runtime/image/linker.h"

#include <elf.h>
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstring>
#include <utility>
#include <variant>

#include "base/kernel_name.h"
#include "collector/model/ptx/flow/declared.h"
#include "collector/model/ptx/parse/parser.h"
#include "collector/runtime/image/fat_binary.h"
#include "collector/runtime/image/link_ptx.h"
#include "collector/runtime/image/object_file.h"
#include "collector/runtime/image/ptx_image.h"

namespace warpmeter::runtime {
namespace {

namespace ptx = model::ptx;

std::string named(const std::string& name) { return name.empty() ? "an input" : name; }

/// A number of a member's header in an archive.
std::size_t number_in(std::string_view field) {
  std::size_t number = 0;
  std::from_chars(field.data(), field.data() + field.size(), number);
  return number;
}

}  // namespace

CUresult Linker::refuse(CUresult result, const std::string& why) {
  options_.write_error("error   : " + why);
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU) say_(why);
  return result;
}

CUresult Linker::add_ptx(std::string text, const std::string& name) {
  text.resize(std::strlen(text.c_str()));
  auto mistake = kind_mistake(text);
  if (!mistake) mistake = header_mistake(text, arch_);
  const bool is_later = mistake && mistake->result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  if (is_later && takes_later_versions_) mistake.reset();
  if (mistake) return refuse(mistake->result, fmt::format("{}: {}", named(name), mistake->why));
  auto parsed = ptx::parse(text);
  if (const auto* wrong = std::get_if<ptx::Diagnostic>(&parsed)) {
    return refuse(CUDA_ERROR_INVALID_PTX,
                  fmt::format("{}, line {}: {}", named(name), wrong->line, wrong->message));
  }
  if (const auto wrong = ptx::check_names(*std::get<std::unique_ptr<ptx::Module>>(parsed))) {
    return refuse(CUDA_ERROR_INVALID_PTX,
                  fmt::format("{}, line {}: {}", named(name), wrong->line, wrong->message));
  }
  texts_.push_back(std::move(text));
  return CUDA_SUCCESS;
}

CUresult Linker::add_binaries(std::string_view data, const std::string& name) {
  bool has_ptx = false;
  const auto [binaries, is_damaged] = fat_binaries_in(bytes_in(data));
  if (is_damaged) {
    return refuse(CUDA_ERROR_INVALID_IMAGE,
                  named(name) + " is damaged: a size in it leads out of it");
  }
  for (const Bytes binary : binaries) {
    ModuleSource source = source_of(binary, {}, arch_);
    if (source.ptx.empty()) continue;
    has_ptx = true;
    const CUresult result = add_ptx(std::move(source.ptx), name);
    if (result != CUDA_SUCCESS) return result;
  }
  if (binaries.empty()) return refuse(CUDA_ERROR_INVALID_IMAGE, named(name) + " is no fat binary");
  if (has_ptx) return CUDA_SUCCESS;
  return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                fmt::format("{} has no PTX for sm_{}, and the model executes PTX: compile with PTX "
                            "too (-gencode arch=compute_{},code=[sm_{},compute_{}])",
                            named(name), arch_, arch_, arch_, arch_));
}

CUresult Linker::add_object(std::string_view data, const std::string& name) {
  const ObjectFile object(data);
  if (!object.is_program()) {
    return refuse(CUDA_ERROR_INVALID_IMAGE, named(name) + " is no object file");
  }
  std::string all(object.section(".nv_fatbin"));
  all.resize((all.size() + 7) / 8 * 8);
  all += object.section("__nv_relfatbin");
  return add_binaries(all, name);
}

/// Members without device code, or without PTX, are left out: what is missing then is found when
/// all is linked.
CUresult Linker::add_library(std::string_view data, const std::string& name) {
  constexpr std::string_view magic = "!<arch>\n";
  constexpr std::size_t header = 60, size_at = 48, size_width = 10;
  if (!data.starts_with(magic)) {
    return refuse(CUDA_ERROR_INVALID_IMAGE, named(name) + " is no archive");
  }
  for (std::size_t at = magic.size(); at + header <= data.size();) {
    const std::size_t bytes = number_in(data.substr(at + size_at, size_width));
    const std::string_view member = data.substr(at + header, bytes);
    at += header + bytes + bytes % 2;
    const std::string aligned(member);  // members begin at any even place
    const ObjectFile object(aligned);
    for (const char* section : {".nv_fatbin", "__nv_relfatbin"}) {
      const std::string code(object.section(section));
      if (code.empty() || source_of(bytes_in(code), {}, arch_).ptx.empty()) continue;
      const CUresult result = add_binaries(code, name);
      if (result != CUDA_SUCCESS) return result;
    }
  }
  return CUDA_SUCCESS;
}

CUresult Linker::add(CUjitInputType type, std::string_view data, const std::string& name) {
  const auto begin = std::chrono::steady_clock::now();
  const auto result = [&] {
    switch (type) {
      case CU_JIT_INPUT_PTX:
        if (has_fat_mark(bytes_in(data))) return add_binaries(data, name);
        return add_ptx(std::string(data), name);
      case CU_JIT_INPUT_CUBIN:
        if (data.starts_with(std::string_view(ELFMAG, SELFMAG))) {
          return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                        named(name) +
                            " is machine code, which the model does not execute: give "
                            "the linker PTX");
        }
        return add_binaries(data, name);
      case CU_JIT_INPUT_FATBINARY:
        return add_binaries(data, name);
      case CU_JIT_INPUT_OBJECT:
        return add_object(data, name);
      case CU_JIT_INPUT_LIBRARY:
        return add_library(data, name);
      case CU_JIT_INPUT_NVVM:
        return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                      named(name) +
                          " is code for link-time optimization, which is not read: give "
                          "the linker PTX");
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  }();
  options_.took(begin);
  return result;
}

CUresult Linker::complete(std::string_view& image) {
  const auto begin = std::chrono::steady_clock::now();
  if (texts_.empty()) return refuse(CUDA_ERROR_INVALID_VALUE, "there is nothing to link");
  LinkedPtx linked = link_ptx(texts_);
  if (linked.failure.empty()) {
    const std::string missing = undefined_in(linked.text);
    if (!missing.empty()) {
      linked.failure = fmt::format("Undefined reference to '{}'", readable_name(missing));
    }
  }
  options_.took(begin);
  if (!linked.failure.empty()) return refuse(CUDA_ERROR_UNKNOWN, linked.failure);
  image = images_.emplace_back(fat_binary_of(linked.text, arch_));
  return CUDA_SUCCESS;
}

}  // namespace warpmeter::runtime
