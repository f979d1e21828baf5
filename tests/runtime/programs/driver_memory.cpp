// SPDX-License-Identifier: MIT
// Virtual memory management: a vector that grows by chunks of physical memory behind one another,
// memory at two addresses, what lives how long, and what is wrong.
#include <cstdio>
#include <string>
#include <vector>

#include "driver_program.h"
namespace {

constexpr int name_width = 28;

constexpr const char* source = R"(
extern "C" __global__ void count_up(unsigned* numbers, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    numbers[i] += i;
}
extern "C" __global__ void write_one(unsigned* number) { *number = 1; }
)";

constexpr std::size_t chunk = 2 << 20, words = chunk / 4, range = 16 * chunk;

CUmemAllocationProp properties_of(CUdevice device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return properties;
}

/// `count` words that the kernel has counted up from `begin`: how many are so.
unsigned right_ones(const std::vector<unsigned>& numbers, unsigned begin) {
  unsigned right = 0;
  for (unsigned i = 0; i < numbers.size(); ++i) right += numbers[i] == begin + i ? 1 : 0;
  return right;
}

}  // namespace

int main() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction count_up = nullptr, write_one = nullptr;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  cuModuleLoadData(&module, compiled(source, "count_up.cu").c_str());
  cuModuleGetFunction(&count_up, module, "count_up");
  cuModuleGetFunction(&write_one, module, "write_one");

  int is_supported = 0;
  std::size_t least = 0, best = 0;
  CUmemAllocationProp properties = properties_of(device);
  SAY(cuDeviceGetAttribute(&is_supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                           device));
  int has_handles = 0;
  // clang-format off
  SAY(cuDeviceGetAttribute(&has_handles, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, device));
  // clang-format on
  std::printf("%d\n", has_handles);
  SAY(cuMemGetAllocationGranularity(&least, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  SAY(cuMemGetAllocationGranularity(&best, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  std::printf("%d %zu %zu\n", is_supported, least, best);

  // A range, and what is refused about it.
  CUdeviceptr base = 0, other = 0;
  SAY(cuMemAddressReserve(&base, 100, 0, 0, 0));
  SAY(cuMemAddressReserve(&base, range, 3, 0, 0));
  SAY(cuMemAddressReserve(&base, range, 0, 0, 1));
  SAY(cuMemAddressReserve(&base, range, 0, 0, 0));
  SAY(cuMemAddressReserve(&other, range, 64 << 20, 0, 0));
  std::printf("aligned: %d %d\n", base % chunk == 0, other % (64 << 20) == 0);

  // Physical memory.
  CUmemGenericAllocationHandle first = 0, second = 0, none = 0;
  SAY(cuMemCreate(&none, 1000, &properties, 0));
  SAY(cuMemCreate(&none, 0, &properties, 0));
  SAY(cuMemCreate(&none, chunk, &properties, 1));
  CUmemAllocationProp elsewhere = properties_of(99), unknown = properties;
  unknown.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  SAY(cuMemCreate(&none, chunk, &elsewhere, 0));
  SAY(cuMemCreate(&none, chunk, &unknown, 0));
  SAY(cuMemCreate(&first, chunk, &properties, 0));
  SAY(cuMemCreate(&second, 2 * chunk, &properties, 0));
  CUmemAllocationProp known{};
  SAY(cuMemGetAllocationPropertiesFromHandle(&known, second));
  std::printf("%d %d %d\n", known.type, known.location.type, known.location.id);

  // The mappings lie behind one another.
  const CUmemAccessDesc both = {{CU_MEM_LOCATION_TYPE_DEVICE, device},
                                CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  SAY(cuMemSetAccess(base, chunk, &both, 1));  // nothing is mapped
  SAY(cuMemMap(base, chunk, 0, first, 0));
  SAY(cuMemMap(base, chunk, 0, second, 0));  // something is
  SAY(cuMemMap(base + chunk, 2 * chunk, 0, second, 1));
  SAY(cuMemMap(base + chunk, 4 * chunk, 0, second, 0));  // more than there is
  SAY(cuMemMap(base + chunk, 2 * chunk, 0, second, 0));
  SAY(cuMemSetAccess(base, 2 * chunk, &both, 1));  // a part of a mapping
  unsigned long long flags = 9;
  SAY(cuMemGetAccess(&flags, &both.location, base));
  std::printf("access %llu\n", flags);
  SAY(cuMemSetAccess(base, 3 * chunk, &both, 1));
  SAY(cuMemGetAccess(&flags, &both.location, base + chunk + 5));
  std::printf("access %llu\n", flags);
  SAY(cuMemGetAccess(&flags, &both.location, base + 3 * chunk));

  // One access range over several handles.
  unsigned n = 3 * words, more = 4 * words;
  std::vector<unsigned> numbers(n);
  SAY(cuMemsetD32(base, 5, n));
  void* arguments[] = {&base, &n};
  SAY(cuLaunchKernel(count_up, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  SAY(cuMemcpyDtoH(numbers.data(), base, n * 4));
  std::printf("%u of %u are right\n", right_ones(numbers, 5), n);
  SAY(cuMemcpyDtoH(numbers.data(), base + chunk - 64, 128));
  std::printf("%u %u %u\n", numbers[0], numbers[15], numbers[16]);

  // It grows, and what there was stays.
  CUmemGenericAllocationHandle third = 0;
  SAY(cuMemCreate(&third, chunk, &properties, 0));
  SAY(cuMemMap(base + 3 * chunk, chunk, 0, third, 0));
  SAY(cuMemSetAccess(base + 3 * chunk, chunk, &both, 1));
  SAY(cuMemsetD32(base + 3 * chunk, n + 5, words));
  void* all[] = {&base, &more};
  numbers.assign(more, 0);
  SAY(cuMemcpyDtoH(numbers.data(), base, more * 4));
  std::printf("%u of %u are right\n", right_ones({numbers.begin(), numbers.begin() + n}, 5), n);
  SAY(cuMemsetD32(base, 0, more));
  SAY(cuLaunchKernel(count_up, 4, 1, 1, 256, 1, 1, 0, nullptr, all, nullptr));
  SAY(cuMemcpyDtoH(numbers.data(), base, more * 4));
  std::printf("%u of %u are right\n", right_ones(numbers, 0), more);

  // The same memory at a second address; the handle goes, the memory stays.
  SAY(cuMemMap(other, chunk, 0, first, 0));
  SAY(cuMemSetAccess(other, chunk, &both, 1));
  SAY(cuMemRelease(first));
  unsigned word = 0;
  SAY(cuMemcpyDtoH(&word, other + 400, 4));
  std::printf("%u\n", word);
  CUdeviceptr place = other + 400;
  void* one[] = {&place};
  SAY(cuLaunchKernel(write_one, 1, 1, 1, 1, 1, 1, 0, nullptr, one, nullptr));
  SAY(cuMemcpyDtoH(&word, base + 400, 4));
  std::printf("%u\n", word);
  SAY(cuMemUnmap(base, 4 * chunk));
  SAY(cuMemRetainAllocationHandle(&none, reinterpret_cast<void*>(base)));
  SAY(cuMemRetainAllocationHandle(&none, reinterpret_cast<void*>(other + 77)));
  SAY(cuMemUnmap(other, chunk));
  SAY(cuMemMap(other + chunk, chunk, 0, none, 0));
  SAY(cuMemSetAccess(other + chunk, chunk, &both, 1));
  SAY(cuMemcpyDtoH(&word, other + chunk + 400, 4));
  std::printf("%u\n", word);

  // The attributes of the pointers.
  CUdeviceptr start = 0;
  std::size_t size = 0;
  unsigned is_mapped = 9, type = 0, is_managed = 9;
  SAY(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, other + chunk + 4));
  SAY(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, other + chunk + 4));
  std::printf("%d %d\n", start == other, size == range);
  SAY(cuPointerGetAttribute(&is_mapped, CU_POINTER_ATTRIBUTE_MAPPED, other + chunk + 4));
  SAY(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, other + chunk + 4));
  SAY(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, other + chunk + 4));
  std::printf("%u %u %u\n", is_mapped, type, is_managed);
  SAY(cuMemGetAddressRange(&start, &size, other + chunk + 4));
  std::printf("%d %zu\n", start == other + chunk, size);

  // In order to the end.
  SAY(cuMemFree(other + chunk));
  SAY(cuMemUnmap(other, 2 * chunk));  // the first half is not mapped, which is no mistake
  SAY(cuMemUnmap(other + chunk, chunk));
  SAY(cuMemRelease(none));
  SAY(cuMemRelease(second));
  SAY(cuMemAddressFree(other, chunk));
  SAY(cuMemAddressFree(other, range));

  // A range behind another one, where the driver can grant that: memory goes on from one to the
  // other.
  CUdeviceptr front = 0, back = 0;
  CUmemGenericAllocationHandle fourth = 0;
  SAY(cuMemAddressReserve(&front, range, 0, 0, 0));
  SAY(cuMemAddressReserve(&back, range, 0, front + range, 0));
  SAY(cuMemCreate(&fourth, chunk, &properties, 0));
  const CUdeviceptr last = front + range - chunk;
  cuMemMap(last, chunk, 0, third, 0);
  cuMemMap(back, chunk, 0, fourth, 0);
  cuMemSetAccess(last, chunk, &both, 1);
  cuMemSetAccess(back, chunk, &both, 1);
  if (back == front + range) {
    std::fprintf(stderr, "one behind the other\n");
    unsigned ones[2] = {};
    const bool is_set = cuMemsetD32(last, 7, 2 * words) == CUDA_SUCCESS &&
                        cuMemcpyDtoH(ones, back - 4, 8) == CUDA_SUCCESS;
    if (!is_set || ones[0] != 7 || ones[1] != 7) std::printf("not joined\n");
  }
  SAY(cuMemUnmap(last, chunk));
  SAY(cuMemUnmap(back, chunk));
  SAY(cuMemRelease(fourth));
  SAY(cuMemAddressFree(front, range));
  SAY(cuMemAddressFree(back, range));

  // Memory of the host, which both reach at the address where it is mapped.
  CUmemAllocationProp of_host = properties;
  of_host.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
  const CUmemAccessDesc each[] = {both, {of_host.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
  CUmemGenericAllocationHandle fifth = 0;
  SAY(cuMemCreate(&fifth, chunk, &of_host, 0));
  SAY(cuMemMap(base, chunk, 0, fifth, 0));
  SAY(cuMemSetAccess(base, chunk, each, 2));
  auto* on_host = reinterpret_cast<unsigned*>(base);
  for (unsigned i = 0; i < words; ++i) on_host[i] = 3;
  unsigned count = words;
  void* few[] = {&base, &count};
  SAY(cuLaunchKernel(count_up, 4, 1, 1, 256, 1, 1, 0, nullptr, few, nullptr));
  SAY(cuCtxSynchronize());
  std::printf("%u of %u are right\n", right_ones({on_host, on_host + words}, 3),
              static_cast<unsigned>(words));
  SAY(cuMemUnmap(base, chunk));
  SAY(cuMemRelease(fifth));

  // Memory without access rights.
  SAY(cuMemMap(base, chunk, 0, third, 0));
  SAY(cuLaunchKernel(write_one, 1, 1, 1, 1, 1, 1, 0, nullptr, (place = base, one), nullptr));
  SAY(cuCtxSynchronize());
}
