// SPDX-License-Identifier: MIT
// Whole numbers in the ways that the toolkit's functions offer: video instructions, dot products of
// bytes, funnel shifts, bit fields, wide products, division.
#define AT                                    \
  [[maybe_unused]] const int t = threadIdx.x; \
  const int i = blockIdx.x * blockDim.x + threadIdx.x

namespace {
/// Any 32 bits out of a small number and a place.
__device__ unsigned mixed(int value, int place) {
  unsigned x = static_cast<unsigned>(value) * 2654435761u + static_cast<unsigned>(place) * 40503u;
  x ^= x >> 15;
  x *= 2246822519u;
  return x ^ x >> 13;
}
}  // namespace

extern "C" __global__ void simd_bytes(const int* in, unsigned* out, int n) {
  AT;
  const unsigned a = mixed(in[i], i), b = mixed(in[i] + n, i * 7);
  unsigned sum = __vadd4(a, b) ^ __vsub4(a, b) * 3;
  sum += __vaddss4(a, b) ^ __vsubus4(a, b) ^ __vavgu4(a, b) ^ __vhaddu4(a, b);
  sum = sum * 31 + (__vabsdiffu4(a, b) ^ __vabsdiffs4(a, b));
  sum = sum * 31 + (__vmaxs4(a, b) ^ __vminu4(a, b) ^ __vmaxu4(a, b) ^ __vmins4(a, b));
  sum = sum * 31 + (__vcmpgts4(a, b) ^ __vcmpeq4(a, b) ^ __vcmpleu4(a, b) ^ __vsetltu4(a, b));
  out[i] = sum * 31 + (__vsadu4(a, b) + __vabsss4(a) + __vnegss4(b));
}

extern "C" __global__ void simd_shorts(const int* in, unsigned* out, int n) {
  AT;
  const unsigned a = mixed(in[i], i), b = mixed(in[i] + n, i * 5);
  unsigned sum = __vadd2(a, b) ^ __vsub2(a, b) * 3;
  sum += __vaddus2(a, b) ^ __vsubss2(a, b) ^ __vavgs2(a, b) ^ __vhaddu2(a, b);
  sum = sum * 31 + (__vabsdiffu2(a, b) ^ __vabsdiffs2(a, b) ^ __vabs2(a));
  sum = sum * 31 + (__vmaxs2(a, b) ^ __vminu2(a, b) ^ __vmaxu2(a, b) ^ __vmins2(a, b));
  sum = sum * 31 + (__vcmpges2(a, b) ^ __vcmpne2(a, b) ^ __vsetgtu2(a, b) ^ __vseteq2(a, b));
  sum = sum * 31 + __vimax3_s16x2(a, b, a ^ b) + __vimin_s16x2_relu(a, b);
  out[i] = sum * 31 + __vsads2(a, b) + __vneg2(a);
}

extern "C" __global__ void dot_products(const int* in, int* out, int n) {
  AT;
  const unsigned a = mixed(in[i], i), b = mixed(in[i] + n, i * 3);
  int sum = __dp4a(static_cast<int>(a), static_cast<int>(b), in[i]);
  sum += static_cast<int>(__dp4a(a, b, 7u));
  sum ^= __dp2a_lo(static_cast<int>(a), static_cast<int>(b), 11);
  sum ^= static_cast<int>(__dp2a_hi(a, b, 13u));
  out[i] = sum + __mul24(static_cast<int>(a), in[i]) + static_cast<int>(__umul24(b, 77)) +
           static_cast<int>(__usad(a, b, 5)) + static_cast<int>(__sad(in[i], n, 9));
}

extern "C" __global__ void funnel_and_fields(const int* in, unsigned* out, int n) {
  AT;
  const unsigned a = mixed(in[i], i), b = mixed(in[i] + n, i * 9);
  const unsigned shift = (in[i] & 63);
  unsigned sum = __funnelshift_l(a, b, shift) ^ __funnelshift_r(a, b, shift) * 3;
  sum += __funnelshift_lc(a, b, shift) ^ __funnelshift_rc(a, b, shift);
  sum = sum * 31 + (__brev(a) ^ __byte_perm(a, b, b & 0x7777));
  sum = sum * 31 + __clz(static_cast<int>(a >> (shift & 31))) + __ffs(static_cast<int>(b)) +
        __popc(a);
  sum = sum * 31 + static_cast<unsigned>(__fns(a, shift & 31, in[i] & 7));
  unsigned field, merged;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(field) : "r"(a), "r"(shift), "r"(b & 31));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(merged) : "r"(a), "r"(b), "r"(shift), "r"(in[i] & 15));
  unsigned found, mask;
  asm("bfind.shiftamt.s32 %0, %1;" : "=r"(found) : "r"(a));
  asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(mask) : "r"(shift), "r"(b & 63));
  out[i] = sum * 31 + (field ^ merged * 5 ^ found * 7 ^ mask * 11);
}

extern "C" __global__ void bits_of_64(const int* in, unsigned long long* out, int n) {
  AT;
  const unsigned long long a = static_cast<unsigned long long>(mixed(in[i], i)) << 32 | mixed(n, i);
  const unsigned long long b = static_cast<unsigned long long>(mixed(n, in[i])) << 32 | mixed(i, n);
  unsigned long long sum = __brevll(a) ^ __umul64hi(a, b);
  sum += static_cast<unsigned long long>(
      __mul64hi(static_cast<long long>(a), static_cast<long long>(b)));
  sum = sum * 31 + static_cast<unsigned>(__clzll(static_cast<long long>(a >> (in[i] & 63))));
  sum = sum * 31 + static_cast<unsigned>(__popcll(b) + __ffsll(static_cast<long long>(a)));
  sum = sum * 31 + (a << (in[i] & 63)) + (b >> (i & 63));
  out[i] = sum * 31 + __umulhi(static_cast<unsigned>(a), static_cast<unsigned>(b)) +
           static_cast<unsigned>(__mulhi(static_cast<int>(a), static_cast<int>(b)));
}

extern "C" __global__ void divisions(const int* in, long long* out, int n) {
  AT;
  const long long a = static_cast<long long>(mixed(in[i], i)) * (in[i] - 3) - 5;
  const long long b = (static_cast<long long>(mixed(i, n)) >> (i & 31)) + 1;
  const unsigned long long ua = static_cast<unsigned long long>(a) * 0x9e3779b97f4a7c15ull;
  const unsigned small = mixed(n, i) >> (i & 15) | 1;
  long long sum = a / b + a % b * 3;
  sum += static_cast<long long>(ua / static_cast<unsigned long long>(b));
  sum ^= static_cast<long long>(ua % (static_cast<unsigned long long>(b) + 12345678901ull));
  sum += static_cast<int>(a) / (in[i] * 2 + 1) + static_cast<int>(b) % (in[i] * 2 - 1);
  sum += static_cast<unsigned>(ua) / small + static_cast<unsigned>(ua) % small;
  sum += a / 7 + a % 1000003 + static_cast<long long>(ua / 10) + static_cast<int>(a) / 641;
  out[i] = sum + static_cast<short>(in[i]) / static_cast<short>(i % 9 + 1);
}

extern "C" __global__ void wide_sums(const int* in, unsigned long long* out, int n) {
  AT;
  unsigned __int128 sum = static_cast<unsigned __int128>(mixed(in[i], i)) << 70 | mixed(n, i);
  for (int k = 0; k < n; ++k) {
    sum = sum * 1000003 + static_cast<unsigned>(in[(i + k) % 1024]);
    sum ^= sum >> 61;
  }
  out[2 * i] = static_cast<unsigned long long>(sum);
  out[2 * i + 1] = static_cast<unsigned long long>(sum >> 64) + static_cast<unsigned>(sum % 1009);
}

// A cipher's rounds: rotations, additions and exclusive ors in sixteen registers.
extern "C" __global__ void rotations(const unsigned* in, unsigned* out, int rounds) {
  AT;
  unsigned x[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) x[k] = in[(i + 16 * k) % 1024] + static_cast<unsigned>(k);
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      unsigned &a = x[k], &b = x[4 + k], &c = x[8 + k], &d = x[12 + (k + round) % 4];
      a += b, d = __funnelshift_l(d ^ a, d ^ a, 16);
      c += d, b = __funnelshift_l(b ^ c, b ^ c, 12);
      a += b, d = __funnelshift_l(d ^ a, d ^ a, 8);
      c += d, b = __funnelshift_l(b ^ c, b ^ c, 7);
    }
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    reinterpret_cast<uint4*>(out)[4 * i + k] =
        make_uint4(x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]);
  }
}
