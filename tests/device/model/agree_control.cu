// SPDX-License-Identifier: MIT
// Divergence: loops whose trips depend on data, early exits, switches, calls.
extern "C" __global__ void collatz(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = static_cast<unsigned>(in[i] + 9);
  int steps = 0;
  while (value != 1 && steps < 200) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    ++steps;
  }
  out[i] = steps;
}

// The inner loop loads: lanes leave it one after the other.
extern "C" __global__ void ragged_rows(const int* offsets, const float* values, float* out,
                                       int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = offsets[row]; k < offsets[row + 1]; ++k) {
    if (values[k] < 0) continue;
    if (values[k] == 8) break;
    sum += values[k];
  }
  out[row] = sum;
}

extern "C" __global__ void cases(const int* in, const float* table, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = 0;
  switch (in[i] & 7) {
    case 0:
      value = table[i];
      break;
    case 1:
      value = table[2 * i] + 1;
      break;
    case 2:
      value = table[n - i];
      break;
    case 3:
      value = -table[i];
      break;
    case 4:
      value = table[0];
      break;
    case 5:
      value = table[i ^ 1] * 2;
      break;
    case 6:
      return;
    default:
      value = 7;
  }
  out[i] = value;
}

__device__ __noinline__ float polynomial(const float* coefficients, int degree, float x) {
  float value = 0;
  for (int k = degree; k >= 0; --k) value = value * x + coefficients[k];
  return value;
}

extern "C" __global__ void calls(const float* coefficients, const int* degrees, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = polynomial(coefficients, degrees[i] & 3, degrees[i] & 1 ? 2.0f : -1.0f);
}

// Lanes store within nested branches; some leave early.
extern "C" __global__ void nested(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int value = in[i];
  if (value > 0) {
    if (value % 2 == 0) {
      out[i] = in[(i + 1) % n];
      if (value == 4) return;
      out[i] += in[(i + 2) % n];
    } else {
      out[i] = value;
    }
  } else if (value < -4) {
    out[n - 1 - i + n] = value;
    return;
  }
  out[i + 2 * n] = value + 1;
}

// Escape-time fractal in fixed point: exact, and as divergent as its border.
extern "C" __global__ void mandelbrot(int* out, int width, int height, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int one = 1 << 12;
  const int cx = 3 * one * x / width - 2 * one, cy = 2 * one * y / height - one;
  int zx = 0, zy = 0, k = 0;
  while (k < limit) {
    const int xx = zx * zx >> 12, yy = zy * zy >> 12;
    if (xx + yy > 4 * one) break;
    zy = (zx * zy >> 11) + cy;
    zx = xx - yy + cx;
    ++k;
  }
  out[y * width + x] = k;
}

// A small array that is indexed by data lives in local memory: it must not count as global.
extern "C" __global__ void local_array(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int counts[17] = {};
  for (int k = 0; k < 16; ++k) ++counts[in[(i + k * 37) % n] + 8];
  int best = 0;
  for (int k = 1; k < 17; ++k) {
    if (counts[k] > counts[best]) best = k;
  }
  out[i] = best;
}

// `@P0 EXIT P1`: a second predicate decides. No row of cases.cpp: steps_test.cpp has its totals.
extern "C" __global__ void all_but_a_corner(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n && j >= n) return;
  out[i * n + j] = a[i * n + j] + b[i * n + j];
}

// `@!P0 BRA P1`: a loop with two conditions, merging two sorted rows.
extern "C" __global__ void merged_rows(const int* a, const int* b, int* out, int n) {
  const int* left = a + threadIdx.x * n;
  const int* right = b + threadIdx.x * n;
  int i = 0, j = 0, k = 0;
  while (i < n && j < n) {
    const bool is_left = left[i] <= right[j];
    out[threadIdx.x * 2 * n + k++] = is_left ? left[i] : right[j];
    is_left ? ++i : ++j;
  }
  while (i < n) out[threadIdx.x * 2 * n + k++] = left[i++];
  while (j < n) out[threadIdx.x * 2 * n + k++] = right[j++];
}
