// A launch whose one fault is its last wave: 1,072 blocks, where 1,056 fit on the 132
// multiprocessors of an H100 at once.

__global__ void iterate(float* out, const float* in, int rounds) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float x = in[i];
#pragma unroll 1
  for (int k = 0; k < rounds; ++k) x = fmaf(x, 0.5f, 1.0f);
  out[i] = x;
}
