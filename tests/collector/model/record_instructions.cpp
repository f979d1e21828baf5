// SPDX-License-Identifier: MIT
// Records what a GPU answers to single instructions: reads cases (see instruction_kernel.h) from
// the first file, runs them on device 0, writes them with their results to the second.
//
//   ninja record_instructions && ./record_instructions h200_instructions.txt recorded.txt
#include <cstdio>
#include <fstream>
#include <iostream>

#include "tests/collector/model/instruction_kernel.h"
#include "tests/collector/model/recording_device.h"

namespace {

using warpmeter::model::check;
using warpmeter::model::InstructionCase;
using warpmeter::model::open_recording_device;

CUdeviceptr upload(const std::array<std::uint64_t, 32>& values) {
  CUdeviceptr at = 0;
  check(cuMemAlloc(&at, sizeof(values)), "cuMemAlloc");
  check(cuMemcpyHtoD(at, values.data(), sizeof(values)), "cuMemcpyHtoD");
  return at;
}

/// False when the driver does not take the instruction.
bool run(InstructionCase& a_case) {
  const std::string ptx = warpmeter::model::instruction_kernel(a_case);
  CUmodule module = nullptr;
  char log[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
  if (cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values) != CUDA_SUCCESS) {
    std::cerr << a_case.body << ": " << log << '\n';
    return false;
  }
  CUfunction function = nullptr;
  check(cuModuleGetFunction(&function, module, "instruction"), a_case.body);
  std::vector<CUdeviceptr> pointers = {upload({})};
  for (const auto& operand : a_case.values) pointers.push_back(upload(operand));
  std::vector<void*> arguments;
  for (CUdeviceptr& pointer : pointers) arguments.push_back(&pointer);
  check(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments.data(), nullptr),
        a_case.body);
  check(cuMemcpyDtoH(a_case.expected.data(), pointers[0], sizeof(a_case.expected)), a_case.body);
  for (const CUdeviceptr pointer : pointers) cuMemFree(pointer);
  cuModuleUnload(module);
  return true;
}

void write(std::ostream& out, char letter, const std::array<std::uint64_t, 32>& values) {
  out << letter << std::hex;
  for (const std::uint64_t value : values) out << ' ' << value;
  out << std::dec << '\n';
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: record_instructions CASES RECORDED\n";
    return 2;
  }
  std::ifstream in(arguments[1]);
  std::ofstream out(arguments[2]);
  const CUdevice device = open_recording_device();
  char name[256] = "";
  cuDeviceGetName(name, sizeof(name), device);
  out << "# Single instructions recorded on an " << name
      << ": 32 operand tuples each, hexadecimal (see instruction_kernel.h).\n";
  for (InstructionCase& a_case : warpmeter::model::read_cases(in)) {
    if (!run(a_case)) continue;
    out << "case " << a_case.result << " |";
    for (const std::string& operand : a_case.operands) out << ' ' << operand;
    out << " | " << a_case.body << '\n';
    for (std::size_t i = 0; i < a_case.values.size(); ++i) {
      write(out, warpmeter::model::operand_letters[i], a_case.values[i]);
    }
    write(out, 'D', a_case.expected);
  }
  return 0;
}
