// SPDX-License-Identifier: MIT
#include "collector/cupti/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/error.h"
#include "collector/cupti/energy.h"
#include "collector/cupti/library.h"
#include "collector/cupti/neighbours.h"
#include "collector/cupti/profiler.h"

namespace warpmeter::cupti {
namespace {

/// The chip of a compute capability that no other chip has; "" where several have it.
std::string chip_of(int compute_capability) {
  switch (compute_capability) {
    case 80:
      return "GA100";
    case 90:
      return "GH100";
    default:
      return "";
  }
}

/// All but what NVML and CUPTI have to be started for.
schema::Device describe_by_driver(int ordinal) {
  const DriverApi& api = driver_library().api;
  schema::Device device;
  device.backend = "cupti";
  device.ordinal = ordinal;
  CUdevice handle = 0;
  check(api, api.cuDeviceGet(&handle, ordinal), "choosing the device");

  std::array<char, 256> name{};
  check(api, api.cuDeviceGetName(name.data(), static_cast<int>(name.size()), handle),
        "asking for the device's name");
  device.name = name.data();
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    check(api, api.cuDeviceGetAttribute(&value, which, handle), "reading a device attribute");
    return value;
  };
  device.compute_capability = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                              attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  device.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  device.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  std::size_t bytes = 0;
  check(api, api.cuDeviceTotalMem_v2(&bytes, handle), "asking for the device's memory");
  device.memory_bytes = static_cast<std::int64_t>(bytes);
  CUuuid uuid{};
  check(api, api.cuDeviceGetUuid_v2(&uuid, handle), "asking for the device's UUID");
  unsigned char uuid_bytes[16];
  for (std::size_t i = 0; i < 16; ++i) uuid_bytes[i] = static_cast<unsigned char>(uuid.bytes[i]);
  device.uuid = format_uuid(uuid_bytes);
  device.driver = "CUDA " + driver_library().version;
  device.chip = chip_of(device.compute_capability);
  return device;
}

/// A card as NVML knows it. A device of CUDA may be an instance of one that is split.
struct Card {
  nvmlDevice_t device = nullptr;
  bool is_instance = false;
  std::string failure;
};

Card find_card(const NvmlApi& api, const std::string& uuid) {
  Card card;
  const nvmlReturn_t result = api.nvmlDeviceGetHandleByUUID(uuid.c_str(), &card.device);
  if (result == nvml_success) return card;
  // CUDA tells the instance's UUID without saying that it is one.
  const std::string instance = "MIG-" + uuid.substr(std::min<std::size_t>(uuid.size(), 4));
  nvmlDevice_t of_instance = nullptr;
  if (api.nvmlDeviceGetDeviceHandleFromMigDeviceHandle != nullptr &&
      api.nvmlDeviceGetHandleByUUID(instance.c_str(), &of_instance) == nvml_success &&
      api.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(of_instance, &card.device) == nvml_success) {
    card.is_instance = true;
    return card;
  }
  card.failure = fmt::format("NVML does not find {}: {}", uuid, api.nvmlErrorString(result));
  return card;
}

void read_known(const NvmlApi& api, const Card& card, bool has_context,
                schema::DeviceState& state) {
  unsigned value = 0, pending = 0;
  if (api.nvmlDeviceGetClockInfo(card.device, nvml_clock_sm, &value) == nvml_success) {
    state.sm_clock_mhz = value;
  }
  if (api.nvmlDeviceGetClockInfo(card.device, nvml_clock_memory, &value) == nvml_success) {
    state.memory_clock_mhz = value;
  }
  if (api.nvmlDeviceGetTemperature(card.device, nvml_temperature_gpu, &value) == nvml_success) {
    state.temperature_c = value;
  }
  if (api.nvmlDeviceGetPowerUsage(card.device, &value) == nvml_success) {
    state.power_w = value / 1000.0;
  }
  state.disturbances = look_around({.api = api, .device = card.device, .has_context = has_context});
  const auto add = [&](const char* kind, bool is_felt, std::string what) {
    state.disturbances.push_back({kind, is_felt, std::move(what), 0, "", {}, {}, ""});
  };
  unsigned long long reasons = 0;
  if (api.nvmlDeviceGetCurrentClocksThrottleReasons(card.device, &reasons) == nvml_success) {
    state.throttle_reasons = throttle_reasons(reasons);
    if (is_slowing(reasons)) {
      add("throttled", true, "the clocks were held back: " + state.throttle_reasons);
    }
  }
  int current = 0, next = 0;
  if (api.nvmlDeviceGetEccMode(card.device, &current, &next) == nvml_success) {
    state.ecc = current != 0;
  }
  if (api.nvmlDeviceGetPersistenceMode(card.device, &current) == nvml_success) {
    state.persistence = current != 0;
  }
  if (api.nvmlDeviceGetMigMode(card.device, &value, &pending) == nvml_success) {
    state.mig = value != 0;
  }
  if (card.is_instance) {
    add("MIG", false, "the device is an instance of a card that is split (MIG)");
  } else if (state.mig.value_or(false)) {
    add("MIG", false, "the card is split into instances (MIG)");
  }
}

/// True if NVML says that the program will see a device and that the driver is new enough. It
/// starts sooner than the driver, and is asked for clocks in any case.
bool nvml_shows_device() {
  if (std::getenv("CUDA_VISIBLE_DEVICES") != nullptr) return false;  // the driver reads that
  if (!nvml_library().ok()) return false;
  const NvmlApi& api = nvml_library().api;
  unsigned count = 0;
  int version = 0;
  return api.nvmlDeviceGetCount_v2 != nullptr && api.nvmlSystemGetCudaDriverVersion_v2 != nullptr &&
         api.nvmlDeviceGetCount_v2(&count) == nvml_success && count > 0 &&
         api.nvmlSystemGetCudaDriverVersion_v2(&version) == nvml_success &&
         version >= oldest_driver;
}

schema::Device describe(int ordinal) {
  schema::Device device = describe_by_driver(ordinal);
  device.driver = driver_version();
  if (cupti_library().ok()) device.chip = chip_name(cupti_library().api, ordinal);
  return device;
}

}  // namespace

std::vector<schema::Device> devices() {
  std::vector<schema::Device> all;
  if (!driver_library().ok()) return all;
  int count = 0;
  check(driver_library().api, driver_library().api.cuDeviceGetCount(&count),
        "counting the devices");
  for (int ordinal = 0; ordinal < count; ++ordinal) all.push_back(describe(ordinal));
  return all;
}

bool has_device() {
  if (nvml_shows_device()) return true;
  if (!driver_library().ok()) return false;
  return std::filesystem::exists("/dev/nvidiactl") || std::filesystem::exists("/dev/dxg") ||
         !devices().empty();
}

schema::Device describe_device(int ordinal) {
  if (!driver_library().ok()) throw Error(ExitCode::no_hardware, driver_library().sentence());
  int count = 0;
  check(driver_library().api, driver_library().api.cuDeviceGetCount(&count),
        "counting the devices");
  if (ordinal < 0 || ordinal >= count) {
    throw Error(ExitCode::usage,
                fmt::format("There is no device {}: this machine has devices 0 to {}; see "
                            "`warpmeter list devices`",
                            ordinal, count - 1));
  }
  return describe(ordinal);
}

schema::Device describe_device_by_driver(int ordinal) {
  if (!driver_library().ok()) throw Error(ExitCode::no_hardware, driver_library().sentence());
  return describe_by_driver(ordinal);
}

std::string driver_version() {
  if (nvml_library().ok() && !nvml_library().version.empty()) return nvml_library().version;
  return "CUDA " + driver_library().version;
}

bool is_told_by_capability() {
  const NvmlApi& api = nvml_library().api;
  unsigned count = 0;
  nvmlDevice_t device = nullptr;
  int major = 0, minor = 0;
  return nvml_library().ok() && api.nvmlDeviceGetCudaComputeCapability != nullptr &&
         api.nvmlDeviceGetCount_v2 != nullptr && api.nvmlDeviceGetHandleByIndex_v2 != nullptr &&
         api.nvmlDeviceGetCount_v2(&count) == nvml_success && count == 1 &&
         api.nvmlDeviceGetHandleByIndex_v2(0, &device) == nvml_success &&
         api.nvmlDeviceGetCudaComputeCapability(device, &major, &minor) == nvml_success &&
         !chip_of(major * 10 + minor).empty();
}

schema::DeviceState read_state(const std::string& uuid, std::string phase, bool has_context) {
  schema::DeviceState state;
  state.phase = std::move(phase);
  if (!nvml_library().ok()) {
    state.unavailable = nvml_library().failure;
  } else {
    const NvmlApi& api = nvml_library().api;
    const Card card = find_card(api, uuid);
    if (card.failure.empty()) {
      read_known(api, card, has_context, state);
    } else {
      state.unavailable = card.failure;
    }
  }
  if (!state.unavailable.empty()) {
    state.disturbances = {{"process", false, "", 0, "", {}, {}, state.unavailable}};
  }
  return state;
}

PowerSource power_source(const std::string& uuid) {
  PowerSource source;
  source.now_s = [] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  };
  source.wait = [](double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  };
  source.energy_j = source.sm_clock_mhz = source.temperature_c = [] { return std::nullopt; };
  if (!nvml_library().ok()) return source;
  const NvmlApi& api = nvml_library().api;
  const Card card = find_card(api, uuid);
  if (!card.failure.empty() || card.is_instance) return source;
  const nvmlDevice_t device = card.device;
  if (api.nvmlDeviceGetTotalEnergyConsumption != nullptr) {
    source.energy_j = [&api, device]() -> std::optional<double> {
      unsigned long long millijoules = 0;
      if (api.nvmlDeviceGetTotalEnergyConsumption(device, &millijoules) != nvml_success) return {};
      return static_cast<double>(millijoules) / 1000;
    };
  }
  source.sm_clock_mhz = [&api, device]() -> std::optional<double> {
    unsigned mhz = 0;
    if (api.nvmlDeviceGetClockInfo(device, nvml_clock_sm, &mhz) != nvml_success) return {};
    return mhz;
  };
  source.temperature_c = [&api, device]() -> std::optional<double> {
    unsigned celsius = 0;
    if (api.nvmlDeviceGetTemperature(device, nvml_temperature_gpu, &celsius) != nvml_success) {
      return {};
    }
    return celsius;
  };
  return source;
}

std::map<std::string, schema::DeviceState> read_states(const std::string& phase) {
  std::map<std::string, schema::DeviceState> states;
  const NvmlApi& api = nvml_library().api;
  unsigned count = 0;
  if (!nvml_library().ok() || api.nvmlDeviceGetCount_v2 == nullptr ||
      api.nvmlDeviceGetHandleByIndex_v2 == nullptr || api.nvmlDeviceGetUUID == nullptr ||
      api.nvmlDeviceGetCount_v2(&count) != nvml_success) {
    return states;
  }
  for (unsigned i = 0; i < count; ++i) {
    nvmlDevice_t device = nullptr;
    std::array<char, 96> uuid{};
    if (api.nvmlDeviceGetHandleByIndex_v2(i, &device) != nvml_success ||
        api.nvmlDeviceGetUUID(device, uuid.data(), static_cast<unsigned>(uuid.size())) !=
            nvml_success) {
      continue;
    }
    states[uuid.data()] = read_state(uuid.data(), phase);
  }
  return states;
}

bool is_slowing(std::uint64_t reasons) {
  // None for a slower clock than the card has: idle, application clocks, sync boost, display.
  constexpr std::uint64_t harmless = 0x1 | 0x2 | 0x10 | 0x100;
  return (reasons & ~harmless) != 0;
}

std::string throttle_reasons(std::uint64_t bits) {
  // nvmlClocksEventReason*, NVML API Reference Guide.
  static constexpr std::pair<std::uint64_t, const char*> names[] = {
      {0x1, "idle"},
      {0x2, "application clocks setting"},
      {0x4, "software power cap"},
      {0x8, "hardware slowdown"},
      {0x10, "sync boost"},
      {0x20, "software thermal slowdown"},
      {0x40, "hardware thermal slowdown"},
      {0x80, "hardware power brake"},
      {0x100, "display clock setting"},
  };
  std::string words;
  const auto add = [&](const std::string& word) { words += (words.empty() ? "" : ", ") + word; };
  for (const auto& [bit, name] : names) {
    if ((bits & bit) != 0) add(name);
    bits &= ~bit;
  }
  if (bits != 0) add(fmt::format("unknown {:#x}", bits));
  return words;
}

std::string format_uuid(const unsigned char (&bytes)[16]) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace warpmeter::cupti
