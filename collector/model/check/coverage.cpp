// SPDX-License-Identifier: MIT
#include "collector/model/check/coverage.h"

#include <iterator>
#include <utility>

namespace warpmeter::model::check {
namespace {

void add(std::vector<std::string>& to, std::vector<std::string> more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

}  // namespace

std::vector<std::string> looked_for() {
  return {"accesses out of bounds or misaligned",
          "reads of buffers, shared memory, local arrays and variables that nothing has set",
          "races on shared and global memory, between lanes, warps and blocks",
          "asynchronous copies used before their end",
          "barriers that not all threads come to (those that have ended are not waited for)",
          "lanes that a *_sync mask names and that are not there"};
}

std::vector<std::string> looked_for_in_programs() {
  constexpr const char* under_way =
      "host code that touches managed or pinned memory, or changes registered memory, which a "
      "kernel or copy under way may still use";
  constexpr const char* over_the_end =
      "host code that runs over the end of managed or pinned memory, or touches such that was "
      "freed";
  return {"copies out of bounds, in a wrong direction, or of device memory that nothing has set",
          "host code that touches device memory",
          "races between streams, and between the branches of graphs",
          under_way,
          over_the_end,
          "memory that is freed twice, freed by mistake or never freed",
          "variables of the device that host code sets by name, and output that no wait shows",
          "calls and launches that failed, and failed launches that the program did not ask about"};
}

std::string looked_for_in_short(bool is_program) {
  const std::string kernels =
      "out-of-bounds accesses, unset memory, races, unfinished copies, barriers, masks";
  return is_program ? kernels + ", and copies, frees, waits and calls of the host" : kernels;
}

std::vector<std::string> left_out(const Coverage& coverage) {
  std::vector<std::string> all;
  if (!coverage.has_ended) all.emplace_back("what comes after the place where the kernel stopped");
  if (!coverage.blocks.empty()) all.emplace_back("the blocks that --blocks left out");
  if (coverage.is_partial) {
    all.emplace_back("races on memory beyond what this machine could follow");
  }
  add(all, main_gaps(coverage.gaps));
  return all;
}

std::vector<std::string> not_looked_for(const Coverage& coverage) {
  std::vector<std::string> all = left_out(coverage);
  add(all, further_gaps(coverage.gaps));
  all.emplace_back(
      "accesses that run over from one local array of a thread, or one row or member of any array "
      "or structure, into another, and stacks deeper than cudaLimitStackSize: a thread has 256 KiB "
      "here");
  all.emplace_back(
      "what becomes of a vector's or structure's unset part once it passes through local memory");
  all.emplace_back("accesses that the compiler has left out, since it knew their value");
  if (coverage.is_program) {
    all.emplace_back(
        "kernels that may begin before the one in front of them has ended (programmatic launches): "
        "here they wait for it");
    constexpr const char* unset_elsewhere =
        "memory of the host (managed and pinned too) that nothing has set, such with several "
        "addresses "
        "(cuMemMap), and gaps of up to 7 bytes in what is copied to the host, unless it is a "
        "single one in 64 bytes or more";
    constexpr const char* host_ends =
        "the ends of the host's own buffers (malloc, new, arrays), and host code that reads its "
        "own variable of a device variable's name";
    constexpr const char* left_behind =
        "streams, events, graphs, textures and the like that are never destroyed; host memory that "
        "is freed while it is registered";
    constexpr const char* host_functions =
        "races between a host function of a stream (cudaLaunchHostFunc, cudaStreamAddCallback) "
        "and other streams or the host, and races of the host with what stands before such a "
        "function in its stream, once that has run: it may have told the host";
    constexpr const char* races_elsewhere =
        "host code that, before a wait, reads registered memory or leaves it as it was, touches "
        "what kernels with fences for the host use, touches a page in the moment in which another "
        "thread may, or has a function of the system do so other than read(), recv(), fread(), "
        "write(), send(), fwrite(), puts() and their like, which fails then; host code that reads "
        "past the end of managed or pinned memory but within its last page of 4 KiB; races between "
        "processes that share memory";
    constexpr const char* streams_elsewhere =
        "races between streams on constant memory or on what kernels allocate themselves, behind "
        "streams that wait for values in memory or for other processes, of kernels that hand on "
        "data by fences and flags, of graphs that kernels launch behind their own, and of host "
        "threads that do not wait for each other";
    all.insert(all.end(),
               {"other arguments and input than these",
                "whether what kernels allocate themselves (malloc, new) is freed, or freed twice",
                left_behind, host_functions, host_ends,
                "other orders in which threads may come to locks and atomics", unset_elsewhere,
                races_elsewhere, streams_elsewhere,
                "whether the program looks at what calls return, and whether results are right"});
    return all;
  }
  all.insert(all.end(), {"other geometries, arguments and input than these",
                         "other orders in which threads may come to locks and atomics",
                         "what the host does before and after, and whether results are right"});
  return all;
}

}  // namespace warpmeter::model::check
