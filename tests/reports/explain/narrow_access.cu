// SPDX-License-Identifier: MIT
// Kernels whose one fault is that a lane moves less than it could: a byte, a short, or a structure
// of four floats one by one. Rewritten, it moves a vector.
__global__ void invert(unsigned char* out, const unsigned char* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 255 - in[i];  // cause: invert
}

__global__ void invert_4(uchar4* out, const uchar4* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uchar4 c = in[i];
  out[i] = make_uchar4(255 - c.x, 255 - c.y, 255 - c.z, 255 - c.w);
}

template <typename T>
__global__ void amplify(T* __restrict__ out, const T* __restrict__ in, size_t count, T by) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count;
       i += size_t{gridDim.x} * blockDim.x) {
    out[i] = in[i] * by;  // cause: amplify_short
  }
}

struct Pixel {
  float red, green, blue, alpha;
};

__global__ void grey(float* out, const Pixel* image, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = image[i].red;       // cause: grey
  sum += image[i].green;          // cause: grey
  sum += image[i].blue;           // cause: grey
  out[i] = sum * image[i].alpha;  // cause: grey
}

__global__ void grey_4(float* out, const float4* image, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 pixel = image[i];
  out[i] = (pixel.x + pixel.y + pixel.z) * pixel.w;
}

// Two of four members, each by itself: 2 × 16 sectors for each of 16,384 warps, where half would
// do.
struct Wave {
  float re, im, weight, phase;
};

__global__ void norms(float* out, const Wave* waves) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = waves[i].re + waves[i].im;  // cause: norms
}

__global__ void set_waves(Wave* waves, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float value = in[i];
  waves[i].re = value;      // cause: set_waves
  waves[i].im = value + 1;  // cause: set_waves
}

// The compiler loads of a vector what is used: 2 × 16 sectors for each of 16,384 warps. Side by
// side the 64 floats of a warp would be in 8.
__global__ void first_and_last(float* out, const float4* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 value = in[i];  // cause: first_and_last
  out[i] = value.x + value.w;
}
