// SPDX-License-Identifier: MIT
// The parts that programs share to multiply matrices by whole warpgroups (wgmma): kernels of one
// product each, written as PTX while the program runs, so that every shape and type can be had, and
// where the numbers of a product lie.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 warpgroup = 128, lines_of_a = 64, bytes_of_k = 32;

/// A kind of product: "f32.f16.f16".
struct Form {
  std::string types;
  u32 n = 64;
  bool a_in_registers = false;
  int sign_of_a = 1, sign_of_b = 1;
  bool turns_a = false, turns_b = false;  ///< neighbours in memory are of one k
  bool saturates = false;

  std::string type(u32 i) const {
    std::size_t begin = 0;
    for (; i > 0; --i) begin = types.find('.', begin) + 1;
    return types.substr(begin, types.find('.', begin) - begin);
  }
  u32 bits() const {
    const std::string a = type(1);
    if (a == "b1") return 1;
    if (a == "tf32") return 32;
    return a == "f16" || a == "bf16" ? 16 : 8;
  }
  u32 k() const { return bytes_of_k * 8 / bits(); }
  u32 sums() const { return type(0) == "f16" ? n / 4 : n / 2; }  ///< registers of a thread
  std::string shape() const { return "m64n" + std::to_string(n) + "k" + std::to_string(k()); }
  std::string name() const {
    std::string all = shape() + "_" + types + (a_in_registers ? "_registers" : "");
    for (char& c : all) c = c == '.' ? '_' : c;
    if (sign_of_a < 0) all += "_minus_a";
    if (sign_of_b < 0) all += "_minus_b";
    if (turns_a) all += "_turned_a";
    if (turns_b) all += "_turned_b";
    if (saturates) all += "_saturated";
    return all;
  }
};

inline std::string registers(const char* name, u32 count) {
  std::string all = "{";
  for (u32 i = 0; i < count; ++i) all += (i ? ", " : "") + ("%" + (name + std::to_string(i)));
  return all + "}";
}

inline std::string product(const Form& form) {
  const std::string a = form.type(1);
  const bool is_whole = a == "s8" || a == "u8", is_bits = a == "b1";
  std::string text = "wgmma.mma_async.sync.aligned." + form.shape() + "." + form.types;
  if (is_whole && form.saturates) text += ".satfinite";
  if (is_bits) text += ".and.popc";
  text += " " + registers("d", form.sums()) + ", ";
  text += (form.a_in_registers ? registers("a", 4) : "%first") + ", %second, %p";
  if (!is_whole && !is_bits) {
    text += ", " + std::to_string(form.sign_of_a) + ", " + std::to_string(form.sign_of_b);
    if (form.bits() == 16) {
      if (!form.a_in_registers) text += form.turns_a ? ", 1" : ", 0";
      text += form.turns_b ? ", 1" : ", 0";
    }
  }
  return text + ";\n";
}

/// The kernel copies an image to shared memory, takes the sums and, where they come in registers,
/// the numbers of A, and gives the sums back; descriptors count from the image's beginning.
inline std::string kernel_text(const Form& form, u32 threads = warpgroup) {
  const std::string step = std::to_string(4 * threads);
  std::string text =
      ".version 8.4\n.target sm_90a\n.address_size 64\n"
      ".extern .shared .align 1024 .b8 image[];\n.visible .entry " +
      form.name() +
      "(.param .u64 from, .param .u32 words, .param .u64 sums, .param .u64 factors,"
      " .param .u64 a, .param .u64 b, .param .u32 adds)\n{\n"
      ".reg .pred %p, %more;\n.reg .b32 %d<" +
      std::to_string(form.sums()) +
      ">, %a<4>, %thread, %words, %value, %shared, %adds;\n"
      ".reg .b64 %first, %second, %base, %sums, %factors, %from, %place;\n";
  text +=
      "mov.u32 %thread, %tid.x;\nld.param.u32 %words, [words];\nld.param.u32 %adds, [adds];\n"
      "ld.param.u64 %from, [from];\nld.param.u64 %sums, [sums];\n"
      "ld.param.u64 %factors, [factors];\n"
      "ld.param.u64 %first, [a];\nld.param.u64 %second, [b];\n"
      "mov.u32 %shared, image;\ncvt.u64.u32 %base, %shared;\nshr.u64 %base, %base, 4;\n"
      "add.u64 %first, %first, %base;\nadd.u64 %second, %second, %base;\n"
      "cvta.to.global.u64 %from, %from;\ncvta.to.global.u64 %sums, %sums;\n"
      "cvta.to.global.u64 %factors, %factors;\n"
      "mul.wide.u32 %place, %thread, 4;\nadd.u64 %from, %from, %place;\n"
      "add.u64 %sums, %sums, %place;\nadd.u64 %factors, %factors, %place;\n"
      "mad.lo.u32 %shared, %thread, 4, %shared;\n"
      "again:\nsetp.lt.u32 %more, %thread, %words;\n@!%more bra done;\n"
      "ld.global.u32 %value, [%from];\nst.shared.u32 [%shared], %value;\n"
      "add.u64 %from, %from, " +
      step + ";\nadd.u32 %shared, %shared, " + step + ";\nadd.u32 %thread, %thread, " +
      std::to_string(threads) +
      ";\nbra again;\n"
      "done:\nfence.proxy.async;\nbar.sync 0;\n"
      "setp.ne.u32 %p, %adds, 0;\n";
  const auto move = [&](const char* what, const char* name, u32 count, const char* at) {
    for (u32 i = 0; i < count; ++i) {
      const std::string number = "%" + (name + std::to_string(i));
      const std::string place =
          "[%" + std::string(at) + " + " + std::to_string(i * 4 * threads) + "]";
      const bool loads = what[0] == 'l';
      text += std::string(what) + ".global.u32 " +
              (loads ? number + ", " + place : place + ", " + number) + ";\n";
    }
  };
  move("ld", "d", form.sums(), "sums");
  if (form.a_in_registers) move("ld", "a", 4, "factors");
  text += "wgmma.fence.sync.aligned;\n" + product(form) +
          "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  move("st", "d", form.sums(), "sums");
  return text + "ret;\n}\n";
}

struct Kernel {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;

  explicit Kernel(const Form& form) {
    const std::string text = kernel_text(form);
    cudaError_t error =
        cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (error == cudaSuccess) error = cudaLibraryGetKernel(&kernel, library, form.name().c_str());
    if (error != cudaSuccess) {
      std::printf("%s: %s\n", form.name().c_str(), cudaGetErrorName(error));
      std::exit(1);
    }
  }
  ~Kernel() { cudaLibraryUnload(library); }
};

/// Swizzles as a descriptor names them.
enum Swizzle : u32 { plain = 0, by_128 = 1, by_64 = 2, by_32 = 3 };

/// Bytes from the image's beginning; steps in bytes.
inline u64 descriptor(u32 start, u32 leading, u32 stride, Swizzle swizzle = plain, u32 base = 0) {
  return u64{start >> 4} | u64{leading >> 4} << 16 | u64{stride >> 4} << 32 | u64{base} << 49 |
         u64{swizzle} << 62;
}

/// Where 16 bytes of a line lie in the image that `in_lines` describes: the upper or lower half.
inline u32 place_of(u32 line, u32 half) { return (line / 8 * 2 + half) * 128 + line % 8 * 16; }
inline u64 in_lines(u32 start) { return descriptor(start, 128, 256); }

/// The operands of a product, in memory that host and device share.
struct Operands {
  static constexpr u32 image_bytes = 32 << 10, most_sums = 128;
  unsigned char* image = nullptr;
  u32 *sums = nullptr, *factors = nullptr;

  Operands() {
    cudaMallocManaged(&image, 2 * image_bytes);
    cudaMallocManaged(&sums, most_sums * warpgroup * 4);
    cudaMallocManaged(&factors, 4 * warpgroup * 4);
  }
  /// Byte `at` of a line of A, where it comes in registers.
  unsigned char& in_registers(u32 line, u32 at) {
    const u32 half = at / 16, lane = line % 8 * 4 + at % 16 / 4, high = line % 16 / 8;
    const u32 thread = line / 16 * 32 + lane;
    return reinterpret_cast<unsigned char*>(factors + (half * 2 + high) * warpgroup +
                                            thread)[at % 4];
  }
};

inline bool launch(const Kernel& kernel, Operands& operands, u32 bytes, u64 a, u64 b, u32 adds) {
  u32 words = bytes / 4;
  void* arguments[] = {&operands.image, &words, &operands.sums, &operands.factors, &a, &b, &adds};
  cudaLaunchKernel(reinterpret_cast<const void*>(kernel.kernel), dim3(1), dim3(warpgroup),
                   arguments, bytes, nullptr);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorName(error));
  return error == cudaSuccess;
}

inline u64 mixed(const u32* words, u32 count, u64 before = 14695981039346656037ull) {
  for (u32 i = 0; i < count; ++i) before = (before ^ words[i]) * 1099511628211ull;
  return before;
}

/// Numbers that look like chance, the same everywhere.
struct Chance {
  u64 state;
  u32 next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<u32>(state * 0x2545f4914f6cdd1dull >> 32);
  }
  u32 below(u32 end) { return static_cast<u32>(u64{next()} * end >> 32); }
};
