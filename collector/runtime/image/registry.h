// SPDX-License-Identifier: MIT
// The registrations of the program's constructors: kept as they come, before there is a Process.
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collector/runtime/image/module.h"

namespace warpmeter::runtime {

/// A fat binary, and the managed variables in it.
struct Registration {
  const void* fat_binary = nullptr;
  std::vector<const void*> linked;  ///< fat binaries of separate compilation
  /// By device, each made at its first use: every device has variables of its own.
  std::map<int, std::unique_ptr<Module>> modules;
  Module* first = nullptr;  ///< for them, which has the managed variables
  struct Managed {
    void** host = nullptr;  ///< takes the variable's address
    std::string name;
  };
  std::vector<Managed> managed;
};

/// Host code has a variable of its own by the name of each of the device's, for its address alone.
struct HostVariable {
  const std::byte* at = nullptr;
  std::vector<std::byte> initial;  ///< as it was when it was registered
  bool is_told = false;            ///< for a mistake with it

  bool is_changed() const { return std::memcmp(at, initial.data(), initial.size()) != 0; }
};

struct Registry {
  using Named = std::pair<Registration*, std::string>;
  std::vector<std::unique_ptr<Registration>> registrations;
  std::map<const void*, Named> functions;  ///< by the host's stub
  std::map<const void*, Named> variables;  ///< by the host's variable of that name

  std::vector<HostVariable> host_variables;  ///< those that are not large

  Registration* add(std::unique_ptr<Registration> registration) {
    return registrations.emplace_back(std::move(registration)).get();
  }
  /// The variable that host code names by this address; null for none. Host code names a managed
  /// one by where it lies.
  const Named* variable(const void* host) const {
    if (const auto found = variables.find(host); found != variables.end()) return &found->second;
    for (const auto& registration : registrations) {
      for (const Registration::Managed& managed : registration->managed) {
        if (host != nullptr && *managed.host == host) return variable(managed.host);
      }
    }
    return nullptr;
  }
  /// The first constructor makes it; nobody destroys it.
  static Registry& get() {
    static auto* registry = new Registry;
    return *registry;
  }
};

}  // namespace warpmeter::runtime
