// SPDX-License-Identifier: MIT
// In place of cuBLAS in tests (cublas.h): each function returns "internal error", except the one
// that says the version, which is the library's own business.
#include "cublas.h"

#define FUNCTION(NAME) \
  extern "C" [[gnu::aligned(16), gnu::noinline]] int NAME() { return 14; }
CUBLAS_FUNCTIONS(FUNCTION)

extern "C" [[gnu::aligned(16)]] int cublasGetProperty(int property, int* value) {
  *value = property == 0 ? 13 : property == 1 ? 1 : 0;
  return 0;
}
