// SPDX-License-Identifier: MIT
// The functions of the CUDA runtime and driver that are answered here, by name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace warpmeter::runtime {

/// An API function and who answers it.
struct Answer {
  std::string_view name;
  void* function = nullptr;
};

/// Each file of answers has a table of its own, NAME_answers(); this is the list of them.
// clang-format off
#define WARPMETER_ANSWER_TABLES(TABLE) TABLE(registration) TABLE(memory) TABLE(copy) \
  TABLE(stream) TABLE(device) TABLE(launch) TABLE(graph) TABLE(earlier) TABLE(graph_edge) \
  TABLE(graph_node) TABLE(executable) TABLE(capture) TABLE(ipc) TABLE(library) TABLE(array) \
  TABLE(texture) TABLE(batch) TABLE(log) TABLE(earlier_graph) TABLE(advice) TABLE(pool) \
  TABLE(stream_attribute) TABLE(conditional) TABLE(driver_device) TABLE(driver_module) \
  TABLE(driver_launch) TABLE(driver_memory) TABLE(driver_copy) \
  TABLE(driver_graph) TABLE(driver_array) TABLE(driver_texture) TABLE(tensor) \
  TABLE(virtual_memory) TABLE(driver_advice) TABLE(driver_question) TABLE(driver_earlier) \
  TABLE(linker) TABLE(stream_value) TABLE(green_context) \
  TABLE(blas_handle) TABLE(blas_level1) TABLE(blas_level2) TABLE(blas_level3) TABLE(blas_product) \
  TABLE(blas_vector_batch) TABLE(blas_factor)
// clang-format on
#define WARPMETER_DECLARE(NAME) std::vector<Answer> NAME##_answers();
WARPMETER_ANSWER_TABLES(WARPMETER_DECLARE)
#undef WARPMETER_DECLARE

/// All of them.
std::vector<Answer> answers();

/// The names that NVIDIA's libraries have, of the runtime and of the driver.
std::span<const std::string_view> api_names();

/// A number for a function that nobody answers, and what is called in its place with that number:
/// says so once, and returns cudaErrorNotSupported (CUDA_ERROR_NOT_SUPPORTED is the same number).
std::uint32_t remember_unanswered(std::string_view name);
int say_unanswered(std::uint32_t number);

}  // namespace warpmeter::runtime
