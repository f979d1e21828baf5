// SPDX-License-Identifier: MIT
// Where the injected library begins. The CUDA driver loads it (CUDA_INJECTION64_PATH) and calls
// InitializeInjection in the middle of the program's first cuInit, whether the program linked the
// runtime or loads CUDA late; from then on CUPTI calls on_event.
//
// The program must never notice: no exception leaves, nothing is printed, and when warpmeter cannot
// be reached the library does nothing at all.
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "collector/cupti/planner.h"
#include "collector/cupti/profiler.h"
#include "collector/inject/channel.h"
#include "collector/inject/counting.h"
#include "collector/inject/launch_call.h"
#include "collector/inject/names/resource_numbers.h"
#include "collector/inject/tracing.h"
#include "collector/inject/waits.h"

namespace warpmeter::inject {
namespace {

constexpr CUpti_CallbackId runtime_profiler_calls[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000,
    CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000};
constexpr CUpti_CallbackId driver_profiler_calls[] = {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart,
                                                      CUPTI_DRIVER_TRACE_CBID_cuProfilerStop};

/// Everything of this process; never destroyed, for the driver may call until the very end.
struct Injector {
  std::unique_ptr<Channel> channel;
  std::unique_ptr<Counting> counting;
  std::unique_ptr<ResourceNumbers> numbers;  ///< CUPTI's numbers of named things
  cupti::Loaded<cupti::CuptiApi> cupti;
  std::shared_future<void> companion;  ///< CUPTI's; it comes while the program makes its context
  Config config;
  std::filesystem::path folder;  ///< the folder of the session
  CUpti_SubscriberHandle subscriber = nullptr;
};
Injector* injector = nullptr;

/// A program may call CUDA while it loads a library of its own, whose lock our thread then waits
/// for.
constexpr std::chrono::seconds patience_for_companion{1};

/// True when the thread that loads CUPTI's companion has ended.
bool companion_has_come() {
  return injector->companion.wait_for(patience_for_companion) == std::future_status::ready;
}

/// CUPTI can count from then on. Throws Error{no_hardware}.
void require_companion() {
  if (companion_has_come()) return injector->companion.get();
  cupti::load_companion(injector->cupti);  // this thread has the lock
}

/// For a thread of its own. Whoever counts later is told if CUPTI cannot.
void get_ready_to_count() {
  cupti::load_companion(injector->cupti);
  if (injector->config.mode != Mode::counters || injector->config.counters.empty()) return;
  try {
    cupti::start_profiling(injector->cupti.api);
  } catch (const Error&) {
  }
}

cupti::Loaded<cupti::CuptiApi> load_cupti(const std::string& directory) {
  const std::filesystem::path in_use = cupti::cupti_in_use();
  const bool is_anywhere = in_use.empty() && directory.empty();
  return cupti::load_cupti({in_use.empty() ? std::filesystem::path(directory) : in_use},
                           is_anywhere, cupti::CuptiUse::activities);
}

void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) {
  if (id == CUPTI_CBID_RESOURCE_STREAM_CREATED) {
    return injector->numbers->stream_made(data.context, data.resourceHandle.stream);
  }
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    injector->numbers->context_made(data.context);
    if (injector->counting == nullptr) tracing::context_made();
    return;
  }
  if (injector->counting == nullptr) return;
  Counting& counting = *injector->counting;
  switch (id) {
    case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
      return counting.context_ends(data.context);
    case CUPTI_CBID_RESOURCE_MODULE_LOADED:
      return counting.module_loaded(
          data.context, *static_cast<const CUpti_ModuleResourceData*>(data.resourceDescriptor));
    case CUPTI_CBID_RESOURCE_MODULE_PROFILED:
      return counting.module_runs(
          data.context, *static_cast<const CUpti_ModuleResourceData*>(data.resourceDescriptor));
    case CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
      return counting.module_unloads();
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED:
      return counting.graph_made(*static_cast<const CUpti_GraphData*>(data.resourceDescriptor));
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING:
      return counting.graph_ends(*static_cast<const CUpti_GraphData*>(data.resourceDescriptor));
    default:
      return;
  }
}

/// True of cudaProfilerStart, false of cudaProfilerStop, and the same of the driver's; nullopt for
/// other functions.
std::optional<bool> profiler_call(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const bool is_runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  for (const bool is_start : {true, false}) {
    if (id == (is_runtime ? runtime_profiler_calls : driver_profiler_calls)[is_start ? 0 : 1]) {
      return is_start;
    }
  }
  return std::nullopt;
}

void profile(bool is_on) {
  if (injector->counting == nullptr) {
    tracing::profile(is_on);
  } else {
    injector->counting->profile(is_on);
  }
}

/// True at the end of a call of the driver that did what it should.
bool has_succeeded(const CUpti_CallbackData& call) {
  return call.callbackSite == CUPTI_API_EXIT &&
         *static_cast<const CUresult*>(call.functionReturnValue) == CUDA_SUCCESS;
}

/// Takes a call after which launches may wait, or may be waited for; false for any other function.
bool take_waits(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const std::optional<WaitingWork> work = read_waiting_work(id, call.functionParams);
  const bool shares = shares_memory(id, call.functionParams);
  if (!work && !shares) return false;
  if (!has_succeeded(call)) return true;
  if (shares) injector->counting->memory_shared();
  if (work) injector->counting->waiting_work(*work, call.context);
  return true;
}

void CUPTIAPI on_event(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  // Warpmeter has gone, or this is a fork.
  if (!injector->channel->is_open() && !Counting::is_in_launch()) return;
  try {
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
      return on_resource(id, *static_cast<const CUpti_ResourceData*>(data));
    }
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    if (const std::optional<bool> is_on = profiler_call(domain, id)) {
      if (call.callbackSite == CUPTI_API_EXIT) profile(*is_on);
      return;
    }
    if (injector->counting == nullptr) {
      const bool is_launch = read_launch(id, call.functionParams).has_value();
      const bool enters = call.callbackSite == CUPTI_API_ENTER;
      if (is_launch && enters) tracing::launching(call.correlationId);
      if (!is_launch && !enters) tracing::after_waiting();
    } else if (changes_graph(id)) {
      if (!has_succeeded(call)) return;
      injector->counting->graph_changes(read_graph_change(id, call.functionParams));
    } else if (take_waits(id, call)) {
      return;
    } else if (call.callbackSite == CUPTI_API_ENTER) {
      injector->counting->enter(id, call);
    } else {
      injector->counting->exit(call);
    }
  } catch (const std::exception& error) {
    injector->channel->send(Problem{false, error.what()});
  }
}

/// The driver's functions in which a program waits for the GPU.
constexpr CUpti_CallbackId waiting_functions[] = {
    CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,    CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2,
    CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,  CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds};

constexpr CUpti_CallbackId numbered[] = {CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
                                         CUPTI_CBID_RESOURCE_STREAM_CREATED};
constexpr CUpti_CallbackId modules[] = {CUPTI_CBID_RESOURCE_MODULE_LOADED,
                                        CUPTI_CBID_RESOURCE_MODULE_PROFILED,
                                        CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING};
constexpr CUpti_CallbackId resources[] = {CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                                          CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,
                                          CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING};

void subscribe() {
  const cupti::CuptiApi& api = injector->cupti.api;
  char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
  CUpti_SubscriberParams parameters{};
  parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  parameters.subscriberName = "warpmeter";
  parameters.oldSubscriberName = holder;
  parameters.oldSubscriberSize = sizeof holder;
  const CUptiResult result =
      api.cuptiSubscribe_v2(&injector->subscriber, on_event, nullptr, &parameters);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    // "CUPTI for <not provided>" is a holder without a name.
    const std::string name = std::strchr(holder, '<') == nullptr ? holder : "";
    throw Error(ExitCode::no_hardware, "another profiler holds CUPTI in this program" +
                                           (name.empty() ? "" : ": " + name) +
                                           "; switch it off and profile again");
  }
  cupti::check(api, result, "subscribing to the program's CUDA calls");
}

void enable(CUpti_CallbackDomain domain, std::span<const CUpti_CallbackId> ids) {
  const cupti::CuptiApi& api = injector->cupti.api;
  for (const CUpti_CallbackId id : ids) {
    cupti::check(api, api.cuptiEnableCallback(1, injector->subscriber, domain, id),
                 "listening to the program's CUDA calls");
  }
}

void at_exit() {
  if (injector->companion.valid()) companion_has_come();
  if (!injector->channel->is_open()) return;
  if (injector->counting == nullptr) {
    tracing::finish();
  } else {
    injector->counting->stop();
    injector->channel->send(Bye{0, injector->counting->was_off()});
  }
}

void start_measuring() {
  injector->cupti = load_cupti(injector->config.cupti_directory);
  if (!injector->cupti.ok()) throw Error(ExitCode::no_hardware, injector->cupti.sentence());
  injector->numbers = std::make_unique<ResourceNumbers>(injector->cupti.api);
  subscribe();
  if (injector->config.mode == Mode::activity) {
    tracing::start(*injector->channel, injector->cupti.api, injector->config);
    enable(CUPTI_CB_DOMAIN_DRIVER_API, waiting_functions);
    if (!injector->config.selection.ranges.empty()) {
      enable(CUPTI_CB_DOMAIN_DRIVER_API, launch_functions());
    }
  } else {
    injector->companion = std::async(std::launch::async, get_ready_to_count).share();
    // A thread that loads a library must not be cut off by a fork, nor by the process's end.
    pthread_atfork([] { companion_has_come(); }, nullptr, nullptr);
    injector->counting =
        std::make_unique<Counting>(*injector->channel, injector->cupti.api, injector->config,
                                   injector->folder, require_companion);
    enable(CUPTI_CB_DOMAIN_DRIVER_API, launch_functions());
    enable(CUPTI_CB_DOMAIN_DRIVER_API, graph_changing_functions());
    enable(CUPTI_CB_DOMAIN_RESOURCE, resources);
    enable(CUPTI_CB_DOMAIN_DRIVER_API, waiting_work_functions());
    enable(CUPTI_CB_DOMAIN_DRIVER_API, sharing_functions());
    enable(CUPTI_CB_DOMAIN_RESOURCE, modules);
  }
  enable(CUPTI_CB_DOMAIN_RESOURCE, numbered);
  enable(CUPTI_CB_DOMAIN_RUNTIME_API, runtime_profiler_calls);
  enable(CUPTI_CB_DOMAIN_DRIVER_API, driver_profiler_calls);
  tell_names([](const Named& named) {
    const std::optional<ResourceNumber> place = injector->numbers->of(named);
    if (!place) return;
    injector->channel->send(
        ResourceName{named.resource, place->context, place->number, named.name});
  });
  std::atexit(at_exit);
}

void initialize(const char* socket) {
  injector = new Injector;
  injector->channel = std::make_unique<Channel>(socket);
  const auto config = injector->channel->receive_config();
  if (!config || config->mode == Mode::off) return;
  injector->config = *config;
  injector->folder = std::filesystem::path(socket).parent_path();
  try {
    start_measuring();
  } catch (const std::exception& error) {
    injector->channel->send(Problem{false, error.what()});
  }
}

}  // namespace
}  // namespace warpmeter::inject

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  using namespace warpmeter::inject;
  static std::atomic<bool> called{false};
  const char* socket = std::getenv(socket_variable);
  if (socket == nullptr || called.exchange(true)) return 1;
  try {
    initialize(socket);
  } catch (const std::exception&) {
    // Nobody listens: the program runs as if we were not there.
  }
  return 1;
}
