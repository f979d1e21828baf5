// SPDX-License-Identifier: MIT
// Host code and operations that share pages: fields of arrays of structures, variables beside each
// other, and functions of the system that touch memory for the program. --check tells the lines
// that touch what an operation still uses, and no others; and the program goes on as it would
// without.
#include <fcntl.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>
#include <csignal>
#include <cstring>

#include "races.h"
namespace {

long sum = 0;

struct Particle {
  int position, cell;
};
constexpr int particles = 3000;

__global__ void move_all(Particle* all, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) all[i].position = i;
}
__global__ void add_cells(const Particle* all, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = all[i].cell;
}

__managed__ int steps;
__managed__ int errors;
__managed__ int table[4000];
__global__ void count_step() { ++steps; }

struct Shared {
  Particle* all = nullptr;
  int* out = nullptr;
  Shared() {
    CHECKED(cudaMallocManaged(&all, particles * sizeof(Particle)));
    CHECKED(cudaMallocManaged(&out, particles * sizeof(int)));
    std::memset(all, 0, particles * sizeof(Particle));
    CHECKED(cudaDeviceSynchronize());
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() {
    CHECKED(cudaDeviceSynchronize());
    CHECKED(cudaFree(all));
    CHECKED(cudaFree(out));
  }
  void move() const { move_all<<<blocks(particles), 128>>>(all, particles); }
};

int zeros() { return open("/dev/zero", O_RDWR); }

// These calls are wrong.

void field_that_is_written() {
  Shared s;
  s.move();
  sum += s.all[7].cell;
  sum += s.all[7].position;  // race: host
}

void field_that_is_read() {
  Shared s;
  add_cells<<<blocks(particles), 128>>>(s.all, s.out, particles);
  sum += s.all[7].cell;
  s.all[7].position = 3;
  s.all[7].cell = 3;  // race: host
}

void copy_that_reaches_into_it() {
  Shared s;
  fill<<<1, 32>>>(s.out + 512, 32, 1);
  int here[513];
  std::memcpy(here, s.out + 8, 4 * 504);
  std::memcpy(here, s.out + 8, 4 * 505);  // race: host
  sum += here[3];
}

void variable_that_is_counted() {
  count_step<<<1, 1>>>();
  errors = 0;
  sum += steps;  // race: host
  CHECKED(cudaDeviceSynchronize());
}

void variable_as_a_whole() {
  fill<<<blocks(4000), 128>>>(table, 4000, 1);
  sum += table[2000];  // race: host
  CHECKED(cudaDeviceSynchronize());
}

void filled_again_and_written_again() {
  Case c;
  CHECKED(cudaMemcpyAsync(c.x, c.pinned, bytes, cudaMemcpyHostToDevice, c.a));
  c.pinned[5] = -1;  // race: host
  CHECKED(cudaMemcpyAsync(c.pinned, c.y, bytes, cudaMemcpyDeviceToHost, c.a));
  CHECKED(cudaStreamSynchronize(c.a));
}

void read_before_it_is_written_again() {
  Shared s;
  fill<<<blocks(particles), 128>>>(s.out, particles, 1);
  sum += s.out[1];  // race: host
  fill<<<blocks(particles), 128>>>(s.out, particles, 2);
}

void the_same_value_again() {
  Case c;
  CHECKED(cudaMemcpyAsync(c.x, c.pinned, bytes, cudaMemcpyHostToDevice, c.a));
  c.pinned[5] = c.pinned[5];  // race: host
}

void registered_memory_filled_again() {
  Case c;
  CHECKED(cudaHostRegister(c.host, bytes, cudaHostRegisterDefault));
  CHECKED(cudaMemcpyAsync(c.x, c.host, bytes, cudaMemcpyHostToDevice, c.a));  // race: host
  c.host[3] = -1;
  CHECKED(cudaMemcpyAsync(c.host, c.y, bytes, cudaMemcpyDeviceToHost, c.a));
  CHECKED(cudaStreamSynchronize(c.a));
  CHECKED(cudaHostUnregister(c.host));
}

void registered_memory_written_by_both() {
  Case c;
  CHECKED(cudaHostRegister(c.host, bytes, cudaHostRegisterDefault));
  CHECKED(cudaMemcpyAsync(c.host, c.y, bytes, cudaMemcpyDeviceToHost, c.a));  // race: host
  c.host[3] = -1;
  CHECKED(cudaStreamSynchronize(c.a));
  CHECKED(cudaHostUnregister(c.host));
}

void system_reads_and_writes() {
  Shared s;
  const int file = zeros();
  fill<<<blocks(particles), 128>>>(s.out, particles, 1);
  sum += write(file, s.out, 12000);  // race: host
  fill<<<blocks(particles), 128>>>(s.out, particles, 1);
  sum += read(file, s.out, 12000);  // race: host
  sum += s.out[100];                // race: host
  CHECKED(cudaDeviceSynchronize());
  fill<<<blocks(particles), 128>>>(s.out, particles, 1);
  iovec two[] = {{&sum, 0}, {s.out, 12000}};
  sum += writev(file, two, 2);  // race: host
  close(file);
}

void streams_of_the_library() {
  Shared s;
  std::FILE* file = std::fopen("/dev/zero", "r+");
  add<<<blocks(particles), 128>>>(reinterpret_cast<int*>(s.all), s.out, particles);
  sum += std::fread(s.out, 4, particles, file);  // race: host
  sum += s.out[100];
  CHECKED(cudaDeviceSynchronize());
  fill<<<blocks(particles), 128>>>(s.out, particles, 1);
  sum += std::fwrite(s.out, 4, particles, file);  // race: host
  std::fclose(file);
}

// These calls are right.

void other_field() {
  Shared s;
  s.move();
  for (int i = 0; i < 20; ++i) {
    s.all[i].cell = i;
    sum += s.all[i].cell;
  }
  CHECKED(cudaDeviceSynchronize());
  sum += s.all[9].position + s.all[9].cell;
}

void other_variable() {
  count_step<<<1, 1>>>();
  errors = 3;
  sum += errors;
  CHECKED(cudaDeviceSynchronize());
  sum += steps;
}

void system_has_the_other_half() {
  Shared s;
  const int file = zeros();
  fill<<<blocks(200), 128>>>(s.out, 200, 1);
  sum += read(file, s.out + 200, 400);
  sum += write(file, s.out + 200, 400);
  std::FILE* stream = std::fopen("/dev/zero", "r");
  sum += std::fread(s.out + 200, 4, 2800, stream);
  std::fclose(stream);
  sum += s.out[2000];
  close(file);
  CHECKED(cudaDeviceSynchronize());
  sum += s.out[100];
}

/// A file that ends before the part that is under way.
void system_reads_less() {
  Shared s;
  int ends[2] = {};
  sum += pipe(ends);
  sum += write(ends[1], "1234", 4);
  fill<<<1, 32>>>(s.out + 600, 32, 1);
  sum += read(ends[0], s.out, 12000);
  close(ends[0]);
  close(ends[1]);
}

void thread_without_signals() {
  Shared s;
  s.move();
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void* given) -> void* {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        static_cast<Shared*>(given)->all[3].cell = 5;
        return nullptr;
      },
      &s);
  pthread_join(thread, nullptr);
  sum += s.all[3].cell;
}

}  // namespace

int main() {
  field_that_is_written();
  field_that_is_read();
  copy_that_reaches_into_it();
  variable_that_is_counted();
  variable_as_a_whole();
  filled_again_and_written_again();
  read_before_it_is_written_again();
  the_same_value_again();
  registered_memory_filled_again();
  registered_memory_written_by_both();
  system_reads_and_writes();
  streams_of_the_library();
  other_field();
  other_variable();
  system_has_the_other_half();
  system_reads_less();
  thread_without_signals();
  std::printf("%ld\n", sum);
}
