// SPDX-License-Identifier: MIT
// Structures, short rows and what comes out when their members lie next to each other. The lanes
// begin in the middle of sectors, some are idle, a step is no power of two.
struct Body {
  float x, y, z, mass, vx, vy, vz, charge;
};

__global__ void drift_from_the_fourth(Body* bodies, int n, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 3;
  if (i < n) bodies[i].x += bodies[i].vy * dt;  // cause: drift_from_the_fourth
}
__global__ void drift_of_arrays(float* x, const float* vy, int n, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 3;
  if (i < n) x[i] += vy[i] * dt;
}

struct Point {
  float x, y, z;
};

__global__ void heights(float* out, const Point* points, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 5 < n) out[i] = points[i + 5].z * 2;  // cause: heights
}
__global__ void heights_of_array(float* out, const float* z, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 5 < n) out[i] = z[i + 5] * 2;
}

/// Two of three lanes, from the second structure on.
__global__ void charges(float* out, const Body* bodies, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i < n && i % 3 != 0) out[i] = bodies[i].charge * bodies[i].mass;  // cause: charges
}
__global__ void charges_of_arrays(float* out, const float* charge, const float* mass, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i < n && i % 3 != 0) out[i] = charge[i] * mass[i];
}

/// A row of 16 for each thread, from the seventh row on.
__global__ void highest_of_rows(float* out, const float* rows, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 6;
  if (i >= n) return;
  float highest = rows[i * 16];
#pragma unroll 1
  for (int k = 1; k < 16; ++k)
    highest = fmaxf(highest, rows[i * 16 + k]);  // cause: highest_of_rows
  out[i] = highest;
}
__global__ void highest_of_columns(float* out, const float* columns, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 6;
  if (i >= n) return;
  float highest = columns[i];
#pragma unroll 1
  for (int k = 1; k < 16; ++k) highest = fmaxf(highest, columns[k * n + i]);
  out[i] = highest;
}
