// SPDX-License-Identifier: MIT
// `warpmeter model --check` finds every planted mistake under every fill with which it happens, and
// reports no correct kernel. README.md beside this file explains the marks in the kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "collector/model/session/session.h"
#include "tests/collector/model/check/corpus.h"
#include "tests/collector/model/invariants.h"
#include "tests/paths.h"

namespace warpmeter::corpus {
void PrintTo(const Kernel& kernel, std::ostream* stream) { *stream << kernel.launch.kernel; }

namespace {

const std::vector<Kernel>& all_kernels() {
  static const std::vector<Kernel> all = kernels(source_dir());
  return all;
}

/// Read once for all kernels of a file.
const model::KernelFile& code_of(const std::string& file) {
  static std::map<std::string, model::KernelFile> files;
  const auto known = files.find(file);
  if (known != files.end()) return known->second;
  return files.emplace(file, model::read_kernel_file(ptx_of(binary_dir(), file), {}, {}))
      .first->second;
}

std::set<Mark> marks_of(const model::SessionOutcome& outcome, const Kernel& kernel) {
  std::set<Mark> marks;
  for (const model::check::Finding& finding : outcome.findings) {
    // A line of a header is none of the kernel's.
    const bool is_here = std::filesystem::path(finding.file).stem() == kernel.file;
    marks.emplace(is_here ? finding.place.line : 0, to_string(finding.defect));
  }
  return marks;
}

std::string messages_of(const model::SessionOutcome& outcome) {
  std::string text;
  for (const model::check::Finding& finding : outcome.findings) {
    text += finding.file + ":" + std::to_string(finding.place.line) + ": " +
            std::string(to_string(finding.defect)) + ": " + finding.message + " (" +
            std::to_string(finding.times) + " times)\n";
  }
  return text + outcome.launch.reason;
}

/// Counts that no kernel can have (see invariants.h).
void expect_invariants(const schema::Launch& launch) {
  model::CountedValues counted;
  for (const schema::Counter& counter : launch.counters) {
    if (counter.value) counted[counter.name] = *counter.value;
  }
  model::expect_bytes_fit(counted);
  model::expect_requests_fit(counted);
  model::expect_lines_add_up(counted, launch.lines);
}

std::optional<model::SessionOutcome> run(const std::string& file,
                                         const model::SessionOptions& options,
                                         const model::LaunchSpec& launch) {
  FileClaims claims;
  model::LaunchSession session(code_of(file), options, claims);
  session.prepare(launch);
  return session.run_next();
}

class Corpus : public ::testing::TestWithParam<Kernel> {};

TEST_P(Corpus, FindsWhatIsPlantedAndNothingElse) {
  const Kernel& kernel = GetParam();
  model::SessionOptions options;
  options.threads = 1;
  options.check = true;
  for (const std::string_view name : model::counter_list()) options.counters.emplace_back(name);
  for (const std::string& fill : fills()) {
    const model::LaunchSpec launch = kernel.filled(fill);
    const std::optional<model::SessionOutcome> outcome = run(kernel.file, options, launch);
    ASSERT_TRUE(outcome.has_value());
    model::SessionOptions native = options;
    native.native_after = 0;
    EXPECT_EQ(messages_of(run(kernel.file, native, launch).value()), messages_of(*outcome))
        << "as machine code";
    EXPECT_EQ(judge(kernel, fill, marks_of(*outcome, kernel)), "") << messages_of(*outcome);
    if (!kernel.is_planted) {
      EXPECT_NE(outcome->launch.outcome, schema::LaunchOutcome::failed) << outcome->launch.reason;
      expect_invariants(outcome->launch);
    }
    if (launch.arguments == kernel.launch.arguments) break;  // it has no input
  }
}

INSTANTIATE_TEST_SUITE_P(All, Corpus, ::testing::ValuesIn(all_kernels()), [](const auto& test) {
  return test.param.file + "_" + test.param.launch.kernel;
});

struct Remedy {
  const char *kernel, *words;
};
class RemedyOf : public ::testing::TestWithParam<Remedy> {};

model::SessionOutcome checked(const std::string& name) {
  const auto kernel = std::find_if(all_kernels().begin(), all_kernels().end(),
                                   [&](const Kernel& each) { return each.launch.kernel == name; });
  if (kernel == all_kernels().end()) throw std::runtime_error("there is no kernel " + name);
  model::SessionOptions options;
  options.threads = 1;
  options.check = true;
  const model::LaunchSpec launch = kernel->filled("iota");
  FileClaims claims;
  model::LaunchSession session(code_of(kernel->file), options, claims);
  session.prepare(launch);
  return *session.run_next();
}

TEST_P(RemedyOf, FitsWhatIsMissing) {
  const std::string messages = messages_of(checked(GetParam().kernel));
  EXPECT_THAT(messages, ::testing::HasSubstr(GetParam().words));
  const bool wants_atomic = std::string_view(GetParam().words).find("atomic") != std::string::npos;
  if (!wants_atomic) EXPECT_THAT(messages, ::testing::Not(::testing::HasSubstr("use atomic")));
}

// A fence or a barrier where a flag, a lock or a counter tells of the access; an atomic where
// nothing does.
constexpr Remedy remedies[] = {
    {"lock_released_without_fence", "put __threadfence() behind line"},
    {"lock_taken_without_fence", "put __threadfence() behind the place that waits for it"},
    {"turn_passed_on_without_fence", "put __threadfence() behind line"},
    {"turn_passed_on_without_barrier", "put __syncthreads() before the one and behind the other"},
    {"flag_read_without_acquire", "put __threadfence() behind the place that waits for it"},
    {"released_by_one_for_all", "put __syncthreads() before the one and behind the other"},
    {"last_warp_without_fence", "put __threadfence_block() behind line"},
    {"neighbours_changed_without_syncwarp", "put __syncwarp() between them"},
    {"count_beside_a_counter", "use atomicAdd()"},
    {"counter_read_while_others_add", "nothing to order the two; put __syncthreads() between them"},
    {"counter_read_behind_a_fence", "nothing to order the two; put __syncthreads() between them"},
    {"total_read_while_others_add", "or launch a second kernel"},
    {"taken_before_it_is_made", "put a barrier of the threads that take part between them"},
    {"half_of_the_block_shares",
     "end the branch for it, or put a barrier of the threads that take part"},
    {"waited_for_the_wrong_phase", "wait for parity 0"},
    {"read_only_load_behind_a_store", "without __ldg()"},
    {"no_sync_before_it_is_used_again", "put cluster.sync() between them"},
    {"arrives_relaxed", "barrier.cluster.arrive.relaxed between the two orders no memory"},
    {"writes_after_it_has_arrived", "before the arrive, or cluster.sync() between them"},
    {"reads_before_it_has_waited", "put it behind the wait, or cluster.sync() between them"},
};
INSTANTIATE_TEST_SUITE_P(CorpusOf, RemedyOf, ::testing::ValuesIn(remedies),
                         [](const auto& test) { return test.param.kernel; });

TEST(CorpusOf, ClustersNamesWhatIsNotJudgedOnlyWhereBlocksMaySignal) {
  const auto gaps = [](const char* kernel) {
    return ::testing::PrintToString(model::check::left_out(checked(kernel).checked));
  };
  constexpr const char* races =
      "races on shared memory, and between blocks on global memory, in clusters";
  for (const char* kernel :
       {"flag_of_a_cluster", "fences_before_it_arrives_relaxed", "barrier_object_of_the_other"}) {
    EXPECT_THAT(gaps(kernel), ::testing::HasSubstr(races)) << kernel;
  }
  for (const char* kernel : {"halo_exchange", "histogram_of_a_cluster", "arrives_relaxed"}) {
    EXPECT_THAT(gaps(kernel), ::testing::Not(::testing::HasSubstr(races))) << kernel;
  }
}

TEST(CorpusOf, HoldsWhatItsIssueAskedFor) {
  const auto planted = std::count_if(all_kernels().begin(), all_kernels().end(),
                                     [](const Kernel& kernel) { return kernel.is_planted; });
  EXPECT_GE(planted, 50);
  EXPECT_GE(static_cast<std::ptrdiff_t>(all_kernels().size()) - planted, 30);
}

}  // namespace
}  // namespace warpmeter::corpus
