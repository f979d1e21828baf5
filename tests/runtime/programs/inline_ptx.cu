// SPDX-License-Identifier: MIT
// PTX that no compiler writes and programs have in asm(): atomics on vectors in the order of words
// of PTX's own examples, 192-bit arithmetic with signed high halves, halves selected by a sign.
#include <cstdio>
__global__ void add_vectors(float* sums, unsigned* halves) {
  asm volatile("red.global.v4.f32.add [%0], {%1, %2, %3, %4};" ::"l"(sums), "f"(1.f), "f"(2.f),
               "f"(3.f), "f"(4.f)
               : "memory");
  float first, second;
  asm volatile("atom.global.v2.f32.add {%0, %1}, [%2], {%3, %4};"
               : "=f"(first), "=f"(second)
               : "l"(sums + 4), "f"(1.f), "f"(-1.f)
               : "memory");
  if (first != -second) sums[7] = 1;
  asm volatile("red.global.v2.f16x2.add.noftz [%0], {%1, %2};" ::"l"(halves), "r"(0x3c004000),
               "r"(0x40003c00)
               : "memory");
  asm volatile("red.global.v2.f16x2.max.noftz [%0], {%1, %2};" ::"l"(halves + 2), "r"(0x3c004000),
               "r"(threadIdx.x)
               : "memory");
}

/// a * b + c, of 192 bits the upper two words.
__global__ void multiply(const long long* a, const long long* b, long long* high) {
  long long middle, upper;
  asm("{ .reg .s64 low; mad.lo.cc.s64 low, %2, %3, %4; madc.hi.cc.s64 %0, %2, %3, 0;"
      "  addc.s64 %1, 0, 0; }"
      : "=l"(middle), "=l"(upper)
      : "l"(a[threadIdx.x]), "l"(b[threadIdx.x]), "l"(-1ll));
  long long plain, chained;
  asm("{ .reg .s64 low; add.cc.s64 low, -1, -1; madc.hi.s64 %0, %1, %2, %1; }"
      : "=l"(plain)
      : "l"(a[threadIdx.x]), "l"(b[threadIdx.x]));
  asm("{ .reg .s64 low; mad.hi.cc.s64 low, %1, %2, -1; addc.s64 %0, 0, 0; }"
      : "=l"(chained)
      : "l"(a[threadIdx.x]), "l"(b[threadIdx.x]));
  high[threadIdx.x * 4] = middle;
  high[threadIdx.x * 4 + 1] = upper;
  high[threadIdx.x * 4 + 2] = plain;
  high[threadIdx.x * 4 + 3] = chained;
}

__global__ void select(unsigned short* selected) {
  const int sign = threadIdx.x == 0 ? -1 : static_cast<int>(threadIdx.x) - 1;
  asm("slct.u16.s32 %0, %1, %2, %3;"
      : "=h"(selected[threadIdx.x])
      : "h"(static_cast<unsigned short>(7)), "h"(static_cast<unsigned short>(9)), "r"(sign));
  const float value = threadIdx.x == 0 ? -1e-40f : -1.f + static_cast<float>(threadIdx.x);
  asm("slct.b16.f32 %0, %1, %2, %3;"
      : "=h"(selected[4 + threadIdx.x])
      : "h"(static_cast<unsigned short>(7)), "h"(static_cast<unsigned short>(9)), "f"(value));
}

int main() {
  float* sums;
  unsigned* halves;
  long long* numbers;
  unsigned short* selected;
  cudaMallocManaged(&sums, 32);
  cudaMallocManaged(&halves, 16);
  cudaMallocManaged(&numbers, 32 * sizeof(long long));
  cudaMallocManaged(&selected, 32);
  for (int i = 0; i < 8; ++i) sums[i] = 0;
  for (int i = 0; i < 4; ++i) halves[i] = 0;
  add_vectors<<<2, 64>>>(sums, halves);
  cudaDeviceSynchronize();
  for (int i = 0; i < 8; ++i) std::printf("%g ", sums[i]);
  std::printf("\n%08x %08x %08x %08x\n", halves[0], halves[1], halves[2], halves[3]);

  const long long a[4] = {3, -3, 0x7fffffffffffffffll, -0x7fffffffffffffffll - 1};
  const long long b[4] = {5, 5, -2, -0x7fffffffffffffffll - 1};
  for (int i = 0; i < 4; ++i) numbers[i] = a[i], numbers[4 + i] = b[i];
  multiply<<<1, 4>>>(numbers, numbers + 4, numbers + 8);
  cudaDeviceSynchronize();
  bool is_right = true;
  for (int i = 0; i < 4; ++i) {
    const __int128 product = static_cast<__int128>(a[i]) * b[i];
    const auto high = static_cast<unsigned long long>(product >> 64);
    const auto low = static_cast<unsigned long long>(product);
    const unsigned __int128 carried =
        static_cast<unsigned __int128>(high) + (low + 0xffffffffffffffffull < low ? 1 : 0);
    const unsigned __int128 last = static_cast<unsigned __int128>(high) + 0xffffffffffffffffull;
    const long long* const got = numbers + 8 + i * 4;
    is_right &= got[0] == static_cast<long long>(carried);
    is_right &= got[1] == static_cast<long long>(carried >> 64);
    is_right &= got[2] == static_cast<long long>(high + static_cast<unsigned long long>(a[i]) + 1);
    is_right &= got[3] == static_cast<long long>(last >> 64);
  }
  std::printf("products %s\n", is_right ? "right" : "wrong");

  select<<<1, 3>>>(selected);
  cudaDeviceSynchronize();
  for (int i = 0; i < 3; ++i) std::printf("%d %d, ", selected[i], selected[4 + i]);
  std::printf("\n%s\n", cudaGetErrorName(cudaGetLastError()));
}
