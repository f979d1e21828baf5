// SPDX-License-Identifier: MIT
// ldmatrix and stmatrix, over rows that lie `stride` bytes apart.
#include <cstdint>
namespace {

constexpr int tile_words = 4096;

/// Fills the warp's tile and gives the row that the lane names.
__device__ uint32_t row_of(uint32_t* tile, const uint32_t* in, int stride) {
  for (int i = threadIdx.x; i < tile_words; i += 32) tile[i] = in[(i + blockIdx.x) % 1024];
  __syncwarp();
  return static_cast<uint32_t>(__cvta_generic_to_shared(tile)) + threadIdx.x * stride;
}

__device__ void put(uint32_t* out, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  uint32_t* to = out + (blockIdx.x * 32 + threadIdx.x) * 4;
  to[0] = a, to[1] = b, to[2] = c, to[3] = d;
}

}  // namespace

#define LOAD(NAME, FORM, REGISTERS)                                                    \
  extern "C" __global__ void NAME(const uint32_t* in, uint32_t* out, int stride) {     \
    __shared__ __align__(128) uint32_t tile[tile_words];                               \
    const uint32_t row = row_of(tile, in, stride);                                     \
    uint32_t a = 0, b = 0, c = 0, d = 0;                                               \
    asm volatile("ldmatrix.sync.aligned.m8n8." FORM ".shared.b16 " REGISTERS ", [%4];" \
                 : "+r"(a), "+r"(b), "+r"(c), "+r"(d)                                  \
                 : "r"(row));                                                          \
    put(out, a, b, c, d);                                                              \
  }
LOAD(matrix_load_x1, "x1", "{%0}")
LOAD(matrix_load_x2, "x2", "{%0, %1}")
LOAD(matrix_load_x4, "x4", "{%0, %1, %2, %3}")
LOAD(matrix_load_x1_trans, "x1.trans", "{%0}")
LOAD(matrix_load_x2_trans, "x2.trans", "{%0, %1}")
LOAD(matrix_load_x4_trans, "x4.trans", "{%0, %1, %2, %3}")

// The stored words are read word by word, in the order of the tile.
#define STORE(NAME, FORM, REGISTERS)                                                               \
  extern "C" __global__ void NAME(const uint32_t* in, uint32_t* out, int stride) {                 \
    __shared__ __align__(128) uint32_t tile[tile_words];                                           \
    const uint32_t row = row_of(tile, in, stride);                                                 \
    const uint32_t a = threadIdx.x, b = a + 100, c = a + 200, d = a + 300;                         \
    asm volatile("stmatrix.sync.aligned.m8n8." FORM ".shared.b16 [%4], " REGISTERS ";" ::"r"(a),   \
                 "r"(b), "r"(c), "r"(d), "r"(row)                                                  \
                 : "memory");                                                                      \
    __syncwarp();                                                                                  \
    for (int i = threadIdx.x; i < tile_words; i += 32) out[blockIdx.x * tile_words + i] = tile[i]; \
  }
STORE(matrix_store_x1, "x1", "{%0}")
STORE(matrix_store_x2, "x2", "{%0, %1}")
STORE(matrix_store_x4, "x4", "{%0, %1, %2, %3}")
STORE(matrix_store_x1_trans, "x1.trans", "{%0}")
STORE(matrix_store_x2_trans, "x2.trans", "{%0, %1}")
STORE(matrix_store_x4_trans, "x4.trans", "{%0, %1, %2, %3}")

/// A tile of 64 × 64 halves turned around, 8 × 8 at a time, its rows `stride` bytes apart.
extern "C" __global__ void matrix_turn(const uint32_t* in, uint32_t* out, int stride) {
  __shared__ __align__(128) uint32_t from[tile_words], to[tile_words];
  const int lane = threadIdx.x;
  for (int i = lane; i < tile_words; i += 32) from[i] = in[(i * 7 + blockIdx.x) % 1024], to[i] = 0;
  __syncwarp();
  const auto base = static_cast<uint32_t>(__cvta_generic_to_shared(from));
  const auto end = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; x += 4) {
      uint32_t a, b, c, d;
      const uint32_t row = base + (y * 8 + lane % 8) * stride + (x + lane / 8) * 16;
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                   : "r"(row)
                   : "memory");
      const uint32_t column = end + ((x + lane / 8) * 8 + lane % 8) * stride + y * 16;
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%4], {%0, %1, %2, %3};" ::"r"(a),
                   "r"(b), "r"(c), "r"(d), "r"(column)
                   : "memory");
    }
  }
  __syncwarp();
  for (int i = lane; i < tile_words; i += 32) out[blockIdx.x * tile_words + i] = to[i];
}
