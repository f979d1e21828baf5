// SPDX-License-Identifier: MIT
// The sentences that a report begins with: each only where it is true.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reports/render/report.h"
#include "schema/catalogue.h"
#include "tests/reports/compare_runs.h"
#include "tests/reports/explained_launches.h"
#include "tests/reports/golden_file.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::string section(const schema::Reader& reader, std::int64_t run, Format format) {
  ReportOptions options;
  options.format = format;
  options.sections = {{"headline", ""}};
  std::string text;
  write_report(reader, run, options, [&](std::string_view part) {
    text += part;
    return true;
  });
  return text;
}

/// The headline of the last of some runs, each a list of launches.
class Headline : public ::testing::Test {
 protected:
  std::int64_t add(const std::vector<schema::Launch>& launches, const Circumstances& where = {}) {
    return last_ = add_run(store_, launches, where);
  }
  std::vector<std::string> sentences() const {
    const auto json = nlohmann::json::parse(alone(Format::json));
    if (json["sections"].empty()) return {};
    return json["sections"].back()["text"].get<std::vector<std::string>>();
  }
  std::string alone(Format format) const {
    const schema::Reader reader(database_.path());
    return section(reader, last_, format);
  }
  std::string report(Format format) const {
    const schema::Reader reader(database_.path());
    return render_report(reader, last_, format);
  }
  std::string brief() const {
    ReportOptions options;
    options.brief = true;
    options.format = Format::table;
    options.width = 100;
    std::string text;
    write_report(schema::Reader(database_.path()), last_, options, [&](std::string_view part) {
      text += part;
      return true;
    });
    return text;
  }
  schema::Store& store() { return store_; }
  void set_last(std::int64_t run) { last_ = run; }

 private:
  TemporaryDatabase database_;
  schema::Store store_{database_.path()};
  std::int64_t last_ = 0;
};

/// The time is known to ± 0.4 %.
schema::Launch timed(const std::string& variant, double median_ns,
                     const std::string& family = "transpose") {
  schema::Launch made = launch(variant, {median_ns, median_ns, median_ns}, family);
  made.useful_bytes_read = made.useful_bytes_written = 4096;
  return made;
}

schema::Launch counted(const std::string& variant, double transactions,
                       schema::Grade grade = schema::Grade::exact) {
  schema::Launch made = launch(variant, {});
  for (const char* counter :
       {"shared_load_wavefronts", "shared_store_wavefronts", "shared_atomic_wavefronts",
        "global_load_sectors", "global_atomic_sectors", "global_reduction_sectors"}) {
    count(made, counter, 0, grade);
  }
  count(made, "global_store_sectors", transactions, grade);
  return made;
}

void recount(schema::Launch& made, const std::string& counter, double value) {
  for (schema::Counter& one : made.counters) {
    if (one.name == counter) one.value = value;
  }
}

schema::Launch explained(schema::Launch made, std::vector<schema::Finding> findings) {
  made.explanation.was_made = true;
  made.explanation.findings = std::move(findings);
  return made;
}

schema::Launch failed(schema::Launch made) {
  made.outcome = schema::LaunchOutcome::failed;
  made.verified = false;
  made.reason = "3 of 8 values are wrong";
  made.timing.reset();
  return made;
}

constexpr const char* not_looked_for =
    "The costliest accesses were not looked for in any launch (hardware counters have no "
    "addresses; the "
    "model has them: run --counts model, or profile -b model).";

TEST_F(Headline, SaysWhatMayHaveDisturbedTheTimesAndTheFactsWhatElseWasThere) {
  schema::Disturbance idle = neighbour("jupyter");
  idle.is_felt = false;
  idle.process_id = 7;
  idle.what = "jupyter (process 7) holds 512 MiB of the card and computed nothing";
  const schema::Disturbance unknown{"process", false, "", 0, "", {}, {}, "NVML is not here"};
  add({launch("naive", readings(1, 20000, 60))}, {.disturbances = {idle, neighbour(), unknown}});
  EXPECT_THAT(sentences(), Contains("Something may have disturbed the times: python3 (process 490) "
                                    "computed on the card (88 % busy), after."));
  const std::string text = report(Format::markdown);
  EXPECT_THAT(text, HasSubstr("python3 (process 490) computed on the card (88 % busy), after; "));
  EXPECT_THAT(text, HasSubstr("; jupyter (process 7) holds 512 MiB of the card and computed "
                              "nothing, after"));
  EXPECT_THAT(text, HasSubstr("; whether somebody else was on the card is not known: NVML is not "
                              "here, after"));
}

TEST_F(Headline, OfACardThatNobodySharedSaysNothingOfIt) {
  add({launch("naive", readings(1, 20000, 60))});
  EXPECT_THAT(report(Format::markdown), Not(HasSubstr("isturb")));
}

TEST_F(Headline, NamesTheFastestVariantAndTheNext) {
  add({timed("naive", 9216), timed("tiled", 5728), timed("rows", 7000)});
  EXPECT_THAT(sentences(), ElementsAre("transpose at 1,024: tiled is fastest, 5.73 µs, 1.22 times "
                                       "as fast as rows, the next.",
                                       not_looked_for));
}

TEST_F(Headline, SaysASmallLeadInPerCentOfTheTime) {
  add({timed("a", 1000), timed("b", 1020)});
  EXPECT_EQ(sentences()[0],
            "transpose at 1,024: a is fastest, 1.00 µs, 1.96 % less time than b, the next.");
}

TEST_F(Headline, CallsNobodyFastestWithinTheTimingsConfidence) {
  add({timed("a", 1000), timed("b", 1007)});
  EXPECT_EQ(sentences()[0],
            "transpose at 1,024: which of a and b is fastest is not known, one run cannot "
            "tell them apart.");
}

TEST_F(Headline, CallsNobodyFastestWithinWhatASessionMoves) {
  add({launch("a", readings(1, 5800, 200, 1000)), launch("b", readings(2, 5920, 200, 1000))});
  EXPECT_EQ(sentences()[0],
            "transpose at 1,024: which of a and b is fastest is not known, one run cannot "
            "tell them apart.");
}

TEST_F(Headline, LetsThoseLeadTogetherThatCannotBeToldApart) {
  add({timed("a", 1000), timed("b", 1007), timed("c", 2014)});
  EXPECT_EQ(sentences()[0],
            "transpose at 1,024: a and b are fastest (one run cannot tell them apart), at "
            "least 2.00 times as fast as c, the next.");
}

TEST_F(Headline, CallsNobodyFastestWhereAConfidenceIsNotKnown) {
  schema::Launch once = timed("b", 2000);
  once.timing->samples_ns = {2000};
  add({timed("a", 1000), once});
  EXPECT_THAT(sentences(), ElementsAre(not_looked_for));
}

TEST_F(Headline, OfOneVariantNamesNoBest) {
  add({timed("tiled", 5728)});
  EXPECT_THAT(sentences(), ElementsAre(not_looked_for));
}

TEST_F(Headline, ComparesByTransactionsWhereThereAreNoTimes) {
  add({counted("naive", 600), counted("tiled", 400), counted("padded", 500)});
  EXPECT_EQ(sentences()[0],
            "transpose at 1,024: tiled has the fewest shared and global transactions, 400; padded, "
            "the next, has 500, 25 % more.");
}

TEST_F(Headline, OfAFamilyWithSeveralSizesComparesWhatDoesTheSameWork) {
  add({counted("naive(m=64)", 600), counted("tiled(m=64)", 400), counted("naive(m=512)", 4800),
       counted("tiled(m=512)", 5200)});
  EXPECT_EQ(sentences()[0],
            "transpose at 1,024, m=512: naive(m=512) has the fewest shared and global "
            "transactions, 4,800; tiled(m=512), the next, has 5,200, 8.33 % more.");
}

// A histogram of 2^20 bytes by atomics of global memory, and one by atomics of shared memory.
TEST_F(Headline, AddsWhatAtomicsReductionsAndMatricesMove) {
  schema::Launch global = counted("global", 0), shared = counted("shared", 1536);
  recount(global, "global_load_sectors", 32'768);
  recount(global, "global_reduction_sectors", 669'014);
  recount(shared, "global_load_sectors", 32'768);
  recount(shared, "global_reduction_sectors", 2'048);
  recount(shared, "shared_atomic_wavefronts", 102'000);
  count(shared, "shared_matrix_load_wavefronts", 900, schema::Grade::exact);
  add({global, shared});
  EXPECT_EQ(sentences()[0],
            "transpose at 1,024: shared has the fewest shared and global transactions, 139,252; "
            "global, the next, has 701,782, 5.04 times as many.");
}

TEST_F(Headline, NamesNobodyByTransactionsWhereAtomicsWereNotCounted) {
  schema::Launch a = counted("a", 400), b = counted("b", 800);
  std::erase_if(b.counters, [](const schema::Counter& counter) {
    return counter.name == "global_reduction_sectors";
  });
  add({a, b});
  EXPECT_THAT(sentences(), Not(Contains(HasSubstr("fewest"))));
}

TEST_F(Headline, ShowsAtomicsAsColumnsWhereThereAreAny) {
  schema::Launch global = counted("global", 0), shared = counted("shared", 1536);
  recount(global, "global_reduction_sectors", 669'014);
  add({global, shared});
  EXPECT_THAT(report(Format::markdown),
              AllOf(HasSubstr("global reductions"), Not(HasSubstr("shared atomics")),
                    Not(HasSubstr("global atomics"))));
}

TEST_F(Headline, SaysWhenAllCostTheSame) {
  add({counted("a", 400), counted("b", 400)});
  EXPECT_EQ(sentences()[0],
            "transpose at 1,024: a and b cost the same shared and global transactions, 400.");
}

TEST_F(Headline, SaysOfWhatGradeTheCountsAre) {
  add({counted("a", 400), counted("b", 800, schema::Grade::ptx)});
  EXPECT_EQ(sentences()[0],
            "transpose at 1,024: a has the fewest shared and global transactions, 400; b, the "
            "next, has 800, 2 times as many; counted from PTX, the machine code may differ.");
}

TEST_F(Headline, ComparesNoVariantWithACopyOrACeiling) {
  schema::Launch ceiling = timed("library", 10);
  ceiling.is_ceiling = true;
  add({ceiling, timed("copy", 20), timed("a", 1000), timed("b", 2000)});
  EXPECT_THAT(sentences()[0], HasSubstr("a is fastest, 1.00 µs, 2.00 times as fast as b"));
}

TEST_F(Headline, CountsFailedLaunchesAndLetsNoneOfThemBeBest) {
  add({timed("a", 1000), timed("b", 2000), failed(timed("c", 1))});
  EXPECT_THAT(sentences()[0], HasSubstr("a is fastest"));
  EXPECT_THAT(sentences(), Contains("1 of 3 launches failed: transpose/c at 1,024."));
}

TEST_F(Headline, SaysWhatCostsEachOfTheOthersMostBeforeTheBest) {
  schema::Finding worse = tile_conflict(), better = tile_conflict();
  better.line = 50;
  better.transactions = 2 * worse.transactions;
  add({explained(counted("tiled", 600), {worse}), explained(counted("best", 400), {better})});
  const std::vector<std::string> said = sentences();
  EXPECT_EQ(said[1],
            "What costs transpose/tiled at 1,024 most: bank conflicts at kernels/transpose.cu:44 "
            "(shared load of `tile`), 8 transactions a request, 1 is possible (3.7 million too "
            "many, 89 % of the launch's shared wavefronts).");
  EXPECT_THAT(said[2], StartsWith("What costs transpose/best at 1,024 most"));
}

TEST_F(Headline, SaysTheSameOfSeveralVariantsOnce) {
  add({explained(counted("a", 400), {tile_conflict()}),
       explained(counted("b", 400), {tile_conflict()})});
  EXPECT_THAT(sentences()[1],
              StartsWith("What costs transpose/a at 1,024 and transpose/b at 1,024 most: "));
  EXPECT_THAT(sentences(), SizeIs(3));  // the third: it was not timed
}

TEST_F(Headline, SaysThatNothingWasFoundOnlyWhereItWasLookedFor) {
  add({explained(counted("a", 400), {}), explained(counted("b", 500), {})});
  EXPECT_THAT(sentences(),
              Contains("Of what `warpmeter explain` looks for, nothing was found in any launch."));
  add({explained(counted("a", 400), {}), failed(counted("b", 500))});
  EXPECT_THAT(sentences(), Contains("Of what `warpmeter explain` looks for, nothing was found in "
                                    "the launches that ended well."));
  add({explained(counted("a", 400), {}), counted("b", 500)});
  EXPECT_THAT(sentences(),
              Contains("The costliest accesses were not looked for in 1 launch (hardware "
                       "counters have no addresses; the model has them: run --counts model, or "
                       "profile -b model)."));
}

TEST_F(Headline, SaysWhatChangedSinceTheSameWasRunBefore) {
  add({counted("a", 400), counted("b", 500)});
  add({counted("a", 400), counted("c", 500)});  // other variants
  add({counted("a", 400), counted("b", 750)});
  EXPECT_THAT(sentences(), Contains("Since run 1, 2 counters and metrics changed, most "
                                    "global_store_sectors of transpose/b at 1,024, from 500 to 750 "
                                    "(`warpmeter compare 1 3`)."));
  add({counted("a", 400), counted("b", 750)});
  EXPECT_THAT(sentences(), Contains("Since run 3, no counter of 14 changed (`warpmeter compare 3 "
                                    "4`)."));
}

TEST_F(Headline, ComparesWithNoEarlierRunOfAnotherDeviceOrSize) {
  Circumstances other;
  other.device = "NVIDIA H100";
  add({counted("a", 300), counted("b", 500)}, other);
  schema::Launch small = counted("b", 100);
  small.size = 512;
  add({counted("a", 400), small});
  add({counted("a", 400), counted("b", 500)});
  EXPECT_THAT(sentences(), Not(Contains(HasSubstr("Since run"))));
}

TEST_F(Headline, SaysWhichTimesChanged) {
  add({launch("a", readings(1, 1000, 5))});
  add({launch("a", readings(2, 2000, 5))});
  EXPECT_THAT(sentences(), Contains("Since run 1, no counter could be compared, 0 times are faster "
                                    "and 1 slower (`warpmeter compare 1 2`)."));
}

TEST_F(Headline, SaysWhatHasNoValueAndWhy) {
  schema::Launch made = timed("a", 1000);
  made.counters.push_back({"global_load_sectors", std::nullopt, schema::Grade::unavailable,
                           "no permission for counters"});
  add({made});
  EXPECT_THAT(sentences(), Contains(HasSubstr(" no value: no permission for counters.")));
}

TEST_F(Headline, SaysTheOtherReasonToo) {
  schema::Launch made = timed("a", 1000);
  made.counters = {
      {"global_load_sectors", std::nullopt, schema::Grade::unavailable, "no permission"},
      {"inst_executed", std::nullopt, schema::Grade::unavailable,
       "no counter of that name; see list metrics"}};
  add({made});
  EXPECT_THAT(sentences(),
              Contains(AllOf(HasSubstr(" no value: no permission; "),
                             HasSubstr("inst_executed has none: no counter of that name."))));
  made.counters.push_back(
      {"global_store_sectors", std::nullopt, schema::Grade::unavailable, "it is off"});
  add({made});
  EXPECT_THAT(sentences(), Contains(HasSubstr("; other figures have none for 2 other reasons.")));
}

/// Chips without copies in bulk have no counter of them, which is no news to who asked for
/// @default.
TEST_F(Headline, IsSilentAboutCountersOfInstructionsThatNobodyNamed) {
  schema::Launch made = timed("a", 1000);
  made.counters = {{"bulk_load_bytes", std::nullopt, schema::Grade::unavailable,
                    "GA100 has no hardware counter for it"}};
  add({made});
  EXPECT_THAT(sentences(), Contains(HasSubstr("bulk_load_bytes")));
  const schema::SetInfo* set = schema::Catalogue::get().find_set("default");
  for (const std::string& name : schema::Catalogue::get().counters_for(set->metrics)) {
    made.counters.push_back({name, 8.0, schema::Grade::measured, ""});
  }
  add({made});
  EXPECT_THAT(sentences(), Not(Contains(HasSubstr("bulk_load_bytes"))));
  // -m @default,@copies
  made.counters.push_back({"async_copy_bypass_requests", 0.0, schema::Grade::measured, ""});
  add({made});
  EXPECT_THAT(sentences(), Contains(HasSubstr("bulk_load_bytes")));
}

TEST_F(Headline, OfAProgramSaysWhichKernelTakesMost) {
  std::vector<schema::Launch> launches = {timed("gemm", 3000, "app"), timed("gemm", 3000, "app"),
                                          timed("init", 2000, "app")};
  for (schema::Launch& made : launches) {
    made.verified = false;
    made.size.reset();
  }
  add(launches);
  EXPECT_THAT(sentences(),
              ElementsAre("app: 'gemm' takes most, 75 % of the time of all launches, in "
                          "2 launches.",
                          not_looked_for));
}

TEST_F(Headline, OfSeveralProgramsSaysOfWhichLaunchesTheShareIs) {
  std::vector<schema::Launch> launches = {timed("gemm", 3000, "app"), timed("init", 1000, "app"),
                                          timed("scan", 50000, "other")};
  for (schema::Launch& made : launches) {
    made.verified = false;
    made.size.reset();
  }
  add(launches);
  EXPECT_THAT(sentences(),
              Contains("app: 'gemm' takes most, 75 % of the time of these launches, in "
                       "1 launch."));
}

TEST_F(Headline, OfManyFamiliesHasSevenSentencesTheClearestFirst) {
  std::vector<schema::Launch> launches;
  for (int i = 0; i < 12; ++i) {
    const std::string family = "family" + std::to_string(i);
    launches.push_back(timed("a", 1000, family));
    launches.push_back(timed("b", 2000 + 100 * i, family));
    schema::Finding finding = tile_conflict();
    finding.line = i + 1;
    launches.back() = explained(launches.back(), {finding});
  }
  launches.push_back(failed(timed("c", 1, "family0")));
  add(launches);
  const std::vector<std::string> said = sentences();
  ASSERT_THAT(said, SizeIs(7));
  EXPECT_THAT(said[0], StartsWith("family11 at 1,024: a is fastest, 1.00 µs, 3.10 times"));
  EXPECT_THAT(said[3], StartsWith("What costs family"));
  EXPECT_EQ(said[6], "1 of 25 launches failed: family0/c at 1,024.");
}

TEST_F(Headline, OfARunWithoutLaunchesSaysThatItEnded) {
  set_last(add_empty_run(store()));
  EXPECT_THAT(sentences(), ElementsAre(HasSubstr("Not all was measured: ")));
}

TEST_F(Headline, LeadsToTheTables) {
  add({counted("a", 400), counted("b", 500), failed(counted("c", 1))});
  const std::string markdown = report(Format::markdown);
  EXPECT_THAT(markdown, HasSubstr("25 % more. ([transpose, size 1,024](#transpose-size-1024))\n"));
  EXPECT_THAT(markdown, HasSubstr("([Failed launches](#failed-launches))"));
  EXPECT_LT(markdown.find("## In short"), markdown.find("| Run "));
  EXPECT_THAT(report(Format::table), HasSubstr("transpose/c at 1,024. → Failed launches\n"));
}

TEST_F(Headline, ChosenAloneHasNoLinkToWhatIsNotThere) {
  set_last(add_hardware_run(store()));
  EXPECT_THAT(alone(Format::markdown), Not(HasSubstr("](#")));
  EXPECT_THAT(alone(Format::table), Not(HasSubstr("→")));
}

TEST_F(Headline, OfABriefReportSaysHowManyFamiliesItLeavesOut) {
  std::vector<schema::Launch> launches;
  for (int i = 0; i < 14; ++i) {
    launches.push_back(timed("fast", 1000, "family" + std::to_string(i)));
    launches.push_back(timed("slow", 2000, "family" + std::to_string(i)));
  }
  add(launches);
  EXPECT_THAT(brief(), HasSubstr("2 more families: leave --brief out."));
}

TEST_F(Headline, BeginsABriefReportOfOneScreen) {
  set_last(add_hardware_run(store()));
  const std::string text = brief();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 40);
  EXPECT_THAT(text, AllOf(HasSubstr("In short"), HasSubstr("tiled_padded is fastest"),
                          HasSubstr("The best of each family"),
                          ContainsRegex("transpose  1,024  tiled_padded +1\\.61")));
}

}  // namespace
}  // namespace warpmeter::reports
