// SPDX-License-Identifier: MIT
// Kernels without a mistake, some of which look as if they had one: --check must find nothing.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
extern __shared__ float dyn[];
__global__ void early(float* out, const float* in, int n) {
  __shared__ float s[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  s[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = s[0];
}
__global__ void early_work(float* out, const float* in, int n) {
  __shared__ float s[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    out[i] = 0;
    return;
  }
  s[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = s[0];
}
__global__ void loopret(float* out, const float* in, int n) {
  __shared__ float s[128];
  float sum = 0;
  for (int k = 0; k < 8; ++k) {
    if (threadIdx.x / 32 < k - 2) return;
    s[threadIdx.x] = in[threadIdx.x + k];
    __syncthreads();
    sum += s[threadIdx.x ^ 1];
    out[threadIdx.x] = sum;
    __syncthreads();
  }
}
__global__ void warpred(float* out, const float* in) {
  __shared__ float s[32];
  float v = in[threadIdx.x];
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x == 0) out[0] = v;
  }
}
__global__ void warpsync(float* out, const float* in) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    for (int o = 64; o > 0; o >>= 1) {
      float x = s[t] + (t + o < 128 ? s[t + o] : 0);
      __syncwarp();
      s[t] = x;
      __syncwarp();
    }
  }
  if (t == 0) out[0] = s[0];
}
__global__ void flagw(int* out) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (out[threadIdx.x] > 3) found = 1;
  __syncthreads();
  out[threadIdx.x] = found;
}
__global__ void hist(unsigned* out, const unsigned* in) {
  __shared__ unsigned h[64];
  if (threadIdx.x < 64) h[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&h[in[threadIdx.x] % 64], 1);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], h[threadIdx.x]);
}
__global__ void lastblock(unsigned* count, float* out, const float* in) {
  __shared__ bool last;
  __shared__ float s[128];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int o = 64; o; o >>= 1) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out[blockIdx.x + 1] = s[0];
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float t = 0;
    for (int b = 0; b < gridDim.x; ++b) t += ((volatile float*)out)[b + 1];
    out[0] = t;
  }
}
__global__ void localarr(int* out, const int* in, int k) {
  int a[16];
  for (int i = 0; i < 16; ++i) a[i] = in[i];
  for (int i = 0; i < 16; ++i) a[(i * k) & 15] += a[i];
  out[threadIdx.x] = a[k & 15];
}
__global__ void producer(int* out, const int* in) {
  __shared__ int s[64];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = in[threadIdx.x];
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x - 32];
  }
}
__global__ void subshfl(int* out) {
  int v = threadIdx.x;
  if (threadIdx.x % 32 < 8) v = __shfl_sync(0xff, v, 0);
  unsigned m = __activemask();
  if (threadIdx.x % 32 >= 20) {
    unsigned b = __ballot_sync(0xfff00000, v > 3);
    v += b;
  }
  out[threadIdx.x] = v + m;
}
__global__ void lockfree(int* out) {
  __shared__ int lock;
  __shared__ int sum;
  if (threadIdx.x == 0) {
    lock = 0;
    sum = 0;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    sum += threadIdx.x;
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}
__global__ void tiled(float* c, const float* a, const float* b, int n) {
  __shared__ float sa[16][17], sb[16][17];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    sa[ty][tx] = a[y * n + t + tx];
    sb[ty][tx] = b[(t + ty) * n + x];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += sa[ty][k] * sb[k][tx];
    __syncthreads();
  }
  c[y * n + x] = sum;
}
__global__ void volatile_tail(float* out, const float* in) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 64) s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) {
    volatile float* v = s;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
  }
  if (t == 0) out[0] = s[0];
}
__global__ void bitonic(float* out, const float* in) {
  int t = threadIdx.x;
  dyn[t] = in[t];
  __syncthreads();
  for (int k = 2; k <= blockDim.x; k *= 2)
    for (int j = k / 2; j; j /= 2) {
      int p = t ^ j;
      if (p > t) {
        float x = dyn[t], y = dyn[p];
        if ((x > y) == !(t & k)) {
          dyn[t] = y;
          dyn[p] = x;
        }
      }
      __syncthreads();
    }
  out[t] = dyn[t];
}
__global__ void scan(float* out, const float* in) {
  __shared__ float s[2][128];
  int t = threadIdx.x, from = 0;
  s[0][t] = in[t];
  __syncthreads();
  for (int o = 1; o < 128; o *= 2) {
    s[1 - from][t] = t >= o ? s[from][t] + s[from][t - o] : s[from][t];
    from = 1 - from;
    __syncthreads();
  }
  out[t] = s[from][t];
}
__global__ void partial(float* out, const float* in) {
  float v = in[threadIdx.x];
  for (int o = 8; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  out[threadIdx.x] = v;
}
__global__ void groups(float* out, const float* in) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  __shared__ float s[128];
  s[threadIdx.x] = in[threadIdx.x];
  block.sync();
  float v = s[threadIdx.x ^ 1];
  for (int o = 4; o; o /= 2) v += tile.shfl_down(v, o);
  if (threadIdx.x % 3 == 0) {
    auto active = cg::coalesced_threads();
    v += active.size();
    if (active.thread_rank() == 0) out[128 + threadIdx.x / 32] = v;
    active.sync();
  }
  tile.sync();
  s[threadIdx.x] = v;
  tile.sync();
  out[threadIdx.x] = s[threadIdx.x ^ 3];
}
__global__ void aggregated(int* out, const int* in) {
  int v = in[threadIdx.x];
  unsigned same = __match_any_sync(~0u, v % 5);
  int leader = __ffs(same) - 1;
  int old = 0;
  if (threadIdx.x % 32 == leader) old = atomicAdd(&out[v % 5], __popc(same));
  old = __shfl_sync(same, old, leader);
  out[8 + threadIdx.x] = old + __reduce_add_sync(~0u, v);
}
__global__ void raggedloop(int* out, const int* in) {
  int n = in[threadIdx.x] % 7, sum = 0;
  for (int k = 0; k < n; ++k) {
    unsigned m = __activemask();
    sum += __popc(__ballot_sync(m, k & 1));
    __syncwarp(m);
  }
  out[threadIdx.x] = sum;
}
struct Padded {
  double a;
  int b;
};
__noinline__ __device__ int sum_of(const int* a, int n) {
  int s = 0;
  for (int i = 0; i < n; ++i) s += a[i];
  return s;
}
__global__ void calls(int* out, const int* in, int k) {
  int a[8];
  for (int i = 0; i < 8; ++i) a[i] = in[i + threadIdx.x];
  Padded p{1.0, k}, q[2] = {p, p};
  out[threadIdx.x] = sum_of(a, 8) + q[k & 1].b;
}
__global__ void padded(Padded* out, const int* in) {
  __shared__ Padded s[64];
  s[threadIdx.x].a = in[threadIdx.x];
  s[threadIdx.x].b = 2;
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void bytes(unsigned char* out, const unsigned char* in) {
  __shared__ unsigned char s[128];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) ((uchar4*)out)[threadIdx.x] = ((uchar4*)s)[31 - threadIdx.x];
}
__global__ void halves(__half2* out, const __half2* in) {
  __shared__ __half2 s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = __hadd2(s[threadIdx.x], s[63 - threadIdx.x]);
}
__device__ int lock_word;
__global__ void spin(int* out) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&lock_word, 0, 1)) {
    }
    __threadfence();
    out[0] += 1;
    __threadfence();
    atomicExch(&lock_word, 0);
  }
}
__global__ void wavefront(int* out, const int* a, const int* b) {
  __shared__ int h[65][65];
  int t = threadIdx.x;
  for (int i = t; i < 65 * 65; i += 64) (&h[0][0])[i] = 0;
  __syncthreads();
  for (int d = 0; d < 127; ++d) {
    int j = d - t;
    if (j >= 0 && j < 64)
      h[t + 1][j + 1] = max(max(h[t][j + 1], h[t + 1][j]) - 1, h[t][j] + (a[t] == b[j] ? 2 : -1));
    __syncthreads();
  }
  out[t] = h[t + 1][64];
}
__global__ void block_any(int* out, const int* in) {
  int n = __syncthreads_count(in[threadIdx.x] > 9);
  int o = __syncthreads_or(in[threadIdx.x] > 126), q = __syncthreads_and(1);
  out[threadIdx.x] = n + o + q;
}
__global__ void warpspecial(float* out, const float* in) {
  __shared__ float s[2][64];
  if (threadIdx.x < 32) {
    for (int k = 0; k < 4; ++k) {
      asm volatile("bar.sync %0, 96;" ::"r"(3 + (k & 1)) : "memory");
      s[k & 1][threadIdx.x] = in[k * 32 + threadIdx.x];
      s[k & 1][threadIdx.x + 32] = in[k * 32 + threadIdx.x];
      asm volatile("bar.arrive %0, 96;" ::"r"(1 + (k & 1)) : "memory");
    }
  } else {
    float sum = 0;
    asm volatile("bar.arrive 3, 96;" ::: "memory");
    asm volatile("bar.arrive 4, 96;" ::: "memory");
    for (int k = 0; k < 4; ++k) {
      asm volatile("bar.sync %0, 96;" ::"r"(1 + (k & 1)) : "memory");
      sum += s[k & 1][threadIdx.x - 32];
      if (k < 2) asm volatile("bar.arrive %0, 96;" ::"r"(3 + (k & 1)) : "memory");
    }
    out[threadIdx.x - 32] = sum;
  }
}
__global__ void flagwait(int* out) {
  __shared__ int data;
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    data = 42;
    __threadfence_block();
    atomicExch(&flag, 1);
  }
  if (threadIdx.x == 0) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    __threadfence_block();
    out[0] = data;
  }
}
__global__ void flagvol(int* out) {
  __shared__ int data;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    data = 42;
    __threadfence_block();
    flag = 1;
  }
  if (threadIdx.x == 0) {
    while (flag == 0) {
    }
    __threadfence_block();
    out[0] = data;
  }
}
__global__ void odd_divergent(int* out, const int* in) {
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t & 1)
    s[t] = in[t];
  else
    s[t] = -in[t];
  for (int k = 0; k < (t & 3); ++k) s[t] += k;
  __syncthreads();
  if (t > 100) return;
  out[t] = s[127 - t];
}
__global__ void async(float* out, const float* in) {
  __shared__ __align__(16) float s[2][128];
  auto copy = [&](int stage, int chunk) {
    unsigned a = static_cast<unsigned>(__cvta_generic_to_shared(&s[stage][threadIdx.x % 32 * 4]));
    if (threadIdx.x < 32)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(a),
                   "l"(in + chunk * 128 + threadIdx.x * 4));
    asm volatile("cp.async.commit_group;");
  };
  copy(0, 0);
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    copy((k + 1) & 1, (k + 1) % 2);
    asm volatile("cp.async.wait_group 1;");
    __syncthreads();
    sum += s[k & 1][127 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
__global__ void barrier_object(float* out, const float* in) {
  __shared__ unsigned long long barrier;
  __shared__ float s[128];
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(128));
  __syncthreads();
  for (int k = 0; k < 2; ++k) {
    s[threadIdx.x] = in[threadIdx.x + k];
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(at) : "memory");
    unsigned over = 0;
    while (over == 0) {
      asm volatile(
          "{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
          : "=r"(over)
          : "r"(at), "l"(token)
          : "memory");
    }
    out[k * 128 + threadIdx.x] = s[127 - threadIdx.x];
    __syncthreads();
  }
}
__global__ void same_flag(int* flags, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] % 7 == 3) flags[0] = 1;
  flags[i + 1] = in[(i + 5) % 256];
}
__global__ void bytes_apart(unsigned char* out, const int* in) {
  out[2 * threadIdx.x + blockIdx.x] = static_cast<unsigned char>(in[threadIdx.x]);
}
__global__ void last_block(int* out, unsigned* counter, const int* in) {
  __shared__ bool is_last;
  out[1 + blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x] + static_cast<int>(blockIdx.x);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(counter, 1) == gridDim.x - 1;
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x * blockDim.x; ++i) sum += out[1 + i];
  out[0] = sum;
}
