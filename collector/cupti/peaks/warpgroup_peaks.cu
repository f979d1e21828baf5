// SPDX-License-Identifier: MIT
// Products of matrices on Hopper's tensor cores, by warpgroups of 128 threads (wgmma): the only way
// to their full rate. One warpgroup a block, operands in shared memory, as PTX ISA, "Asynchronous
// Warpgroup Level Matrix Multiply-Accumulate Instructions", has them. For sm_90a alone.
//
// Operands are of ordinary size and random, as zeros would cost less power than any real product.
// FP16's have seven random bits behind the point, as bfloat16 has: with ten of them the card's
// power holds the rate back, and kernels with rounder numbers would exceed the peak.
#include "collector/cupti/peaks/report.cuh"

namespace {

constexpr unsigned rows = 64, columns = 256, depth_bytes = 32;  // one product
constexpr unsigned row_bytes = 128;                             // the swizzle's
constexpr int products_together = 16;
constexpr unsigned impossible = 0x7f812345;  // a signalling NaN, as the bits of a sum

/// PTX ISA, "Matrix Descriptor Format": addresses and distances in 16 bytes, the pattern of 128
/// bytes (1) in the upper two bits. Eight rows of 128 bytes follow one another.
__device__ unsigned long long descriptor_of(const void* matrix) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(matrix));
  return (address & 0x3ffff) >> 4 | 1ull << 16 | 1ull * (8 * row_bytes >> 4) << 32 | 1ull << 62;
}

/// Random bits where `varies` has ones, `fixed` elsewhere.
__device__ void fill(unsigned* words, unsigned count, unsigned varies, unsigned fixed) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    unsigned bits = (i + 1) * 2654435761u;
    bits ^= bits >> 15;
    words[i] = (bits * 2246822519u & varies) | fixed;
  }
  asm volatile("fence.proxy.async;");  // wgmma reads through another proxy
  __syncthreads();
}

}  // namespace

#define TEN(n)                                                                                     \
  "d" #n "0, d" #n "1, d" #n "2, d" #n "3, d" #n "4, d" #n "5, d" #n "6, d" #n "7, d" #n "8, d" #n \
  "9, "
#define SUMS                                                                       \
  "{" TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) \
      TEN(11) "d120, d121, d122, d123, d124, d125, d126, d127}"

// The sums' registers live in the assembly alone; the first product sets them.
#define WGMMA(name, types, type, more, element_bits, varies, fixed)                             \
  extern "C" __global__ void name(unsigned* to, const float4*, unsigned, unsigned repeats,      \
                                  Report* report) {                                             \
    __shared__ alignas(1024) unsigned a[rows * row_bytes / 4], b[columns * row_bytes / 4];      \
    fill(a, sizeof(a) / 4, varies, fixed);                                                      \
    fill(b, sizeof(b) / 4, varies, fixed);                                                      \
    unsigned sum;                                                                               \
    asm volatile("{\n.reg ." type                                                               \
                 " d<128>;\n.reg .pred adds, goes_on;\n.reg .u32 left, i;\n"                    \
                 "mov.u32 left, %3;\nsetp.ne.u32 adds, 0, 0;\n"                                 \
                 "again:\nwgmma.fence.sync.aligned;\nmov.u32 i, %4;\n"                          \
                 "product:\n"                                                                   \
                 "wgmma.mma_async.sync.aligned.m64n256" types " " SUMS ", %1, %2, adds" more    \
                 ";\n"                                                                          \
                 "setp.eq.u32 adds, 0, 0;\n"                                                    \
                 "sub.u32 i, i, 1;\nsetp.ne.u32 goes_on, i, 0;\n@goes_on bra product;\n"        \
                 "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"         \
                 "sub.u32 left, left, 1;\nsetp.ne.u32 goes_on, left, 0;\n@goes_on bra again;\n" \
                 "mov.b32 %0, d0;\n}"                                                           \
                 : "=r"(sum)                                                                    \
                 : "l"(descriptor_of(a)), "l"(descriptor_of(b)), "r"(repeats),                  \
                   "n"(products_together)                                                       \
                 : "memory");                                                                   \
    if (sum == impossible) *to = sum;                                                           \
    report_work(report, 2ull * rows * columns * (depth_bytes * 8 / (element_bits)) *            \
                            products_together * repeats);                                       \
  }

WGMMA(wgmma_fp16, "k16.f32.f16.f16", "f32", ", 1, 1, 0, 0", 16, 0x83f883f8, 0x38003800)
WGMMA(wgmma_bf16, "k16.f32.bf16.bf16", "f32", ", 1, 1, 0, 0", 16, 0x807f807f, 0x3f003f00)
WGMMA(wgmma_tf32, "k8.f32.tf32.tf32", "f32", ", 1, 1", 32, 0x807fe000, 0x3f000000)
WGMMA(wgmma_fp8, "k32.f32.e4m3.e4m3", "f32", ", 1, 1", 8, 0x87878787, 0x30303030)
WGMMA(wgmma_int8, "k32.s32.s8.s8", "s32", "", 8, 0xffffffff, 0)
