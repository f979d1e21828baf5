// SPDX-License-Identifier: MIT
// Products of a sparse matrix by mma.sp, against sums of the host: of each four numbers of a line
// two are there. Whole numbers, so that every sum is exact.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>
constexpr int lines = 16, columns = 8, k = 32;

/// Where the two numbers of a line's n-th four stand: one of six ways.
__host__ __device__ unsigned places(int line, int n) {
  constexpr unsigned ways[] = {4, 8, 12, 9, 13, 14};
  return ways[(line * 5 + n * 3) % 6];
}

/// m16n8k32 of half, added to `d`.
template <int sel>
__device__ void multiply(float (&d)[4], const unsigned (&first)[4], const unsigned (&second)[4],
                         unsigned metadata) {
  asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, %13;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(first[0]), "r"(first[1]), "r"(first[2]), "r"(first[3]), "r"(second[0]), "r"(second[1]),
        "r"(second[2]), "r"(second[3]), "r"(metadata), "n"(sel));
}

/// m16n8k32 of half; lanes 2 sel and 2 sel + 1 of each four hold the metadata.
template <int sel>
__global__ void halves(const half* a, const half* b, float* c) {
  const int lane = threadIdx.x, row = lane / 4, in_four = lane % 4;
  const auto pair = [](const half* at) { return *reinterpret_cast<const unsigned*>(at); };
  unsigned first[4], second[4], metadata = 0xdeadbeef;
  for (int i = 0; i < 4; ++i) {
    first[i] = pair(a + (row + i % 2 * 8) * (k / 2) + i / 2 * 8 + in_four * 2);
    second[i] = pair(b + row * k + i * 8 + in_four * 2);
  }
  if (in_four / 2 == sel) {
    metadata = 0;
    for (int i = 0; i < 8; ++i) {
      metadata |= places(row + i / 4 * 8, in_four % 2 * 4 + i % 4) << 4 * i;
    }
  }
  float d[4] = {1, 2, 3, 4};
  multiply<sel>(d, first, second, metadata);
  for (int i = 0; i < 4; ++i) c[(row + i / 2 * 8) * columns + in_four * 2 + i % 2] = d[i];
}

/// m16n8k64 of bytes: all lanes hold metadata, those of the lower eight lines in every second.
__global__ void bytes(const std::int8_t* a, const std::int8_t* b, int* c) {
  const int lane = threadIdx.x, row = lane / 4, in_four = lane % 4;
  const auto four = [](const std::int8_t* at) { return *reinterpret_cast<const unsigned*>(at); };
  unsigned first[4], second[4], metadata = 0;
  for (int i = 0; i < 4; ++i) {
    first[i] = four(a + (row + i % 2 * 8) * k + i / 2 * 16 + in_four * 4);
    second[i] = four(b + row * 2 * k + i * 16 + in_four * 4);
  }
  for (int i = 0; i < 8; ++i) {
    metadata |= places(row + in_four % 2 * 8, in_four / 2 * 8 + i) << 4 * i;
  }
  int d[4] = {1, 2, 3, 4};
  asm("mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(first[0]), "r"(first[1]), "r"(first[2]), "r"(first[3]), "r"(second[0]), "r"(second[1]),
        "r"(second[2]), "r"(second[3]), "r"(metadata));
  for (int i = 0; i < 4; ++i) c[(row + i / 2 * 8) * columns + in_four * 2 + i % 2] = d[i];
}

constexpr int warps = 4, staged_columns = warps * columns, staged_k = 4 * k;

/// The same of longer lines, by several warps, from shared memory whose lines are `padding` longer;
/// the sparse matrix by ldmatrix or number by number.
template <int padding, bool by_matrix>
__global__ void staged(const half* a, const half* b, float* c) {
  __shared__ alignas(16) half sparse[lines][staged_k / 2 + padding];
  __shared__ alignas(16) half dense[staged_columns][staged_k + padding];
  for (int i = threadIdx.x; i < lines * staged_k / 2; i += blockDim.x) {
    sparse[i / (staged_k / 2)][i % (staged_k / 2)] = a[i];
  }
  for (int i = threadIdx.x; i < staged_columns * staged_k; i += blockDim.x) {
    dense[i / staged_k][i % staged_k] = b[i];
  }
  __syncthreads();
  const int lane = threadIdx.x % 32, column = threadIdx.x / 32 * columns;
  const int row = lane / 4, in_four = lane % 4;
  const auto pair = [](const half* at) { return *reinterpret_cast<const unsigned*>(at); };
  float d[4] = {1, 2, 3, 4};
  for (int step = 0; step < staged_k / k; ++step) {
    unsigned first[4], second[4], metadata = 0;
    if constexpr (by_matrix) {
      const half* at = &sparse[lane % 16][step * k / 2 + lane / 16 * 8];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(first[0]), "=r"(first[1]), "=r"(first[2]), "=r"(first[3])
                   : "r"(static_cast<unsigned>(__cvta_generic_to_shared(at))));
    }
    for (int i = 0; i < 4; ++i) {
      if constexpr (!by_matrix) {
        first[i] = pair(&sparse[row + i % 2 * 8][step * k / 2 + i / 2 * 8 + in_four * 2]);
      }
      second[i] = pair(&dense[column + row][step * k + i * 8 + in_four * 2]);
    }
    for (int i = 0; i < 8; ++i) {
      metadata |= places(row + i / 4 * 8, step * k / 4 + in_four % 2 * 4 + i % 4) << 4 * i;
    }
    multiply<0>(d, first, second, metadata);
  }
  for (int i = 0; i < 4; ++i) {
    c[(row + i / 2 * 8) * staged_columns + column + in_four * 2 + i % 2] = d[i];
  }
}

template <class In, class Out, class Launch>
void try_out(const char* name, int whole, int columns, Launch launch) {
  const int there = whole / 2;
  In *a, *b;
  Out* c;
  cudaMallocManaged(&a, lines * there * sizeof(In));
  cudaMallocManaged(&b, columns * whole * sizeof(In));
  cudaMallocManaged(&c, lines * columns * sizeof(Out));
  const auto number = [](int i) { return static_cast<float>(i * 7 % 11 - 5); };
  for (int i = 0; i < lines * there; ++i) a[i] = static_cast<In>(number(i));
  for (int i = 0; i < columns * whole; ++i) b[i] = static_cast<In>(number(3 * i + 1));
  launch(a, b, c);
  const cudaError_t error = cudaDeviceSynchronize();
  int wrong = 0;
  for (int line = 0; line < lines; ++line) {
    for (int column = 0; column < columns; ++column) {
      float sum = static_cast<float>(1 + line / 8 * 2 + column % 2);
      for (int i = 0; i < there; ++i) {
        const int at = i / 2 * 4 + static_cast<int>(places(line, i / 2) >> i % 2 * 2 & 3);
        sum += static_cast<float>(a[line * there + i]) * static_cast<float>(b[column * whole + at]);
      }
      wrong += static_cast<float>(c[line * columns + column]) != sum;
    }
  }
  std::printf("%s: %s, %d wrong, first %g\n", name, cudaGetErrorName(error), wrong,
              static_cast<double>(c[0]));
}

int main() {
  try_out<half, float>("halves", k, columns,
                       [](half* a, half* b, float* c) { halves<0><<<1, 32>>>(a, b, c); });
  try_out<half, float>("halves, other lanes", k, columns,
                       [](half* a, half* b, float* c) { halves<1><<<1, 32>>>(a, b, c); });
  try_out<std::int8_t, int>("bytes", 2 * k, columns, [](std::int8_t* a, std::int8_t* b, int* c) {
    bytes<<<1, 32>>>(a, b, c);
  });
  const auto staged_by = [](const char* name, void (*kernel)(const half*, const half*, float*)) {
    try_out<half, float>(name, staged_k, staged_columns, [kernel](half* a, half* b, float* c) {
      kernel<<<1, 32 * warps>>>(a, b, c);
    });
  };
  staged_by("staged", staged<0, false>);
  staged_by("staged, padded", staged<8, false>);
  staged_by("staged, padded, by ldmatrix", staged<8, true>);
}
