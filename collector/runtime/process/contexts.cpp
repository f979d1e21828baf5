// SPDX-License-Identifier: MIT
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/device/device.h"

#include <utility>

#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {
namespace {

// A program's own destructors may call after those of its threads have run: then there is the top
// alone.
thread_local Context* top = nullptr;
thread_local bool is_thread_over = false;
struct Below {
  std::vector<Context*> contexts;
  ~Below() { is_thread_over = true; }
};
thread_local Below below;

}  // namespace

Contexts& Contexts::get() { return Process::get().contexts(); }

Context* Contexts::current() const { return top; }

void Contexts::make_current(Context* context) {
  pop();
  if (context != nullptr) push(context);
}

void Contexts::push(Context* context) {
  if (top != nullptr && !is_thread_over) below.contexts.push_back(top);
  top = context;
  current_device = context->device;
}

Context* Contexts::pop() {
  Context* context = std::exchange(top, nullptr);
  if (!is_thread_over && !below.contexts.empty()) {
    top = below.contexts.back();
    below.contexts.pop_back();
    current_device = top->device;
  }
  return context;
}

Context* Contexts::add(int device) {
  auto made = std::make_unique<Context>();
  made->device = device;
  made->number = all_.size() + 1;
  return &all_.add(std::move(made));
}

Context& Contexts::primary(int device) {
  Context*& known = primaries_[device];
  if (known == nullptr) {
    known = add(device);
    known->is_primary = true;
  }
  return *known;
}

Context& Contexts::owning(unsigned long long number, int device) {
  for (const auto& [handle, context] : all_) {
    if (number != 0 && context->number == number) return *context;
  }
  return primary(device);
}

Context* Contexts::create(int device, unsigned flags) {
  Context* context = add(device);
  context->flags = flags;
  return context;
}

bool Contexts::holds(const Context* context) const { return all_.find(context) != nullptr; }

void Contexts::enter_runtime(int device, bool is_program) {
  is_initialised = true;
  const bool has_one = current() != nullptr;
  if (!has_one) push(&primary(device));
  if (current()->is_primary && (is_program || !has_one)) current()->is_of_runtime = true;
}

void Contexts::choose_device(int device) {
  is_initialised = true;
  make_current(&primary(device));
  current()->is_of_runtime = true;
}

}  // namespace warpmeter::runtime
