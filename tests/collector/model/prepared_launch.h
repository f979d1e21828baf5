// SPDX-License-Identifier: MIT
// A kernel of an image with its problem's input in memory, ready for model::launch().
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "collector/model/machine/decode/decode.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/ptx/module.h"
#include "kernels/family.h"

namespace warpmeter::model {

struct PreparedLaunch {
  std::unique_ptr<ptx::Module> module;
  Program program;
  DeviceMemory memory;
  std::vector<std::byte> parameters;
  std::string refusal;  ///< why the model cannot run it; empty when it can
};

/// From the image's PTX for sm_90.
inline std::unique_ptr<PreparedLaunch> prepare_launch(const kernels::Image& image,
                                                      std::string_view entry,
                                                      const kernels::Problem& problem) {
  auto prepared = std::make_unique<PreparedLaunch>();
  const auto code = std::find_if(image.codes.begin(), image.codes.end(),
                                 [](const kernels::Code& c) { return c.arch == 90; });
  if (code == image.codes.end()) {
    prepared->refusal = "no PTX for sm_90";
    return prepared;
  }
  prepared->module =
      std::move(std::get<std::unique_ptr<ptx::Module>>(ptx::parse(std::string(code->ptx))));
  auto decoded = decode(*prepared->module, entry);
  if (const auto* refused = std::get_if<ptx::Diagnostic>(&decoded)) {
    prepared->refusal = refused->message;
    return prepared;
  }
  prepared->program = std::move(std::get<Program>(decoded));
  std::vector<std::uint64_t> addresses;
  for (const kernels::Buffer& buffer : problem.buffers) {
    addresses.push_back(prepared->memory.allocate(buffer.initial, buffer.name));
  }
  std::vector<std::vector<std::byte>> values;
  for (const kernels::Argument& argument : problem.arguments) {
    if (const auto* buffer = std::get_if<kernels::BufferArgument>(&argument)) {
      const auto* bytes = reinterpret_cast<const std::byte*>(&addresses[buffer->index]);
      values.emplace_back(bytes, bytes + sizeof(std::uint64_t));
    } else {
      const auto& scalar = std::get<kernels::ScalarArgument>(argument);
      values.emplace_back(scalar.bytes.begin(), scalar.bytes.end());
    }
  }
  prepared->parameters = pack_parameters(prepared->program, values).value();
  return prepared;
}

}  // namespace warpmeter::model
