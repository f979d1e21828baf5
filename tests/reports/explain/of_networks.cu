// SPDX-License-Identifier: MIT
// Layers of neural networks, as in research repositories.
#include <cuda_fp16.h>
#include <stdint.h>
constexpr float kEps = 1e-5f;

// One thread a row of logits.
__global__ void softmax_rows(const float* __restrict__ logits, float* __restrict__ probs, int rows,
                             int classes) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* in = logits + (size_t)row * classes;
  float* out = probs + (size_t)row * classes;
  float top = -1e30f, sum = 0.0f;
  for (int c = 0; c < classes; ++c) top = fmaxf(top, in[c]);     // cause: softmax_rows
  for (int c = 0; c < classes; ++c) sum += __expf(in[c] - top);  // cause: softmax_rows
  const float scale = 1.0f / sum;
  for (int c = 0; c < classes; ++c) out[c] = __expf(in[c] - top) * scale;  // cause: softmax_rows
}

__device__ __forceinline__ float warp_sum(float v) {
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

// A warp a row; the epsilon's literal is a double.
__global__ void rms_norm(const float* __restrict__ x, const float* __restrict__ gain,
                         float* __restrict__ y, int width) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  const float* in = x + (size_t)row * width;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < width; c += 32) squares += in[c] * in[c];
  squares = warp_sum(squares) / width;
  for (int c = threadIdx.x; c < width; c += 32)
    y[(size_t)row * width + c] = gain[c] * in[c] / sqrt(squares + 1e-6);  // cause: rms_norm
}

__global__ void gelu(const float* __restrict__ x, float* __restrict__ y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float v = x[i];
    const float inner = 0.7978845608f * (v + 0.044715f * v * v * v);
    y[i] = 0.5 * v * (1.0f + tanhf(inner));  // cause: gelu
  }
}

__global__ void quantise(const float* __restrict__ x, int8_t* __restrict__ q, float scale, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) q[i] = (int8_t)max(-127, min(127, __float2int_rn(x[i] * scale)));  // cause: quantise
}

__global__ void residual_add(const __half* __restrict__ x, const __half* __restrict__ r,
                             __half* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hadd(x[i], r[i]);  // cause: residual_add
}

// Scores of one query against all keys: a thread a key.
template <int HEAD>
__global__ void scores(const float* __restrict__ q, const float* __restrict__ k,
                       float* __restrict__ s, int keys) {
  __shared__ float query[HEAD];
  const int head = blockIdx.y;
  for (int d = threadIdx.x; d < HEAD; d += blockDim.x) query[d] = q[head * HEAD + d];
  __syncthreads();
  const int key = blockIdx.x * blockDim.x + threadIdx.x;
  const float* row = k + ((size_t)head * keys + key) * HEAD;
  float dot = 0.0f;
#pragma unroll 8
  for (int d = 0; d < HEAD; ++d) dot += query[d] * row[d];  // cause: scores
  s[(size_t)head * keys + key] = dot * rsqrtf((float)HEAD);
}

// Gradient of a convolution's bias, channels before pixels.
__global__ void bias_gradient(const float* __restrict__ grad, float* __restrict__ bias,
                              int channels, int pixels, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&bias[(i / pixels) % channels], grad[i]);  // cause: bias_gradient
}

__global__ void top_k(const float* __restrict__ scores, float* __restrict__ best, int candidates,
                      int k, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float top[16];
  for (int j = 0; j < k; ++j) top[j] = -1e30f;  // cause: top_k
  for (int c = 0; c < candidates; ++c) {
    float v = scores[c * n + i];
    for (int j = 0; j < k; ++j) {
      const float other = top[j];  // cause: top_k
      top[j] = fmaxf(v, other);    // cause: top_k
      v = fminf(v, other);
    }
  }
  for (int j = 0; j < k; ++j) best[j * n + i] = top[j];  // cause: top_k
}

// Mean and variance: a block a channel.
__global__ void batch_statistics(const float* __restrict__ x, float* __restrict__ mean,
                                 float* __restrict__ var, int images, int channels, int pixels) {
  const int channel = blockIdx.x;
  float sum = 0.0f, squares = 0.0f;
  for (int image = 0; image < images; ++image) {
    const float* plane = x + ((size_t)image * channels + channel) * pixels;
    for (int p = threadIdx.x; p < pixels; p += blockDim.x) {
      const float v = plane[p];
      sum += v;
      squares += v * v;
    }
  }
  __shared__ float sums[32], all[32];
  sum = warp_sum(sum);
  squares = warp_sum(squares);
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = sum;
    all[threadIdx.x / 32] = squares;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    const bool in = threadIdx.x < blockDim.x / 32;
    sum = warp_sum(in ? sums[threadIdx.x] : 0.0f);
    squares = warp_sum(in ? all[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) {
      const float count = (float)images * pixels;
      mean[channel] = sum / count;
      var[channel] = squares / count - (sum / count) * (sum / count);
    }
  }
}

__global__ void temporal_conv(const float* __restrict__ x, const float* __restrict__ w,
                              float* __restrict__ y, int length, int taps) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int channel = blockIdx.y;
  const float* in = x + (size_t)channel * (length + taps);
  float sum = 0.0f;
  for (int k = 0; k < taps; ++k) sum += w[channel * taps + k] * in[t + k];  // cause: temporal_conv
  y[(size_t)channel * length + t] = sum;
}

// y = x w^T in tiles of 16.
__global__ void linear(const float* __restrict__ x, const float* __restrict__ w,
                       float* __restrict__ y, int in, int out) {
  __shared__ float xs[16][16];
  __shared__ float ws[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int k0 = 0; k0 < in; k0 += 16) {
    xs[threadIdx.y][threadIdx.x] = x[row * in + k0 + threadIdx.x];
    ws[threadIdx.y][threadIdx.x] = w[(blockIdx.x * 16 + threadIdx.y) * in + k0 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) sum += xs[threadIdx.y][k] * ws[threadIdx.x][k];  // cause: linear
    __syncthreads();
  }
  y[row * out + col] = sum;
}

__global__ void max_pool(const float* __restrict__ in, float* __restrict__ out, int width,
                         int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const float* p = in + 2 * y * width + 2 * x;
  const float a = fmaxf(p[0], p[1]);              // cause: max_pool
  const float b = fmaxf(p[width], p[width + 1]);  // cause: max_pool
  out[y * (width / 2) + x] = fmaxf(a, b);
}

// A block a token, a thread a feature: 80 features.
__global__ void token_bias(const float* __restrict__ x, const float* __restrict__ bias,
                           float* __restrict__ y, int features) {
  const int i = blockIdx.x * features + threadIdx.x;
  y[i] = fmaxf(0.0f, x[i] + bias[threadIdx.x]);
}

// Attention of short sequences: padded positions do nothing while the others work through the head.
__global__ void masked_values(const int* __restrict__ lengths, const float* __restrict__ p,
                              const float* __restrict__ v, float* __restrict__ out, int seq) {
  const int batch = blockIdx.x;
  const int q = threadIdx.x;
  float sum = 0.0f;
  const int last = lengths[batch * seq + q];
  for (int k = 0; k < last; ++k)  // cause: masked_values
    sum += __expf(p[batch * seq + k]) * v[batch * seq + k];
  out[batch * seq + q] = sum;
}
