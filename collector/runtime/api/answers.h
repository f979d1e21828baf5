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

// Each file of answers has a table; answers() is all of them.
std::span<const Answer> registration_answers();
std::span<const Answer> memory_answers();
std::span<const Answer> copy_answers();
std::span<const Answer> stream_answers();
std::span<const Answer> device_answers();
std::span<const Answer> launch_answers();
std::span<const Answer> graph_answers();
std::span<const Answer> earlier_answers();
std::span<const Answer> graph_edge_answers();
std::span<const Answer> graph_node_answers();
std::span<const Answer> executable_answers();
std::span<const Answer> capture_answers();
std::span<const Answer> ipc_answers();
std::span<const Answer> library_answers();
std::span<const Answer> array_answers();
std::span<const Answer> texture_answers();
std::span<const Answer> batch_answers();
std::span<const Answer> log_answers();
std::span<const Answer> earlier_graph_answers();
std::span<const Answer> advice_answers();
std::span<const Answer> pool_answers();
std::span<const Answer> stream_attribute_answers();
std::span<const Answer> conditional_answers();
std::span<const Answer> driver_device_answers();
// Parts of the driver's.
std::span<const Answer> driver_module_answers();
std::span<const Answer> driver_launch_answers();
std::span<const Answer> driver_memory_answers();
std::span<const Answer> driver_copy_answers();
std::span<const Answer> driver_stream_answers();
std::span<const Answer> driver_graph_answers();
std::span<const Answer> driver_array_answers();
std::span<const Answer> driver_texture_answers();
std::span<const Answer> tensor_answers();
std::span<const Answer> virtual_memory_answers();
std::span<const Answer> driver_advice_answers();
std::span<const Answer> driver_question_answers();
std::span<const Answer> driver_earlier_answers();
std::span<const Answer> driver_stream_attribute_answers();
std::span<const Answer> linker_answers();
std::span<const Answer> stream_value_answers();
std::span<const Answer> green_context_answers();

std::vector<Answer> answers();

/// The names that NVIDIA's libraries have, of the runtime and of the driver.
std::span<const std::string_view> api_names();

/// A number for a function that nobody answers, and what is called in its place with that number:
/// says so once, and returns cudaErrorNotSupported (CUDA_ERROR_NOT_SUPPORTED is the same number).
std::uint32_t remember_unanswered(std::string_view name);
int say_unanswered(std::uint32_t number);

}  // namespace warpmeter::runtime
