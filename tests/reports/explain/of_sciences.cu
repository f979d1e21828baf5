// SPDX-License-Identifier: MIT
// Codes of the sciences: particles, grids, Monte Carlo, graphs.
#include <math.h>
struct Params {
  float dt, stiffness;
};

struct Xorwow {
  unsigned d, v[5];
};

__global__ void nbody_direct(const float4* __restrict__ bodies, float4* __restrict__ force, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = bodies[i];
  float fx = 0.0f, fy = 0.0f, fz = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float4 b = bodies[j];  // cause: nbody_direct
    const float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
    const float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-4f);
    const float s = b.w * inv * inv * inv;
    fx += dx * s;
    fy += dy * s;
    fz += dz * s;
  }
  force[i] = make_float4(fx, fy, fz, 0.0f);
}

__global__ void lj_neighbours(const float* __restrict__ x, const int* __restrict__ neighbours,
                              float* __restrict__ f, int n, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float xi = x[i];
  float force = 0.0f;
  for (int k = 0; k < count; ++k) {
    const int j = neighbours[k * n + i];
    const float d = xi - x[j];  // cause: lj_neighbours
    const float r2 = d * d + 0.01f;
    const float r6 = 1.0f / (r2 * r2 * r2);
    force += d * r6 * (r6 - 0.5f);
  }
  f[i] = force;
}

// z runs fastest in memory, and x over the lanes.
__global__ void scale_field(double* field, const double* damping, int nx, int ny, int nz) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix >= nx || iy >= ny) return;
  for (int iz = 0; iz < nz; iz++)
    field[(ix * ny + iy) * nz + iz] *= damping[iz];  // cause: scale_field
}

__global__ void update_ez(float* __restrict__ ez, const float* __restrict__ hx,
                          const float* __restrict__ hy, int nx, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ez[i] += 0.5 * ((hy[i] - hy[i + nx]) - (hx[i] - hx[i + nx]));  // cause: update_ez
}

// Each thread has its generator, kept as a structure in memory.
__global__ void advance_generators(Xorwow* states, float* numbers, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Xorwow s = states[i];  // cause: advance_generators
  unsigned t = s.v[0] ^ (s.v[0] >> 2);
  s.v[0] = s.v[1];
  s.v[1] = s.v[2];
  s.v[2] = s.v[3];
  s.v[3] = s.v[4];
  s.v[4] = (s.v[4] ^ (s.v[4] << 4)) ^ (t ^ (t << 1));
  s.d += 362437u;
  numbers[i] = (s.d + s.v[4]) * 2.3283064e-10f;
  states[i] = s;  // cause: advance_generators
}

__device__ unsigned hashed(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

__global__ void monte_carlo_pi(float* hits, int tries) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  int inside = 0;
  for (int k = 0; k < tries; ++k) {
    const unsigned h = hashed(i * tries + k);
    const float x = (h & 0xffff) / 65536.0f, y = (h >> 16) / 65536.0f;
    inside += x * x + y * y < 1.0f;
  }
  atomicAdd(hits, (float)inside);  // cause: monte_carlo_pi
}

__global__ void mandelbrot(int* __restrict__ image, int width, int height, int limit) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x;
  const int py = blockIdx.y * blockDim.y + threadIdx.y;
  const float cx = -2.0f + 3.0f * px / width, cy = -1.5f + 3.0f * py / height;
  float x = 0.0f, y = 0.0f;
  int it = 0;
  while (it < limit && x * x + y * y < 4.0f) {  // cause: mandelbrot
    const float t = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = t;
    ++it;
  }
  image[py * width + px] = it;
}

// Connected components: labels run along edges.
__global__ void hook(const int* __restrict__ from, const int* __restrict__ to,
                     const int* __restrict__ label, int* __restrict__ next, int edges) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  const int u = from[e], v = to[e];
  const int lu = label[u], lv = label[v];  // cause: hook
  if (lu < lv) next[v] = lu;
}

__global__ void ising(int* spins, int width, int height, int colour, float beta, unsigned seed) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if ((x + y) % 2 == colour) {  // cause: ising
    int left = spins[y * width + (x + width - 1) % width];
    int right = spins[y * width + (x + 1) % width];
    int up = spins[((y + height - 1) % height) * width + x];
    int down = spins[((y + 1) % height) * width + x];
    int s = spins[y * width + x];
    float gain = 2.0f * s * (left + right + up + down);
    float chance = expf(-beta * gain);
    if (hashed(seed + y * width + x) * 2.3283064e-10f < chance) s = -s;
    spins[y * width + x] = s;
  }
}

__device__ void derivative(const float* y, float* d, int dim) {
  for (int k = 0; k < dim; ++k) d[k] = y[(k + 1) % dim] - 0.3f * y[k];  // cause: runge_kutta
}

__global__ void runge_kutta(float* state, int n, int dim, int steps, float h) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float y[12], k1[12], k2[12], t[12];
  for (int k = 0; k < dim; ++k) y[k] = state[k * n + i];
  for (int s = 0; s < steps; ++s) {
    derivative(y, k1, dim);
    for (int k = 0; k < dim; ++k) t[k] = y[k] + h * k1[k];  // cause: runge_kutta
    derivative(t, k2, dim);
    for (int k = 0; k < dim; ++k) y[k] += 0.5f * h * (k1[k] + k2[k]);  // cause: runge_kutta
  }
  for (int k = 0; k < dim; ++k) state[k * n + i] = y[k];
}

// Trajectories of oscillators; the parameters may alias what is written, so that they are loaded
// each step.
__global__ void trajectories(float* path, float* x0, Params* p, int n, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = x0[i], v = 0.0f;
  for (int s = 0; s < steps; ++s) {
    v -= x * p->stiffness;  // cause: trajectories
    x += v * p->dt;         // cause: trajectories
    path[s * n + i] = x;
  }
}

__global__ void wave_step(float* __restrict__ next, const float* __restrict__ now,
                          const float* __restrict__ before, float c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1)
    next[i] = 2.0f * now[i] - before[i] + c * (now[i - 1] - 2.0f * now[i] + now[i + 1]);
}

// A patch of the field a block, all its variables in dynamic shared memory.
__global__ void patch_average(const float* __restrict__ field, float* __restrict__ mean,
                              int cells) {
  extern __shared__ float patch[];
  const float* from = field + (size_t)blockIdx.x * cells;
  for (int c = threadIdx.x; c < cells; c += blockDim.x) patch[c] = from[c];
  __syncthreads();
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cells; c += blockDim.x) sum += patch[c] * patch[cells - 1 - c];
  mean[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void decay(float* __restrict__ mass, const float* __restrict__ rate, int n, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float m = mass[i];
  const float r = rate[i];
  for (int s = 0; s < steps; ++s) m -= r * m;
  mass[i] = m;
}

// A relaxation that tells by a flag that something changed.
__global__ void relax(const float* __restrict__ old, float* __restrict__ now, int* changed, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = 0.5f * old[i] + 1.0f;
  now[i] = v;
  if (fabsf(v - old[i]) > 1e-3f) *changed = 1;  // cause: relax
}
