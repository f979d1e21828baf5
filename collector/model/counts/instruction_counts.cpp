// SPDX-License-Identifier: MIT
#include "collector/model/counts/instruction_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>

#include "base/by_name.h"
#include "collector/model/counts/executed.h"
#include "collector/model/counts/sass/operations.h"

namespace warpmeter::model {
namespace {

using schema::Grade;
namespace counted = sass::counted;

constexpr std::string_view elsewhere_reason =
    "the kernel calls code that is not among its own (printf, malloc, a pointer to a function)";
constexpr std::string_view unknown_operation_reason =
    "the machine code has an instruction whose counters were not measured";
constexpr std::string_view guarded_reason =
    "the machine code has guards, and for how many warps none of their threads pass is not known";
constexpr std::string_view several_reason =
    "hardware makes a number of requests of one instruction that is not known";
constexpr std::string_view product_reason =
    "how hardware counts products of sparse matrices, and of halves 8×8×4, was not measured";
constexpr std::string_view no_branches_reason = "no branches";
constexpr std::string_view parting_reason =
    "the machine code has branches at which threads of a warp may part, and how often is not known";

enum class Executors {
  warps,
  threads_on,
  threads_acting,    ///< without those whose second predicate of a branch or exit is false
  warps_with_lanes,  ///< without those of which no thread's guard is true
  nobody,            ///< hardware makes several of one: only a count of 0 is known
};

struct InstructionCounter {
  std::string_view name;
  sass::CountedAs counted_as = 0;
  Executors executors = Executors::warps;
  sass::CountedAs doubt = 0;  ///< operations that may count or not
};
constexpr sass::CountedAs all_operations = ~sass::CountedAs{0};
constexpr auto warps = Executors::warps;
constexpr auto threads = Executors::threads_on;
constexpr auto warps_with_lanes = Executors::warps_with_lanes;
constexpr auto nobody = Executors::nobody;

constexpr InstructionCounter instruction_counters[] = {
    {"inst_fp_16", counted::fp16, threads},
    {"inst_fp_32", counted::fp32, threads},
    {"inst_fp_64", counted::fp64, threads},
    {"inst_integer", counted::integer, threads},
    {"inst_bit_convert", counted::conversion, threads},
    {"inst_control", counted::control, threads},
    {"inst_compute_ld_st", counted::memory, threads},
    {"inst_inter_thread_communication", counted::exchange, threads},
    {"inst_misc", counted::misc, threads},
    {"flop_sp_add", counted::fadd, threads},
    {"flop_sp_mul", counted::fmul, threads},
    {"flop_sp_fma", counted::ffma, threads},
    {"flop_dp_add", counted::dadd, threads},
    {"flop_dp_mul", counted::dmul, threads},
    {"flop_dp_fma", counted::dfma, threads},
    {"flop_hp_add", counted::hadd, threads},
    {"flop_hp_mul", counted::hmul, threads},
    {"flop_hp_fma", counted::hfma, threads},
    {"flop_count_sp_special", counted::special, threads, counted::any_special},
    {"thread_instructions_pred_on", all_operations, Executors::threads_acting},
    {"inst_executed_global_loads", counted::global_load, warps},
    {"inst_executed_global_stores", counted::global_store, warps},
    {"inst_executed_global_reductions", counted::global_reduction, warps},
    {"inst_executed_local_loads", counted::local_load, warps},
    {"inst_executed_local_stores", counted::local_store, warps},
    {"inst_executed_shared_loads", counted::shared_load, warps},
    {"inst_executed_shared_stores", counted::shared_store, warps},
    {"inst_executed_shared_atomics", counted::shared_atomic, warps},
    {"inst_executed_shared_compare_and_swaps", counted::shared_compare_and_swap, warps},
    {"inst_executed_generic_loads", counted::generic_load, warps},
    {"inst_executed_generic_stores", counted::generic_store, warps},
    {"inst_executed_atomics", counted::atomic, warps},
    {"inst_executed_compare_and_swaps", counted::compare_and_swap, warps},
    {"inst_executed_surface_loads", counted::surface_load, warps},
    {"inst_executed_surface_stores", counted::surface_store, warps},
    {"inst_executed_surface_reductions", counted::surface_reduction, warps},
    {"inst_executed_tex_ops", counted::texture, warps},
    {"inst_executed_surface_atomics", 0, warps},
    {"local_load_requests", counted::local_load, warps_with_lanes, counted::generic_load},
    {"local_store_requests", counted::local_store, warps_with_lanes, counted::generic_store},
    {"local_load_sectors", counted::local_load, nobody, counted::generic_load},
    {"local_store_sectors", counted::local_store, nobody, counted::generic_store},
    {"local_load_bytes", counted::local_load, nobody, counted::generic_load},
    {"local_store_bytes", counted::local_store, nobody, counted::generic_store},
    {"constant_load_requests", counted::constant_load, warps},
    {"surface_load_sectors", counted::surface_load, nobody},
    {"surface_store_sectors", counted::surface_store, nobody},
    {"texture_load_sectors", counted::texture, nobody},
    {"surface_load_requests", counted::surface_load, nobody},
    {"surface_store_requests", counted::surface_store, nobody},
    {"surface_reduction_requests", counted::surface_reduction, nobody},
    {"surface_atomic_requests", 0, nobody},
    {"texture_load_requests", counted::texture, nobody},
    {"global_atomic_set_accesses", counted::atomic | counted::compare_and_swap, nobody},
    {"global_reduction_set_accesses", counted::global_reduction, nobody},
    {"surface_atomic_set_accesses", 0, nobody},
    {"surface_reduction_set_accesses", counted::surface_reduction, nobody},
    {"inst_executed_pipe_cbu", counted::cbu, warps},
    {"inst_executed_pipe_adu", counted::adu, warps, counted::any_unit},
    {"inst_executed_pipe_fma", counted::fma_pipe, warps},
    {"inst_executed_pipe_fp64", counted::fp64_pipe, warps},
};
struct ProductCounter {
  std::string_view name;
  ProductType type;
};
constexpr ProductCounter product_counters[] = {
    {"tensor_ops_fp64", ProductType::fp64}, {"tensor_ops_tf32", ProductType::tf32},
    {"tensor_ops_bf16", ProductType::bf16}, {"tensor_ops_fp16", ProductType::fp16},
    {"tensor_ops_fp8", ProductType::fp8},   {"tensor_ops_fp4", ProductType::fp4},
    {"tensor_ops_int8", ProductType::int8}, {"tensor_ops_int4", ProductType::int4},
    {"tensor_ops_int1", ProductType::int1},
};
constexpr std::string_view branch_efficiency = "branch_efficiency",
                           warps_launched = "unique_warps_launched",
                           blocks_launched = "blocks_launched";

/// The entry of this name; nullptr where the table has none. There is one table of a type.
template <class Table>
const auto* find(const Table& table, std::string_view name) {
  using Entry = std::remove_cvref_t<decltype(*std::begin(table))>;
  static const ByName<Entry> by_name(table, &Entry::name);
  return by_name.find(name);
}

/// The launch's instructions, looked at for one counter.
class Sum {
 public:
  Sum(const Program& program, const sass::MachineExecutions& executions)
      : program_(program), executions_(executions) {}

  /// Nothing where it is not known; then reason() says why.
  std::optional<std::uint64_t> of(const InstructionCounter& counter) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < executions_.of.size(); ++i) {
      const MachineOperation& operation = program_.machine_operations[i];
      if (!operation.may_run) continue;
      const bool counts = (operation.counted_as & counter.counted_as) != 0;
      const bool may_count =
          operation.counted_as == 0 || (operation.counted_as & counter.doubt) != 0;
      const bool is_any = counter.counted_as == all_operations;
      if (!counts && !may_count && !is_any) continue;
      const auto executed = times(executions_.of[i], counter.executors);
      if (!executed) return refuse(executions_.reason);
      if (*executed == 0) continue;
      if (may_count && !is_any) return refuse(unknown_operation_reason);
      if (counter.executors == nobody) return refuse(several_reason);
      if (counter.executors == warps_with_lanes && operation.is_guarded) {
        return refuse(guarded_reason);
      }
      if (is_any && executions_.of[i].threads_vary) return refuse(crowd_reason);
      sum += *executed + (is_any ? executions_.of[i].threads_again : 0);
    }
    return sum;
  }

  /// The operations of tensor cores on this type.
  std::optional<std::uint64_t> of(ProductType type) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < executions_.of.size(); ++i) {
      const MachineOperation& operation = program_.machine_operations[i];
      const sass::Executions& executed = executions_.of[i];
      const bool may_be_it =
          operation.counted_as == 0 || operation.product.type == ProductType::unknown;
      if (!operation.may_run || (operation.product.type != type && !may_be_it)) continue;
      // All threads of a warp multiply, or none does.
      const auto threads = times(executed, Executors::threads_on);
      const auto warps = times(executed, Executors::warps);
      if (operation.is_guarded ? !threads : !warps) return refuse(executions_.reason);
      const std::uint64_t warps_on = operation.is_guarded ? *threads / 32 : *warps;
      if (warps_on == 0) continue;
      if (may_be_it) return refuse(unknown_operation_reason);
      if (operation.product.operations == 0) return refuse(product_reason);
      sum += warps_on * operation.product.operations;
    }
    return sum;
  }

  /// The share of branches at which all threads of the warp went the same way, in per cent.
  std::optional<double> uniform_branches() {
    std::uint64_t branches = 0, parted = 0;
    for (std::size_t i = 0; i < executions_.of.size(); ++i) {
      const MachineOperation& operation = program_.machine_operations[i];
      const sass::Executions& executed = executions_.of[i];
      const bool may_branch = operation.counted_as == 0 ||
                              (operation.counted_as & (counted::branch | counted::any_branch)) != 0;
      if (!operation.may_run || !may_branch) continue;
      if (!executed.knows_warps) return refuse(executions_.reason);
      if (executed.warps == 0) continue;
      if ((operation.counted_as & counted::branch) == 0) return refuse(unknown_operation_reason);
      // Where the guard is the same for all threads that ever come, nobody parts.
      const bool is_uniform = executed.knows_threads && executed.knows_threads_on &&
                              (executed.threads_on == 0 || executed.threads_on == executed.threads);
      if (!executed.knows_parted && !is_uniform) return refuse(parting_reason);
      if (executed.knows_parted) parted += executed.parted;
      branches += executed.warps;
    }
    if (branches == 0) return refuse(no_branches_reason);
    return 100 * static_cast<double>(branches - parted) / static_cast<double>(branches);
  }

  std::string_view reason() const { return reason_; }

 private:
  static std::optional<std::uint64_t> times(const sass::Executions& executed, Executors executors) {
    const bool is_acting = executors == Executors::threads_acting;
    if (executors != Executors::threads_on && !is_acting) {
      return executed.knows_warps ? std::optional(executed.warps) : std::nullopt;
    }
    // Nobody comes: no guard is asked.
    if (executed.knows_threads && executed.threads == 0) return 0;
    if (!(is_acting ? executed.knows_threads_acting : executed.knows_threads_on)) {
      return std::nullopt;
    }
    return is_acting ? executed.threads_acting : executed.threads_on;
  }
  std::nullopt_t refuse(std::string_view reason) {
    reason_ = reason;
    return std::nullopt;
  }

  const Program& program_;
  const sass::MachineExecutions& executions_;
  std::string_view reason_;
};

}  // namespace

std::span<const std::string_view> instruction_counter_names() {
  static const auto names = [] {
    std::array<std::string_view, std::size(instruction_counters) + std::size(product_counters) + 3>
        all;
    const auto name_of = [](const auto& counter) { return counter.name; };
    auto* end = std::transform(std::begin(instruction_counters), std::end(instruction_counters),
                               all.begin(), name_of);
    end = std::transform(std::begin(product_counters), std::end(product_counters), end, name_of);
    end[0] = branch_efficiency;
    end[1] = warps_launched;
    end[2] = blocks_launched;
    return all;
  }();
  return names;
}

bool is_instruction_counter(std::string_view name) {
  return find(instruction_counters, name) != nullptr || find(product_counters, name) != nullptr ||
         name == branch_efficiency || is_of_all_blocks(name);
}

bool is_of_all_blocks(std::string_view name) {
  return name == warps_launched || name == blocks_launched;
}

schema::Counter instruction_counter(std::string_view name, const Program& program,
                                    const LaunchOutcome& outcome,
                                    const sass::MachineExecutions& executions) {
  schema::Counter result;
  result.name = name;
  const auto refuse = [&](std::string reason) {
    result.grade = Grade::unavailable;
    result.reason = std::move(reason);
    return result;
  };
  const auto answer = [&](double value) {
    result.value = value;
    result.reason = sass::why_classes_not_exact(program.arch);
    result.grade = result.reason.empty() ? Grade::exact : Grade::modelled;
    return result;
  };
  if (is_of_all_blocks(name)) {
    result.value = static_cast<double>(name == warps_launched ? outcome.warps : outcome.blocks);
    result.grade = Grade::exact;
    return result;
  }
  if (!program.is_audited()) {
    return refuse(fmt::format("this count needs the machine code; {}", program.why_unaudited));
  }
  if (const auto why = sass::why_not_counted(program.arch); !why.empty()) {
    return refuse(std::string(why));
  }
  if (program.calls_elsewhere) return refuse(std::string(elsewhere_reason));
  Sum sum(program, executions);
  if (name == branch_efficiency) {
    const auto share = sum.uniform_branches();
    return share ? answer(*share) : refuse(std::string(sum.reason()));
  }
  const ProductCounter* const product = find(product_counters, name);
  const auto value =
      product != nullptr ? sum.of(product->type) : sum.of(*find(instruction_counters, name));
  return value ? answer(static_cast<double>(*value)) : refuse(std::string(sum.reason()));
}

schema::Counter instruction_counter(std::string_view name, const Program& program,
                                    const LaunchOutcome& outcome) {
  const auto followed = followed_executions(program, outcome);
  return instruction_counter(name, program, outcome,
                             followed ? *followed : sass::executions(program, outcome));
}

}  // namespace warpmeter::model
