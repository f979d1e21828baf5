// SPDX-License-Identifier: MIT
// Functions that are not inlined: recursion, tables of functions, virtual functions, and what the
// driver provides.
#include <cassert>
#include <cstdio>
__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" __global__ void recursion(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 13); }

__device__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void nested_recursion(int* out) {
  out[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x % 5);
}

__device__ void sort_range(int* a, int low, int high) {
  if (low >= high) return;
  const int pivot = a[(low + high) / 2];
  int i = low, j = high;
  while (i <= j) {
    while (a[i] < pivot) ++i;
    while (a[j] > pivot) --j;
    if (i <= j) {
      const int kept = a[i];
      a[i++] = a[j];
      a[j--] = kept;
    }
  }
  sort_range(a, low, j);
  sort_range(a, i, high);
}
extern "C" __global__ void quicksort(int* a, int n) { sort_range(a + threadIdx.x * n, 0, n - 1); }

struct Node {
  Node *left, *right;
};
__device__ int depth_of(const Node* node) {
  if (node == nullptr) return 0;
  const int a = depth_of(node->left), b = depth_of(node->right);
  return 1 + (a > b ? a : b);
}
extern "C" __global__ void local_tree(int* out) {  // pointers to local variables, across calls
  Node nodes[7];
  const int count = 7 - (threadIdx.x & 3);
  for (int i = 0; i < 7; ++i) {
    nodes[i].left = 2 * i + 1 < count ? &nodes[2 * i + 1] : nullptr;
    nodes[i].right = 2 * i + 2 < count ? &nodes[2 * i + 2] : nullptr;
  }
  out[threadIdx.x] = depth_of(&nodes[threadIdx.x % 7]);
}

__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ int times(int a, int b) { return a * b; }
__device__ int (*const table[3])(int, int) = {plus, minus, times};
extern "C" __global__ void function_table(int* out, const int* which) {
  out[threadIdx.x] = table[which[threadIdx.x]](threadIdx.x, 7);
}

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Disc : Shape {
  float radius;
  __device__ explicit Disc(float r) : radius(r) {}
  __device__ float area() const override { return 3 * radius * radius; }
};
struct Framed : Shape {
  const Shape* inner;
  __device__ explicit Framed(const Shape* s) : inner(s) {}
  __device__ float area() const override { return 1 + inner->area(); }
};
extern "C" __global__ void virtual_functions(float* out) {
  const int i = threadIdx.x;
  const Square square(i);
  const Disc disc(i);
  const Framed once(i % 2 ? static_cast<const Shape*>(&square) : &disc), twice(&once);
  const Shape* shape = i % 3 == 0   ? static_cast<const Shape*>(&square)
                       : i % 3 == 1 ? static_cast<const Shape*>(&disc)
                                    : &twice;
  out[i] = shape->area();
}

// Structures go into calls and out of them whole, at whatever alignment they have.
template <class T, int count>
struct Row {
  T x[count];
};
template <class T, int count>
__device__ __noinline__ Row<T, count> grown(Row<T, count> row, int n) {
  if (n == 0) return row;
  Row<T, count> more = grown(row, n - 1);
  for (int i = 0; i < count; ++i) more.x[i] += row.x[i] + i;
  return more;
}
template <class T, int count>
__device__ int sum_of(int n, Row<T, count> (*function)(Row<T, count>, int)) {
  Row<T, count> row;
  for (int i = 0; i < count; ++i) row.x[i] = i + 1;
  row = function(row, n);
  int sum = 0;
  for (int i = 0; i < count; ++i) sum = 3 * sum + static_cast<int>(row.x[i]);
  return sum;
}
extern "C" __global__ void structures(int* out) {
  const int n = threadIdx.x % 4;
  int* const own = out + 6 * threadIdx.x;
  own[0] = sum_of(n, grown<int, 3>);
  own[1] = sum_of(n, grown<float, 5>);
  own[2] = sum_of(n, grown<int, 7>);
  own[3] = sum_of(n, grown<double, 3>);
  own[4] = sum_of(n, grown<char, 5>);
  own[5] = sum_of(n, grown<short, 3>);
}

// Recurs from one of forty places, and has eight values to keep at each.
__device__ __noinline__ int from_many_places(int n, int seed) {
  if (n == 0) return seed;
  int kept[8];
  for (int i = 0; i < 8; ++i) kept[i] = seed * i;
#pragma unroll
  for (int place = 0; place < 40; ++place) {
    if (n % 40 == place) {
      kept[place % 8] += from_many_places(n - 1, kept[(place + 1) % 8] & 255);
    }
  }
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum = (3 * sum + kept[i]) & 0xffff;
  return sum;
}
extern "C" __global__ void many_places(int* out) {
  out[threadIdx.x] = from_many_places(30, threadIdx.x);
}

extern "C" __global__ void prints() {
  if (threadIdx.x < 2) {
    printf("%d of %s: %5.2f %lld %c %x%%\n", threadIdx.x, "two", threadIdx.x * 0.5, 1ll << 40, 'x',
           255);
  }
}
extern "C" __global__ void asserts(int* out, int n) {
  assert(threadIdx.x < n);
  out[threadIdx.x] = threadIdx.x;
}
extern "C" __global__ void allocates(int* out) {
  int* numbers = static_cast<int*>(malloc(16 * sizeof(int)));
  for (int k = 0; k < 16; ++k) numbers[k] = threadIdx.x + k;
  int sum = 0;
  for (int k = 0; k < 16; ++k) sum += numbers[(k * 7 + threadIdx.x) & 15];
  free(numbers);
  out[threadIdx.x] = sum;
}
