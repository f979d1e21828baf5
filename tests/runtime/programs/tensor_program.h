// SPDX-License-Identifier: MIT
// The parts that programs share to copy boxes of tensors: a tensor as its descriptor says that it
// lies, and a barrier object whose bytes are waited for, but not for ever.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int most_words = 2048;
constexpr unsigned nothing = 0xdddddddd;
constexpr unsigned tensor_words = 1 << 14;

__device__ inline unsigned at(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ inline void begin(std::uint64_t* object, unsigned bytes) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(object)));
  asm volatile("fence.mbarrier_init.release.cluster;");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(object)),
               "r"(bytes)
               : "memory");
}
/// False: the bytes have not come.
__device__ inline bool wait(std::uint64_t* object) {
  unsigned done = 0;
  for (int tries = 0; done == 0 && tries < 100000; ++tries) {
    asm volatile(
        "{ .reg .pred P; mbarrier.test_wait.parity.shared::cta.b64 P, [%1], 0; selp.u32 %0, 1, 0, "
        "P; }"
        : "=r"(done)
        : "r"(at(object))
        : "memory");
  }
  return done != 0;
}

struct Place {
  int of[5];
};

constexpr auto u8 = CU_TENSOR_MAP_DATA_TYPE_UINT8;
constexpr auto u16 = CU_TENSOR_MAP_DATA_TYPE_UINT16;
constexpr auto u32 = CU_TENSOR_MAP_DATA_TYPE_UINT32;
constexpr auto s32 = CU_TENSOR_MAP_DATA_TYPE_INT32;
constexpr auto u64 = CU_TENSOR_MAP_DATA_TYPE_UINT64;
constexpr auto s64 = CU_TENSOR_MAP_DATA_TYPE_INT64;
constexpr auto f16 = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
constexpr auto f32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
constexpr auto f64 = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
constexpr auto bf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
constexpr auto f32_ftz = CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ;
constexpr auto tf32 = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
constexpr auto tf32_ftz = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
constexpr auto nan_fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
constexpr auto zero_fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
constexpr auto flat = CU_TENSOR_MAP_INTERLEAVE_NONE;
constexpr auto plain = CU_TENSOR_MAP_SWIZZLE_NONE;
constexpr auto by_32 = CU_TENSOR_MAP_SWIZZLE_32B;
constexpr auto by_64 = CU_TENSOR_MAP_SWIZZLE_64B;
constexpr auto by_128 = CU_TENSOR_MAP_SWIZZLE_128B;

struct Tensor {
  const char* name;
  CUtensorMapDataType type;
  std::vector<cuuint64_t> extents, strides;  ///< strides in bytes, without the first
  std::vector<cuuint32_t> box, steps;
  CUtensorMapSwizzle swizzle = plain;
  CUtensorMapFloatOOBfill fill = zero_fill;
  CUtensorMapInterleave interleave = flat;
  unsigned offset = 0;  ///< bytes
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;

  unsigned rank() const { return static_cast<unsigned>(extents.size()); }
  unsigned box_bytes() const {
    static const unsigned bytes_of[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    unsigned bytes = bytes_of[type];
    for (std::size_t i = 0; i < box.size(); ++i) {
      const unsigned step = steps.empty() || i == 0 ? 1 : steps[i];  // rows have no steps
      bytes *= (box[i] + step - 1) / step;
    }
    return bytes;
  }
};

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                            const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                            CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                            CUtensorMapFloatOOBfill);

inline Encode encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                   &result);
  return reinterpret_cast<Encode>(found);
}

inline CUresult describe(const Tensor& t, void* words, CUtensorMap* map) {
  static const Encode encode = encoder();
  std::vector<cuuint32_t> steps = t.steps;
  if (steps.empty()) steps.assign(t.rank(), 1);
  std::vector<cuuint64_t> strides = t.strides;
  strides.push_back(0);  // a tensor of one dimension has none, and must not give a null pointer
  return encode(map, t.type, t.rank(), static_cast<char*>(words) + t.offset, t.extents.data(),
                strides.data(), t.box.data(), steps.data(), t.interleave, t.swizzle, t.promotion,
                t.fill);
}

/// The content of a tensor before anything is stored to it: numbers whose bits all vary, some of
/// them half way between two that are shorter, some without a value; then small ones.
inline void fill(unsigned* tensor) {
  for (unsigned i = 0; i < tensor_words; ++i) {
    tensor[i] = i < 15000 ? 0x3f000000u + i * 2654435761u % 0x1000000u : (i - 15000) << 17 | i;
    if (i % 50 == 7 && i < 15000) tensor[i] = (tensor[i] & ~0x1fffu) | 0x1000;
  }
  const unsigned special[] = {0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
                              0xffffffff, 0x7f7fffff, 0x80000000, 0x80001000};
  for (unsigned i = 0; i < 8; ++i) tensor[300 + i] = special[i];
}

#define FIVE_WAYS(rank, FORM)             \
  switch (rank) {                         \
    case 1:                               \
      FORM("1d", "{%2}");                 \
      break;                              \
    case 2:                               \
      FORM("2d", "{%2, %3}");             \
      break;                              \
    case 3:                               \
      FORM("3d", "{%2, %3, %4}");         \
      break;                              \
    case 4:                               \
      FORM("4d", "{%2, %3, %4, %5}");     \
      break;                              \
    case 5:                               \
      FORM("5d", "{%2, %3, %4, %5, %6}"); \
      break;                              \
  }
#define COORDINATES "r"(p.of[0]), "r"(p.of[1]), "r"(p.of[2]), "r"(p.of[3]), "r"(p.of[4])

__device__ inline void load(const CUtensorMap* map, int rank, Place p, unsigned to,
                            std::uint64_t* object){
#define LOAD(dim, coordinates)                                                                     \
  asm volatile("cp.async.bulk.tensor." dim                                                         \
               ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " coordinates \
               "], [%7];" ::"r"(to),                                                               \
               "l"(map), COORDINATES, "r"(at(object))                                              \
               : "memory")
    FIVE_WAYS(rank, LOAD)} __device__
    inline void store(const CUtensorMap* map, int rank, Place p, unsigned from){
#define STORE(dim, coordinates)                                                               \
  asm volatile("cp.async.bulk.tensor." dim ".global.shared::cta.bulk_group [%1, " coordinates \
               "], [%0];" ::"r"(from),                                                        \
               "l"(map), COORDINATES                                                          \
               : "memory")
        FIVE_WAYS(rank, STORE)} __device__ inline void wait_for_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// Loads a box to `offset` bytes into shared memory, and gives all words of shared memory.
__global__ void load_box(const __grid_constant__ CUtensorMap map, int rank, Place p, unsigned bytes,
                         unsigned offset, unsigned* out, int* late) {
  __shared__ alignas(1024) unsigned shared[most_words];
  __shared__ alignas(8) std::uint64_t object;
  for (int i = threadIdx.x; i < most_words; i += blockDim.x) shared[i] = nothing;
  if (threadIdx.x == 0) begin(&object, bytes);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map));
    load(&map, rank, p, at(shared) + offset, &object);
    *late = !wait(&object);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < most_words; i += blockDim.x) out[i] = shared[i];
}
