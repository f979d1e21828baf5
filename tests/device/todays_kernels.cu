// SPDX-License-Identifier: MIT
// Kernels of the instructions that move data on today's GPUs, a launch each: cp.async, copies in
// bulk and of tensors (TMA), shared memory of other blocks, ldmatrix, stmatrix, wgmma, textures,
// surfaces, local and constant memory. todays_kernels.py counts them; a line names each launch.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#include "tests/runtime/programs/tensor_program.h"

namespace {

constexpr int lanes = 256, blocks = 6;
int launches = 0;
unsigned* memory = nullptr;  // tensor_words, and the results behind them

void say(const char* what) { std::printf("%d %s\n", ++launches, what); }
unsigned* results() { return memory + tensor_words; }

// ---- cp.async

template <int bytes, bool bypasses>
__global__ void async_copy(const char* in, unsigned from, unsigned to, unsigned* out) {
  __shared__ __align__(16) char kept[16384];
  const char* const source = in + (threadIdx.x * from) % 16384;
  const unsigned target = at(kept) + (threadIdx.x * to) % 16384;
  if constexpr (bypasses) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(source) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(target), "l"(source), "n"(bytes)
                 : "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = reinterpret_cast<unsigned*>(kept)[threadIdx.x];
}

template <int bytes, bool bypasses>
void copy_asynchronously() {
  const unsigned strides[][2] = {{bytes, bytes}, {64, bytes}, {bytes, 64}, {128, 128}};
  for (const auto& stride : strides) {
    async_copy<bytes, bypasses>
        <<<blocks, lanes>>>(reinterpret_cast<char*>(memory), stride[0], stride[1], results());
    std::printf("%d cp.async %d bytes%s, by %u into places by %u\n", ++launches, bytes,
                bypasses ? " past L1" : "", stride[0], stride[1]);
  }
}

// ---- tensors and bulk copies

__global__ void store_box(const __grid_constant__ CUtensorMap map, int rank, Place p) {
  __shared__ alignas(1024) unsigned shared[most_words];
  for (int i = threadIdx.x; i < most_words; i += blockDim.x) shared[i] = i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  store(&map, rank, p, at(shared));
  wait_for_stores();
}

__global__ void add_box(const __grid_constant__ CUtensorMap map, Place p) {
  __shared__ alignas(1024) unsigned shared[most_words];
  for (int i = threadIdx.x; i < most_words; i += blockDim.x) shared[i] = 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3];" ::
          "l"(&map),
      "r"(p.of[0]), "r"(p.of[1]), "r"(at(shared))
      : "memory");
  wait_for_stores();
}

void copy_boxes() {
  const Tensor tensors[] = {
      {"words of 1 dimension", u32, {4096}, {}, {64}},
      {"words of 2 dimensions", u32, {128, 64}, {512}, {32, 16}},
      {"words of 3 dimensions", u32, {32, 16, 16}, {128, 2048}, {16, 8, 4}},
      {"words of 4 dimensions", u32, {16, 8, 8, 8}, {64, 512, 4096}, {16, 2, 3, 4}},
      {"words of 5 dimensions", u32, {8, 4, 4, 4, 4}, {32, 128, 512, 2048}, {8, 4, 2, 2, 2}},
      {"halves, swizzled by 32 bytes", f16, {128, 64}, {256}, {16, 32}, {}, by_32},
      {"halves, swizzled by 64 bytes", f16, {128, 64}, {256}, {32, 32}, {}, by_64},
      {"halves, swizzled by 128 bytes", f16, {128, 64}, {256}, {64, 32}, {}, by_128},
      {"bytes", u8, {256, 64}, {256}, {48, 16}},
  };
  for (const Tensor& t : tensors) {
    CUtensorMap map;
    if (describe(t, memory, &map) != CUDA_SUCCESS) std::printf("%s is refused\n", t.name);
    const int rank = static_cast<int>(t.rank());
    for (const int begin : {0, 4, -4}) {
      const Place place{{begin * 4, begin / 2, 0, 0, 0}};
      load_box<<<1, 128>>>(map, rank, place, t.box_bytes(), 0, results(),
                           reinterpret_cast<int*>(results() + most_words));
      std::printf("%d loads a box of %s at %d\n", ++launches, t.name, begin);
    }
    store_box<<<1, 128>>>(map, rank, Place{});
    std::printf("%d stores a box of %s\n", ++launches, t.name);
    if (t.rank() != 2 || t.type == u8) continue;
    add_box<<<1, 128>>>(map, Place{});
    std::printf("%d adds a box of %s\n", ++launches, t.name);
  }
}

__global__ void copy_in_bulk(unsigned* global, unsigned bytes) {
  __shared__ alignas(128) unsigned shared[most_words];
  __shared__ alignas(8) std::uint64_t object;
  if (threadIdx.x != 0) return;
  begin(&object, bytes);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(at(shared)),
      "l"(global), "r"(bytes), "r"(at(&object))
      : "memory");
  if (!wait(&object)) __trap();
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(at(shared)), "r"(bytes)
               : "memory");
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(
                   global + tensor_words / 2),
               "r"(at(shared)), "r"(bytes)
               : "memory");
  wait_for_stores();
}

// ---- clusters

__device__ unsigned in_block(unsigned address, unsigned rank) {
  unsigned result;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(address), "r"(rank));
  return result;
}
__device__ void meet() {
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

/// Each block comes to the next one's shared memory, `stride` words from lane to lane.
template <int kind>
__global__ void __cluster_dims__(2) reach_neighbour(unsigned stride, unsigned* out) {
  __shared__ alignas(16) unsigned kept[4096];
  __shared__ alignas(8) std::uint64_t object;
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) kept[i] = i;
  if (threadIdx.x == 0) begin(&object, kind == 4 || kind == 5 ? 4 * blockDim.x : 0);
  meet();
  const unsigned rank = 1 - blockIdx.x % 2, place = threadIdx.x * stride % 4096;
  const unsigned to = in_block(at(kept + place), rank), told = in_block(at(&object), rank);
  unsigned word = threadIdx.x;
  if constexpr (kind == 0)
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(word) : "r"(to) : "memory");
  if constexpr (kind == 1)
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(to), "r"(word) : "memory");
  if constexpr (kind == 2)
    asm volatile("atom.shared::cluster.add.u32 %0, [%1], %0;" : "+r"(word) : "r"(to) : "memory");
  if constexpr (kind == 3)
    asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(to), "r"(word) : "memory");
  if constexpr (kind == 4)
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to),
        "r"(word), "r"(told)
        : "memory");
  if constexpr (kind == 5)
    asm volatile(
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, "
        "[%2];" ::"r"(to),
        "r"(word), "r"(told)
        : "memory");
  if ((kind == 4 || kind == 5) && !wait(&object)) __trap();
  meet();
  out[blockIdx.x * blockDim.x + threadIdx.x] = word;
}

template <int kind>
void reach(const char* what) {
  for (const unsigned stride : {1, 2, 32}) {
    reach_neighbour<kind><<<blocks, lanes>>>(stride, results());
    std::printf("%d %s in the next block, words by %u\n", ++launches, what, stride);
  }
}

__global__ void __cluster_dims__(2) load_for_both(const unsigned* global, unsigned bytes) {
  __shared__ alignas(128) unsigned kept[most_words];
  __shared__ alignas(8) std::uint64_t object;
  if (threadIdx.x == 0) begin(&object, bytes);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  meet();
  if (blockIdx.x % 2 == 0 && threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;" ::"r"(at(kept)),
        "l"(global), "r"(bytes), "r"(at(&object)), "h"(static_cast<short>(3))
        : "memory");
  }
  if (threadIdx.x == 0 && !wait(&object)) __trap();
  meet();
}

/// A block copies and adds a stretch of its shared memory to the next one's.
template <bool adds>
__global__ void __cluster_dims__(2) copy_to_neighbour(unsigned bytes) {
  __shared__ alignas(128) unsigned kept[most_words];
  __shared__ alignas(8) std::uint64_t object;
  for (int i = threadIdx.x; i < most_words; i += blockDim.x) kept[i] = 1;
  if (threadIdx.x == 0) begin(&object, bytes);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  meet();
  const unsigned rank = 1 - blockIdx.x % 2;
  const unsigned to = in_block(at(kept) + 4096, rank), told = in_block(at(&object), rank);
  if (threadIdx.x == 0) {
    if constexpr (adds) {
      asm volatile(
          "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
          "[%0], [%1], %2, [%3];" ::"r"(to),
          "r"(at(kept)), "r"(bytes), "r"(told)
          : "memory");
    } else {
      asm volatile(
          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
          "[%3];" ::"r"(to),
          "r"(at(kept)), "r"(bytes), "r"(told)
          : "memory");
    }
    if (!wait(&object)) __trap();
  }
  meet();
}

// ---- atomics

template <bool is_shared, bool gives>
__global__ void add(unsigned stride, unsigned* out) {
  __shared__ unsigned kept[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) kept[i] = 0;
  __syncthreads();
  unsigned* const word = (is_shared ? kept : out) + threadIdx.x * stride % 1024;
  const unsigned before = atomicAdd(word, 1);
  __syncthreads();
  if (gives) out[1024 + threadIdx.x] = before;
  if (is_shared) out[threadIdx.x] = kept[threadIdx.x];
}

void add_atomically() {
  for (const unsigned stride : {0, 1, 32}) {
    add<false, false><<<2, 64>>>(stride, results());
    std::printf("%d reductions of global words by %u\n", ++launches, stride);
    add<false, true><<<2, 64>>>(stride, results());
    std::printf("%d atomics of global words by %u\n", ++launches, stride);
    add<true, false><<<2, 64>>>(stride, results());
    std::printf("%d atomics of shared words by %u\n", ++launches, stride);
  }
}

// ---- matrices

template <int count, bool turns>
__global__ void load_matrices(unsigned stride, unsigned* out) {
  __shared__ alignas(128) unsigned kept[4096];
  for (int i = threadIdx.x; i < 4096; i += 32) kept[i] = i;
  __syncwarp();
  const unsigned from = at(kept) + threadIdx.x * stride % 16384;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if constexpr (count == 1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(from));
  if constexpr (count == 4 && !turns)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(from));
  if constexpr (turns)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(from));
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(from), "r"(a),
               "r"(b)
               : "memory");
  __syncwarp();
  out[threadIdx.x] = a ^ b ^ c ^ d ^ kept[threadIdx.x];
}

__global__ void multiply(std::uint64_t a, std::uint64_t b, float* out) {
  __shared__ alignas(1024) unsigned kept[8192];
  for (int i = threadIdx.x; i < 8192; i += 128) kept[i] = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const std::uint64_t base = (at(kept) & 0x3ffff) >> 4;
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(a + base), "l"(b + base));
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];
}

void multiply_matrices() {
  const std::uint64_t rows[] = {16, 32, 64, 128}, modes[] = {0, 3, 2, 1};
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t described =
        std::uint64_t{128 >> 4} << 16 | (i == 0 ? 256 : 8 * rows[i]) >> 4 << 32 | modes[i] << 62;
    multiply<<<2, 128>>>(described, described + (16384 >> 4), reinterpret_cast<float*>(results()));
    std::printf("%d wgmma, rows of %d bytes\n", ++launches, static_cast<int>(rows[i]));
  }
}

// ---- textures, surfaces, local and constant memory

__constant__ unsigned table[1024];

__global__ void read_texture(cudaTextureObject_t texture, float step, unsigned* out) {
  const float x = threadIdx.x * step, y = blockIdx.x + 0.5f;
  out[threadIdx.x] = static_cast<unsigned>(tex2D<float>(texture, x, y) * 255);
}
__global__ void change_surface(cudaSurfaceObject_t surface, int step) {
  const int x = threadIdx.x * step % 64;
  const unsigned word = surf2Dread<unsigned>(surface, x * 4, blockIdx.x);
  surf2Dwrite(word + 1, surface, x * 4, blockIdx.x + 8);
}
__global__ void use_local(int turns, const unsigned* in, unsigned* out) {
  unsigned kept[64];
  for (int i = 0; i < turns; ++i) kept[(in[i] + i * 7) % 64] = i;
  out[threadIdx.x] = kept[(in[threadIdx.x] + turns) % 64];
}
__global__ void read_constants(unsigned stride, unsigned* out) {
  out[threadIdx.x] = table[threadIdx.x * stride % 1024];
}

void read_textures() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, 64, 64, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    cudaTextureDesc described = {};
    described.filterMode = filter;
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &described, nullptr);
    for (const float step : {0.25f, 1.0f, 3.0f}) {
      read_texture<<<blocks, lanes>>>(texture, step, results());
      say(filter == cudaFilterModePoint ? "texture, points" : "texture, filtered");
    }
    cudaDestroyTextureObject(texture);
  }
  cudaSurfaceObject_t surface = 0;
  cudaCreateSurfaceObject(&surface, &resource);
  for (const int step : {1, 3}) {
    change_surface<<<blocks, lanes>>>(surface, step);
    say("surface");
  }
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(array);
}

}  // namespace

int main() {
  cudaMalloc(&memory, 1 << 20);
  cudaMemset(memory, 0, 1 << 20);
  copy_asynchronously<4, false>();
  copy_asynchronously<8, false>();
  copy_asynchronously<16, false>();
  copy_asynchronously<16, true>();
  copy_boxes();
  for (const unsigned bytes : {16, 144, 4096}) {
    copy_in_bulk<<<2, 32>>>(memory, bytes);
    say("copies in bulk");
    load_for_both<<<4, 32>>>(memory, bytes);
    say("loads in bulk for two blocks");
  }
  reach<0>("loads");
  reach<1>("stores");
  reach<2>("atomics");
  reach<3>("reductions");
  reach<4>("asynchronous stores");
  reach<5>("asynchronous reductions");
  for (const unsigned stride : {16, 128, 144}) {
    load_matrices<1, false><<<1, 32>>>(stride, results());
    say("a matrix");
    load_matrices<4, false><<<1, 32>>>(stride, results());
    say("four matrices");
    load_matrices<4, true><<<1, 32>>>(stride, results());
    say("four turned matrices");
  }
  multiply_matrices();
  read_textures();
  for (const int turns : {8, 64}) {
    use_local<<<2, 64>>>(turns, memory, results());
    say("local memory");
  }
  for (const unsigned stride : {0, 1, 32}) {
    read_constants<<<2, 64>>>(stride, results());
    say("constant memory");
  }
  for (const unsigned bytes : {16, 144, 4096}) {
    copy_to_neighbour<false><<<4, 32>>>(bytes);
    say("copies in bulk to the next block");
    copy_to_neighbour<true><<<4, 32>>>(bytes);
    say("adds in bulk to the next block");
  }
  add_atomically();
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return cudaDeviceReset() == cudaSuccess ? 0 : 1;
}
