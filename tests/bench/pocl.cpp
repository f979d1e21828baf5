// SPDX-License-Identifier: MIT
// The kernels of pocl.cl on the processor by OpenCL (PoCL), with the data of uncounted.cu:
// milliseconds of each on standard error, a hash of its result on standard output, as that program
// prints them. The first launch, which translates, is not timed. uncounted.py runs it.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace {

void require(cl_int result, const char* call) {
  if (result == CL_SUCCESS) return;
  std::fprintf(stderr, "%s failed with %d\n", call, result);
  std::exit(1);
}

class Machine {
 public:
  explicit Machine(const char* source) {
    cl_platform_id platform = nullptr;
    require(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    require(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device_, nullptr), "clGetDeviceIDs");
    cl_int result = 0;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &result);
    require(result, "clCreateContext");
    queue_ = clCreateCommandQueue(context_, device_, 0, &result);
    require(result, "clCreateCommandQueue");
    std::ifstream file(source);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const char* begin = text.c_str();
    program_ = clCreateProgramWithSource(context_, 1, &begin, nullptr, &result);
    require(result, "clCreateProgramWithSource");
    require(clBuildProgram(program_, 1, &device_, "", nullptr, nullptr), "clBuildProgram");
  }

  template <class T>
  cl_mem copied(const std::vector<T>& values) {
    cl_int result = 0;
    const cl_mem buffer =
        clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                       values.size() * sizeof(T), const_cast<T*>(values.data()), &result);
    require(result, "clCreateBuffer");
    return buffer;
  }
  void clear(cl_mem buffer, std::size_t bytes) {
    const int zero = 0;
    require(clEnqueueFillBuffer(queue_, buffer, &zero, sizeof zero, 0, bytes, 0, nullptr, nullptr),
            "clEnqueueFillBuffer");
  }

  template <class... Arguments>
  void run(const char* label, const char* name, int times, cl_mem result, std::size_t bytes,
           std::array<std::size_t, 2> items, std::array<std::size_t, 2> group,
           const Arguments&... arguments) {
    cl_int status = 0;
    const cl_kernel kernel = clCreateKernel(program_, name, &status);
    require(status, name);
    cl_uint index = 0;
    (require(clSetKernelArg(kernel, index++, sizeof arguments, &arguments), "clSetKernelArg"), ...);
    const auto launch = [&] {
      require(clEnqueueNDRangeKernel(queue_, kernel, items[1] > 1 ? 2 : 1, nullptr, items.data(),
                                     group.data(), 0, nullptr, nullptr),
              "clEnqueueNDRangeKernel");
    };
    launch();
    clear(result, bytes);
    require(clFinish(queue_), "clFinish");
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) launch();
    require(clFinish(queue_), "clFinish");
    const std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - begin;
    std::vector<unsigned> words(bytes / sizeof(unsigned));
    require(
        clEnqueueReadBuffer(queue_, result, CL_TRUE, 0, bytes, words.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
    unsigned long long hash = 14695981039346656037ull;
    for (const unsigned word : words) hash = (hash ^ word) * 1099511628211ull;
    std::fprintf(stderr, "time %s %f\n", label, passed.count());
    std::printf("%s %llx\n", label, hash);
  }

 private:
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
};

std::vector<float> filled(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 13) / 2 + 1;
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  Machine machine(argv[1]);
  const int scale = std::atoi(argv[2]);
  constexpr int n = 256, rows = 16384, each = 16, many = rows * each, side = 1024;
  constexpr std::size_t elements = std::size_t{1} << 20, all = 4 * elements;
  std::vector<int> begins(rows + 1), columns(many), order(many), keys(many);
  for (int i = 0; i <= rows; ++i) begins[i] = i * each;
  unsigned random = 1;
  for (int& column : columns)
    column = static_cast<int>((random = random * 1664525 + 1013904223) >> 18);
  for (int i = 0; i < many; ++i) order[i] = i;
  for (int i = many - 1; i > 0; --i) {
    random = random * 1664525 + 1013904223;
    std::swap(order[i], order[random % static_cast<unsigned>(i + 1)]);
    keys[i] = static_cast<int>(random >> 4);
  }
  const cl_mem a = machine.copied(filled(elements)), b = machine.copied(filled(elements)),
               c = machine.copied(filled(elements));
  const cl_mem row_begins = machine.copied(begins), row_columns = machine.copied(columns),
               random_keys = machine.copied(keys);
  machine.run("gemm", "gemm", 2 * scale, c, n * n * 4, {n, n}, {16, 16}, a, b, c, n);
  machine.run("gemm_tiled", "gemm_tiled", 2 * scale, c, n * n * 4, {n, n}, {16, 16}, a, b, c, n);
  machine.run("gemm_1024", "gemm", 1, c, all, {side, side}, {16, 16}, a, b, c, side);
  machine.run("gemm_tiled_1024", "gemm_tiled", 1, c, all, {side, side}, {16, 16}, a, b, c, side);
  machine.run("transpose", "transpose", 10 * scale, c, all, {side, side}, {16, 16}, a, c, side);
  machine.run("stencil", "stencil", 10 * scale, c, all, {side, side}, {16, 16}, a, c, side);
  machine.run("reduce", "reduce", 20 * scale, c, 64 * 4, {64 * 256, 1}, {256, 1}, a, c, 1 << 20);
  machine.run("nbody", "nbody", scale, c, 2048 * 16, {2048, 1}, {256, 1}, a, c, 2048);
  machine.run("spmv", "spmv", 5 * scale, c, rows * 4, {rows, 1}, {256, 1}, row_begins, row_columns,
              a, b, c, rows);
  machine.run("histogram", "histogram", 10 * scale, c, 256 * 4, {64 * 256, 1}, {256, 1},
              random_keys, c, many);
  machine.run("sort", "sort", scale, c, many * 4, {many / 2, 1}, {256, 1}, random_keys, c);
}
