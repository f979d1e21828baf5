// SPDX-License-Identifier: MIT
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
// A loaded value decides where it looks, and so what it leaves.
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

// ---- what others store meanwhile

// Blocks take tickets until there are none; all have read one before the next is drawn.
__global__ void tickets_between_barriers(int* out, const int* in, int* ticket, int tickets) {
  __shared__ int next;
  for (;;) {
    if (threadIdx.x == 0) next = atomicAdd(ticket, 1);
    __syncthreads();
    const int mine = next;
    __syncthreads();
    if (mine >= tickets) return;
    const int i = (mine * blockDim.x + threadIdx.x) % (2 * blockDim.x);
    out[i] = in[i] + 1;
  }
}
// Not so here: some draw while others are on the way to read.
__global__ void tickets_overtaken(int* out, const int* in, int* ticket, int tickets) {
  __shared__ int next;
  if (threadIdx.x == 0) next = atomicAdd(ticket, 1);
  __syncthreads();
  while (next < tickets) {
    const int i = (next * blockDim.x + threadIdx.x) % (2 * blockDim.x);
    out[i] = in[i] + 1;
    if (threadIdx.x == 0) next = atomicAdd(ticket, 1);
    __syncthreads();
  }
}
// Who takes a place first goes on; its block hears of it in shared memory.
__global__ void first_come_by_block(int* taken, const int* in, int* out) {
  __shared__ int was_taken;
  if (threadIdx.x == 0) was_taken = atomicExch(taken + in[0], 1);
  __syncthreads();
  if (was_taken == 0) out[threadIdx.x] = in[threadIdx.x];
}
// A search in breadth, from who is there to who is not and the other way round.
__global__ void push(const int* neighbours, int* levels, int level) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (levels[v] != level) return;
  const int other = neighbours[v];
  if (levels[other] < 0) levels[other] = level + 1;
}
__global__ void pull(const int* neighbours, int* levels, int* seen, int level) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (levels[v] >= 0) return;
  if (levels[neighbours[v]] == level) levels[v] = level + 1, seen[v] = 1;
}
__global__ void relax(const int* neighbours, int* distances, const int* costs, int* worse) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x, other = neighbours[v];
  const int cost = costs[v];
  if (cost < distances[other]) atomicMin(distances + other, cost), worse[v] = 1;
}
// The levels are looked at and others written: each has its own.
__global__ void push_apart(const int* neighbours, const int* levels, int* next, int level) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (levels[v] == level && levels[neighbours[v]] < 0) next[neighbours[v]] = level + 1;
}
// Each thread has its own number.
__global__ void clamp(int* values, int* clamped, int most) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (values[i] > most) values[i] = most, clamped[i] = 1;
}
// Pairs that are exchanged or not, step by step; and the same without the barrier.
__global__ void sort_block(int* values, int* moved) {
  __shared__ int s[64];
  const unsigned t = threadIdx.x;
  s[t] = values[t];
#pragma unroll 1
  for (unsigned k = 2; k <= 64; k *= 2) {
#pragma unroll 1
    for (unsigned j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      const unsigned other = t ^ j;
      if (other > t && (s[t] > s[other]) == ((t & k) == 0)) {
        const int kept = s[t];
        s[t] = s[other];
        s[other] = kept;
        moved[blockIdx.x * 64 + t] = 1;
      }
    }
  }
  __syncthreads();
  values[t] = s[t];
}
__global__ void look_back(const int* in, int* out) {
  __shared__ int s[64];
  const unsigned t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (unsigned d = 1; d < 64; d *= 2) {
    if (t >= d && s[t - d] > 3) out[t] = 1;
    s[t] += 1;  // the next thread may or may not have read it
  }
}
__global__ void look_back_in_turn(const int* in, int* out) {
  __shared__ int s[64];
  const unsigned t = threadIdx.x;
  s[t] = in[t];
  for (unsigned d = 1; d < 64; d *= 2) {
    __syncthreads();
    if (t >= d && s[t - d] > 3) out[t] = 1;
    __syncthreads();
    s[t] += 1;
  }
}
}

// A region grows into the cells beside it, which their own threads change meanwhile.
extern "C" __global__ void grow(int* state, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i + 1 >= n || state[i] != 1) return;
  if (state[i - 1] == 2 || state[i + 1] == 2) state[i] = 2;
}

extern "C" __global__ void grow_apart(const int* state, int* next, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i + 1 >= n || state[i] != 1) return;
  if (state[i - 1] == 2 || state[i + 1] == 2) next[i] = 2;
}

// The loaded pointer decides whose structure it is: what is stored there are other members of it.
struct Moving {
  float x;
  int steps, is_alive, next;
};
extern "C" __global__ void move_the_living(Moving* all, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (all[all[i].next].is_alive == 0) out[i] = all[all[i].next].steps += 1;
}
extern "C" __global__ void move_the_slow(Moving* all, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (all[all[i].next].steps == 0) out[i] = all[all[i].next].steps += 1;
}

// Who comes late need not search any more.
extern "C" __global__ void search_until_found(int* found, const int* in, int* out) {
  if (*found) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * in[i];
  if (in[i] == 5) *found = 1;
}

__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
extern "C" __global__ void call_by_lane(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int (*const call)(int, int) = i % 2 == 0 ? plus : minus;
  out[i] = call(in[i], i);
}

// Each thread has its own two.
extern "C" __global__ void exchange_pairs(int* data, int phase) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + phase;
  const int one = data[i], other = data[i + 1];
  if (one > other) {
    data[i] = other;
    data[i + 1] = one;
  }
}

// The queue decides who stores, who adds, how often a loop goes round.
extern "C" __global__ void store_the_odd(const int* queue, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (queue[i] & 1) out[i] = 1;
}
extern "C" __global__ void count_the_odd(const int* queue, int* count) {
  if (queue[blockIdx.x * blockDim.x + threadIdx.x] & 1) atomicAdd(count, 1);
}
extern "C" __global__ void go_round(const int* queue, const int* data, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int r = 0; r < queue[i]; ++r) sum += data[i ^ r];
  out[i] = sum;
}
// The same neighbours are marked in any order.
extern "C" __global__ void mark_neighbours(const int* queue, const int* first, const int* edges,
                                           int* level) {
  const int v = queue[blockIdx.x * blockDim.x + threadIdx.x];
  for (int e = first[v]; e < first[v + 1]; ++e) level[edges[e]] = 3;
}
extern "C" __global__ void link_lists(int* heads, int* next, const int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  next[i] = atomicExch(&heads[in[i] % 4], i);
}
extern "C" __global__ void walk_lists(const int* heads, const int* next, const int* in, int* out) {
  const int i = threadIdx.x & 3;
  int sum = 0;
  for (int p = heads[i]; p > 0; p = next[p]) sum += in[p];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
// As many as were counted, whoever they are.
extern "C" __global__ void store_as_many(const int* count, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count[0]) out[i] = 1;
}
// A block sorts by counting: its places are anybody's, and so are neighbours there.
extern "C" __global__ void sort_in_block(const int* in, int* out) {
  __shared__ int next[4], sorted[64];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t < 4) next[t] = 16 * t;
  __syncthreads();
  sorted[atomicAdd(&next[in[i] & 3], 1) & 63] = in[i];
  __syncthreads();
  if (sorted[t] > sorted[t ^ 1]) out[i] = sorted[t];
}

extern "C" __global__ void store_if_taken(int bytes, int* out) {
  void* taken = malloc(static_cast<size_t>(bytes));
  if (taken != nullptr) out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  free(taken);
}

// The driver's functions are no barrier: what others store before or behind them comes at any time.
extern "C" __global__ void race_around_print(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncthreads();
  s[(3 * t + in[i]) & 63] = i;
  printf("%d\n", i);
  out[s[t ^ 5]] = i;
}
extern "C" __global__ void print_behind_barrier(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncthreads();
  printf("%d\n", i);
  out[s[t ^ 5]] = i;
}
// Others store to the thread's own place, too.
extern "C" __global__ void store_anywhere(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncthreads();
  if (s[t] & 2) out[i] = i;
  s[(3 * t + in[i]) & 63] = i;
  __syncthreads();
  out[gridDim.x * blockDim.x + i] = s[t];
}
// Each thread has its own two.
extern "C" __global__ void exchange_in_block(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  for (int apart = 1; apart < 64; apart *= 2) {
    __syncthreads();
    const int other = t ^ apart;
    if (other > t && s[t] > s[other]) {
      const int kept = s[t];
      s[t] = s[other];
      s[other] = kept;
      out[i] = apart;
    }
  }
}

// ---- what an answer decides

// Where a thread stores is computed in a branch that another's answer decides.
extern "C" __global__ void go_on_if_first(int* taken, const int* next, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int place = i;
  if (atomicExch(&taken[next[i] % 16], 1) == 0) {
    for (int k = 0; k < next[0] + 3; ++k) place = next[place];
  }
  out[place] = 1;
}
// The same by way of a queue in shared memory.
extern "C" __global__ void go_on_by_queue(const int* next, int* out) {
  __shared__ int queue[64], count;
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t == 0) count = 0;
  __syncthreads();
  queue[atomicAdd(&count, 1)] = next[i];
  __syncthreads();
  int place = i;
  if (queue[t] & 1) {
    for (int k = 0; k < next[0] + 3; ++k) place = next[place];
  }
  out[place] = 1;
}
// A queue has so many places: who gets one says so, and the others do not.
extern "C" __global__ void take_places(int* queue, int* count, int places, int* has_one) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int place = atomicAdd(count, 1);
  if (place < places) {
    queue[place] = i;
    has_one[i] = 1;
  }
}
// Every other one, whoever these are.
extern "C" __global__ void every_other(int* count, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (atomicAdd(count, 1) & 1) out[i] = 1;
}
// One of all: its request is one lane's, wherever it goes. The memory tells who it was.
extern "C" __global__ void last_of_all(int* count, int last, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (atomicAdd(count, 1) == last) out[i] = 7;
}
// All but one.
extern "C" __global__ void all_but_last(int* count, int last, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (atomicAdd(count, 1) != last) out[i] = 7;
}
// The last block sums up what all have left; its own parts another block's would not be.
extern "C" __global__ void last_block(const int* in, int* sums, int* count, int* out) {
  __shared__ int is_last;
  const int t = threadIdx.x;
  sums[blockIdx.x * blockDim.x + t] = in[t] + 1;
  __threadfence();
  if (t == 0) is_last = atomicAdd(count, 1) == gridDim.x - 1;
  __syncthreads();
  if (is_last) {
    int sum = 0;
    for (int k = t; k < gridDim.x * blockDim.x; k += blockDim.x) sum += __ldcg(sums + k);
    out[t] = sum;
  }
}
// Its threads go on where another block's would not.
extern "C" __global__ void last_block_elsewhere(const int* in, int* count, int* out) {
  __shared__ int is_last;
  const int t = threadIdx.x;
  if (t == 0) is_last = atomicAdd(count, 1) == gridDim.x - 1;
  __syncthreads();
  int place = blockIdx.x * blockDim.x + t;
  if (is_last) {
    for (int k = 0; k < in[0] + 3; ++k) place = in[place];
  }
  out[place] = 1;
}
extern "C" __global__ void last_block_by_list(const int* in, int* count, int* out) {
  __shared__ int is_last;
  const int t = threadIdx.x;
  if (t == 0) is_last = atomicAdd(count, 1) == gridDim.x - 1;
  __syncthreads();
  if (is_last) out[in[blockIdx.x * blockDim.x + t]] = 1;
}

// ---- what only the hardware knows

__device__ unsigned long long timer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
__device__ __noinline__ long long clock_of_a_function() { return clock64(); }

// The store behind the loop comes once, whatever the clock says.
extern "C" __global__ void load_by_clock(int* out, const int* in) {
  const long long begin = clock64();
  int sum = 0;
#pragma unroll 1
  while (clock64() - begin < 2000) sum += in[threadIdx.x];
  out[threadIdx.x] = sum;
}
// The load comes before the clock has its say, and as often as the loop goes round.
extern "C" __global__ void load_before_the_clock(int* out, const volatile int* in, int most) {
  const unsigned long long begin = timer();
  int sum = 0;
  for (int i = 0; i < most; ++i) {
    sum += in[threadIdx.x];
    if (timer() - begin > 2000) break;
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
extern "C" __global__ void store_by_timer(int* out) {
  if (timer() >> 10 & 1) out[threadIdx.x] = 1;
}
extern "C" __global__ void stride_by_latency(int* out) {
  const int begin = clock(), end = clock();
  out[threadIdx.x * ((end - begin) & 7)] = 1;
}
extern "C" __global__ void store_by_clock_of_a_function(int* out) {
  if (clock_of_a_function() & 1) out[threadIdx.x] = 1;
}
// Each thread has its own place and comes once: the time is what it stores.
extern "C" __global__ void store_time(long long* out, const int* in, int* sums) {
  const long long begin = clock64();
  sums[threadIdx.x] = in[threadIdx.x] * 3;
  out[threadIdx.x] = clock64() - begin;
}
extern "C" __global__ void store_after_delay(int* out) {
  const long long begin = clock64();
  while (clock64() - begin < 500) __nanosleep(20);
  out[threadIdx.x] = 1;
}
// A launch whose counts anybody sees did not trap.
extern "C" __global__ void store_in_time(int* out) {
  const long long begin = clock64();
  if (clock64() - begin > 1000000) __trap();
  out[threadIdx.x] = 1;
}
extern "C" __global__ void store_by_multiprocessor(int* out) {
  unsigned number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  out[threadIdx.x * (number & 7)] = 1;
}
extern "C" __global__ void store_by_warp_slot(int* out) {
  unsigned number;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(number));
  if (number == 1) out[threadIdx.x] = 1;
}
extern "C" __global__ void store_by_lane(int* out) {
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  if (lane & 1) out[threadIdx.x + lane] = 1;
}

// ---- loads that ask for an order

// Block 0 stores; the others have seen it or not.
extern "C" __global__ void see_a_store(volatile int* seen, int* out) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *seen = 5;
  if (*seen == 5) out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
extern "C" __global__ void stride_by_relaxed(int* sum, int* out) {
  atomicAdd(sum, 1);
  int value;
  asm volatile("ld.relaxed.gpu.s32 %0, [%1];" : "=r"(value) : "l"(sum) : "memory");
  out[threadIdx.x * (value % 5 + 1)] = 1;
}
// Who of the warps comes first.
extern "C" __global__ void stride_by_first_warp(int* out) {
  __shared__ volatile int first;
  if (threadIdx.x == 0) first = -1;
  __syncthreads();
  if (threadIdx.x % 32 == 0) first = threadIdx.x / 32;
  const int seen = first;
  out[threadIdx.x * (seen + 1)] = 1;
}
// The same behind a barrier: the value is one of all that were stored before.
extern "C" __global__ void stride_behind_barrier(int* out) {
  __shared__ volatile int first;
  if (threadIdx.x == 0) first = 2;
  __syncthreads();
  out[threadIdx.x * (first + 1)] = 1;
}
// A warp that uses volatile memory for itself, as programs did before there was __syncwarp().
extern "C" __global__ void scan_in_warp(const int* in, int* out) {
  __shared__ volatile int sums[96];
  const int t = threadIdx.x, at = t + 32;
  int sum = in[t];
  sums[t] = 0;
  sums[at] = sum;
  for (int d = 1; d < 32; d *= 2) sums[at] = sum = sum + sums[at - d];
  out[sum % 64] = 1;
}
// Each block waits for the one before it, and takes what that one has handed on.
extern "C" __global__ void hand_on(volatile int* place, int* out) {
  __shared__ int mine;
  if (threadIdx.x == 0) {
    int before = blockIdx.x == 0 ? 1 : place[blockIdx.x - 1];
    while (before == 0) before = place[blockIdx.x - 1];
    place[blockIdx.x] = before + 3;
    mine = before;
  }
  __syncthreads();
  out[mine + threadIdx.x] = 1;
}

// ---- the heap, and what nobody has set

// The bits of the address say where else to store.
extern "C" __global__ void stride_by_heap(int* out) {
  int* taken = static_cast<int*>(malloc(16));
  out[threadIdx.x * (reinterpret_cast<size_t>(taken) >> 4 & 7)] = 1;
  free(taken);
}
// Addresses that are used as such decide nothing about other memory.
extern "C" __global__ void walk_on_heap(const int* in, int* out, int count) {
  volatile int* taken = static_cast<int*>(malloc(count * sizeof(int)));
  if (taken == nullptr) return;
  volatile int* const end = taken + count;
  for (volatile int* p = taken; p != end; ++p) *p = in[threadIdx.x];
  int sum = 0;
  for (volatile int* p = taken; p < end; ++p) sum += *p;
  if (sum & 1) out[threadIdx.x] = sum;
  free(const_cast<int*>(taken));
}
extern "C" __global__ void store_by_unset(int* out) {
  __shared__ volatile int unset[64];
  if (unset[threadIdx.x] == 0) out[threadIdx.x] = 1;
}
extern __shared__ int unset_dynamic[];
extern "C" __global__ void store_at_unset(int* out) { out[unset_dynamic[threadIdx.x] & 63] = 1; }
extern "C" __global__ void store_by_unset_register(int* out) {
  int number;
  asm volatile("{ .reg .u32 unset; add.u32 %0, unset, 1; }" : "=r"(number));
  if (number & 1) out[threadIdx.x] = 1;
}
// Others set it: dynamic memory has two names here, and a function stores in the other.
extern __shared__ float set_dynamic[];
__device__ __noinline__ void set_all(int* values) { values[threadIdx.x] = threadIdx.x; }
extern "C" __global__ void store_by_set(int* out) {
  set_dynamic[threadIdx.x] = 3;
  __syncthreads();
  if (unset_dynamic[threadIdx.x] & 1) out[threadIdx.x] = 1;
}
extern "C" __global__ void store_by_set_of_function(int* out) {
  __shared__ int values[64];
  set_all(values);
  __syncthreads();
  if (values[threadIdx.x] & 1) out[threadIdx.x] = 1;
}
