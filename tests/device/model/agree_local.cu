// SPDX-License-Identifier: MIT
// Memory of a thread's own: arrays that are indexed by data, recursion, alloca, and what is
// volatile.
#define AT                                    \
  [[maybe_unused]] const int t = threadIdx.x; \
  const int i = blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void sorted_in_place(const int* in, int* out, int n) {
  AT;
  int own[16];
  for (int k = 0; k < 16; ++k) own[k] = in[(i * 16 + k) % 1024];
  for (int k = 1; k < n; ++k) {
    const int value = own[k];
    int at = k - 1;
    for (; at >= 0 && own[at] > value; --at) own[at + 1] = own[at];
    own[at + 1] = value;
  }
  for (int k = 0; k < 16; ++k) out[i * 16 + k] = own[k];
}

extern "C" __global__ void histogram_of_own(const int* in, int* out, int n) {
  AT;
  unsigned char bins[24] = {};
  for (int k = 0; k < n; ++k) ++bins[in[(i + k * 33) % 1024] + 9];
  int best = 0;
  for (int k = 1; k < 24; ++k) {
    if (bins[k] > bins[best]) best = k;
  }
  out[i] = best * 100 + bins[best];
}

extern "C" __global__ void stack_of_nodes(const int* in, int* out, int n) {
  AT;
  int stack[32], top = 0, sum = 0;
  stack[top++] = i % 7;
  while (top > 0) {
    const int node = stack[--top];
    sum = sum * 5 + node;
    if (node * 2 + 2 < n) {
      stack[top++] = node * 2 + 1;
      if (in[node] > 0) stack[top++] = node * 2 + 2;
    }
  }
  out[i] = sum;
}

extern "C" __global__ void taken_from_stack(const int* in, int* out, int n) {
  AT;
  const int count = t % 4 + n;
  int* const own = static_cast<int*>(alloca(sizeof(int) * static_cast<size_t>(count)));
  for (int k = 0; k < count; ++k) own[k] = in[(i + k) % 1024] + k;
  int sum = 0;
  for (int k = count - 1; k >= 0; --k) sum = sum * 3 + own[k];
  out[i] = sum;
}

extern "C" __global__ void volatile_shared(const int* in, int* out, int n) {
  __shared__ volatile int tile[160];
  AT;
  tile[t] = in[i];
  if (t < 32) tile[128 + t] = 0;
  __syncthreads();
  if (t < 64) tile[t] += tile[t + 64];
  __syncthreads();
  if (t < 32) {
    int sum = tile[t] + tile[t + 32];
    for (int distance = 16; distance > 0; distance /= 2) {
      __syncwarp();
      tile[t] = sum;
      __syncwarp();
      sum += tile[t + distance] * (t + distance < 32 ? 1 : 0);
    }
    if (t == 0) out[blockIdx.x] = sum * n;
  }
}

extern "C" __global__ void table_by_data(const int* in, int* out, int n) {
  AT;
  const short table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += table[(in[(i + k) % 1024] + 9) & 7] << (k & 3);
  out[i] = sum;
}

struct Particle {
  float x, y, z;
  int cell;
  double weight;
};
__device__ __noinline__ Particle moved(Particle p, float by) {
  p.x += by, p.y -= by, p.cell = (p.cell + static_cast<int>(p.x)) & 15, p.weight *= 0.5;
  return p;
}
extern "C" __global__ void by_value(const int* in, double* out, int n) {
  AT;
  Particle p{static_cast<float>(in[i]), 1.f, 2.f, t & 15, 1024.0};
  for (int k = 0; k < n; ++k) p = moved(p, static_cast<float>(k));
  out[i] = p.x + p.y * 3 + p.cell * 100 + p.weight;
}
