// SPDX-License-Identifier: MIT
// Accesses through textures and surfaces: mistakes, each on a line that names its kind at its end,
// and the same without a mistake.
#include "races.h"
namespace {

constexpr int width = 64;

__global__ void fetch(int* to, cudaTextureObject_t texture) {
  to[threadIdx.x] = tex1Dfetch<int>(texture, width - 1 - threadIdx.x);
}

__global__ void fetch_unset(int* to, cudaTextureObject_t texture) {
  to[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x);  // ! uninitialised read
}

__global__ void store_and_fetch(int* to, int* of_texture, cudaTextureObject_t texture) {
  of_texture[threadIdx.x] = threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = tex1Dfetch<int>(texture, width - 1 - threadIdx.x);  // ! global-memory race
}

__global__ void fetch_and_store_elsewhere(int* to, int* of_texture, cudaTextureObject_t texture) {
  of_texture[width + threadIdx.x] = threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = tex1Dfetch<int>(texture, width - 1 - threadIdx.x);
}

/// The block parts at a branch. Half of the second warp fetches what the other half and the first
/// warp store.
__global__ void store_or_fetch(int* to, int* of_texture, cudaTextureObject_t texture) {
  if (threadIdx.x < 48) {
    of_texture[width - 1 - threadIdx.x] = threadIdx.x;
  } else {
    to[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x - 24);  // ! global-memory race
  }
}

__global__ void write_one_place(cudaSurfaceObject_t surface) {
  surf1Dwrite(static_cast<int>(threadIdx.x), surface, 0);  // ! global-memory race
}

__global__ void write_one_place_by_blocks(cudaSurfaceObject_t surface) {
  surf1Dwrite(static_cast<int>(blockIdx.x), surface, 0);  // ! race between blocks
}

__global__ void write_the_same(cudaSurfaceObject_t surface) { surf1Dwrite(7, surface, 0); }

__global__ void write_own_place(cudaSurfaceObject_t surface) {
  surf1Dwrite(static_cast<int>(threadIdx.x), surface, static_cast<int>(threadIdx.x * sizeof(int)));
}

__global__ void write_behind_a_barrier(cudaSurfaceObject_t surface) {
  const int own = threadIdx.x * sizeof(int), other = (width - 1 - threadIdx.x) * sizeof(int);
  surf1Dwrite(1, surface, own);
  __syncthreads();
  surf1Dwrite(static_cast<int>(threadIdx.x), surface, other);
}

__global__ void read_surface(int* to, cudaSurfaceObject_t surface) {
  to[threadIdx.x] = surf1Dread<int>(surface, threadIdx.x * sizeof(int));
}

__global__ void read_unset_surface(int* to, cudaSurfaceObject_t surface) {
  to[threadIdx.x] = surf1Dread<int>(surface, threadIdx.x * sizeof(int));  // ! uninitialised read
}

__global__ void sample_centres(float* to, cudaTextureObject_t texture) {
  to[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 0.5f);
}

__global__ void sample_between(float* to, cudaTextureObject_t texture) {
  to[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 1.0f, 0.5f);  // ! uninitialised read
}

__global__ void write_three(uchar4* to) {
  to[threadIdx.x].x = 1;
  to[threadIdx.x].y = 2;
  to[threadIdx.x].z = 3;
}

__global__ void fetch_three(int* to, cudaTextureObject_t texture) {
  const uchar4 value = tex1Dfetch<uchar4>(texture, threadIdx.x);
  to[threadIdx.x] = value.x + value.y + value.z;
}

template <class T>
cudaTextureObject_t texture_of(T* memory, int elements = width) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<T>();
  resource.res.linear.sizeInBytes = elements * sizeof(T);
  const cudaTextureDesc how = {};
  cudaTextureObject_t texture = 0;
  CHECKED(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

struct Line {
  cudaArray_t array = nullptr;
  cudaSurfaceObject_t surface = 0;

  explicit Line(bool is_set) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    CHECKED(cudaMallocArray(&array, &format, width, 0, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CHECKED(cudaCreateSurfaceObject(&surface, &resource));
    const int zeros[width] = {};
    if (!is_set) return;
    CHECKED(cudaMemcpy2DToArray(array, 0, 0, zeros, sizeof zeros, sizeof zeros, 1,
                                cudaMemcpyHostToDevice));
  }
  ~Line() {
    CHECKED(cudaDeviceSynchronize());
    CHECKED(cudaDestroySurfaceObject(surface));
    CHECKED(cudaFreeArray(array));
  }
};

void between_streams(bool waits) {
  Case c;
  const cudaTextureObject_t texture = texture_of(c.x);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  if (waits) {
    CHECKED(cudaEventRecord(c.event, c.a));
    CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
    fetch<<<1, width, 0, c.b>>>(c.y, texture);
  } else {
    fetch<<<1, width, 0, c.b>>>(c.y, texture);  // ! race between streams
  }
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaDestroyTextureObject(texture));
}

void surface_between_streams(bool waits) {
  Case c;
  Line line(true);
  CHECKED(cudaDeviceSynchronize());
  write_own_place<<<1, width, 0, c.a>>>(line.surface);
  if (waits) CHECKED(cudaStreamSynchronize(c.a));
  if (waits) {
    read_surface<<<1, width, 0, c.b>>>(c.y, line.surface);
  } else {
    read_surface<<<1, width, 0, c.b>>>(c.y, line.surface);  // ! race between streams
  }
}

void same_launch() {
  Case c;
  const cudaTextureObject_t texture = texture_of(c.x);
  store_and_fetch<<<1, width, 0, c.a>>>(c.y, c.x, texture);
  CHECKED(cudaDeviceSynchronize());
  store_or_fetch<<<1, width, 0, c.a>>>(c.y, c.x, texture);
  CHECKED(cudaDeviceSynchronize());
  fetch_and_store_elsewhere<<<1, width, 0, c.a>>>(c.y, c.x, texture);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  fetch<<<1, width, 0, c.a>>>(c.y, texture);
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaDestroyTextureObject(texture));
}

void unset() {
  Case c;
  int* memory = nullptr;
  CHECKED(cudaMalloc(&memory, width * sizeof(int)));
  const cudaTextureObject_t texture = texture_of(memory);
  fetch_unset<<<1, width>>>(c.y, texture);
  CHECKED(cudaMemset(memory, 0, width * sizeof(int)));
  fetch<<<1, width>>>(c.y, texture);
  Line without(false), with(true), written(false);
  read_unset_surface<<<1, width>>>(c.y, without.surface);
  read_surface<<<1, width>>>(c.y, with.surface);
  write_own_place<<<1, width>>>(written.surface);
  read_surface<<<1, width>>>(c.y, written.surface);
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaDestroyTextureObject(texture));
  CHECKED(cudaFree(memory));
}

/// The last column of the texture is unset.
void filtered() {
  constexpr int pitch = 512;
  float *memory = nullptr, *out = nullptr;
  CHECKED(cudaMalloc(&memory, pitch));
  CHECKED(cudaMalloc(&out, width * sizeof(float)));
  CHECKED(cudaMemset(memory, 0, (width - 1) * sizeof(float)));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = 1;
  resource.res.pitch2D.pitchInBytes = pitch;
  cudaTextureDesc how = {};
  how.filterMode = cudaFilterModeLinear;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture = 0;
  CHECKED(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  sample_centres<<<1, width - 1>>>(out, texture);
  CHECKED(cudaDeviceSynchronize());
  sample_between<<<1, width - 1>>>(out, texture);
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaDestroyTextureObject(texture));
  CHECKED(cudaFree(memory));
  CHECKED(cudaFree(out));
}

void three_of_four() {
  Case c;
  uchar4* memory = nullptr;
  CHECKED(cudaMalloc(&memory, width * sizeof(uchar4)));
  const cudaTextureObject_t texture = texture_of(memory);
  write_three<<<1, width>>>(memory);
  fetch_three<<<1, width>>>(c.y, texture);
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaDestroyTextureObject(texture));
  CHECKED(cudaFree(memory));
}

void writes() {
  Line line(true);
  write_one_place<<<1, width>>>(line.surface);
  write_one_place_by_blocks<<<2, 1>>>(line.surface);
  write_the_same<<<2, width>>>(line.surface);
  write_own_place<<<1, width>>>(line.surface);
  write_behind_a_barrier<<<1, width>>>(line.surface);
}

}  // namespace

int main() {
  for (const bool waits : {true, false}) {
    between_streams(waits);
    surface_between_streams(waits);
  }
  same_launch();
  unset();
  filtered();
  three_of_four();
  writes();
}
