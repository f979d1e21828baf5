#include "collector/runtime/api/answers.h"

#include <fmt/format.h>

#include <mutex>
#include <string>

#include "collector/runtime/api/call.h"

namespace warpmeter::runtime {
namespace {

constexpr std::string_view names[] = {
#include "collector/runtime/api/api_names.inc"
};

struct Names {
  std::mutex mutex;
  std::vector<std::string> all;
};

Names& unanswered() {
  static auto* known = new Names;
  return *known;
}

}  // namespace

std::vector<Answer> answers() {
  std::vector<Answer> all;
  for (const auto& table : {registration_answers(),
                            memory_answers(),
                            copy_answers(),
                            stream_answers(),
                            device_answers(),
                            launch_answers(),
                            graph_answers(),
                            graph_edge_answers(),
                            graph_node_answers(),
                            executable_answers(),
                            capture_answers(),
                            earlier_answers(),
                            ipc_answers(),
                            library_answers(),
                            array_answers(),
                            texture_answers(),
                            batch_answers(),
                            log_answers(),
                            earlier_graph_answers(),
                            advice_answers(),
                            pool_answers(),
                            stream_attribute_answers(),
                            conditional_answers(),
                            driver_device_answers(),
                            driver_module_answers(),
                            driver_launch_answers(),
                            driver_memory_answers(),
                            driver_copy_answers(),
                            driver_stream_answers(),
                            driver_graph_answers(),
                            driver_array_answers(),
                            driver_texture_answers(),
                            tensor_answers(),
                            virtual_memory_answers(),
                            linker_answers(),
                            stream_value_answers(),
                            green_context_answers(),
                            driver_advice_answers(),
                            driver_stream_attribute_answers(),
                            driver_question_answers(),
                            driver_earlier_answers()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

std::span<const std::string_view> api_names() { return names; }

std::uint32_t remember_unanswered(std::string_view name) {
  const std::lock_guard lock(unanswered().mutex);
  unanswered().all.emplace_back(name);
  return static_cast<std::uint32_t>(unanswered().all.size() - 1);
}

int say_unanswered(std::uint32_t number) {
  std::string name;
  {
    const std::lock_guard lock(unanswered().mutex);
    name = unanswered().all[number];
  }
  return noted(name, timed_call(name, true, [&](Process& process) {
                 process.say(
                     fmt::format("{} is not answered where there is no GPU; it returned "
                                 "cudaErrorNotSupported",
                                 name));
                 return cudaErrorNotSupported;
               }));
}

}  // namespace warpmeter::runtime
