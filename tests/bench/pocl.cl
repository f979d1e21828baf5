// SPDX-License-Identifier: MIT
// The kernels of uncounted.cu that model_speed compares, in OpenCL C.
kernel void gemm(global const float* a, global const float* b, global float* c, int n) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= n || y >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

kernel __attribute__((reqd_work_group_size(16, 16, 1))) void gemm_tiled(global const float* a,
                                                                        global const float* b,
                                                                        global float* c, int n) {
  local float tile_a[16][16], tile_b[16][16];
  const int column = get_local_id(0), row = get_local_id(1);
  const int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    tile_a[row][column] = a[y * n + t + column];
    tile_b[row][column] = b[(t + row) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; ++k) sum += tile_a[row][k] * tile_b[k][column];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = sum;
}

kernel __attribute__((reqd_work_group_size(16, 16, 1))) void transpose(global const float* in,
                                                                       global float* out, int n) {
  local float tile[16][17];
  const int column = get_local_id(0), row = get_local_id(1);
  tile[row][column] = in[get_global_id(1) * n + get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  const int x = get_group_id(1) * 16 + column, y = get_group_id(0) * 16 + row;
  out[y * n + x] = tile[column][row];
}

kernel void stencil(global const float* in, global float* out, int n) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] +
                           in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void reduce(global const float* in,
                                                                    global float* out, int n) {
  local float parts[256];
  const int mine = get_local_id(0);
  float sum = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += in[i];
  parts[mine] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = 128; width > 0; width /= 2) {
    if (mine < width) parts[mine] += parts[mine + width];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (mine == 0) out[get_group_id(0)] = parts[0];
}

kernel void nbody(global const float4* bodies, global float4* forces, int n) {
  const int i = get_global_id(0);
  const float4 me = bodies[i];
  float x = 0, y = 0, z = 0;
  for (int j = 0; j < n; ++j) {
    const float4 other = bodies[j];
    const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    const float near = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
    const float pull = other.w * near * near * near;
    x += pull * dx;
    y += pull * dy;
    z += pull * dz;
  }
  forces[i] = (float4)(x, y, z, 0);
}

kernel void spmv(global const int* rows, global const int* columns, global const float* values,
                 global const float* x, global float* y, int n) {
  const int i = get_global_id(0);
  if (i >= n) return;
  float sum = 0;
  for (int k = rows[i]; k < rows[i + 1]; ++k) sum += values[k] * x[columns[k]];
  y[i] = sum;
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void histogram(global const int* keys,
                                                                       global int* bins, int n) {
  local int own[256];
  const int mine = get_local_id(0);
  own[mine] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&own[keys[i] & 255]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[mine], own[mine]);
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void sort(global const int* in,
                                                                  global int* out) {
  local int part[512];
  const int first = get_group_id(0) * 512, mine = get_local_id(0);
  part[mine] = in[first + mine];
  part[mine + 256] = in[first + mine + 256];
  for (int size = 2; size <= 512; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const int low = 2 * mine - (mine & (step - 1)), high = low + step;
      const int a = part[low], b = part[high];
      if ((a > b) == ((low & size) == 0)) {
        part[low] = b;
        part[high] = a;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[first + mine] = part[mine];
  out[first + mine + 256] = part[mine + 256];
}
