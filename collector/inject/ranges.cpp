// SPDX-License-Identifier: MIT
// NVTX gives an injection tables of pointers to its functions; those that open and close ranges are
// replaced, and those that name things. Texts are bytes (ASCII or UTF-8) or strings that the
// program registered with us; wide ones are not read.
#include "collector/inject/ranges.h"

#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "collector/inject/names/named.h"

namespace warpmeter::inject {
namespace {

using Domain = nvtxDomainHandle_t;

struct Open {
  Domain domain;
  std::string text;
  std::uint64_t start_ns = 0;
};
struct Started {
  std::string text;
  std::uint64_t start_ns = 0;
  std::uint32_t thread = 0;
};
/// More ranges than anybody looks at.
constexpr std::size_t most_ended = 1'000'000;

thread_local std::vector<Open> pushed;

/// Never destroyed: threads may use ranges while the process ends.
struct Shared {
  std::mutex mutex;
  std::map<nvtxRangeId_t, Started> started;
  std::atomic<bool> keeps_ended{false};
  std::vector<EndedRange> ended;
  nvtxRangeId_t last = 0;
  std::set<std::string> registered;
};
Shared& shared() {
  static Shared* instance = new Shared;
  return *instance;
}

std::uint32_t own_thread() { return static_cast<std::uint32_t>(gettid()); }

/// The caller holds the mutex.
void keep(std::string text, std::uint64_t start_ns, std::uint32_t thread) {
  if (shared().ended.size() >= most_ended) return;
  shared().ended.push_back({std::move(text), start_ns, monotonic_ns(), thread});
}

std::string text_of(const nvtxEventAttributes_t* event) {
  if (event == nullptr) return "";
  if (event->messageType == NVTX_MESSAGE_TYPE_ASCII && event->message.ascii != nullptr) {
    return event->message.ascii;
  }
  if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED && event->message.registered != nullptr) {
    return *reinterpret_cast<const std::string*>(event->message.registered);
  }
  return "";
}

int push(Domain domain, std::string text) {
  pushed.push_back({domain, std::move(text), monotonic_ns()});
  return static_cast<int>(pushed.size()) - 1;
}

int pop(Domain domain) {
  const auto innermost = std::find_if(pushed.rbegin(), pushed.rend(),
                                      [&](const Open& open) { return open.domain == domain; });
  if (innermost == pushed.rend()) return -1;
  if (shared().keeps_ended) {
    const std::lock_guard lock(shared().mutex);
    keep(std::move(innermost->text), innermost->start_ns, own_thread());
  }
  pushed.erase(std::next(innermost).base());
  return static_cast<int>(pushed.size());
}

nvtxRangeId_t start(std::string text) {
  const std::lock_guard lock(shared().mutex);
  shared().started[++shared().last] = {std::move(text), monotonic_ns(), own_thread()};
  return shared().last;
}

void end(nvtxRangeId_t id) {
  const std::lock_guard lock(shared().mutex);
  const auto found = shared().started.find(id);
  if (found == shared().started.end()) return;
  Started& range = found->second;
  if (shared().keeps_ended) keep(std::move(range.text), range.start_ns, range.thread);
  shared().started.erase(found);
}

int push_event(const nvtxEventAttributes_t* event) { return push(nullptr, text_of(event)); }
int push_ascii(const char* text) { return push(nullptr, text != nullptr ? text : ""); }
int pop_plain() { return pop(nullptr); }
nvtxRangeId_t start_event(const nvtxEventAttributes_t* event) { return start(text_of(event)); }
nvtxRangeId_t start_ascii(const char* text) { return start(text != nullptr ? text : ""); }

int push_in_domain(Domain domain, const nvtxEventAttributes_t* event) {
  return push(domain, text_of(event));
}
nvtxRangeId_t start_in_domain(Domain, const nvtxEventAttributes_t* event) {
  return start(text_of(event));
}
void end_in_domain(Domain, nvtxRangeId_t id) { end(id); }

template <Resource resource>
void name_pointer(void* handle, const char* name) {
  if (name != nullptr) take_name({resource, reinterpret_cast<std::uintptr_t>(handle), name});
}

template <Resource resource>
void name_number(std::uint32_t number, const char* name) {
  if (name != nullptr) take_name({resource, number, name});
}

/// A domain is only told apart from others: any address of its own will do.
Domain create_domain(const char*) { return reinterpret_cast<Domain>(new char); }

nvtxStringHandle_t register_string(Domain, const char* text) {
  const std::lock_guard lock(shared().mutex);
  const std::string& kept = *shared().registered.insert(text != nullptr ? text : "").first;
  return reinterpret_cast<nvtxStringHandle_t>(const_cast<std::string*>(&kept));
}

template <class Function>
std::pair<unsigned int, NvtxFunctionPointer> hook(unsigned int id, Function function) {
  return {id, reinterpret_cast<NvtxFunctionPointer>(function)};
}

bool replace(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module,
             std::initializer_list<std::pair<unsigned int, NvtxFunctionPointer>> hooks) {
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr)
    return false;
  for (const auto& [id, function] : hooks) {
    if (id < size && table[id] != nullptr) *table[id] = function;
  }
  return true;
}

}  // namespace

std::vector<std::string> open_ranges() {
  std::vector<std::string> ranges;
  {
    const std::lock_guard lock(shared().mutex);
    for (const auto& [id, range] : shared().started) ranges.push_back(range.text);
  }
  for (const Open& open : pushed) ranges.push_back(open.text);
  return ranges;
}

void keep_ended_ranges(bool keeps) { shared().keeps_ended = keeps; }

std::vector<EndedRange> take_ended_ranges() {
  const std::lock_guard lock(shared().mutex);
  return std::exchange(shared().ended, {});
}

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace warpmeter::inject

/// NVTX calls this once for each copy of it in the process.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t export_table) {
  using namespace warpmeter::inject;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks)) return 0;
  const bool plain = replace(
      *callbacks, NVTX_CB_MODULE_CORE,
      {hook(NVTX_CBID_CORE_RangePushEx, push_event), hook(NVTX_CBID_CORE_RangePushA, push_ascii),
       hook(NVTX_CBID_CORE_RangePop, pop_plain), hook(NVTX_CBID_CORE_RangeStartEx, start_event),
       hook(NVTX_CBID_CORE_RangeStartA, start_ascii), hook(NVTX_CBID_CORE_RangeEnd, end),
       hook(NVTX_CBID_CORE_NameOsThreadA, name_number<Resource::thread>)});
  replace(*callbacks, NVTX_CB_MODULE_CUDA,
          {hook(NVTX_CBID_CUDA_NameCuDeviceA, name_number<Resource::device>),
           hook(NVTX_CBID_CUDA_NameCuContextA, name_pointer<Resource::context>),
           hook(NVTX_CBID_CUDA_NameCuStreamA, name_pointer<Resource::stream>)});
  replace(*callbacks, NVTX_CB_MODULE_CUDART,
          {hook(NVTX_CBID_CUDART_NameCudaDeviceA, name_number<Resource::device>),
           hook(NVTX_CBID_CUDART_NameCudaStreamA, name_pointer<Resource::stream>)});
  replace(*callbacks, NVTX_CB_MODULE_CORE2,
          {hook(NVTX_CBID_CORE2_DomainRangePushEx, push_in_domain),
           hook(NVTX_CBID_CORE2_DomainRangePop, pop),
           hook(NVTX_CBID_CORE2_DomainRangeStartEx, start_in_domain),
           hook(NVTX_CBID_CORE2_DomainRangeEnd, end_in_domain),
           hook(NVTX_CBID_CORE2_DomainCreateA, create_domain),
           hook(NVTX_CBID_CORE2_DomainRegisterStringA, register_string)});
  return plain ? 1 : 0;
}
