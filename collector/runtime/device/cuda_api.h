// SPDX-License-Identifier: MIT
// CUDA's own declarations, for the types and for checking that each answer has the shape of the
// function that it answers. Only the headers are needed to build, no library.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
