// SPDX-License-Identifier: MIT
// In front of cuRAND. Its kernels are launched past the API, by the driver's own tables, and have
// PTX for sm_121 alone. But cuRAND also has generators for the host. On an H200 their whole and
// uniform numbers are those of the device's generators; normal ones differ by up to 5e-6, their
// exponentials by as much in proportion (tests/device/curand_numbers.py, cuRAND of CUDA 13.0:
// XORWOW, MRG32K3A, MTGP32, MT19937). So a generator for the device is made as one for the host,
// and writes where the device's memory lies in this process. Nothing is counted: a remark says so.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>

#include "base/own_stack.h"
#include "collector/model/machine/order.h"
#include "collector/runtime/check/checks.h"
#include "collector/runtime/entry/compilers.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime::random_numbers {
namespace {

using Generator = void*;
using Status = int;
constexpr Status success = 0, not_initialised = 101, launch_failed = 201;

/// The generators that the program made for the device.
struct Generators {
  std::mutex mutex;
  std::set<Generator> of_device;
};

Generators& generators() {
  static auto* all = new Generators;  // as long as the process
  return *all;
}

bool is_of_device(Generator generator) {
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  return all.of_device.contains(generator);
}

template <class... Arguments>
Status call(const char* name, Arguments... arguments) {
  Status (*const original)(Arguments...) = nullptr;
  auto* const function = compiler_function(original, name);
  return function == nullptr ? not_initialised : function(arguments...);
}

/// Where the bytes at the program's address lie for cuRAND; null: they are no allocation's.
void* place_of(void* address, std::uint64_t bytes) {
  return with_room([&]() -> void* {
    Process& process = Process::get();
    const std::lock_guard lock(process.mutex());
    bool is_inside = false;
    const auto at = reinterpret_cast<std::uint64_t>(address);
    std::byte* const place = process.memory().translate(at, bytes, is_inside);
    if (place == nullptr || !is_inside) return nullptr;
    model::follow_copy(process.memory().machine(), process.host_order(), at, 0, bytes);
    if (process.checks() != nullptr) process.checks()->set(at, bytes);
    return place;
  });
}

}  // namespace

Status create(Generator* generator, int type) {
  const Status result = call("curandCreateGeneratorHost", generator, type);
  if (result != success) return result;
  Generators& all = generators();
  bool is_first = false;
  {
    const std::lock_guard lock(all.mutex);
    is_first = all.of_device.empty();
    all.of_device.insert(*generator);
  }
  if (!is_first) return result;
  with_room([] {
    Process& process = Process::get();
    const std::lock_guard lock(process.mutex());
    process.say(
        "cuRAND's numbers come from its generators for the host: normal ones differ from a GPU's "
        "in "
        "their last digits; its kernels are not counted");
  });
  return result;
}

Status destroy(Generator generator) {
  Generators& all = generators();
  {
    const std::lock_guard lock(all.mutex);
    all.of_device.erase(generator);
  }
  return call("curandDestroyGenerator", generator);
}

template <class Element, class... Arguments>
Status generate(const char* name, Generator generator, Element* to, std::size_t count,
                Arguments... arguments) {
  Element* place = to;
  if (is_of_device(generator) && count > 0) {
    place = static_cast<Element*>(place_of(to, count * sizeof(Element)));
    if (place == nullptr) return launch_failed;
  }
  return call(name, generator, place, count, arguments...);
}

}  // namespace warpmeter::runtime::random_numbers

#define WARPMETER_CURAND(NAME) extern "C" [[gnu::visibility("default")]] int curand##NAME
// FUNCTION(name, element, further parameters, their names)
#define WARPMETER_GENERATE(NAME, ELEMENT, PARAMETERS, NAMES)                           \
  WARPMETER_CURAND(NAME)(void* generator, ELEMENT* to, std::size_t count PARAMETERS) { \
    return warpmeter::runtime::random_numbers::generate("curand" #NAME, generator, to, \
                                                        count NAMES);                  \
  }
#define WARPMETER_TWO(TYPE) , TYPE a, TYPE b
#define WARPMETER_RATE , double rate
#define WARPMETER_NONE
#define WARPMETER_NAMES_OF_TWO , a, b
#define WARPMETER_NAME_OF_RATE , rate
#define WARPMETER_GENERATORS(FUNCTION)                                                     \
  FUNCTION(Generate, unsigned, WARPMETER_NONE, WARPMETER_NONE)                             \
  FUNCTION(GenerateLongLong, unsigned long long, WARPMETER_NONE, WARPMETER_NONE)           \
  FUNCTION(GenerateUniform, float, WARPMETER_NONE, WARPMETER_NONE)                         \
  FUNCTION(GenerateUniformDouble, double, WARPMETER_NONE, WARPMETER_NONE)                  \
  FUNCTION(GenerateNormal, float, WARPMETER_TWO(float), WARPMETER_NAMES_OF_TWO)            \
  FUNCTION(GenerateNormalDouble, double, WARPMETER_TWO(double), WARPMETER_NAMES_OF_TWO)    \
  FUNCTION(GenerateLogNormal, float, WARPMETER_TWO(float), WARPMETER_NAMES_OF_TWO)         \
  FUNCTION(GenerateLogNormalDouble, double, WARPMETER_TWO(double), WARPMETER_NAMES_OF_TWO) \
  FUNCTION(GeneratePoisson, unsigned, WARPMETER_RATE, WARPMETER_NAME_OF_RATE)

WARPMETER_CURAND(CreateGenerator)(void** generator, int type) {
  return warpmeter::runtime::random_numbers::create(generator, type);
}
WARPMETER_CURAND(DestroyGenerator)(void* generator) {
  return warpmeter::runtime::random_numbers::destroy(generator);
}
WARPMETER_GENERATORS(WARPMETER_GENERATE)

#define WARPMETER_RANDOM_FRONT(NAME, ...) \
  {"curand" #NAME, reinterpret_cast<const void*>(&curand##NAME)},

namespace warpmeter::runtime {

std::span<const Front> curand_fronts() {
  static const Front fronts[] = {WARPMETER_RANDOM_FRONT(CreateGenerator) WARPMETER_RANDOM_FRONT(
      DestroyGenerator) WARPMETER_GENERATORS(WARPMETER_RANDOM_FRONT)};
  return fronts;
}

}  // namespace warpmeter::runtime
