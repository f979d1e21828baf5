// SPDX-License-Identifier: MIT
// An exit and a jump that a second predicate decides (`@P0 EXIT P1`), for the counts of hardware:
//
//   nvcc -std=c++17 -arch=sm_90 -lineinfo -o two_predicates two_predicates.cu
//   ncu --metrics
//   smsp__inst_executed.sum,smsp__thread_inst_executed.sum,smsp__thread_inst_executed_pred_on.sum,\
//   smsp__sass_thread_inst_executed_op_control_pred_on.sum ./two_predicates
//
// steps_test.cpp holds the model to it, on the same input.
#include "../model/agree_control.cu"
int main() {
  constexpr int n = 10, columns = 32, rows = 16, lanes = 32;
  float *a = nullptr, *b = nullptr, *sums = nullptr;
  int *left = nullptr, *right = nullptr, *merged = nullptr;
  if (cudaMalloc(&a, columns * n * sizeof(float)) != cudaSuccess) return 4;
  cudaMalloc(&b, columns * n * sizeof(float));
  cudaMalloc(&sums, columns * n * sizeof(float));
  cudaMemset(a, 0, columns * n * sizeof(float));
  cudaMemset(b, 0, columns * n * sizeof(float));
  all_but_a_corner<<<1, dim3(columns, rows)>>>(a, b, sums, n);
  cudaMallocManaged(&left, lanes * n * sizeof(int));
  cudaMallocManaged(&right, lanes * n * sizeof(int));
  cudaMalloc(&merged, 2 * lanes * n * sizeof(int));
  for (int i = 0; i < lanes * n; ++i) {
    left[i] = i % n * (i / n % 5 + 1);
    right[i] = i % n * 7 + i / n;
  }
  merged_rows<<<1, 1>>>(left, right, merged, n);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
