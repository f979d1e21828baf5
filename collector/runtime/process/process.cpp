// SPDX-License-Identifier: MIT
#include "collector/runtime/process/process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "base/error.h"
#include "base/own_stack.h"
#include "base/with_noun.h"
#include "collector/runtime/check/caller.h"
#include "collector/runtime/check/host_fault.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/device/visible_devices.h"
#include "collector/runtime/image/fat_binary.h"
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/process/named.h"
#include "collector/runtime/process/null_stream.h"

namespace warpmeter::runtime {
namespace {

Process* instance = nullptr;  // lives until the process ends
int unreported_arch = 90;

std::unique_ptr<Report> connect() {
  const char* socket = std::getenv(inject::socket_variable);
  if (socket == nullptr) return nullptr;
  try {
    return std::make_unique<Report>(socket);
  } catch (const Error&) {
    return nullptr;  // warpmeter has gone; the program runs on, uncounted
  }
}

/// The report of a program with CUDA in it, until its first call.
std::unique_ptr<Report>& announced() {
  static auto* report = new std::unique_ptr<Report>;
  return *report;
}

/// The report of this process; else, as for a fork of it, a connection of its own.
std::unique_ptr<Report> own_report() {
  std::unique_ptr<Report> report = std::move(announced());
  return report != nullptr && report->is_open() ? std::move(report) : connect();
}

void say_goodbye() {
  if (instance->is_fork()) return;
  with_room([] {
    const std::lock_guard lock(instance->mutex());
    if (instance->checks() != nullptr) instance->checks()->ends_unshown();
    instance->lose_printed();
  });
}

}  // namespace

thread_local bool Process::is_launching = false;
thread_local std::string_view Process::function_;
thread_local const void* Process::caller_ = nullptr;
thread_local std::string Process::why_not_;
thread_local bool null_is_per_thread = false;

namespace {
thread_local cudaError_t last = cudaSuccess;
}

Process& Process::get() {
  static Process* made = [] {
    instance = new Process;
    std::atexit(say_goodbye);
    return instance;
  }();
  return *made;
}

bool Process::exists() { return instance != nullptr; }

void Process::announce() { announced() = connect(); }

void Process::execute_as(int arch) { unreported_arch = arch; }

void Process::report_to(std::unique_ptr<Report> report) {
  report_ = std::move(report);
  explained_.forget();
  said_.clear();
  failed_calls_.clear();
  unasked_.clear();
}

void Process::end_report() {
  if (report_ == nullptr) return;
  if (allocations_ != nullptr) {
    allocations_->end();
    memory_.tell(nullptr);
    allocations_ = nullptr;
  }
  tell_unasked();
  explained_.end(*report_);
  report_->end();
  report_ = nullptr;
}

void Process::end_unused() {
  if (announced() != nullptr) announced()->end();
}

void Process::end() {
  if (is_fork()) return;
  const std::lock_guard lock(mutex_);
  show_printed();
  if (checks_ != nullptr) checks_->end(pending_ != cudaSuccess, virtual_memory_.kept());
  if (allocations_ != nullptr) allocations_->end();
  if (report_ != nullptr) {
    tell_unasked();
    explained_.end(*report_);
    report_->end();
  }
}

Process::Process()
    : id_(getpid()), report_(own_report()), arch_(unreported_arch), memory_(device_memory_bytes()) {
  if (report_ != nullptr) {
    arch_ = static_cast<int>(report_->config().arch);
    devices_ = static_cast<int>(report_->config().devices);
    if (report_->config().checks) {
      checks_ = std::make_unique<Checks>(*report_, memory_);
    } else if (report_->config().allocations) {
      allocations_ = std::make_unique<Allocations>(*report_, memory_);
    }
  }
  catch_host_faults(memory_, checks_.get());
  if (report_ != nullptr) {
    inject::tell_names([this](const inject::Named& named) { tell_name(*this, named); });
  }
}

const std::vector<int>& Process::visible() const {
  static const std::vector<int> devices = [&] {
    const char* const list = std::getenv("CUDA_VISIBLE_DEVICES");
    if (list != nullptr) return visible_devices(list, devices_);
    std::vector<int> all(static_cast<std::size_t>(devices_));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }();
  return devices;
}

cudaError_t Process::note(cudaError_t result) {
  if (result != cudaSuccess && result != cudaErrorNotReady) last = result;
  return result;
}

cudaError_t Process::peek_at_last_error() {
  unasked_.clear();
  if (checks_ != nullptr) checks_->looked();
  return last_error();
}

cudaError_t Process::take_last_error() {
  unasked_.clear();
  if (checks_ != nullptr) checks_->looked();
  const cudaError_t result = last_error();
  last = cudaSuccess;
  return result;
}

cudaError_t Process::last_error() const { return last; }

void Process::kernel_failed(cudaError_t error, const std::string& kernel) {
  if (pending_ != cudaSuccess) return;
  pending_ = error;
  const bool is_ours = error == cudaErrorNotSupported;  // and no mistake of the program
  if (checks_ != nullptr && !is_ours) checks_->kernel_failed(kernel, is_of_driver(function_));
}

cudaError_t Process::surfaced_error() {
  if (is_fork()) return cudaErrorInitializationError;
  if (pending_ != cudaSuccess) {
    if (sticky_ == cudaSuccess) show_printed();  // an assertion tells who asks first
    sticky_ = pending_;
    if (checks_ != nullptr) checks_->surfaced();
  }
  return sticky_;
}

cudaError_t Process::reset() {
  if (surfaced_error() != cudaSuccess) {
    sticky_ = cudaErrorDevicesUnavailable;
    pending_ = cudaErrorDevicesUnavailable;
    return cudaSuccess;
  }
  // Physical memory, and where it is mapped, belong to no context.
  std::vector<std::uint64_t> all;
  memory_.for_each([&](const Block& block) {
    if (block.kind != MemoryKind::mapped) all.push_back(block.address);
  });
  for (const std::uint64_t address : all) memory_.release(address);
  for (int device = 0; races() != nullptr && device < devices_; ++device) {
    races()->host_knows(races()->clock_of_device(device));
  }
  streams_.clear();
  events_.reset();
  kernels_.clear();
  libraries_.clear();
  loaded_.reset();
  for (const auto& state : states_) {
    if (state != nullptr) state->reset();
  }
  for (const auto& registration : Registry::get().registrations) {
    registration->modules.clear();
    registration->first = nullptr;
  }
  return cudaSuccess;
}

bool Process::is_fork() const { return getpid() != id_; }

void Process::say(const std::string& text) {
  if (!said_.insert(text).second) return;
  if (report_ != nullptr) report_->say(text);
}

void Process::show_printed() {
  if (checks_ != nullptr) checks_->shown();
  for (auto [text, file] : {std::pair(&printed_, stdout), std::pair(&failed_, stderr)}) {
    if (text->empty()) continue;
    std::fwrite(text->data(), 1, text->size(), file);
    std::fflush(file);  // as the driver does, and what the host printed before with it
    text->clear();
  }
}

void Process::lose_printed() {
  if (!printed_.empty()) {
    say("what kernels have printed since the last wait is lost, as on a GPU: call "
        "cudaDeviceSynchronize() before the program ends");
  }
  printed_.clear();
  show_printed();
}

Stream* Process::stream(cudaStream_t handle) {
  // The default streams are made when they are named; each thread has one of its own.
  thread_local char own = 0;
  const void* key = handle;
  const bool is_own = handle == cudaStreamPerThread || (handle == nullptr && null_is_per_thread);
  if (is_own) key = &own;
  if (handle == cudaStreamLegacy) key = nullptr;
  if (is_own || key == nullptr) {
    std::shared_ptr<Stream>& stream = streams_[key];
    if (!stream) {
      stream = std::make_shared<Stream>();
      stream->number = is_own ? next_stream_++ : legacy_stream_number;
      stream->device = current_device;
    }
    return stream.get();
  }
  const auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second.get();
}

static bool is_default(cudaStream_t handle, const Stream& stream) {
  return reinterpret_cast<const void*>(handle) != &stream;
}

Context* green_of(cudaStream_t handle, const Stream& stream) {
  if (!is_default(handle, stream)) return stream.green;
  Context* current = Contexts::get().current();
  return current != nullptr && current->is_green() ? current : nullptr;
}

int device_of(cudaStream_t handle, const Stream& stream) {
  return is_default(handle, stream) ? current_device : stream.device;
}

Stream* Process::make_stream(unsigned flags, int priority) {
  auto stream = std::make_shared<Stream>();
  stream->number = next_stream_++;
  stream->flags = flags;
  stream->priority = priority;
  stream->device = current_device;
  Context* current = Contexts::get().current();
  if (current != nullptr && current->is_green()) stream->green = current;
  Stream* handle = stream.get();
  streams_[handle] = std::move(stream);
  return handle;
}

bool Process::remove_stream(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
    return false;
  const auto removed = streams_.extract(handle);
  if (removed.empty()) return false;
  if (Races* known = races()) known->leave(*removed.mapped());
  std::erase_if(left_, [](const auto& stream) { return stream->waiting.empty(); });
  if (!removed.mapped()->waiting.empty()) left_.push_back(removed.mapped());
  return true;
}

Event* Process::event(cudaEvent_t handle) { return events_.find(handle); }

Event* Process::make_event(unsigned flags) {
  auto event = std::make_unique<Event>();
  event->flags = flags;
  event->device = current_device;
  return &events_.add(std::move(event));
}

bool Process::remove_event(cudaEvent_t handle) { return events_.take(handle) != nullptr; }

Module* Process::module_of(Registration& registration) {
  std::unique_ptr<Module>& module = registration.modules[current_device];
  if (module != nullptr) return module.get();
  ModuleSource source = source_in_memory(registration.fat_binary, registration.linked, arch_);
  if (source.ptx.empty() && source.why_no_ptx.empty())
    source.why_no_ptx = without_ptx(source.later_ptx, arch_);
  module =
      std::make_unique<Module>(std::move(source), arch_, memory_, next_room(), registration.first);
  if (registration.first == nullptr) registration.first = module.get();
  for (const Registration::Managed& managed : registration.managed) {
    const std::optional<VariablePlace> place = module->variable(managed.name);
    if (place) *managed.host = reinterpret_cast<void*>(place->address);
  }
  return module.get();
}

std::uint64_t Process::next_room() {
  return model::first_module_variable + modules_++ * Module::most_variable_bytes;
}

Kernel* Process::kernel(const void* stub_or_handle) {
  if (kernels_.contains(stub_or_handle)) {
    auto* kernel = static_cast<Kernel*>(const_cast<void*>(stub_or_handle));
    Module& module = kernel->module();
    Module* here = on_this_device(&module);
    if (here == &module) return kernel;
    kernel = here->kernel(kernel->entry());
    know(kernel);
    return kernel;
  }
  const auto& functions = Registry::get().functions;
  const auto found = functions.find(stub_or_handle);
  if (found == functions.end()) return nullptr;
  Kernel* kernel = module_of(*found->second.first)->kernel(found->second.second);
  if (kernel != nullptr) kernels_.insert(kernel);
  return kernel;
}

std::optional<Process::Symbol> Process::symbol(const void* host) {
  const Registry::Named* variable = Registry::get().variable(host);
  if (variable == nullptr) return std::nullopt;
  Module* module = module_of(*variable->first);
  const std::optional<VariablePlace> place = module->variable(variable->second);
  if (!place) return std::nullopt;
  return Symbol{module, *place};
}

std::optional<Process::VariableFacts> Process::variable_at(std::uint64_t address) {
  std::optional<VariableFacts> found;
  const auto ask = [&](Module& module, int device) {
    const std::string_view name = module.variable_at(address);
    if (!found && !name.empty()) found = VariableFacts{device, module.is_managed(name)};
  };
  for (const auto& registration : Registry::get().registrations) {
    for (const auto& [device, module] : registration->modules) ask(*module, device);
  }
  for (const auto& [handle, library] : libraries_) {
    for (const auto& [device, module] : library.by_device) ask(*module, device);
  }
  for (const auto& [handle, module] : loaded_) ask(*module, current_device);
  return found;
}

cudaError_t Process::symbol_mistake(const void* host) {
  const Registry::Named* variable = Registry::get().variable(host);
  if (variable == nullptr) return cudaErrorInvalidSymbol;
  const std::string& failure = module_of(*variable->first)->failure();
  if (failure.empty()) return cudaErrorInvalidSymbol;
  say(fmt::format("variable '{}' is not there: {}", variable->second, failure));
  return cudaErrorNoKernelImageForDevice;
}

Module* Process::load(ModuleSource source, bool is_library) {
  if (source.ptx.empty() && source.why_no_ptx.empty()) {
    source.why_no_ptx = without_ptx(source.later_ptx, arch_);
  }
  std::optional<ModuleSource> kept;
  if (is_library && devices() > 1) kept = source;
  Module* handle =
      &loaded_.add(std::make_unique<Module>(std::move(source), arch_, memory_, next_room()));
  if (kept) libraries_[handle] = {std::move(*kept), {{current_device, handle}}};
  return handle;
}

Module* Process::on_this_device(Module* module) {
  const auto library = libraries_.find(module);
  if (library == libraries_.end()) return module;
  auto& [source, by_device] = library->second;
  Module*& here = by_device[current_device];
  if (here == nullptr) {
    here = &loaded_.add(std::make_unique<Module>(source, arch_, memory_, next_room(), module));
  }
  return here;
}

Module* Process::handle_of(Module* module) const {
  for (const auto& [handle, library] : libraries_) {
    for (const auto& [device, one] : library.by_device) {
      if (one == module) return static_cast<Module*>(const_cast<void*>(handle));
    }
  }
  return module;
}

void Process::unload(Module* module) {
  if (const auto library = libraries_.extract(module); !library.empty()) {
    for (const auto& [device, one] : library.mapped().by_device) unload(one);
    return;
  }
  std::erase_if(kernels_, [&](const void* kernel) {
    return &static_cast<const Kernel*>(kernel)->module() == module;
  });
  loaded_.take(module);
}

bool Process::is_module(const void* handle) const { return loaded_.find(handle) != nullptr; }

Label Process::name_of_allocation(std::uint64_t bytes) const {
  const HostPlace& place = place_of_call(caller_);
  const AllocatedFor known = allocated_at(place);
  const std::string what =
      known.variable.empty()
          ? fmt::format("memory of {}",
                        with_noun(fmt::format("{}", fmt::group_digits(bytes)), "byte"))
          : fmt::format("'{}'", known.variable);
  const std::string where = place.after(" (allocated");
  const std::string which = known.variable.empty() && known.number > 0
                                ? fmt::format(" by call {} of its line", known.number)
                                : "";
  return {where.empty() ? what : what + where + which + ")", place.in_words()};
}

}  // namespace warpmeter::runtime
