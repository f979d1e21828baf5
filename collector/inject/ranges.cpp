// SPDX-License-Identifier: MIT
// NVTX gives an injection tables of pointers to its functions; those that open and close ranges are
// replaced. Texts are bytes (ASCII or UTF-8) or strings that the program registered with us; wide
// ones are not read.
#include "collector/inject/ranges.h"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace warpmeter::inject {
namespace {

using Domain = nvtxDomainHandle_t;

struct Open {
  Domain domain;
  std::string text;
};

thread_local std::vector<Open> pushed;

/// Never destroyed: threads may use ranges while the process ends.
struct Shared {
  std::mutex mutex;
  std::map<nvtxRangeId_t, std::string> started;
  nvtxRangeId_t last = 0;
  std::set<std::string> registered;
};
Shared& shared() {
  static Shared* instance = new Shared;
  return *instance;
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
  pushed.push_back({domain, std::move(text)});
  return static_cast<int>(pushed.size()) - 1;
}

int pop(Domain domain) {
  const auto innermost = std::find_if(pushed.rbegin(), pushed.rend(),
                                      [&](const Open& open) { return open.domain == domain; });
  if (innermost == pushed.rend()) return -1;
  pushed.erase(std::next(innermost).base());
  return static_cast<int>(pushed.size());
}

nvtxRangeId_t start(std::string text) {
  const std::lock_guard lock(shared().mutex);
  shared().started[++shared().last] = std::move(text);
  return shared().last;
}

void end(nvtxRangeId_t id) {
  const std::lock_guard lock(shared().mutex);
  shared().started.erase(id);
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
    for (const auto& [id, text] : shared().started) ranges.push_back(text);
  }
  for (const Open& open : pushed) ranges.push_back(open.text);
  return ranges;
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
       hook(NVTX_CBID_CORE_RangeStartA, start_ascii), hook(NVTX_CBID_CORE_RangeEnd, end)});
  replace(*callbacks, NVTX_CB_MODULE_CORE2,
          {hook(NVTX_CBID_CORE2_DomainRangePushEx, push_in_domain),
           hook(NVTX_CBID_CORE2_DomainRangePop, pop),
           hook(NVTX_CBID_CORE2_DomainRangeStartEx, start_in_domain),
           hook(NVTX_CBID_CORE2_DomainRangeEnd, end_in_domain),
           hook(NVTX_CBID_CORE2_DomainCreateA, create_domain),
           hook(NVTX_CBID_CORE2_DomainRegisterStringA, register_string)});
  return plain ? 1 : 0;
}
