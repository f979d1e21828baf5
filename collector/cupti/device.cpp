#include "collector/cupti/device.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/error.h"
#include "collector/cupti/library.h"
#include "collector/cupti/profiler.h"

namespace warpmeter::cupti {
namespace {

/// "GPU 580.159.04" where NVML tells it, else what CUDA tells.
std::string driver_version() {
  if (nvml_library().ok() && !nvml_library().version.empty()) return nvml_library().version;
  return "CUDA " + driver_library().version;
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
  return device;
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

schema::DeviceState read_state(const std::string& uuid, std::string phase) {
  schema::DeviceState state;
  state.phase = std::move(phase);
  if (!nvml_library().ok()) {
    state.unavailable = nvml_library().failure;
    return state;
  }
  const NvmlApi& api = nvml_library().api;
  nvmlDevice_t device = nullptr;
  if (const nvmlReturn_t result = api.nvmlDeviceGetHandleByUUID(uuid.c_str(), &device);
      result != nvml_success) {
    state.unavailable = fmt::format("NVML does not find {}: {}", uuid, api.nvmlErrorString(result));
    return state;
  }
  unsigned value = 0, pending = 0;
  if (api.nvmlDeviceGetClockInfo(device, nvml_clock_sm, &value) == nvml_success) {
    state.sm_clock_mhz = value;
  }
  if (api.nvmlDeviceGetClockInfo(device, nvml_clock_memory, &value) == nvml_success) {
    state.memory_clock_mhz = value;
  }
  if (api.nvmlDeviceGetTemperature(device, nvml_temperature_gpu, &value) == nvml_success) {
    state.temperature_c = value;
  }
  if (api.nvmlDeviceGetPowerUsage(device, &value) == nvml_success) state.power_w = value / 1000.0;
  unsigned long long reasons = 0;
  if (api.nvmlDeviceGetCurrentClocksThrottleReasons(device, &reasons) == nvml_success) {
    state.throttle_reasons = throttle_reasons(reasons);
  }
  int current = 0, next = 0;
  if (api.nvmlDeviceGetEccMode(device, &current, &next) == nvml_success) state.ecc = current != 0;
  if (api.nvmlDeviceGetPersistenceMode(device, &current) == nvml_success) {
    state.persistence = current != 0;
  }
  if (api.nvmlDeviceGetMigMode(device, &value, &pending) == nvml_success) state.mig = value != 0;
  return state;
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
