// SPDX-License-Identifier: MIT
// One access of one warp a launch: the rows of a list (tests/golden/access_patterns/*.csv) in their
// order, for access_patterns.sh to count. The access is written in PTX, so that it is the
// instruction that the row names. Where the lanes go comes with the launch, so that nothing else is
// loaded; what was loaded is stored where no lane ever comes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>
struct Lanes {
  std::uint32_t offset[32];
  std::uint32_t mask;
};

constexpr std::uint32_t shared_bytes = 16384, global_bytes = 16384;

__device__ std::uint32_t shared_base() {
  extern __shared__ __align__(1024) unsigned char tile[];
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(tile));
}

__device__ void use(std::uint32_t value, std::uint32_t* global) {
  if (value == 0x5bd1e995) global[threadIdx.x] = value;
}

/// NAME runs BODY for the active lanes, with the lane's address in `to` and a number in `v`.
#define ACCESS(NAME, BASE, BODY)                                       \
  __global__ void NAME(Lanes lanes, std::uint32_t* global) {           \
    const std::uint32_t lane = threadIdx.x, v = lane * 7 + lanes.mask; \
    if ((lanes.mask >> lane & 1) == 0) return;                         \
    const auto to = (BASE) + lanes.offset[lane];                       \
    std::uint32_t a = v, b = v, c = v, d = v;                          \
    BODY;                                                              \
    use(a ^ b ^ c ^ d, global);                                        \
  }
#define GLOBAL reinterpret_cast<std::uint64_t>(global)
#define SHARED shared_base()

#define LOADS(NAME, SPACE, BASE, R)                                                    \
  ACCESS(NAME##_1, BASE, asm volatile("ld." SPACE ".u8 %0, [%1];" : "=r"(a) : R(to)))  \
  ACCESS(NAME##_2, BASE,                                                               \
         asm volatile("{.reg .u16 h; ld." SPACE ".u16 h, [%1]; cvt.u32.u16 %0, h;}"    \
                      : "=r"(a)                                                        \
                      : R(to)))                                                        \
  ACCESS(NAME##_4, BASE, asm volatile("ld." SPACE ".u32 %0, [%1];" : "=r"(a) : R(to))) \
  ACCESS(NAME##_8, BASE,                                                               \
         asm volatile("ld." SPACE ".v2.u32 {%0, %1}, [%2];"                            \
                      : "=r"(a), "=r"(b)                                               \
                      : R(to)))                                                        \
  ACCESS(NAME##_16, BASE,                                                              \
         asm volatile("ld." SPACE ".v4.u32 {%0, %1, %2, %3}, [%4];"                    \
                      : "=r"(a), "=r"(b), "=r"(c), "=r"(d)                             \
                      : R(to)))
#define STORES(NAME, SPACE, BASE, R)                                                               \
  ACCESS(NAME##_1, BASE, asm volatile("st." SPACE ".u8 [%0], %1;" ::R(to), "r"(v)))                \
  ACCESS(                                                                                          \
      NAME##_2, BASE,                                                                              \
      asm volatile("{.reg .u16 h; cvt.u16.u32 h, %1; st." SPACE ".u16 [%0], h;}" ::R(to), "r"(v))) \
  ACCESS(NAME##_4, BASE, asm volatile("st." SPACE ".u32 [%0], %1;" ::R(to), "r"(v)))               \
  ACCESS(NAME##_8, BASE, asm volatile("st." SPACE ".v2.u32 [%0], {%1, %1};" ::R(to), "r"(v)))      \
  ACCESS(NAME##_16, BASE,                                                                          \
         asm volatile("st." SPACE ".v4.u32 [%0], {%1, %1, %1, %1};" ::R(to), "r"(v)))

LOADS(lds, "shared", SHARED, "r")
LOADS(ldg, "global", GLOBAL, "l")
STORES(sts, "shared", SHARED, "r")
STORES(stg, "global", GLOBAL, "l")
ACCESS(atoms_add_4, SHARED,
       asm volatile("atom.shared.add.u32 %0, [%1], %2;"
                    : "=r"(a)
                    : "r"(to), "r"(v)))
ACCESS(atoms_exch_4, SHARED,
       asm volatile("atom.shared.exch.b32 %0, [%1], %2;"
                    : "=r"(a)
                    : "r"(to), "r"(v)))
ACCESS(atomg_4, GLOBAL,
       asm volatile("atom.global.add.u32 %0, [%1], %2;"
                    : "=r"(a)
                    : "l"(to), "r"(v)))
ACCESS(redg_4, GLOBAL, asm volatile("red.global.add.u32 [%0], %1;" ::"l"(to), "r"(v)))

#define MATRICES(SHAPE, TRANS) "sync.aligned.m8n8." SHAPE TRANS ".shared.b16"
#define MATRIX(COUNT, NAME, TRANS) MATRIX_##COUNT(ldsm_##NAME##_16, stsm_##NAME##_16, TRANS)
#define MATRIX_1(LOAD, STORE, TRANS)                                   \
  ACCESS(LOAD, SHARED,                                                 \
         asm volatile("ldmatrix." MATRICES("x1", TRANS) " {%0}, [%1];" \
                      : "=r"(a)                                        \
                      : "r"(to)))                                      \
  ACCESS(STORE, SHARED,                                                \
         asm volatile("stmatrix." MATRICES("x1", TRANS) " [%0], {%1};" ::"r"(to), "r"(v)))
#define MATRIX_2(LOAD, STORE, TRANS)                                       \
  ACCESS(LOAD, SHARED,                                                     \
         asm volatile("ldmatrix." MATRICES("x2", TRANS) " {%0, %1}, [%2];" \
                      : "=r"(a), "=r"(b)                                   \
                      : "r"(to)))                                          \
  ACCESS(STORE, SHARED,                                                    \
         asm volatile("stmatrix." MATRICES("x2", TRANS) " [%0], {%1, %1};" ::"r"(to), "r"(v)))
#define MATRIX_4(LOAD, STORE, TRANS)                                                          \
  ACCESS(LOAD, SHARED,                                                                        \
         asm volatile("ldmatrix." MATRICES("x4", TRANS) " {%0, %1, %2, %3}, [%4];"            \
                      : "=r"(a), "=r"(b), "=r"(c), "=r"(d)                                    \
                      : "r"(to)))                                                             \
  ACCESS(STORE, SHARED,                                                                       \
         asm volatile("stmatrix." MATRICES("x4", TRANS) " [%0], {%1, %1, %1, %1};" ::"r"(to), \
                      "r"(v)))

MATRIX(1, x1, "")
MATRIX(2, x2, "")
MATRIX(4, x4, "")
MATRIX(1, x1_trans, ".trans")
MATRIX(2, x2_trans, ".trans")
MATRIX(4, x4_trans, ".trans")

using Kernel = void (*)(Lanes, std::uint32_t*);
#define WIDTHS(NAME)                                                                              \
  {#NAME "_1", NAME##_1}, {#NAME "_2", NAME##_2}, {#NAME "_4", NAME##_4}, {#NAME "_8", NAME##_8}, \
  {                                                                                               \
#NAME "_16", NAME##_16                                                                        \
  }
#define BOTH(NAME) \
  {"ldsm_" #NAME "_16", ldsm_##NAME##_16}, { "stsm_" #NAME "_16", stsm_##NAME##_16 }
const std::map<std::string, Kernel> kernels = {
    WIDTHS(lds),
    WIDTHS(ldg),
    WIDTHS(sts),
    WIDTHS(stg),
    {"atoms_add_4", atoms_add_4},
    {"atoms_exch_4", atoms_exch_4},
    {"atomg_4", atomg_4},
    {"redg_4", redg_4},
    BOTH(x1),
    BOTH(x2),
    BOTH(x4),
    BOTH(x1_trans),
    BOTH(x2_trans),
    BOTH(x4_trans),
};

void check(cudaError_t result, const char* doing) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "access_patterns: %s: %s\n", doing, cudaGetErrorString(result));
  std::exit(result == cudaErrorNoDevice || result == cudaErrorInsufficientDriver ? 4 : 1);
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  return cells;
}

/// Prints the compute capability, as 90, or runs the list.
int main(int argc, char** argv) {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "asking for the device");
  if (argc < 2) {
    std::printf("%d\n", 10 * device.major + device.minor);
    return 0;
  }
  std::uint32_t* global = nullptr;
  check(cudaMalloc(&global, global_bytes), "allocating");
  check(cudaMemset(global, 0, global_bytes), "clearing");
  std::ifstream list(argv[1]);
  std::string line;
  std::getline(list, line);  // the heading
  int launches = 0;
  for (; std::getline(list, line); ++launches) {
    const std::vector<std::string> cells = cells_of(line);
    const auto kernel = kernels.find(cells.at(0) + "_" + cells.at(1));
    if (kernel == kernels.end()) {
      std::fprintf(stderr, "access_patterns: no access %s of %s bytes\n", cells[0].c_str(),
                   cells[1].c_str());
      return 2;
    }
    Lanes lanes{};
    lanes.mask = static_cast<std::uint32_t>(std::stoul(cells.at(3), nullptr, 16));
    std::istringstream offsets(cells.at(4));
    for (std::uint32_t& offset : lanes.offset) offsets >> offset;
    kernel->second<<<1, 32, shared_bytes>>>(lanes, global);
    check(cudaGetLastError(), "launching");
  }
  check(cudaDeviceSynchronize(), "running");
  std::fprintf(stderr, "%d accesses\n", launches);
}
