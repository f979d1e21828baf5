// SPDX-License-Identifier: MIT
// Products of matrices by whole warpgroups: numbers of every type, every shape, and every way in
// which matrices may lie in shared memory. Each line has a hash of all bits of the results.
//
//   warpgroup_products [shapes|layouts|numbers] [FILE]
//
// FILE: of numbers, operands and results as they lie in memory; of layouts, results.
#include "warpgroup_program.h"
struct Format {
  u32 exponent_bits, fraction_bits, bits;
  u32 unused;  ///< bits below the fraction
};

Format format_of(const std::string& type) {
  if (type == "f16") return {5, 10, 16, 0};
  if (type == "bf16") return {8, 7, 16, 0};
  if (type == "tf32") return {8, 10, 32, 13};
  if (type == "f32") return {8, 23, 32, 0};
  if (type == "e4m3") return {4, 3, 8, 0};
  return {5, 2, 8, 0};
}

/// A float of one of eight kinds: around 1, finite, any bits, subnormal, a few whole numbers, one
/// that is far greater now and then, mostly zero, of some range.
u32 number(Chance& chance, const Format& f, u32 kind) {
  const u32 greatest = (1u << f.exponent_bits) - 1, bias = greatest / 2;
  u32 exponent = chance.below(greatest), fraction = chance.next() & ((1u << f.fraction_bits) - 1);
  const u32 sign = chance.below(2), any = chance.next();
  switch (kind) {
    case 0:
      exponent = bias - 1 + chance.below(3);
      break;
    case 2:
      exponent = chance.below(8) == 0 ? greatest : any & greatest;
      if (exponent == greatest && chance.below(2)) fraction = 0;
      break;
    case 3:
      exponent = chance.below(8) == 0 ? 1 + chance.below(2) : 0;
      break;
    case 4:
      exponent = bias + chance.below(2);
      fraction &= 1u << (f.fraction_bits - 1);
      break;
    case 5:
      exponent = chance.below(6) == 0 ? greatest - 1 - chance.below(3) : bias - chance.below(3);
      break;
    case 6:
      if (chance.below(4)) exponent = fraction = 0;
      break;
    case 7: {
      const u32 range = bias < 12 ? bias : 12;
      exponent = bias - range + chance.below(2 * range);
      break;
    }
  }
  const u32 bits =
      sign << (f.exponent_bits + f.fraction_bits) | exponent << f.fraction_bits | fraction;
  return bits << f.unused | (any & ((1u << f.unused) - 1));
}

void put(unsigned char* to, u32 value, u32 bytes) { std::memcpy(to, &value, bytes); }

/// Lines of numbers, 32 bytes each.
std::vector<unsigned char> lines(Chance& chance, const std::string& type, u32 count) {
  std::vector<unsigned char> all(count * bytes_of_k);
  if (type == "s8" || type == "u8" || type == "b1") {
    for (u32 line = 0; line < count; ++line) {
      const u32 kind = chance.below(3);  // any, great, small
      for (u32 i = 0; i < bytes_of_k; ++i) {
        const u32 any = chance.next();
        all[line * bytes_of_k + i] = static_cast<unsigned char>(kind == 0   ? any
                                                                : kind == 1 ? 0x7c + any % 8
                                                                            : any % 4);
      }
    }
    return all;
  }
  const Format format = format_of(type);
  const u32 bytes = format.bits / 8;
  for (u32 line = 0; line < count; ++line) {
    const u32 kind = chance.below(8);
    const bool cancels = chance.below(3) == 0;
    for (u32 at = 0; at < bytes_of_k / bytes; ++at) {
      u32 value = number(chance, format, kind);
      // Every second one as the one before, but for its sign: among such lines products cancel.
      if (cancels && at % 2 == 1 && chance.below(8)) {
        std::memcpy(&value, &all[line * bytes_of_k + (at - 1) * bytes], bytes);
        value ^= chance.below(2) << (format.bits - 1);
      }
      put(&all[line * bytes_of_k + at * bytes], value, bytes);
    }
  }
  return all;
}

void place_first(const Form& form, Operands& to, const std::vector<unsigned char>& a) {
  for (u32 line = 0; line < lines_of_a; ++line) {
    for (u32 at = 0; at < bytes_of_k; ++at) {
      const unsigned char byte = a[line * bytes_of_k + at];
      if (form.a_in_registers) {
        to.in_registers(line, at) = byte;
      } else {
        to.image[place_of(line, at / 16) + at % 16] = byte;
      }
    }
  }
}
constexpr u32 bytes_of_a = lines_of_a * bytes_of_k;
void place_second(const Form& form, Operands& to, const std::vector<unsigned char>& b) {
  for (u32 line = 0; line < form.n; ++line) {
    for (u32 half = 0; half < 2; ++half) {
      std::memcpy(to.image + bytes_of_a + place_of(line, half), &b[line * bytes_of_k + half * 16],
                  16);
    }
  }
}
void place_sums(const Form& form, Chance& chance, Operands& to) {
  const std::string type = form.type(0);
  for (u32 i = 0; i < form.sums() * warpgroup; ++i) {
    const u32 kind = chance.below(8);
    if (type == "s32") {
      to.sums[i] = kind < 4   ? chance.next()
                   : kind < 6 ? 0x7fffff00 + chance.below(512)
                              : chance.below(1000);
    } else if (type == "f16") {
      const u32 low = number(chance, format_of(type), kind);
      to.sums[i] = low | number(chance, format_of(type), chance.below(8)) << 16;
    } else {
      to.sums[i] = number(chance, format_of(type), kind);
    }
  }
}

std::FILE* file = nullptr;

void keep(const void* from, std::size_t bytes) {
  if (file != nullptr) std::fwrite(from, 1, bytes, file);
}

/// `rounds` products of numbers of chance.
void multiply(const Form& form, u32 rounds, Operands& operands) {
  const Kernel kernel(form);
  u64 all = 14695981039346656037ull;
  const u32 bytes = bytes_of_a + form.n * bytes_of_k, count = form.sums() * warpgroup;
  for (u32 round = 0; round < rounds; ++round) {
    Chance chance{0x9e3779b97f4a7c15ull * (round + 1) + form.n};
    const auto a = lines(chance, form.type(1), lines_of_a), b = lines(chance, form.type(2), form.n);
    place_first(form, operands, a);
    place_second(form, operands, b);
    place_sums(form, chance, operands);
    keep(a.data(), a.size());
    keep(b.data(), b.size());
    keep(operands.sums, count * 4);
    const u32 adds = round % 8 != 7;
    if (!launch(kernel, operands, bytes, in_lines(0), in_lines(bytes_of_a), adds)) return;
    keep(operands.sums, count * 4);
    all = mixed(operands.sums, count, all);
  }
  std::printf("%s: %016llx\n", form.name().c_str(), static_cast<unsigned long long>(all));
}

constexpr const char* of_floats[] = {"f32.f16.f16",   "f16.f16.f16",   "f32.bf16.bf16",
                                     "f32.tf32.tf32", "f32.e4m3.e4m3", "f32.e4m3.e5m2",
                                     "f32.e5m2.e4m3", "f32.e5m2.e5m2", "f16.e4m3.e4m3",
                                     "f16.e4m3.e5m2", "f16.e5m2.e4m3", "f16.e5m2.e5m2"};
constexpr const char* of_wholes[] = {"s32.s8.s8", "s32.s8.u8", "s32.u8.s8", "s32.u8.u8"};

void numbers(Operands& operands) {
  for (const char* types : of_floats) multiply({types}, 16, operands);
  if (file != nullptr) return;
  for (const char* types : of_floats) {
    Form form{types, 24, true};
    multiply(form, 4, operands);
    form.sign_of_a = -1;
    multiply(form, 2, operands);
    form.a_in_registers = false;
    multiply(form, 2, operands);
    form.sign_of_b = -1;
    multiply(form, 2, operands);
    form.sign_of_a = 1;
    multiply(form, 2, operands);
  }
  for (const char* types : of_wholes) {
    Form form{types};
    multiply(form, 8, operands);
    form.saturates = form.a_in_registers = true;
    multiply(form, 8, operands);
  }
  multiply({"s32.b1.b1"}, 8, operands);
  multiply({"s32.b1.b1", 32, true}, 8, operands);
}

void shapes(Operands& operands) {
  for (const bool in_registers : {false, true}) {
    for (u32 n = 8; n <= 256; n += 8) {
      for (const char* types : {"f32.f16.f16", "f16.f16.f16", "f32.tf32.tf32", "f16.e5m2.e4m3"}) {
        multiply({types, n, in_registers}, 1, operands);
      }
      if (n == 8 || n == 24 || n % 16 == 0) {
        multiply({"s32.s8.u8", n, in_registers}, 1, operands);
        multiply({"s32.b1.b1", n, in_registers}, 1, operands);
      }
    }
  }
}

struct Layout {
  const char* name;
  u32 start, leading, stride;
  Swizzle swizzle;
  u32 base;
};

/// An image whose numbers all differ, times one matrix that picks them one by one.
void lay_out(const Form& form, Operands& operands, const Layout& layout, const Kernel& kernel,
             bool of_a) {
  const u32 bytes = form.bits() / 8;
  for (u32 i = 0; i < Operands::image_bytes / 2; ++i) {
    const u16 value = static_cast<u16>(0x0400 + i);
    if (bytes == 2) std::memcpy(operands.image + 2 * i, &value, 2);
    if (bytes == 1) put(operands.image + 2 * i, i * 0x9e37u >> 3, 2);
  }
  for (u32 i = 0; bytes == 4 && i < Operands::image_bytes / 4; ++i)
    put(operands.image + 4 * i, 0x20000000 + (i << 14), 4);
  const u32 one = bytes == 2 ? 0x3c00 : bytes == 4 ? 0x3f800000 : 1;
  unsigned char* const picking = operands.image + Operands::image_bytes;
  std::memset(picking, 0, 2048);
  std::memset(operands.factors, 0, 4 * warpgroup * 4);
  for (u32 k = 0; k < form.k(); ++k) {
    if (of_a) put(picking + place_of(k, k * bytes / 16) + k * bytes % 16, one, bytes);
    for (u32 line = k; !of_a && line < lines_of_a; line += form.k()) {
      put(&operands.in_registers(line, k * bytes), one, bytes);
    }
  }
  const u64 described =
      descriptor(layout.start, layout.leading, layout.stride, layout.swizzle, layout.base);
  const u64 a = of_a ? described : 0, b = of_a ? in_lines(Operands::image_bytes) : described;
  const u32 count = form.sums() * warpgroup;
  if (!launch(kernel, operands, Operands::image_bytes + 2048, a, b, 0)) return;
  keep(operands.sums, count * 4);
  std::printf("%s of %s, %s at %u, %u, %u, base %u: %016llx\n", of_a ? "a" : "b",
              form.name().c_str(), layout.name, layout.start, layout.leading, layout.stride,
              layout.base, static_cast<unsigned long long>(mixed(operands.sums, count)));
}

void layouts(Operands& operands) {
  constexpr Layout all[] = {
      {"plain", 0, 128, 256, plain, 0},       {"plain", 0, 2048, 128, plain, 0},
      {"plain", 48, 144, 1040, plain, 0},     {"plain", 1024, 64, 16, plain, 3},
      {"plain", 0, 128, 1024, plain, 0},      {"plain", 0, 512, 1024, plain, 0},
      {"plain", 0, 1040, 144, plain, 0},      {"by 32", 0, 0, 256, by_32, 0},
      {"by 32", 256, 16, 256, by_32, 0},      {"by 32", 0, 4096, 272, by_32, 0},
      {"by 32", 16, 1024, 512, by_32, 0},     {"by 32", 128, 256, 512, by_32, 0},
      {"by 32", 128, 256, 512, by_32, 1},     {"by 32", 0, 512, 256, by_32, 1},
      {"by 64", 0, 0, 512, by_64, 0},         {"by 64", 32, 16, 512, by_64, 0},
      {"by 64", 48, 2048, 528, by_64, 0},     {"by 64", 1024, 512, 1024, by_64, 0},
      {"by 64", 128, 512, 1024, by_64, 0},    {"by 64", 128, 512, 1024, by_64, 1},
      {"by 64", 256, 1024, 512, by_64, 2},    {"by 64", 0, 1024, 512, by_64, 3},
      {"by 128", 0, 0, 1024, by_128, 0},      {"by 128", 32, 16, 1024, by_128, 0},
      {"by 128", 64, 2048, 1024, by_128, 0},  {"by 128", 96, 16, 1040, by_128, 0},
      {"by 128", 112, 2048, 1024, by_128, 0}, {"by 128", 1024, 1024, 2048, by_128, 0},
      {"by 128", 0, 4096, 1024, by_128, 0},   {"by 128", 128, 1024, 2048, by_128, 0},
      {"by 128", 128, 1024, 2048, by_128, 1}, {"by 128", 512, 1024, 2048, by_128, 4},
      {"by 128", 640, 2048, 1024, by_128, 5}, {"by 128", 0, 2048, 1024, by_128, 1},
      {"by 128", 0, 2048, 1024, by_128, 7},   {"by 128", 0, 1024, 896, by_128, 0},
      {"by 128", 0, 128, 1024, by_128, 0},    {"by 128", 0, 144, 128, by_128, 0}};
  for (const bool of_a : {false, true}) {
    for (const bool turns : {false, true}) {
      Form form{"f32.f16.f16", of_a ? 16u : 128u, !of_a};
      (of_a ? form.turns_a : form.turns_b) = turns;
      const Kernel kernel(form);
      for (const Layout& layout : all) lay_out(form, operands, layout, kernel, of_a);
    }
    for (const char* types : {"f32.tf32.tf32", "s32.u8.u8"}) {
      const Form form{types, of_a ? 32u : 128u, !of_a};
      const Kernel kernel(form);
      for (const Layout& layout : all) lay_out(form, operands, layout, kernel, of_a);
    }
  }
}

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const std::string what = argc > 1 ? argv[1] : "";
  if (argc > 2) file = std::fopen(argv[2], "wb");
  Operands operands;
  if (what.empty() || what == "shapes") shapes(operands);
  if (what.empty() || what == "layouts") layouts(operands);
  if (what.empty() || what == "numbers") numbers(operands);
  if (file != nullptr) std::fclose(file);
}
