// SPDX-License-Identifier: MIT
// Accesses to the shared memory of other blocks of a cluster by pattern: in a launch one warp of
// block 0 makes one access, each lane to a place and to a block that the pattern gives.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <functional>

#include "tensor_program.h"

struct Lanes {
  unsigned short place[32];  ///< bytes
  unsigned char rank[32];
  unsigned active;
  unsigned bytes;  ///< bytes that the barrier object of block 1 waits for
};

__device__ inline unsigned in_block(unsigned address, unsigned rank) {
  unsigned result;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(address), "r"(rank));
  return result;
}
__device__ inline void meet() {
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

/// The access sees `to` (where), `object` (the barrier object of block 1), t, and `word`, which it
/// may change and which goes to global memory where `gives`.
#define KERNEL(name, gives, ...)                                              \
  __global__ void name(const __grid_constant__ Lanes lanes, unsigned* out) {  \
    extern __shared__ __align__(128) char kept[];                             \
    __shared__ __align__(8) std::uint64_t barrier;                            \
    const unsigned t = threadIdx.x;                                           \
    if (t == 0) begin(&barrier, blockIdx.x == 1 ? lanes.bytes : 0);           \
    meet();                                                                   \
    if (blockIdx.x == 0 && (lanes.active >> t & 1) != 0) {                    \
      const unsigned to = in_block(at(kept) + lanes.place[t], lanes.rank[t]); \
      const unsigned object = in_block(at(&barrier), 1);                      \
      unsigned word = t + object;                                             \
      __VA_ARGS__;                                                            \
      if (gives) out[t] = word;                                               \
    }                                                                         \
    if (blockIdx.x == 1 && lanes.bytes > 0 && !wait(&barrier)) __trap();      \
    meet();                                                                   \
  }
#define STORED(name, type, ...)                                                     \
  KERNEL(name, false,                                                               \
         asm volatile(type " [%0], " __VA_ARGS__ ::"r"(to), "r"(word), "r"(object), \
                      "l"(std::uint64_t{word})                                      \
                      : "memory"))
KERNEL(load_8, true,
       asm volatile("{ .reg .b16 h; ld.shared::cluster.u8 h, [%1]; cvt.u32.u16 %0, "
                    "h; }"
                    : "=r"(word)
                    : "r"(to)
                    : "memory"))
KERNEL(load_16, true,
       asm volatile("{ .reg .b16 h; ld.shared::cluster.u16 h, [%1]; cvt.u32.u16 "
                    "%0, h; }"
                    : "=r"(word)
                    : "r"(to)
                    : "memory"))
KERNEL(load_32, true,
       asm volatile("ld.shared::cluster.u32 %0, [%1];"
                    : "=r"(word)
                    : "r"(to)
                    : "memory"))
KERNEL(load_64, true, unsigned high; asm volatile("ld.shared::cluster.v2.u32 {%0, %1}, [%2];"
                                                  : "=r"(word), "=r"(high)
                                                  : "r"(to)
                                                  : "memory");
       word ^= high)
KERNEL(load_128, true, unsigned b; unsigned c; unsigned d;
       asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                    : "=r"(word), "=r"(b), "=r"(c), "=r"(d)
                    : "r"(to)
                    : "memory");
       word ^= b ^ c ^ d)
KERNEL(load_generic, true,
       asm volatile("{ .reg .b64 a, b; cvt.u64.u32 a, %1; cvta.shared::cluster.u64 b, a; "
                    "ld.u32 %0, [b]; }"
                    : "=r"(word)
                    : "r"(to)
                    : "memory"))
KERNEL(store_8, false,
       asm volatile("{ .reg .b16 h; cvt.u16.u32 h, %1; st.shared::cluster.u8 [%0], "
                    "h; }" ::"r"(to),
                    "r"(word)
                    : "memory"))
STORED(store_32, "st.shared::cluster.u32", "%1;")
STORED(store_64, "st.shared::cluster.v2.u32", "{%1, %1};")
STORED(store_128, "st.shared::cluster.v4.u32", "{%1, %1, %1, %1};")
KERNEL(add_32, true,
       asm volatile("atom.shared::cluster.add.u32 %0, [%1], %0;"
                    : "+r"(word)
                    : "r"(to)
                    : "memory"))
KERNEL(exchange_32, true,
       asm volatile("atom.shared::cluster.exch.b32 %0, [%1], %0;"
                    : "+r"(word)
                    : "r"(to)
                    : "memory"))
KERNEL(compare_32, true,
       asm volatile("atom.shared::cluster.cas.b32 %0, [%1], 0, %0;"
                    : "+r"(word)
                    : "r"(to)
                    : "memory"))
KERNEL(exchange_64, true, std::uint64_t two = word;
       asm volatile("atom.shared::cluster.exch.b64 %0, [%1], %0;"
                    : "+l"(two)
                    : "r"(to)
                    : "memory");
       word = static_cast<unsigned>(two))
STORED(reduce_32, "red.shared::cluster.add.u32", "%1;")
STORED(least_32, "red.shared::cluster.min.s32", "%1;")
#define COUNTED ".mbarrier::complete_tx::bytes"
STORED(async_32, "st.async.weak.shared::cluster" COUNTED ".u32", "%1, [%2];")
STORED(async_64, "st.async.weak.shared::cluster" COUNTED ".u64", "%3, [%2];")
STORED(async_2x32, "st.async.weak.shared::cluster" COUNTED ".v2.u32", "{%1, %1}, [%2];")
STORED(async_4x32, "st.async.weak.shared::cluster" COUNTED ".v4.u32", "{%1, %1, %1, %1}, [%2];")
STORED(async_add_32, "red.async.relaxed.cluster.shared::cluster" COUNTED ".add.u32", "%1, [%2];")
STORED(async_most_32, "red.async.relaxed.cluster.shared::cluster" COUNTED ".max.s32", "%1, [%2];")
STORED(async_add_64, "red.async.relaxed.cluster.shared::cluster" COUNTED ".add.u64", "%3, [%2];")

unsigned scattered(unsigned i) { return (i * 2654435761u) >> 16; }

struct Pattern {
  const char* name;
  std::function<unsigned(unsigned lane, unsigned width)> place;
};
const Pattern patterns[] = {
    {"side by side", [](unsigned t, unsigned w) { return w * t; }},
    {"every second", [](unsigned t, unsigned w) { return 2 * w * t; }},
    {"by 128 bytes", [](unsigned t, unsigned) { return 128 * t; }},
    {"one place", [](unsigned, unsigned) { return 0u; }},
    {"one further, reversed", [](unsigned t, unsigned w) { return w * (32 - t); }},
    {"scattered", [](unsigned t, unsigned w) { return scattered(t + 1) % (4096 / w) * w; }},
    {"in pairs", [](unsigned t, unsigned w) { return t / 2 * w; }},
    {"by 32 bytes", [](unsigned t, unsigned) { return 32 * t; }},
};

using Kernel = void (*)(Lanes, unsigned*);
struct Access {
  const char* name;
  unsigned width;
  Kernel kernel;
  bool is_counted;  ///< by the barrier object of block 1
};
const Access accesses[] = {{"load 8", 1, load_8, false},
                           {"load 16", 2, load_16, false},
                           {"load 32", 4, load_32, false},
                           {"load 64", 8, load_64, false},
                           {"load 128", 16, load_128, false},
                           {"load generic", 4, load_generic, false},
                           {"store 8", 1, store_8, false},
                           {"store 32", 4, store_32, false},
                           {"store 64", 8, store_64, false},
                           {"store 128", 16, store_128, false},
                           {"add 32", 4, add_32, false},
                           {"exchange 32", 4, exchange_32, false},
                           {"compare 32", 4, compare_32, false},
                           {"exchange 64", 8, exchange_64, false},
                           {"reduce 32", 4, reduce_32, false},
                           {"least 32", 4, least_32, false},
                           {"async 32", 4, async_32, true},
                           {"async 64", 8, async_64, true},
                           {"async 2x32", 8, async_2x32, true},
                           {"async 4x32", 16, async_4x32, true},
                           {"async add 32", 4, async_add_32, true},
                           {"async most 32", 4, async_most_32, true},
                           {"async add 64", 8, async_add_64, true}};

unsigned* out = nullptr;
int launches = 0;

void run(const Access& a, const Pattern& p, unsigned size, unsigned active, const char* to,
         std::function<unsigned(unsigned)> rank) {
  Lanes lanes = {};
  for (unsigned t = 0; t < 32; ++t) {
    lanes.place[t] = static_cast<unsigned short>(p.place(t, a.width));
    lanes.rank[t] = static_cast<unsigned char>(rank(t));
    if (a.is_counted) lanes.bytes += (active >> t & 1) * a.width;
  }
  lanes.active = active;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = size;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = size;
  config.blockDim = 32;
  config.dynamicSmemBytes = 8192;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, a.kernel, lanes, out);
  std::printf("%d %s: %s, lanes %08x to %s of %u\n", ++launches, a.name, p.name, active, to, size);
}

int main() {
  cudaMalloc(&out, 32 * sizeof(*out));
  const auto other = [](unsigned) { return 1u; };
  for (const Access& a : accesses) {
    const unsigned count = a.width == 4 && !a.is_counted ? 8 : 6;
    for (unsigned i = 0; i < count; ++i) run(a, patterns[i], 2, ~0u, "block 1", other);
    run(a, patterns[0], 2, 0x00ff0f03, "block 1", other);
    if (a.is_counted) continue;
    run(a, patterns[0], 2, ~0u, "their own block", [](unsigned) { return 0u; });
    if (a.width != 4) continue;
    run(a, patterns[0], 2, ~0u, "both blocks", [](unsigned t) { return t % 2; });
    run(a, patterns[1], 4, ~0u, "all blocks", [](unsigned t) { return t % 4; });
    run(a, patterns[0], 8, ~0u, "blocks by quarters", [](unsigned t) { return 1 + t / 8; });
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(out);
}
