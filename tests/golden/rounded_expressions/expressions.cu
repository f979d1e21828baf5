// SPDX-License-Identifier: MIT
// Twenty expressions of sinf, cosf, sqrtf, atan2f and products, some of them sums of two products,
// some in loops and branches: last digits depend on which products and sums ptxas rounds once.
// results.csv has their bits. tests/golden/rounded_expressions/README.md says where these are from.
#define EXPRESSION(NAME, ...)                                                                 \
  extern "C" __global__ void NAME(float* o, const float* a, const float* b, const float* c) { \
    const int i = threadIdx.x;                                                                \
    const float x = a[i], y = b[i], z = c[i];                                                 \
    float r = 0;                                                                              \
    __VA_ARGS__;                                                                              \
    o[i] = r;                                                                                 \
  }

EXPRESSION(rotated, r = x * cosf(z) - y * sinf(z))
EXPRESSION(rotated_back, r = x * sinf(z) + y * cosf(z))
EXPRESSION(length, r = sqrtf(x * x + y * y))
EXPRESSION(length_of_three, r = sqrtf(x * x + y * y + z * z))
EXPRESSION(angle, r = atan2f(y * z, x* x + z))
EXPRESSION(polar, r = atan2f(y, x) * sqrtf(x * x + y * y) + z)
EXPRESSION(between, r = x * y - z * x)
EXPRESSION(between_both, float p = x * y, q = z * x; r = (p - q) * (p + q))
EXPRESSION(sine_of_sum, r = sinf(x * y + z) * z + y)
EXPRESSION(sine_and_root, r = sinf(x) * sqrtf(y) + cosf(x) * sqrtf(z))
EXPRESSION(nested, r = sinf(cosf(x * y) * z + x) * y - z)
EXPRESSION(product_read_twice, float p = x * y; r = p + z; r = r * p)
EXPRESSION(root_between, float p = x * y; float q = sqrtf(p + z); r = p + q)
EXPRESSION(quotient, r = x * y / (z + 4.0f) + x * z)
EXPRESSION(cross_product, r = (x * z - y * y) * x + (y * x - z * z) * y)
EXPRESSION(branch, r = x * y; if (z > 1.5f) r = r + sinf(z); else r = r - cosf(z))
EXPRESSION(
    pendulum, float angle = x, speed = 0; for (int k = 0; k < 100; ++k) {
      speed -= 9.81f * 0.01f * sinf(angle);
      angle += speed * 0.01f;
    } r = angle)
EXPRESSION(
    orbit, float px = x, py = y, vx = 0, vy = 0.5f; for (int k = 0; k < 50; ++k) {
      const float d = sqrtf(px * px + py * py + 0.01f);
      const float f = 1.0f / (d * d * d);
      vx -= px * f * 0.01f;
      vy -= py * f * 0.01f;
      px += vx * 0.01f;
      py += vy * 0.01f;
    } r = px * vy - py * vx)
EXPRESSION(
    heading, float angle = z; for (int k = 0; k < 20; ++k) {
      angle += 0.1f * atan2f(y - sinf(angle) * x, x + cosf(angle) * y);
    } r = angle)
EXPRESSION(series, for (int k = 1; k <= 8; ++k) r += cosf(k * x) * y - sinf(k * z) * 0.5f)
