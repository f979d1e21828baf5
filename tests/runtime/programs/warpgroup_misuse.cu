// SPDX-License-Identifier: MIT
// Products of matrices by whole warpgroups, done wrongly: by too few warps, by warps of two
// warpgroups, by a part of a warp, and with matrices that are not in shared memory.
//
//   warpgroup_misuse [CASE]     one of them, or all, each in a process of its own
#include <sys/wait.h>
#include <unistd.h>

#include "warpgroup_program.h"
struct Mistake {
  const char* name;
  u32 threads, first,
      end;  ///< the threads of the block; from which on and up to which they multiply
  u64 a, b;
};

constexpr u32 image_bytes = 8192;
const u64 fine_a = in_lines(0), fine_b = in_lines(2048);
const Mistake mistakes[] = {
    {"none", 128, 0, 128, fine_a, fine_b},
    {"one warp", 32, 0, 32, fine_a, fine_b},
    {"three warps", 96, 0, 96, fine_a, fine_b},
    {"three warps of four", 128, 0, 96, fine_a, fine_b},
    {"warps 1 to 4", 256, 32, 160, fine_a, fine_b},
    {"half a warp", 128, 0, 112, fine_a, fine_b},
    {"a beyond the block's memory", 128, 0, 128, in_lines(100 << 10), fine_b},
    {"b beyond the block's memory", 128, 0, 128, fine_a, in_lines(8192 - 256)},
    {"b beyond all memory", 128, 0, 128, fine_a, in_lines((256 << 10) - 2048)},
    {"b of a stride that leaves all memory", 128, 0, 128, fine_a, descriptor(2048, 128, 200 << 10)},
};

/// The kernel, of a group of threads alone, and with as many threads in its loop as there are.
std::string text_of(const Form& form, u32 threads) {
  std::string text = kernel_text(form, threads);
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace(".param .u32 adds)", ".param .u32 adds, .param .u32 first, .param .u32 end)");
  replace(".reg .pred %p,", ".reg .pred %early, %late, %p,");
  replace("wgmma.fence",
          "mov.u32 %thread, %tid.x;\nld.param.u32 %value, [first];\nsetp.lt.u32 %early, %thread, "
          "%value;\n"
          "@%early bra over;\nld.param.u32 %value, [end];\nsetp.ge.u32 %late, %thread, %value;\n"
          "@%late bra over;\nwgmma.fence");
  const std::size_t end = text.rfind("st.global.u32 [%sums + 0]");
  text.insert(end, "over:\n");
  return text;
}

void make(const Mistake& mistake) {
  const Form form{"f32.f16.f16", 64};
  cudaLibrary_t library;
  cudaKernel_t kernel;
  const std::string text = text_of(form, mistake.threads);
  if (cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) !=
      cudaSuccess)
    std::exit(1);
  cudaLibraryGetKernel(&kernel, library, form.name().c_str());
  Operands operands;
  Chance chance{5};
  for (u32 i = 0; i < image_bytes / 2; ++i) {
    const u16 value = static_cast<u16>(0x3c00 + chance.below(1024));
    std::memcpy(operands.image + 2 * i, &value, 2);
  }
  const u32 count = form.sums() * mistake.threads;
  u32* sums = nullptr;
  cudaMallocManaged(&sums, form.sums() * warpgroup * 2 * 4);
  u32 words = image_bytes / 4, adds = 1, first = mistake.first, end = mistake.end;
  u64 a = mistake.a, b = mistake.b;
  void* arguments[] = {&operands.image, &words, &sums, &operands.factors, &a, &b,
                       &adds,           &first, &end};
  cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(mistake.threads), arguments,
                   image_bytes, nullptr);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s: %s", mistake.name, cudaGetErrorName(error));
  if (error == cudaSuccess) {
    std::printf(", %016llx", static_cast<unsigned long long>(mixed(sums, count)));
    for (u32 warp = 0; warp < 8; ++warp) std::printf(" %08x", sums[warp * 32 + 1]);
    std::printf(" %08x", sums[12 * mistake.threads + 1]);
  }
  std::printf("\n");
}

int main(int argc, char** argv) {
  if (argc > 1) {
    make(mistakes[std::atoi(argv[1])]);
    return 0;
  }
  for (u32 i = 0; i < sizeof(mistakes) / sizeof(*mistakes); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      execl("/proc/self/exe", argv[0], std::to_string(i).c_str(), nullptr);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) std::printf("%s: signal %d\n", mistakes[i].name, WTERMSIG(status));
    std::fflush(stdout);
  }
}
