// SPDX-License-Identifier: MIT
// Where lanes that parted meet again: breaks, returns and calls inside of loops and branches,
// searches, walks over trees, hash tables. The hardware's meeting points decide how many requests
// there are.
#define AT const int i = blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void break_deep(const int* in, int* out, int n) {
  AT;
  int found = -1;
  for (int a = 0; a < n && found < 0; ++a) {
    for (int b = 0; b < n; ++b) {
      const int value = in[(i + a * 31 + b * 7) % 512];
      if (value == 5) {
        found = a * n + b;
        break;
      }
      if (value == -8) continue;
      if (value == 7 && b > 2) break;
      found -= in[(i + b) % 512] == 0 ? 0 : value == 100;
    }
  }
  out[i] = found;
}

extern "C" __global__ void return_deep(const int* in, int* out, int n) {
  AT;
  for (int a = 0; a < n; ++a) {
    if (in[(i + a) % 512] > 6) {
      out[i] = a;
      if (in[(i * 3) % 512] > 0) return;
      out[i] = -a;
    }
    for (int b = 0; b < in[(i + a) % 512]; ++b) {
      if (in[(i + b * 5) % 512] == -7) {
        out[i] = 100 + b;
        return;
      }
    }
  }
  out[i] = in[i];
}

__device__ __noinline__ int weigh(const int* in, int at) {
  if (in[at] < 0) return in[(at + 1) % 512];
  int sum = 0;
  for (int k = 0; k < in[at]; ++k) sum += in[(at + k) % 512];
  return sum;
}

extern "C" __global__ void call_in_branch(const int* in, int* out, int n) {
  AT;
  int value = in[i];
  if (value > 2) {
    value = weigh(in, i);
  } else if (value < -2) {
    value = weigh(in, (i * 7) % n) * 2;
  }
  out[i] = value + in[(i + 9) % n];
}

extern "C" __global__ void call_in_loop(const int* in, int* out, int n) {
  AT;
  int sum = 0;
  for (int k = 0; k < (in[i] & 3) + 1; ++k) sum += weigh(in, (i + k * 3) % n);
  out[i] = sum;
}

extern "C" __global__ void switch_in_loop(const int* in, int* out, int n) {
  AT;
  int state = 0, sum = 0;
  for (int k = 0; k < n; ++k) {
    const int next = in[(i + k) % 512] & 3;
    switch (state) {
      case 0:
        state = next;
        break;
      case 1:
        sum += in[(i + sum * sum) % 512];
        state = next ^ 1;
        break;
      case 2:
        sum -= next;
        state = 3;
        break;
      default:
        state = sum & 1 ? 0 : next;
        out[512 + (i + k) % 512] = 1;
        break;
    }
  }
  out[i] = sum;
}

extern "C" __global__ void walk_tree(const int* in, int* out, int n) {
  AT;
  int stack[16], depth = 0, sum = 0;
  stack[depth++] = i % 8;
  while (depth > 0) {
    const int node = stack[--depth];
    sum += in[node % 512];
    if (2 * node + 2 < n && in[node] > -5) {
      if (depth < 15) stack[depth++] = 2 * node + 1;
      if (depth < 15 && in[node] > 3) stack[depth++] = 2 * node + 2;
    }
  }
  out[i] = sum;
}

extern "C" __global__ void insert_hashed(const int* in, int* out, int n) {
  AT;
  const int key = i + 1;
  int slot = (key * 37) % n;
  while (true) {
    const int before = atomicCAS(&out[slot], 0, key);
    if (before == 0 || before == key) break;
    slot = (slot + 1) % n;
  }
  if (in[i] > 100) out[0] = 1;
}

extern "C" __global__ void find_hashed(const int* in, int* out, int n) {
  AT;
  const int wanted = i % 23 - 11;
  int slot = (i * 37) % n, probes = 0;
  do {
    if (in[slot] == wanted) break;
    slot = slot + 1 == n ? 0 : slot + 1;
    ++probes;
  } while (probes < 40);
  out[i] = probes;
}

extern "C" __global__ void conditions(const int* in, int* out, int n) {
  AT;
  const bool either = (i < n && in[i] > 3) || (in[n - 1 - i] < -3 && in[(i * 5) % n] != 0);
  if (either && !(in[(i + 1) % n] == 2)) {
    out[i] = in[(i + 2) % n];
  } else if (i % 5 == 0) {
    out[i] = 1;
  }
  if (!either || i % 3 == 0) out[512 + i] = in[(i * 3) % n];
}

extern "C" __global__ void sort_own(const int* in, int* out, int n) {
  AT;
  int* mine = out + i * n;
  for (int k = 0; k < n; ++k) mine[k] = in[(i * 5 + k * 3) % 512];
  for (int k = 1; k < n; ++k) {
    const int value = mine[k];
    int at = k;
    while (at > 0 && mine[at - 1] > value) {
      mine[at] = mine[at - 1];
      --at;
    }
    mine[at] = value;
  }
}

extern "C" __global__ void merge_halves(const int* in, int* out, int n) {
  __shared__ int tile[2 * 128];
  const int t = threadIdx.x;
  tile[t] = t * 3 + (in[blockIdx.x * 256 + t] & 1);
  tile[128 + t] = t * 2 + (in[blockIdx.x * 256 + 128 + t] & 1);
  __syncthreads();
  int low = max(0, 2 * t - 128), high = min(2 * t, 128);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (tile[middle] <= tile[128 + 2 * t - 1 - middle]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  int a = low, b = 2 * t - low;
  for (int k = 0; k < 2; ++k) {
    const bool left = b >= 128 || (a < 128 && tile[a] <= tile[128 + b]);
    out[blockIdx.x * 256 + 2 * t + k] = left ? tile[a++] : tile[128 + b++];
  }
  if (n == 0) out[0] = 0;
}

extern "C" __global__ void edit_distance(const int* in, int* out, int n) {
  AT;
  int row[17];
  for (int k = 0; k <= 16; ++k) row[k] = k;
  for (int a = 0; a < n; ++a) {
    int diagonal = row[0];
    row[0] = a + 1;
    for (int b = 0; b < 16; ++b) {
      const int above = row[b + 1];
      if ((in[(i + a) % 512] & 3) == (in[(i * 3 + b) % 512] & 3)) {
        row[b + 1] = diagonal;
      } else {
        row[b + 1] = 1 + min(min(above, row[b]), diagonal);
      }
      diagonal = above;
    }
  }
  out[i] = row[16];
}
