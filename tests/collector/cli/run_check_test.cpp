// SPDX-License-Identifier: MIT
// `run --check`: mistakes of the variants of a family, and of the kernels of a file as its listing
// advises to start them; and what `run` says of results that are right.
#include <sstream>

#include "base/shell_line.h"
#include "tests/collector/cli/family_file.h"

namespace warpmeter::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Kernels as people write them; each is right.
constexpr const char* typical_kernels = R"(
#define TILE 32
struct Point { float x, y, z, w; };
#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x
#define PLACE int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y
__global__ void saxpy(float* __restrict__ y, const float* __restrict__ x, float a, int n) {
  INDEX;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void unguarded(float4* out, const float4* in) { INDEX; out[i] = in[i]; }
__global__ void aos(const Point* in, float* out) { INDEX; out[i] = in[i].x; }
__global__ void strided(float* out, const float* in, int stride) { INDEX; out[i] = in[i * stride]; }
__global__ void increment(int* data, int n) { INDEX; if (i < n) data[i]++; }
__global__ void histogram(unsigned* bins, const int* data, int n) {
  INDEX;
  if (i < n) atomicAdd(&bins[data[i]], 1);
}
__global__ void in_shared(unsigned* bins, const unsigned char* data, int n) {
  __shared__ unsigned counts[256];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[data[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
__global__ void scatter(float* out, const float* in, const int* index, int n) {
  INDEX;
  if (i < n) out[index[i]] = in[i];
}
__global__ void spmv(float* y, const float* values, const int* row_ptr, const int* columns,
                     const float* x, int rows) {
  INDEX;
  if (i >= rows) return;
  float sum = 0;
  for (int j = row_ptr[i]; j < row_ptr[i + 1]; ++j) sum += values[j] * x[columns[j]];
  y[i] = sum;
}
__global__ void sum_rows(float* out, const float* in, int rows, int cols) {
  INDEX;
  float sum = 0;
  for (int c = 0; c < cols; ++c) sum += in[i * cols + c];
  if (i < rows) out[i] = sum;
}
__global__ void reduce(float* out, const float* in, int n) {
  extern __shared__ float s[];
  INDEX;
  s[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
__global__ __launch_bounds__(128) void bounded(double* out, const double* in, size_t n) {
  INDEX;
  if (i < n) out[i] = in[i] * 2;
}
__global__ void transpose(float* out, const float* in, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
  out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void by_sixteen(float* C, const float* A, const float* B, int n) {
  __shared__ float a[16][16], b[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    a[threadIdx.y][threadIdx.x] = A[y * n + k + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = B[(k + threadIdx.y) * n + x];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
    __syncthreads();
  }
  C[y * n + x] = sum;
}
__global__ void blur(float* out, const float* in, int width, int height) {
  PLACE;
  if (x == 0 || y == 0 || x >= width - 1 || y >= height - 1) return;
  float sum = 0;
  for (int b = -1; b <= 1; ++b)
    for (int a = -1; a <= 1; ++a) sum += in[(y + b) * width + x + a];
  out[y * width + x] = sum / 9;
}
__global__ void heat(float* out, const float* in, int nx, int ny, int nz) {
  PLACE, z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x == 0 || y == 0 || z == 0 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  int i = (z * ny + y) * nx + x;
  out[i] = in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny];
}
)";

TEST_F(FamilyFile, CommandsOfAListingRunWithoutAMistake) {
  write("typical.cu", typical_kernels);
  const Outcome listing = warpmeter({"run", "typical.cu"});
  ASSERT_EQ(listing.exit_code, 0) << listing.error;
  std::istringstream lines(listing.output);
  int commands = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("    warpmeter ")) continue;
    std::vector<std::string> words = shell_words(line.substr(4));
    words.erase(words.begin());
    words.emplace_back("--check");
    const Outcome checked = warpmeter(words);
    EXPECT_EQ(checked.exit_code, 0) << line << checked.output << checked.error;
    EXPECT_THAT(checked.output, HasSubstr("Nothing was found of what was looked for in this "
                                          "launch (this input): out-of-bounds accesses, "));
    ++commands;
  }
  EXPECT_EQ(commands, 16);  // one a kernel
}

/// Right results, since warps run one after the other here; the barrier is missing all the same.
constexpr const char* racy = R"(
__global__ void right(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x ^ 32]; }
__global__ void racy(int* out, const int* in) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x >= 32) out[threadIdx.x] = s[threadIdx.x ^ 32];
  else out[threadIdx.x] = in[threadIdx.x + 32];
}
__global__ void unset(int* out, const int* in) { out[threadIdx.x] += in[threadIdx.x]; }
)";

constexpr const char* racy_family = R"(
family: mine
file: racy.cu
arguments: [ 'out: i32[64]', 'in: i32[64] = iota' ]
reference: right
variants:
  right: { kernel: right, grid: 1, block: 64 }
  racy: { kernel: racy, grid: 1, block: 64 }
)";

TEST_F(FamilyFile, ARaceThatVerificationDoesNotShowIsFoundByCheck) {
  write("racy.cu", racy);
  const Outcome measured = run(racy_family);
  EXPECT_EQ(measured.exit_code, 0) << measured.error;
  EXPECT_THAT(measured.error, AllOf(HasSubstr("verified: 1 of 1 launch against right\n"),
                                    HasSubstr("      warpmeter run --check f.yaml  # races")));
  const Outcome checked = warpmeter({"run", "--check", "f.yaml"});
  EXPECT_EQ(checked.exit_code, 6);
  EXPECT_THAT(checked.output,
              AllOf(HasSubstr("mine/racy"), HasSubstr("shared-memory race"), HasSubstr("racy.cu:6"),
                    Not(HasSubstr("mine/right")),
                    HasSubstr("Looked for in these 2 launches (this input): out-of-bounds")));
  EXPECT_THAT(checked.error, HasSubstr("--check found 1 mistake; fix the lines named above"));
  EXPECT_EQ(value_of("SELECT count(*) FROM runs"), "1") << "a check stores nothing";
}

TEST_F(FamilyFile, CheckFindsWhatNobodySetAndListsAllWithVerbose) {
  write("racy.cu", racy);
  write("f.yaml", std::string(racy_family) + "  unset: { kernel: unset, grid: 1, block: 64 }\n");
  const Outcome unset = warpmeter({"run", "--check", "f.yaml", "mine/unset"});
  EXPECT_EQ(unset.exit_code, 6);
  EXPECT_THAT(unset.output, AllOf(HasSubstr("uninitialised read"), HasSubstr("'out'")));
  const Outcome brief = warpmeter({"run", "--check", "f.yaml", "mine/right"});
  EXPECT_EQ(brief.exit_code, 0) << brief.error;
  EXPECT_THAT(brief.output, AllOf(HasSubstr("(-v lists each, and what was not looked for)."),
                                  Not(HasSubstr("Not looked for:"))));
  const Outcome verbose = warpmeter({"run", "--check", "-v", "f.yaml", "mine/right"});
  EXPECT_THAT(verbose.output, AllOf(HasSubstr("sync mask names and that are not there"),
                                    HasSubstr("Not looked for: accesses"),
                                    HasSubstr("and whether results are right")));
}

TEST_F(FamilyFile, CheckOfTheCatalogueIsDoneAtTheSmallestSize) {
  const Outcome outcome =
      warpmeter({"run", "--check", "smem_square/set_row_*", "reduction/shuffle"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("reduction is checked at 65,536, its smallest size; -n"));
  // A library's variant has no PTX to run: no mistake, and named.
  const Outcome library =
      warpmeter({"run", "--check", "matmul/cublas", "matmul/naive", "-n", "16"});
  EXPECT_EQ(library.exit_code, 0) << library.error;
  EXPECT_THAT(library.output, AllOf(HasSubstr("Not looked for: matmul/cublas at 16, which"),
                                    Not(HasSubstr("Nothing was found"))));
  EXPECT_EQ(warpmeter({"run", "--check", "vector_add", "-b", "cupti"}).exit_code, 2);
  EXPECT_EQ(warpmeter({"run", "--check", "vector_add", "--lines"}).exit_code, 2);
}

}  // namespace
}  // namespace warpmeter::cli
