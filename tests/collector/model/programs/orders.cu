// Kernels whose accesses lie where the order of threads at an atomic decides, and kernels that only
// look like it.
extern "C" {
// A compaction: blocks take as much room as they need, and their threads hear of it in shared
// memory.
__global__ void keep_odd_by_block(int* kept, const int* in, int* count) {
  __shared__ int base, offsets[4];
  const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned odd = __ballot_sync(0xffffffffu, value % 2 != 0);
  if (lane == 0) offsets[warp] = __popc(odd);
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) {
      const int here = offsets[w];
      offsets[w] = sum;
      sum += here;
    }
    base = atomicAdd(count, sum);
  }
  __syncthreads();
  if (value % 2 != 0) kept[base + offsets[warp] + __popc(odd & ((1u << lane) - 1))] = value;
}

// Blocks take each other's parts: what is accessed together stays together.
__global__ void by_ticket(int* out, const int* in, int* ticket) {
  __shared__ int block;
  if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
  __syncthreads();
  const int i = block * blockDim.x + threadIdx.x;
  out[i] = in[i] * 2;
}

// A queue of what each thread has.
__global__ void fill_queue(int* queue, const int* in, int* count) {
  queue[atomicAdd(count, 1)] = in[blockIdx.x * blockDim.x + threadIdx.x];
}
// What one finds there decides where it looks, and so what it leaves.
__global__ void gather_by(const int* queue, const int* data, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = data[queue[i]];
}
// Each value goes to its own place, whoever brings it there.
__global__ void scatter_by(const int* queue, const int* data, int* out) {
  const int u = queue[blockIdx.x * blockDim.x + threadIdx.x];
  out[u] = data[u] + 1;
}
__global__ void mark_by(const int* queue, int level, int* out) {
  out[queue[blockIdx.x * blockDim.x + threadIdx.x]] = level;
}
__global__ void count_by(const int* queue, int* out) {
  atomicAdd(&out[queue[blockIdx.x * blockDim.x + threadIdx.x]], 1);
}
// Which place gets which number depends on the queue's order.
__global__ void number_by(const int* queue, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[queue[i]] = i;
}
// By nothing but the thread's own number.
__global__ void plain(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 1;
}

// The place is found by trying.
__global__ void insert(int* keys, int* values, int size) {
  const int key = blockIdx.x * blockDim.x + threadIdx.x + 1;
  int slot = key * 7 % size;
  while (atomicCAS(&keys[slot], 0, key) != 0) slot = (slot + 1) % size;
  values[slot] = key * 3;
}

// A rank among equals, handed on through global memory.
__global__ void rank_and_place(const int* in, int* counts, int* ranks, int* out) {
  const int i = threadIdx.x;
  ranks[i] = atomicAdd(&counts[in[i] % 4], 1);
  __syncthreads();
  const int other = i ^ 32;
  out[in[other] % 4 * blockDim.x + ranks[other]] = in[other];
}

__global__ void add_up(float* sums, const float* in) {
  atomicAdd(&sums[threadIdx.x % 4], in[threadIdx.x]);
}
// Who wins goes on; who is the last one does so alone.
__global__ void first_come(int* taken, const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (atomicCAS(&taken[in[i] % 16], 0, i + 1) == 0) out[i] = in[i];
}
__global__ void last_come(int* count, const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
  if (atomicAdd(count, 1) == 127) out[0] = 7;
}
// A flag is up, whoever raised it; a chain begins with who came last.
__global__ void raise(int* flags, const int* in) {
  if (atomicExch(&flags[in[threadIdx.x] % 4], 1) == 0) flags[4] = 2;
}
__global__ void chain(int* heads, int* next, const int* in) {
  next[threadIdx.x] = atomicExch(&heads[in[threadIdx.x] % 4], threadIdx.x);
}
__global__ void count_up(int* counts, const int* in) { atomicAdd(&counts[in[threadIdx.x] % 4], 1); }

// Pointers that lie in a structure, and in memory.
struct Queue {
  int unused;
  int* items;
  int* count;
};
__global__ void fill_struct(Queue queue, const int* in) {
  queue.items[atomicAdd(queue.count, 1)] = in[blockIdx.x * blockDim.x + threadIdx.x];
}
struct Queues {
  int* items[4];
  int* count;
};
__global__ void fill_one_of(const __grid_constant__ Queues queues, const int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  queues.items[in[i] % 4][atomicAdd(queues.count, 1)] = in[i];
}
__global__ void gather_elsewhere(int* const* table, const int* data, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = data[table[0][i]];
}
}
