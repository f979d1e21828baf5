// SPDX-License-Identifier: MIT
// The model as a session sees it.
#include "collector/model/session/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "collector/family/catalogue.h"
#include "collector/model/counts/grades.h"
#include "collector/model/counts/source_lines.h"
#include "collector/model/machine/device_limits.h"
#include "schema/catalogue.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {
namespace {

using schema::Grade;
using testing::AllOf;
using testing::HasSubstr;

run::Launch launch_of(const kernels::Family& family, std::string_view variant, std::int64_t size) {
  const kernels::Variant* found = family.find(variant);
  return {found->image, std::string(found->entry), found->geometry(size)};
}

TEST(ModelBackend, SaysWhatItIs) {
  const auto backend = open();
  EXPECT_EQ(backend->device().name, "model sm_90");
  EXPECT_EQ(backend->device().backend, "model");
  EXPECT_EQ(backend->device().compute_capability, 90);
  EXPECT_EQ(backend->state("before").phase, "before");
  EXPECT_NE(backend->state("before").unavailable, "");
  EXPECT_EQ(backend->counters_unavailable(), "");
  EXPECT_THAT(backend->timing_unavailable(), HasSubstr("no clock"));
  EXPECT_EQ(backend->variants_together(), 1u);
  EXPECT_GT(backend->problem_capacity(), 1u << 20);
}

TEST(ModelBackend, NamesTheArchitecturesThatThereAre) {
  EXPECT_EQ(open({.arch = 80})->device().name, "model sm_80");
  try {
    open({.arch = 35});
    FAIL() << "sm_35 is not embedded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("sm_80, sm_90"), HasSubstr("sm_35")));
  }
}

TEST(ModelBackend, CountsEveryCounterThatTheCatalogueSaysItDoes) {
  const auto backend = open();
  const kernels::Family& family = *family::find_in_catalogue("reduction");
  const kernels::Problem problem = family.prepare(2000);
  const auto workload = backend->load(problem);
  std::vector<std::string> names;
  for (const schema::CounterInfo& info : schema::Catalogue::get().counters()) {
    names.push_back(info.name);
  }
  names.emplace_back("smsp__sass_inst_executed_op_shared_ld.sum");
  names.emplace_back("sm__cycles_active.avg");
  backend->select(names);
  const run::Launch launch = launch_of(family, "interleaved", 2000);
  const auto counted = workload->count({&launch, 1});
  ASSERT_EQ(counted.size(), 1u);
  ASSERT_EQ(counted[0].size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const schema::Counter& counter = counted[0][i];
    EXPECT_EQ(counter.name, names[i]);
    const bool is_counter_of_ours = is_counted(names[i]) || names[i].starts_with("smsp__sass");
    EXPECT_EQ(counter.value.has_value(), is_counter_of_ours) << names[i];
    EXPECT_EQ(counter.grade == Grade::unavailable, !is_counter_of_ours) << names[i];
    if (!is_counter_of_ours) {
      // No GPU is advised where hardware has no counter of it either.
      const schema::CounterInfo* info = schema::Catalogue::get().find_counter(names[i]);
      const bool lacks = info != nullptr && !info->lacking.empty();
      EXPECT_THAT(counter.reason, HasSubstr(lacks ? info->lacking : "run on a GPU"));
    }
    if (names[i].ends_with("_instructions")) {
      EXPECT_EQ(counter.grade, Grade::exact) << "its branches are followed in the machine code";
    }
  }
  for (const char* name : {"shared_load_wavefronts", "global_load_sectors", "global_load_bytes",
                           "shared_store_requests", "warp_instructions", "inst_integer"}) {
    EXPECT_TRUE(is_counted(name)) << name;
  }
  EXPECT_FALSE(is_counted("duration_profiled"));
  const auto value = [&](std::string_view name) {
    return std::find_if(counted[0].begin(), counted[0].end(),
                        [&](const schema::Counter& c) { return c.name == name; })
        ->value;
  };
  EXPECT_EQ(value("smsp__sass_inst_executed_op_shared_ld.sum"), value("shared_load_requests"));
}

TEST(ModelBackend, StartsEveryLaunchFromTheInitialInput) {
  const auto backend = open();
  const kernels::Family& family = *family::find_in_catalogue("reduction");
  const kernels::Problem problem = family.prepare(3000);
  const auto workload = backend->load(problem);
  const run::Launch launch = launch_of(family, "interleaved", 3000);
  const run::Execution first = workload->execute(launch), second = workload->execute(launch);
  EXPECT_EQ(first.failure, "");
  EXPECT_EQ(first.buffers, second.buffers);
  EXPECT_EQ(first.static_shared_bytes, 8192);
  EXPECT_EQ(first.local_bytes, 0);
  EXPECT_GT(first.registers.value_or(0), 0) << "of the embedded machine code";
  EXPECT_EQ(first.resources_reason, "");
}

TEST(ModelBackend, TellsLinesWithTheirText) {
  const auto backend = open();
  const kernels::Family& family = *family::find_in_catalogue("transpose");
  const kernels::Problem problem = family.prepare(64);
  const auto workload = backend->load(problem);
  const run::Launch launch = launch_of(family, "naive", 64);
  ASSERT_EQ(workload->execute(launch).failure, "");
  const std::vector<schema::Line> lines = workload->lines(launch);
  ASSERT_EQ(lines.size(), 2u) << "one line that loads and stores";
  const schema::Line& load = lines[0].access == "global load" ? lines[0] : lines[1];
  const schema::Line& store = lines[0].access == "global load" ? lines[1] : lines[0];
  EXPECT_EQ(load.file, "kernels/transpose.cu");
  EXPECT_NE(load.text, "");
  EXPECT_EQ(load.text.find_first_of(" \t"), load.text.find(' '));
  EXPECT_NE(launch.image->source.find(load.text), std::string_view::npos);
  EXPECT_EQ(load.requests, 128u);
  EXPECT_EQ(load.transactions, 512u);
  EXPECT_EQ(load.ideal, 512u);
  EXPECT_EQ(store.access, "global store");
  EXPECT_EQ(store.transactions, 2048u) << "a sector for each of 16 rows of two lanes";
  EXPECT_EQ(store.ideal, 512u);
  EXPECT_EQ(store.grade, Grade::exact);
}

TEST(ModelBackend, FailsALaunchInWords) {
  const auto backend = open({.instruction_budget = 1000});
  const kernels::Family& family = *family::find_in_catalogue("matmul");
  const kernels::Problem problem = family.prepare(256);
  const auto workload = backend->load(problem);
  run::Launch launch = launch_of(family, "naive", 256);
  EXPECT_THAT(workload->execute(launch).failure,
              AllOf(HasSubstr("endless loop"), HasSubstr("kernels/matmul.cu:")));
  EXPECT_TRUE(workload->execute(launch).buffers.empty());
  backend->select(std::vector<std::string>{"warp_instructions"});
  EXPECT_EQ(workload->count({&launch, 1})[0][0].grade, Grade::unavailable);
  launch.geometry.block = {2048, 1, 1};
  EXPECT_THAT(workload->execute(launch).failure, HasSubstr("at most 1024 threads"));
  launch.entry = "missing";
  EXPECT_THAT(workload->execute(launch).failure, HasSubstr("no kernel 'missing'"));
}

TEST(ModelBackend, StopsWhenCancelled) {
  const auto backend = open({.cancelled = [] { return true; }});
  const kernels::Family& family = *family::find_in_catalogue("vector_add");
  const kernels::Problem problem = family.prepare(1 << 20);
  const auto workload = backend->load(problem);
  EXPECT_EQ(workload->execute(launch_of(family, "block_128", 1 << 20)).failure, "cancelled");
}

/// A kernel with one warp.
TestRun run_of(const std::string& body) {
  TestRun run = run_ptx(
      module_with(
          ".param .u64 out",
          ".reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<4>;\n .shared .align 16 .b8 tile[256];\n"
          " ld.param.u64 %rd1, [out]; mov.u32 %r1, tile;\n" +
              body + " ret;"),
      "k", geometry(1, 32), {TestArgument::buffer(std::vector<std::uint32_t>(64))});
  EXPECT_EQ(run.refusal + run.trap(), "") << body;
  return run;
}

/// A counter of it as if its machine code had been read, and did what its PTX says.
schema::Counter counter_of(const std::string& body, std::string_view name) {
  TestRun run = run_of(body);
  run.program.why_unaudited.clear();
  return counter(name, run.program, run.outcome);
}

TEST(Grades, AreOfPtxWhereNoMachineCodeWasRead) {
  for (const char* body : {"", "ld.shared.f32 %f1, [%r1];", "st.global.u32 [%rd1], %r1;",
                           "red.shared.add.u32 [%r1], 1;", "atom.global.add.u32 %r2, [%rd1], 1;"}) {
    const TestRun run = run_of(body);
    for (const std::string_view name : counter_list()) {
      if (name.ends_with("_instructions")) continue;
      const schema::Counter counted = counter(name, run.program, run.outcome);
      EXPECT_EQ(counted.grade, Grade::ptx) << body << " " << name;
      EXPECT_THAT(counted.reason, HasSubstr("machine code was not read"));
    }
    for (const schema::Line& line : source_lines(run.program, run.outcome, "", "")) {
      EXPECT_EQ(line.grade, Grade::ptx) << body;
    }
  }
}

TEST(Grades, AreExactOnlyWhereTheRulesWereMeasured) {
  TestRun run = run_of("st.shared.f32 [%r1], %f1;");
  EXPECT_EQ(run.program.why_not_exact, "") << "of sm_90";
  run.program.why_unaudited.clear();
  run.program.why_not_exact = "by the rules of another";
  for (const std::string_view name : counter_list()) {
    if (name.ends_with("_instructions")) continue;
    const schema::Counter counted = counter(name, run.program, run.outcome);
    EXPECT_EQ(counted.grade, Grade::modelled) << name;
    EXPECT_EQ(counted.reason, "by the rules of another") << name;
  }
  ASSERT_EQ(run.program.sites.size(), 2u);
  EXPECT_EQ(grade_of(run.program, 1, AddressSpace::shared, run.outcome).grade, Grade::modelled);
}

TEST(Grades, AreAsWeakAsTheWeakestAccessThatRan) {
  const std::string one = "ld.shared.f32 %f1, [%r1];";
  TestRun run = run_of(one + "st.shared.f32 [%r1], %f1;");
  run.program.why_unaudited.clear();
  for (SiteInfo& site : run.program.sites) {
    if (site.kind == AccessKind::load) site.doubt = "nobody knows";
  }
  EXPECT_EQ(counter("shared_load_requests", run.program, run.outcome).grade, Grade::ptx);
  EXPECT_EQ(counter("shared_load_wavefronts", run.program, run.outcome).reason, "nobody knows");
  EXPECT_EQ(counter("shared_store_wavefronts", run.program, run.outcome).grade, Grade::exact);
  EXPECT_EQ(counter_of(one, "shared_load_requests").grade, Grade::exact);
  EXPECT_EQ(counter_of(one, "shared_store_wavefronts").grade, Grade::exact) << "none ran";
  EXPECT_EQ(*counter_of(one, "shared_store_wavefronts").value, 0);
  EXPECT_EQ(counter_of(one, "global_load_sectors").grade, Grade::exact);
}

TEST(Grades, OfAnAtomicInDoubtAreThoseOfAllThatItMayBe) {
  TestRun run = run_of("atom.global.add.u32 %r2, [%rd1], 1;");
  run.program.why_unaudited.clear();
  run.program.sites.back().doubt = "nobody knows";
  for (const char* name : {"global_atomic_requests", "global_reduction_requests",
                           "global_reduction_sectors", "global_load_requests"}) {
    EXPECT_EQ(counter(name, run.program, run.outcome).grade, Grade::ptx) << name;
  }
  for (const char* name : {"global_store_requests", "shared_atomic_requests"}) {
    EXPECT_EQ(counter(name, run.program, run.outcome).grade, Grade::exact) << name;
  }
}

TEST(Grades, KnowWhichCountsMissAccessesOfTheMachineCode) {
  TestRun run = run_of("");
  run.program.why_unaudited.clear();
  run.program.strays = {{AccessKind::load, AddressSpace::generic},
                        {AccessKind::store, AddressSpace::shared}};
  const auto grade = [&](const char* name) {
    return counter(name, run.program, run.outcome).grade;
  };
  EXPECT_EQ(grade("shared_load_requests"), Grade::ptx);
  EXPECT_EQ(grade("global_load_bytes"), Grade::ptx);
  EXPECT_EQ(grade("shared_store_wavefronts"), Grade::ptx);
  EXPECT_EQ(grade("global_store_sectors"), Grade::exact);
  EXPECT_EQ(grade("global_atomic_sectors"), Grade::exact);
}

TEST(Grades, CallAtomicsThatLoopModelled) {
  EXPECT_EQ(counter_of("red.shared.add.u32 [%r1], 1;", "shared_atomic_wavefronts").grade,
            Grade::exact);
  EXPECT_EQ(*counter_of("red.shared.add.u32 [%r1], 1;", "shared_atomic_wavefronts").value, 32);
  EXPECT_EQ(
      counter_of("mov.f32 %f1, 1.0; red.shared.add.f32 [%r1], %f1;", "shared_atomic_wavefronts")
          .grade,
      Grade::modelled);
  EXPECT_EQ(counter_of("red.global.add.u32 [%rd1], 1;", "global_reduction_sectors").grade,
            Grade::exact);
  EXPECT_EQ(counter_of("atom.global.add.u32 %r2, [%rd1], 1;", "global_atomic_sectors").grade,
            Grade::exact);
  EXPECT_EQ(counter_of("red.global.add.u64 [%rd1], 1;", "global_reduction_sectors").grade,
            Grade::exact);
  EXPECT_EQ(counter_of("atom.shared.add.u64 %rd2, [%r1], 1;", "shared_atomic_wavefronts").grade,
            Grade::modelled);
}

/// Lane i copies 16 bytes from byte 32 (i mod 8) on, half of each of 8 sectors, to byte 16 (i mod
/// 8). Hardware reads nothing for a lane whose place another one overwrites: all to one place would
/// be a sector (h200_async_patterns.csv, launch 208).
TEST(Grades, CallCopiesPastTheRegistersLoads) {
  TestRun run = run_of(
      "mov.u32 %r2, %tid.x; and.b32 %r2, %r2, 7; mul.wide.u32 %rd2, %r2, 32;"
      "add.s64 %rd2, %rd1, %rd2; shl.b32 %r3, %r2, 4; add.u32 %r3, %r1, %r3;"
      "cp.async.cg.shared.global [%r3], [%rd2], 16;");
  run.program.why_unaudited.clear();
  const auto counted = [&](const std::string& name) {
    return counter_named(name, run.program, run.outcome);
  };
  EXPECT_EQ(*counted("global_load_requests").value, 1);
  EXPECT_EQ(*counted("global_load_sectors").value, 8);
  EXPECT_EQ(*counted("global_load_bytes").value, 128);
  EXPECT_EQ(counted("global_load_sectors").grade, Grade::exact);
  EXPECT_EQ(*counted("smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum").value, 0);
  EXPECT_EQ(*counted("sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum").value, 8);
  EXPECT_EQ(*counted("shared_store_requests").value, 0);
  EXPECT_EQ(counted("shared_store_requests").grade, Grade::modelled);
  EXPECT_THAT(counted("shared_store_requests").reason, HasSubstr("the stores of cp.async"));
  EXPECT_EQ(counted("shared_load_requests").grade, Grade::exact);
}

TEST(Grades, CallNoZeroExactWhereSomethingElseMoves) {
  const schema::Counter some =
      counter_of("cp.async.ca.shared.global [%r1], [%rd1], 16, 8;", "global_load_sectors");
  // A short source is read as a whole one (h200_short_copies.csv), here at one place.
  EXPECT_EQ(*some.value, 1);
  EXPECT_EQ(some.grade, Grade::exact);
  const std::string bulk =
      "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 64;"
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
  const schema::Counter stored = counter_of(bulk, "global_store_sectors");
  EXPECT_EQ(*stored.value, 0);
  EXPECT_EQ(stored.grade, Grade::modelled);
  EXPECT_THAT(stored.reason, HasSubstr("copies in bulk (TMA)"));
  EXPECT_EQ(counter_of(bulk, "shared_load_requests").grade, Grade::modelled);
  EXPECT_EQ(counter_of(bulk, "global_load_sectors").grade, Grade::exact);
}

/// An H200 launches 256 threads of 206 registers each, and not a warp more: the quarters of its
/// multiprocessors hold two such warps each.
TEST(Registers, LimitTheThreadsOfABlock) {
  EXPECT_EQ(most_threads_of_block(206), 256u);
  EXPECT_EQ(most_threads_of_block(255), 256u);
  EXPECT_EQ(most_threads_of_block(128), 512u);
  EXPECT_EQ(most_threads_of_block(65), 896u);
  EXPECT_EQ(most_threads_of_block(64), 1024u);
  EXPECT_EQ(most_threads_of_block(16), 1024u);
  const Resources heavy{206, 0, {}};
  EXPECT_EQ(register_failure("k", heavy, {256, 1, 1}), "");
  EXPECT_THAT(register_failure("k", heavy, {16, 18, 1}), HasSubstr("at most 256 threads, not 288"));
  EXPECT_EQ(register_failure("k", {}, {1024, 1, 1}), "") << "nobody knows";
}

}  // namespace
}  // namespace warpmeter::model
