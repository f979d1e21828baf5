// SPDX-License-Identifier: MIT
#include "collector/runtime/process/named.h"

#include <mutex>

#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

void tell_name(Process& process, const inject::Named& named) {
  const std::lock_guard lock(process.mutex());
  Report* const report = process.report();
  if (report == nullptr) return;
  inject::ResourceName message{named.resource, 0, named.handle, named.name};
  if (named.resource == inject::Resource::context) {
    const auto* const context = reinterpret_cast<const Context*>(named.handle);
    if (!process.contexts().holds(context)) return;
    message.number = Report::context_of(static_cast<std::uint32_t>(context->device));
  }
  if (named.resource == inject::Resource::stream) {
    const auto handle = reinterpret_cast<cudaStream_t>(named.handle);
    const Stream* const stream = process.stream(handle);
    if (stream == nullptr) return;
    message.context = Report::context_of(static_cast<std::uint32_t>(device_of(handle, *stream)));
    message.number = stream->number;
  }
  report->tell(message);
}

}  // namespace warpmeter::runtime
