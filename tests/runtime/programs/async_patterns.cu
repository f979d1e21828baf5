// SPDX-License-Identifier: MIT
// cp.async of one warp by pattern: a launch copies once, the lanes at the places of one pattern in
// global memory and of another in shared memory, with a guard, with a shorter source or with a
// source that is ignored. Each launch prints its pattern.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

/// The places of the lanes of one copy, in bytes; the lanes that a guard lets through, the bytes
/// that the source has, the lanes whose source is ignored.
struct Lanes {
  unsigned from[32];
  unsigned short to[32];
  unsigned char bytes[32];
  unsigned guard;
  unsigned ignored;
};

#define KERNEL(name, ...)                                                                    \
  __global__ void name(const char* in, const __grid_constant__ Lanes lanes) {                \
    __shared__ __align__(128) char kept[1 << 13];                                            \
    const unsigned t = threadIdx.x;                                                          \
    const char* const from = in + lanes.from[t];                                             \
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(kept)) + lanes.to[t]; \
    const unsigned guard = lanes.guard >> t & 1, ignored = lanes.ignored >> t & 1;           \
    const unsigned bytes = lanes.bytes[t];                                                   \
    (void)guard, (void)ignored, (void)bytes;                                                 \
    __VA_ARGS__;                                                                             \
    asm volatile("cp.async.wait_all;" ::: "memory");                                         \
  }
#define ASYNC(before, kind, width, after, ...)                                     \
  asm volatile(before "cp.async." #kind ".shared.global [%0], [%1], " #width after \
               :                                                                   \
               : "r"(to), "l"(from), __VA_ARGS__                                   \
               : "memory")
#define KERNELS(name, kind, width)                                                               \
  KERNEL(name, ASYNC("", kind, width, ";", "r"(0)))                                              \
  KERNEL(name##_guarded,                                                                         \
         ASYNC("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ", kind, width, "; }", "r"(guard)))     \
  KERNEL(name##_short, ASYNC("", kind, width, ", %2;", "r"(bytes)))                              \
  KERNEL(name##_ignored,                                                                         \
         ASYNC("{ .reg .pred p; setp.ne.u32 p, %2, 0; ", kind, width, ", p; }", "r"(ignored)))   \
  KERNEL(name##_twice, ASYNC("", kind, width, ";", "r"(0)); asm volatile("cp.async.wait_all;" :: \
                                                                             : "memory");        \
         __syncwarp(); ASYNC("", kind, width, ";", "r"(0)))
KERNELS(ca4, ca, 4)
KERNELS(ca8, ca, 8)
KERNELS(ca16, ca, 16)
KERNELS(cg16, cg, 16)

struct Pattern {
  const char* name;
  std::function<unsigned(unsigned lane, unsigned width)> place;
};

unsigned scattered(unsigned i) { return (i * 2654435761u) >> 16; }

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = {
      {"side by side", [](unsigned t, unsigned w) { return w * t; }},
      {"reversed", [](unsigned t, unsigned w) { return w * (31 - t); }},
      {"every second", [](unsigned t, unsigned w) { return 2 * w * t; }},
      {"by 32 bytes", [](unsigned t, unsigned) { return 32 * t; }},
      {"by 64 bytes", [](unsigned t, unsigned) { return 64 * t; }},
      {"by 128 bytes", [](unsigned t, unsigned) { return 128 * t; }},
      {"one place", [](unsigned, unsigned) { return 0u; }},
      {"in pairs", [](unsigned t, unsigned w) { return t / 2 * w; }},
      {"neighbours swapped", [](unsigned t, unsigned w) { return w * (t ^ 1); }},
      {"one further", [](unsigned t, unsigned w) { return w * t + w; }},
      {"rows of 8", [](unsigned t, unsigned w) { return t / 8 * 512 + t % 8 * w; }},
      {"rows of 4", [](unsigned t, unsigned w) { return t / 4 * 256 + t % 4 * w; }},
      {"columns of 8", [](unsigned t, unsigned w) { return t % 8 * 128 + t / 8 * w; }},
      {"swizzled rows",
       [](unsigned t, unsigned w) {
         const unsigned in_row = 128 / w, row = t / in_row;
         return row * 128 + ((t % in_row) ^ (row & 7)) * w;
       }},
      {"padded rows of 8", [](unsigned t, unsigned w) { return t / 8 * (8 * w + 16) + t % 8 * w; }},
      {"scattered", [](unsigned t, unsigned w) { return scattered(t + 1) % (4096 / w) * w; }},
      {"scattered, near", [](unsigned t, unsigned w) { return scattered(t + 77) % (512 / w) * w; }},
      {"two halves", [](unsigned t, unsigned w) { return t / 16 * 1024 + t % 16 * w; }}};
  return all;
}

using Kernel = void (*)(const char*, Lanes);
struct Copy {
  const char* name;
  unsigned width;
  Kernel plain, guarded, with_size, ignored, twice;
};
#define COPY(name, width) \
  { #name, width, name, name##_guarded, name##_short, name##_ignored, name##_twice }
const Copy copies[] = {COPY(ca4, 4), COPY(ca8, 8), COPY(ca16, 16), COPY(cg16, 16)};

char* in = nullptr;
int launches = 0;

void copy(const Copy& c, Kernel kernel, const char* how, unsigned from, unsigned to,
          unsigned guard = ~0u, std::function<unsigned(unsigned)> bytes = nullptr,
          unsigned ignored = 0) {
  Lanes lanes = {};
  for (unsigned t = 0; t < 32; ++t) {
    lanes.from[t] = patterns()[from].place(t, c.width);
    lanes.to[t] = static_cast<unsigned short>(patterns()[to].place(t, c.width));
    lanes.bytes[t] = static_cast<unsigned char>(bytes ? bytes(t) : c.width);
  }
  lanes.guard = guard;
  lanes.ignored = ignored;
  kernel<<<1, 32>>>(in, lanes);
  std::printf("%d %s %s: from %s to %s, guard %08x, ignored %08x\n", ++launches, c.name, how,
              patterns()[from].name, patterns()[to].name, guard, ignored);
}

int main() {
  cudaMalloc(&in, 1 << 14);
  cudaMemset(in, 1, 1 << 14);
  const unsigned count = static_cast<unsigned>(patterns().size());
  constexpr unsigned both[][2] = {{11, 12}, {10, 13}, {12, 12}, {5, 5},   {15, 15}, {3, 14},
                                  {16, 16}, {8, 1},   {16, 15}, {12, 13}, {9, 14},  {7, 12}};
  for (const Copy& c : copies) {
    for (unsigned to = 0; to < count; ++to) copy(c, c.plain, "whole", 0, to);
    for (unsigned from = 1; from < count; ++from) copy(c, c.plain, "whole", from, 0);
    for (const auto& pair : both) copy(c, c.plain, "whole", pair[0], pair[1]);
    for (const unsigned guard : {0xffffu, 0x55555555u, 0xf0f0f0f0u, 0x100u, 0u}) {
      copy(c, c.guarded, "guarded", 0, 0, guard);
      copy(c, c.guarded, "guarded", 11, 2, guard);
    }
    const unsigned w = c.width;
    copy(c, c.with_size, "short", 0, 0, ~0u, [w](unsigned) { return w / 2; });
    copy(c, c.with_size, "short, half of the lanes", 0, 0, ~0u,
         [w](unsigned t) { return t % 2 * w; });
    copy(c, c.with_size, "short, by lane", 3, 2, ~0u, [w](unsigned t) { return t % (w + 1); });
    copy(c, c.with_size, "short, none", 0, 0, ~0u, [](unsigned) { return 0u; });
    copy(c, c.ignored, "ignored", 0, 0, ~0u, nullptr, 0x0000ffff);
    copy(c, c.ignored, "ignored", 3, 2, ~0u, nullptr, 0xaaaaaaaa);
    copy(c, c.ignored, "ignored", 0, 0, ~0u, nullptr, ~0u);
    copy(c, c.twice, "twice", 0, 0);
    copy(c, c.twice, "twice", 11, 2);
    copy(c, c.twice, "twice", 15, 15);
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(in);
}
