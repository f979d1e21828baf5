// SPDX-License-Identifier: MIT
// Device memory and pools that a process hands to another as file descriptors, which go through a
// socket: virtual memory (cuMemExportToShareableHandle) and pools (cudaMemPoolExportPointer). The
// child is forked before either of them used CUDA; they take turns.
#include <cuda.h>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
__global__ void add(int* data, int more) { data[threadIdx.x] += more + threadIdx.x; }

namespace {

const char* who = "parent";

const char* name_of(CUresult result) {
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  return name != nullptr ? name : "?";
}
const char* name_of(cudaError_t result) {
  const char* name = cudaGetErrorName(result);
  cudaGetLastError();
  return name;
}

#define SAY(call) std::printf("%-6s %-28s %s\n", who, name_of(call), #call)

void put(int to, const void* bytes, std::size_t count, int descriptor = -1) {
  std::fflush(stdout);
  iovec part = {const_cast<void*>(bytes), count};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  if (sendmsg(to, &message, 0) != static_cast<ssize_t>(count)) _exit(9);
}
/// The descriptor that comes with the bytes; -1: none does.
int get(int from, void* bytes, std::size_t count) {
  iovec part = {bytes, count};
  msghdr message{};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(from, &message, MSG_WAITALL) != static_cast<ssize_t>(count)) _exit(8);
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  int descriptor = -1;
  if (header != nullptr) std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}
void tell(int to) { put(to, "x", 1); }
void hear(int from) {
  char byte;
  get(from, &byte, 1);
}

constexpr auto posix = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
constexpr auto posix_pool = cudaMemHandleTypePosixFileDescriptor;

void* as_handle(int descriptor) {
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
}

CUmemAllocationProp properties(unsigned types) {
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  wanted.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(types);
  return wanted;
}

constexpr std::size_t step = 2 << 20;

CUdeviceptr mapped(CUmemGenericAllocationHandle handle, std::size_t bytes) {
  CUdeviceptr at = 0;
  SAY(cuMemAddressReserve(&at, bytes, 0, 0, 0));
  SAY(cuMemMap(at, bytes, 0, handle, 0));
  CUmemAccessDesc access{};
  access.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  SAY(cuMemSetAccess(at, bytes, &access, 1));
  return at;
}
void unmap(CUdeviceptr at, std::size_t bytes) {
  SAY(cuMemUnmap(at, bytes));
  SAY(cuMemAddressFree(at, bytes));
}

void show(const void* device, const char* what) {
  int host[32] = {};
  SAY(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("%-6s finds %d %d in %s\n", who, host[0], host[31], what);
}
int* pointer(CUdeviceptr at) { return reinterpret_cast<int*>(at); }

void describe(CUmemGenericAllocationHandle handle, CUdeviceptr at) {
  CUmemAllocationProp found{};
  SAY(cuMemGetAllocationPropertiesFromHandle(&found, handle));
  std::printf("%-6s of type %d at location %d of type %d, handles %d\n", who, found.type,
              found.location.id, found.location.type, found.requestedHandleTypes);
  std::uint64_t types = 99;
  SAY(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, at));
  std::size_t bytes = 0;
  SAY(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, at));
  std::printf("%-6s handles %llu, %zu bytes\n", who, static_cast<unsigned long long>(types), bytes);
}

void virtual_memory_of_parent(int child) {
  const CUmemAllocationProp wanted = properties(posix), plain = properties(0);
  CUmemGenericAllocationHandle handle = 0, unshared = 0, again = 0, other = 0;
  SAY(cuMemCreate(&handle, 2 * step, &wanted, 0));
  SAY(cuMemCreate(&unshared, step, &plain, 0));
  int descriptor = -1, second = -1;
  SAY(cuMemExportToShareableHandle(&descriptor, handle, posix, 1));
  SAY(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_NONE, 0));
  SAY(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_WIN32, 0));
  SAY(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0));
  SAY(cuMemExportToShareableHandle(&descriptor, unshared, posix, 0));
  SAY(cuMemExportToShareableHandle(nullptr, handle, posix, 0));
  SAY(cuMemExportToShareableHandle(&descriptor, 0, posix, 0));
  SAY(cuMemExportToShareableHandle(&descriptor, handle, posix, 0));
  SAY(cuMemExportToShareableHandle(&second, handle, posix, 0));
  std::printf("%-6s two descriptors: %d\n", who, descriptor != second);
  close(second);
  const int nothing = open("/dev/null", O_RDWR);
  SAY(cuMemImportFromShareableHandle(&other, as_handle(-1), posix));
  SAY(cuMemImportFromShareableHandle(&other, as_handle(nothing), posix));
  SAY(cuMemImportFromShareableHandle(nullptr, as_handle(descriptor), posix));
  SAY(cuMemImportFromShareableHandle(&other, as_handle(descriptor), CU_MEM_HANDLE_TYPE_NONE));
  SAY(cuMemImportFromShareableHandle(&other, as_handle(descriptor), CU_MEM_HANDLE_TYPE_WIN32));

  // The import gives the same memory where it came from.
  SAY(cuMemImportFromShareableHandle(&again, as_handle(descriptor), posix));
  std::printf("%-6s the same handle: %d\n", who, handle == again);
  const CUdeviceptr at = mapped(handle, 2 * step);
  SAY(cuMemsetD32(at, 7, 32));
  const CUdeviceptr elsewhere = mapped(again, 2 * step);
  show(pointer(elsewhere), "what it imported itself");
  describe(again, elsewhere);
  SAY(cuMemRelease(again));
  unmap(elsewhere, 2 * step);
  put(child, "d", 1, descriptor);
  close(descriptor);
  hear(child);  // it has added
  show(pointer(at), "its memory");
  add<<<1, 32>>>(pointer(at), 100);
  SAY(cudaDeviceSynchronize());
  SAY(cuMemRelease(handle));
  unmap(at, 2 * step);
  SAY(cuMemRelease(unshared));
  tell(child);  // nothing of it is left here
  hear(child);
  close(nothing);
}

void virtual_memory_of_child(int parent) {
  char byte;
  const int descriptor = get(parent, &byte, 1);
  CUmemGenericAllocationHandle handle = 0;
  SAY(cuMemImportFromShareableHandle(&handle, as_handle(descriptor), posix));
  const CUdeviceptr at = mapped(handle, 2 * step);
  describe(handle, at);
  show(pointer(at), "the parent's memory");
  add<<<1, 32>>>(pointer(at), 1000);
  SAY(cudaDeviceSynchronize());
  tell(parent);
  hear(parent);
  show(pointer(at), "what the parent let go of");
  int further = -1;
  SAY(cuMemExportToShareableHandle(&further, handle, posix, 0));
  close(further);
  SAY(cuMemRelease(handle));
  unmap(at, 2 * step);
  close(descriptor);
  tell(parent);
}

struct Shared {
  cudaMemPoolPtrExportData first, second;
};

void pools_of_parent(int child) {
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.location = {cudaMemLocationTypeDevice, 0};
  wanted.handleTypes = posix_pool;
  cudaMemPool_t pool = nullptr, unshared = nullptr, again = nullptr;
  SAY(cudaMemPoolCreate(&pool, &wanted));
  SAY(cudaDeviceGetDefaultMemPool(&unshared, 0));
  int descriptor = -1;
  SAY(cudaMemPoolExportToShareableHandle(&descriptor, pool, posix_pool, 1));
  SAY(cudaMemPoolExportToShareableHandle(&descriptor, pool, cudaMemHandleTypeNone, 0));
  SAY(cudaMemPoolExportToShareableHandle(&descriptor, unshared, posix_pool, 0));
  SAY(cudaMemPoolExportToShareableHandle(nullptr, pool, posix_pool, 0));
  SAY(cudaMemPoolExportToShareableHandle(&descriptor, pool, posix_pool, 0));
  const int nothing = open("/dev/null", O_RDWR);
  SAY(cudaMemPoolImportFromShareableHandle(&again, as_handle(nothing), posix_pool, 0));
  SAY(cudaMemPoolImportFromShareableHandle(&again, as_handle(descriptor), posix_pool, 1));
  SAY(cudaMemPoolImportFromShareableHandle(&again, as_handle(descriptor), cudaMemHandleTypeNone,
                                           0));
  SAY(cudaMemPoolImportFromShareableHandle(nullptr, as_handle(descriptor), posix_pool, 0));
  close(nothing);
  int *first = nullptr, *second = nullptr, *plain = nullptr, *allocated = nullptr;
  SAY(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&first), 128, pool, nullptr));
  SAY(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&second), 1 << 20, pool, nullptr));
  SAY(cudaMallocAsync(reinterpret_cast<void**>(&plain), 128, nullptr));
  SAY(cudaMalloc(&allocated, 128));
  SAY(cudaMemset(first, 0, 128));
  SAY(cudaMemset(second, 1, 1 << 20));
  Shared shared{};
  SAY(cudaMemPoolExportPointer(&shared.first, plain));
  SAY(cudaMemPoolExportPointer(&shared.first, allocated));
  SAY(cudaMemPoolExportPointer(&shared.first, nullptr));
  SAY(cudaMemPoolExportPointer(nullptr, first));
  SAY(cudaMemPoolExportPointer(&shared.first, first + 1));
  SAY(cudaMemPoolExportPointer(&shared.first, first));
  SAY(cudaMemPoolExportPointer(&shared.second, second));
  add<<<1, 32>>>(first, 5);
  SAY(cudaDeviceSynchronize());
  put(child, &shared, sizeof shared, descriptor);
  close(descriptor);
  hear(child);
  show(first, "its first");
  show(second, "its second");
  hear(child);  // it has let both go
  SAY(cudaFreeAsync(first, nullptr));
  SAY(cudaFreeAsync(second, nullptr));
  SAY(cudaFree(plain));
  SAY(cudaFree(allocated));
  SAY(cudaDeviceSynchronize());
  SAY(cudaMemPoolDestroy(pool));
}

void pools_of_child(int parent) {
  Shared shared{};
  const int descriptor = get(parent, &shared, sizeof shared);
  cudaMemPool_t pool = nullptr, own = nullptr;
  SAY(cudaMemPoolImportFromShareableHandle(&pool, as_handle(descriptor), posix_pool, 0));
  close(descriptor);
  int *first = nullptr, *again = nullptr, *second = nullptr, *none = nullptr;
  SAY(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&none), 128, pool, nullptr));
  SAY(cudaDeviceSetMemPool(0, pool));
  SAY(cudaDeviceGetDefaultMemPool(&own, 0));
  SAY(cudaMemPoolImportPointer(reinterpret_cast<void**>(&first), own, &shared.first));
  SAY(cudaMemPoolImportPointer(reinterpret_cast<void**>(&first), pool, nullptr));
  SAY(cudaMemPoolImportPointer(nullptr, pool, &shared.first));
  cudaMemPoolPtrExportData nonsense{};
  SAY(cudaMemPoolImportPointer(reinterpret_cast<void**>(&first), pool, &nonsense));
  SAY(cudaMemPoolImportPointer(reinterpret_cast<void**>(&first), pool, &shared.first));
  SAY(cudaMemPoolImportPointer(reinterpret_cast<void**>(&second), pool, &shared.second));
  show(first, "the parent's first");
  show(second, "the parent's second");
  add<<<1, 32>>>(first, 1000);
  add<<<1, 32>>>(second, 2000);
  SAY(cudaDeviceSynchronize());
  cudaPointerAttributes attributes{};
  SAY(cudaPointerGetAttributes(&attributes, first));
  std::printf("%-6s memory of type %d\n", who, attributes.type);
  std::uint64_t number = 99;
  SAY(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &number));
  SAY(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &number));
  SAY(cudaMemPoolTrimTo(pool, 0));
  cudaMemAccessDesc access{};
  access.location = {cudaMemLocationTypeDevice, 0};
  access.flags = cudaMemAccessFlagsProtReadWrite;
  SAY(cudaMemPoolSetAccess(pool, &access, 1));
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  SAY(cudaMemPoolGetAccess(&flags, pool, &access.location));
  std::printf("%-6s access %d\n", who, flags);
  int further = -1;
  SAY(cudaMemPoolExportToShareableHandle(&further, pool, posix_pool, 0));
  SAY(cudaMemPoolExportPointer(&nonsense, first));
  cudaIpcMemHandle_t handle{};
  SAY(cudaIpcGetMemHandle(&handle, first));
  tell(parent);
  SAY(cudaFreeAsync(first, nullptr));
  SAY(cudaFree(second));
  SAY(cudaDeviceSynchronize());
  SAY(cudaMemPoolImportPointer(reinterpret_cast<void**>(&again), pool, &shared.first));
  SAY(cudaFree(again));
  SAY(cudaMemPoolDestroy(pool));
  tell(parent);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOFBF, 1 << 16);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 7;
  const pid_t id = fork();
  if (id == 0) who = "child";
  SAY(cuInit(0));
  SAY(cudaSetDevice(0));
  if (id == 0) {
    hear(ends[1]);
    virtual_memory_of_child(ends[1]);
    hear(ends[1]);
    pools_of_child(ends[1]);
    std::fflush(stdout);
    return 0;
  }
  tell(ends[0]);
  virtual_memory_of_parent(ends[0]);
  tell(ends[0]);
  pools_of_parent(ends[0]);
  std::fflush(stdout);
  int status = 0;
  waitpid(id, &status, 0);
  std::printf("child ended with %d\n", status);
}
