// SPDX-License-Identifier: MIT
// Kernels that call what the driver brings: printf, assert, malloc, free, new and delete, by all
// threads, by some, in branches and in loops. Held to hardware so:
//   nvcc -arch=sm_90 -lineinfo driver_calls.cu -o driver_calls
//   warpmeter profile -b cupti -m @default --replay application ./driver_calls
//   warpmeter profile -b model -m @default ./driver_calls
#include <cassert>
#include <cstdio>
#define NUMBER(i) int i = blockIdx.x * blockDim.x + threadIdx.x
#define BEGIN            \
  __shared__ int s[256]; \
  NUMBER(i);             \
  s[threadIdx.x] = a[i]; \
  __syncthreads();
#define END                    \
  o[i] = s[255 - threadIdx.x]; \
  s[(threadIdx.x * 3) & 255] = 2;

__global__ void p_two_branches(int* o, const int* a) {
  BEGIN if (i & 1) printf("a1 %d\n", i);
  else printf("h2 %d %d\n", i, i);
  END
}
__global__ void p_loop_var(int* o, const int* a) {
  BEGIN for (int k = 0; k < (i & 3); k++) {
    printf("a %d\n", k);
    o[i] = k;
    s[threadIdx.x] += a[i + k];
  }
  END
}
__global__ void p_return(int* o, const int* a) {
  BEGIN if (i % 3 == 0) {
    printf("a\n");
    return;
  }
  END
}
__global__ void p_mid(int* o, const int* a) {
  BEGIN if (i % 3 == 0) {
    o[i] = a[(i * 7) & 511];
    printf("a %d\n", o[i]);
    o[i] = a[(i * 5) & 511];
    s[i & 255] = 3;
  }
  END
}
__global__ void p_lane0(int* o, const int* a) {
  BEGIN if ((i & 31) == 0) { printf("a %d\n", a[i]); }
  END
}
__global__ void p_result(int* o, const int* a) {
  BEGIN int r = printf("a %d %d\n", a[i], i);
  o[i] = a[r];
  END
}
__global__ void p_str(int* o, const int* a, const char* q) {
  BEGIN if (i < 40) printf("a %s %d\n", q, i);
  END
}
__global__ void p_nested(int* o, const int* a) {
  BEGIN if (i & 1) {
    if (i & 2) printf("a %d\n", i);
    o[i] = a[i ^ 5];
    if (i & 4) printf("a %d\n", i);
    s[i & 255] = a[i ^ 7];
  }
  END
}
__device__ __noinline__ int f(int x) {
  printf("a %d\n", x);
  return x * 2;
}
__global__ void p_fn(int* o, const int* a) {
  BEGIN if (i & 1) o[i] = f(a[i]);
  else o[i] = a[i ^ 3];
  END
}
__global__ void p_atomic(int* o, const int* a) {
  BEGIN int r = atomicAdd(&o[0], 1);
  if (r < 9) printf("a %d\n", r);
  atomicAdd(&s[i & 7], 1);
  END
}
__global__ void m_one(int* o, const int* a) {
  BEGIN if (i == 3) {
    int* p = (int*)malloc(64);
    o[i] = p != 0;
    free(p);
  }
  END
}
__global__ void m_all(int* o, const int* a) {
  BEGIN int* p = (int*)malloc(64);
  if (p) p[0] = i;
  __syncwarp();
  o[i] = s[255 - threadIdx.x] + (p ? p[0] : 0);
  free(p);
  END
}
__global__ void m_keep(int** o, const int* a) {
  NUMBER(i);
  int* p = (int*)malloc(64);
  o[i] = p;
}
__global__ void m_use(int** o, int* r) {
  NUMBER(i);
  if (o[i]) r[i] = o[i][0];
}
__global__ void m_free(int** o) {
  NUMBER(i);
  free(o[i]);
}
__global__ void m_half(int* o, const int* a) {
  BEGIN if (i & 1) {
    int* p = (int*)malloc(64);
    o[i] = p != 0;
    free(p);
  }
  END
}
__global__ void m_nouse(int* o, const int* a) {
  BEGIN int* p = (int*)malloc(64);
  int k = p != 0;
  o[i + k] = 1;
  END
}
__global__ void m_loop(int* o, const int* a) {
  BEGIN for (int k = 0; k < (i & 3); k++) {
    int* p = (int*)malloc(16 + k * 16);
    if (p) o[i] = a[i + k];
    free(p);
    s[threadIdx.x] += k;
  }
  END
}
__global__ void m_never(int* o, const int* a, int n) {
  BEGIN if (n > 5 && i < n) {
    int* p = (int*)malloc(64);
    o[i] = p != 0;
    free(p);
  }
  END
}
__global__ void m_new(int* o, const int* a) {
  NUMBER(i);
  int* p = new int[8];
  if (!p) return;
  for (int k = 0; k < 8; k++) p[k] = a[i] + k;
  int s = 0;
  for (int k = 0; k < 8; k++) s += p[k ^ (i & 7)];
  o[i] = s;
  delete[] p;
}
struct B {
  __device__ B() {}
  __device__ virtual ~B() {}
  virtual __device__ int f(int x) { return x; }
};
struct D : B {
  int y;
  __device__ D(int z) : y(z) {}
  __device__ int f(int x) override { return x + y; }
};
__global__ void m_virtual(int* o, const int* a) {
  BEGIN B* b = (i & 1) ? (B*)new D(i) : new B;
  if (b) o[i] = b->f(a[i]);
  delete b;
  END
}
__global__ void m_freenull(int* o, const int* a) {
  BEGIN int* p = a[i] >= 0 ? nullptr : o;
  free(p);
  END
}
__global__ void m_shared_list(int* o, const int* a) {
  BEGIN __shared__ int* p;
  if (threadIdx.x == 0) p = (int*)malloc(1024);
  __syncthreads();
  if (p) {
    p[threadIdx.x] = i;
    __syncthreads();
    o[i] = p[255 - threadIdx.x];
  }
  __syncthreads();
  if (threadIdx.x == 0) free(p);
  END
}
__global__ void as(int* o, const int* a) {
  BEGIN assert(a[i] >= 0);
  END
}
__global__ void dm(int* o, const int* a) {
  BEGIN if (i == 0) {
    int* p = (int*)malloc(1000);
    memset(p, 1, 1000);
    o[i] = p[3];
    free(p);
  }
  END
}
int main() {
  int *a, *o, **q;
  int N = 1024;
  char* c;
  cudaMalloc(&a, N * 4);
  cudaMalloc(&o, N * 4);
  cudaMalloc(&q, N * 8);
  cudaMemset(a, 0, N * 4);
  cudaMemset(q, 0, N * 8);
  cudaMalloc(&c, 16);
  cudaMemcpy(c, "hello", 6, cudaMemcpyHostToDevice);
#define LAUNCH(k, ...)                                    \
  k<<<2, 256>>>(__VA_ARGS__);                             \
  {                                                       \
    auto e = cudaDeviceSynchronize();                     \
    if (e) {                                              \
      fprintf(stderr, #k " %s\n", cudaGetErrorString(e)); \
      return 1;                                           \
    }                                                     \
  }
  LAUNCH(p_two_branches, o, a);
  LAUNCH(p_loop_var, o, a);
  LAUNCH(p_return, o, a);
  LAUNCH(p_mid, o, a);
  LAUNCH(p_lane0, o, a);
  LAUNCH(p_result, o, a);
  LAUNCH(p_str, o, a, c);
  LAUNCH(p_nested, o, a);
  LAUNCH(p_fn, o, a);
  cudaMemset(o, 0, N * 4);
  LAUNCH(p_atomic, o, a);
  LAUNCH(m_one, o, a);
  LAUNCH(m_all, o, a);
  LAUNCH(m_keep, q, a);
  LAUNCH(m_use, q, o);
  LAUNCH(m_free, q);
  LAUNCH(m_half, o, a);
  LAUNCH(m_nouse, o, a);
  LAUNCH(m_loop, o, a);
  LAUNCH(m_never, o, a, 0);
  LAUNCH(m_new, o, a);
  LAUNCH(m_virtual, o, a);
  LAUNCH(m_freenull, o, a);
  LAUNCH(m_shared_list, o, a);
  LAUNCH(as, o, a);
  LAUNCH(dm, o, a);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
