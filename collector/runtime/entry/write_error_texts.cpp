// SPDX-License-Identifier: MIT
// Writes the table of error_texts.cpp at build time: the toolkit's runtime knows its errors without
// a GPU.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>

int main() {
  for (int error = 0; error < 1000; ++error) {
    const char* name = cudaGetErrorName(static_cast<cudaError_t>(error));
    if (name == nullptr || std::strcmp(name, "unrecognized error code") == 0) continue;
    std::printf("    {%d, \"%s\", \"%s\"},\n", error, name,
                cudaGetErrorString(static_cast<cudaError_t>(error)));
  }
}
