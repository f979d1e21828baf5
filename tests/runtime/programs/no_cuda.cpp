// SPDX-License-Identifier: MIT
#include <cstdio>
int main() { std::puts("no CUDA"); }
