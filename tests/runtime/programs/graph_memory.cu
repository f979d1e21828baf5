// SPDX-License-Identifier: MIT
// The allocations of a graph's nodes: whose place each takes, and what the device keeps for it.
#include <cuda_runtime.h>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>
#define C(x)                                                \
  do {                                                      \
    cudaError_t e_ = x;                                     \
    if (e_) printf("  %s: %s\n", #x, cudaGetErrorName(e_)); \
  } while (0)
const size_t K = 1 << 10, M = 1 << 20;
__global__ void k(int* p) { *p = 1; }
static cudaStream_t st;
static void mem(const char* when) {
  unsigned long long v[4];
  for (int i = 0; i < 4; i++)
    C(cudaDeviceGetGraphMemAttribute(0, (cudaGraphMemAttributeType)i, v + i));
  printf("  %-28s used %g high %g reserved %g high %g MiB\n", when, v[0] / 1048576.,
         v[1] / 1048576., v[2] / 1048576., v[3] / 1048576.);
}
static void reset() {
  C(cudaDeviceGraphMemTrim(0));
  unsigned long long z = 0;
  C(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &z));
  C(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &z));
}
struct G {
  cudaGraph_t g;
  std::vector<std::pair<const char*, void*>> names;
  std::vector<cudaGraphNode_t> n;
  G(const char* name) {
    C(cudaGraphCreate(&g, 0));
    printf("%s\n", name);
  }
  cudaGraphNode_t alloc(const char* nm, size_t bytes, std::vector<cudaGraphNode_t> after,
                        void** out = 0) {
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = bytes;
    cudaGraphNode_t x = 0;
    C(cudaGraphAddMemAllocNode(&x, g, after.data(), after.size(), &p));
    names.emplace_back(nm, p.dptr);
    size_t i = 0;
    while (names[i].second != p.dptr) ++i;
    printf("  %s %zu: %s\n", nm, bytes,
           i + 1 == names.size() ? "its own place"
                                 : ("the place of " + std::string(names[i].first)).c_str());
    if (out) *out = p.dptr;
    return x;
  }
  cudaGraphNode_t kern(void* p, std::vector<cudaGraphNode_t> after) {
    cudaKernelNodeParams q = {};
    void* a[] = {&p};
    q.func = (void*)k;
    q.gridDim = q.blockDim = dim3(1);
    q.kernelParams = a;
    cudaGraphNode_t x;
    C(cudaGraphAddKernelNode(&x, g, after.data(), after.size(), &q));
    return x;
  }
  cudaGraphNode_t fre(void* p, std::vector<cudaGraphNode_t> after) {
    cudaGraphNode_t x;
    C(cudaGraphAddMemFreeNode(&x, g, after.data(), after.size(), p));
    return x;
  }
  cudaGraphExec_t x = 0;
  void run(int times = 1, bool keep = false) {
    mem("before instantiate");
    C(cudaGraphInstantiate(&x, g, 0));
    mem("instantiated");
    for (int i = 0; i < times; i++) {
      C(cudaGraphLaunch(x, st));
      C(cudaStreamSynchronize(st));
      mem("launched");
    }
    if (!keep) end();
  }
  void end() {
    C(cudaGraphExecDestroy(x));
    mem("exec destroyed");
    C(cudaGraphDestroy(g));
    mem("graph destroyed");
    C(cudaDeviceGraphMemTrim(0));
    mem("trimmed");
    reset();
  }
};
typedef cudaGraphNode_t N;
int main() {
  setvbuf(stdout, 0, _IOLBF, 0);
  C(cudaStreamCreateWithFlags(&st, cudaStreamNonBlocking));
  mem("start");
  void *a, *b, *c, *d;
  {
    G g("A chain 1M,free,1M,free");
    N x = g.alloc("a", M, {}, &a);
    N y = g.kern(a, {x});
    N z = g.fre(a, {y});
    N w = g.alloc("b", M, {z}, &b);
    N f = g.fre(b, {w});
    g.run(2);
  }
  {
    G g("B unordered: 1M,free ; 1M,free");
    N x = g.alloc("a", M, {}, &a);
    g.fre(a, {x});
    N w = g.alloc("b", M, {}, &b);
    g.fre(b, {w});
    g.run();
  }
  {
    G g("C 4M,free,then 1M 1M 2M 4M");
    N x = g.alloc("a", 4 * M, {}, &a);
    N z = g.fre(a, {x});
    N p = g.alloc("b", M, {z}, &b);
    N q = g.alloc("c", M, {p}, &c);
    N r = g.alloc("d", 2 * M, {q}, &d);
    void* e;
    N s = g.alloc("e", 4 * M, {r}, &e);
    N t = g.fre(b, {s});
    t = g.fre(c, {t});
    t = g.fre(d, {t});
    g.fre(e, {t});
    g.run();
  }
  {
    G g("D small: 4,4,100,513,4K,64K,free all,4");
    N x = g.alloc("a", 4, {}, &a);
    N y = g.alloc("b", 4, {x}, &b);
    N z = g.alloc("c", 100, {y}, &c);
    z = g.alloc("d", 513, {z}, &d);
    void *e, *f, *h;
    z = g.alloc("e", 4 * K, {z}, &e);
    z = g.alloc("f", 64 * K, {z}, &f);
    z = g.fre(a, {z});
    z = g.fre(b, {z});
    z = g.alloc("h", 4, {z}, &h);
    z = g.fre(c, {z});
    z = g.fre(d, {z});
    z = g.fre(e, {z});
    z = g.fre(f, {z});
    g.fre(h, {z});
    g.run();
  }
  {
    G g("E 3M 40M 70M live together");
    N z = g.alloc("a", 3 * M, {}, &a);
    z = g.alloc("b", 40 * M, {z}, &b);
    z = g.alloc("c", 70 * M, {z}, &c);
    z = g.fre(a, {z});
    z = g.fre(b, {z});
    g.fre(c, {z});
    g.run();
  }
  {
    G g("F 33M,free,then 40M,free");
    N z = g.alloc("a", 33 * M, {}, &a);
    z = g.fre(a, {z});
    z = g.alloc("b", 40 * M, {z}, &b);
    g.fre(b, {z});
    g.run();
  }
  {
    G g("G 20 times 10M alloc,free in a chain");
    N z = 0;
    for (int i = 0; i < 20; i++) {
      z = g.alloc("a", 10 * M, z ? std::vector<N>{z} : std::vector<N>{}, &a);
      z = g.kern(a, {z});
      z = g.fre(a, {z});
    }
    g.run();
  }
  {
    G g("H diamond: a freed in left branch, b after join; c only behind right branch");
    N r = g.kern((void*)0, {});
    cudaGraphDestroyNode(r);
    N x = g.alloc("a", M, {}, &a);
    N l = g.kern(a, {x});
    N rr = g.alloc("r", M, {x}, &d);
    N fl = g.fre(a, {l});
    N cc = g.alloc("c", M, {rr}, &c);
    N fr = g.fre(d, {rr});
    N j = g.alloc("b", M, {fl, fr, cc}, &b);
    void* e;
    N jj = g.alloc("e", M, {j}, &e);
    N t = g.fre(b, {jj});
    t = g.fre(c, {t});
    g.fre(e, {t});
    g.run();
  }
  {
    G g("I free added before alloc node in creation, dependency added later");
    N x = g.alloc("a", M, {}, &a);
    N w = g.alloc("b", M, {}, &b);
    N f = g.fre(a, {x});
    C(cudaGraphAddDependencies(g.g, &f, &w, 0, 1));
    g.fre(b, {w});
    g.run();
  }
  {
    G g("J two graphs at once, 10M and 20M");
    N z = g.alloc("a", 10 * M, {}, &a);
    g.fre(a, {z});
    G h(" second");
    N w = h.alloc("b", 20 * M, {}, &b);
    h.fre(b, {w});
    g.run(1, true);
    h.run(1, true);
    g.end();
    h.end();
  }
  {
    G g("K kept memory: 5M not freed");
    N z = g.alloc("a", 5 * M, {}, &a);
    g.kern(a, {z});
    g.run(1, true);
    C(cudaGraphLaunch(g.x, st));
    C(cudaStreamSynchronize(st));
    mem("launched again");
    C(cudaDeviceGraphMemTrim(0));
    mem("trim while live");
    C(cudaFreeAsync(a, st));
    C(cudaStreamSynchronize(st));
    mem("freed");
    C(cudaGraphLaunch(g.x, st));
    C(cudaStreamSynchronize(st));
    mem("launched third");
    C(cudaFree(a));
    mem("cudaFree");
    g.end();
  }
  {
    printf("L captured mallocAsync\n");
    cudaGraph_t g;
    cudaGraphExec_t x;
    C(cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal));
    void* q[4];
    for (int i = 0; i < 4; i++) {
      C(cudaMallocAsync(&q[i], 2 * M, st));
      k<<<1, 1, 0, st>>>((int*)q[i]);
      if (i % 2 == 0) C(cudaFreeAsync(q[i], st));
    }
    C(cudaFreeAsync(q[1], st));
    C(cudaFreeAsync(q[3], st));
    C(cudaStreamEndCapture(st, &g));
    printf("  q1 %d, q2 %d, q3 %d\n", q[1] == q[0], q[2] == q[0], q[3] == q[2]);
    C(cudaGraphInstantiate(&x, g, 0));
    C(cudaGraphLaunch(x, st));
    C(cudaStreamSynchronize(st));
    mem("launched");
    C(cudaGraphExecDestroy(x));
    mem("exec destroyed");
    C(cudaGraphDestroy(g));
    mem("destroyed");
    reset();
    mem("trimmed");
  }
  {
    G g("N best or first fit: 8M x 2M x; free 8M and 2M; 2M, 1M");
    void *e, *f, *h;
    N z = g.alloc("a", 8 * M, {}, &a);
    z = g.alloc("x", M, {z}, &b);
    z = g.alloc("b", 2 * M, {z}, &c);
    z = g.alloc("y", M, {z}, &d);
    z = g.fre(a, {z});
    z = g.fre(c, {z});
    z = g.alloc("e", 2 * M, {z}, &e);
    z = g.alloc("f", M, {z}, &f);
    z = g.alloc("h", 3 * M, {z}, &h);
    z = g.fre(b, {z});
    z = g.fre(d, {z});
    z = g.fre(e, {z});
    z = g.fre(f, {z});
    g.fre(h, {z});
    g.run();
  }
  {
    G g("O two execs of a graph with 100M (frees)");
    N z = g.alloc("a", 100 * M, {}, &a);
    g.fre(a, {z});
    cudaGraphExec_t y;
    C(cudaGraphInstantiate(&g.x, g.g, 0));
    C(cudaGraphInstantiate(&y, g.g, 0));
    mem("two execs");
    C(cudaGraphLaunch(g.x, st));
    C(cudaStreamSynchronize(st));
    mem("first");
    C(cudaGraphExecDestroy(g.x));
    mem("first destroyed");
    C(cudaDeviceGraphMemTrim(0));
    mem("trimmed");
    C(cudaGraphInstantiate(&g.x, g.g, 0));
    g.end();
  }
}
