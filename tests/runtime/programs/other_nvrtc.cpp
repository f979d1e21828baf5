// SPDX-License-Identifier: MIT
// Another version of NVRTC, as far as it takes to notice that it is called.
extern "C" int nvrtcCompileProgram(void*, int, const char* const*) { return 1; }
