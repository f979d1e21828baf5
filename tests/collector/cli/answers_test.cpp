// SPDX-License-Identifier: MIT
// The answer of every command: a table of words, exit code, and what the two streams contain. Bad
// input has its row here: one sentence on standard error, nothing on standard output.
#include <algorithm>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

struct Answer {
  const char* name;
  Words words;
  int exit_code;
  std::vector<std::string> texts;  ///< in standard output when it ends well, else in standard error
};

void PrintTo(const Answer& answer, std::ostream* stream) { *stream << answer.name; }

std::string name_of(const ::testing::TestParamInfo<Answer>& info) { return info.param.name; }

class GoodCommand : public Workspace, public ::testing::WithParamInterface<Answer> {};

TEST_P(GoodCommand, AnswersOnStandardOutput) {
  const Outcome outcome = warpmeter(GetParam().words);
  EXPECT_EQ(outcome.exit_code, GetParam().exit_code) << outcome.error;
  for (const std::string& text : GetParam().texts) EXPECT_THAT(outcome.output, HasSubstr(text));
}

const Answer good[] = {
    {"Version", {"--version"}, 0, {"warpmeter 0.", "(git ", "CUDA 1"}},
    {"Help", {"--help"}, 0, {"Examples:", "warpmeter run", "Exit codes:", "doctor", "completion"}},
    {"HelpOfRun",
     {"run", "--help"},
     0,
     {"Examples:\n  warpmeter run", "--backend", "WARPMETER_DB"}},
    {"HelpOfReport", {"report", "-h"}, 0, {"Examples:\n  warpmeter report", "--run", "--format"}},
    {"HelpOfQuery", {"query", "--help"}, 0, {"Examples:\n  warpmeter query", "--param"}},
    {"HelpOfList", {"list", "--help"}, 0, {"Examples:\n  warpmeter list", "kernels|metrics"}},
    {"HelpOfDoctor", {"doctor", "--help"}, 0, {"Examples:\n  warpmeter doctor"}},
    {"HelpOfCompletion", {"completion", "--help"}, 0, {"Examples:\n  source <(warpmeter"}},
    {"ListKernels",
     {"list", "kernels"},
     0,
     {"transpose/tiled_padded", "1024 4096", "smem_square/"}},
    {"ListKernelsCsv",
     {"list", "kernels", "--format", "csv"},
     0,
     {"kernel,sizes", "matmul/naive,"}},
    {"ListMetrics",
     {"list", "metrics", "--format", "csv"},
     0,
     {"name,unit,kind,nvprof,backends,description", "gld_efficiency,%,metric,yes,cupti model,",
      "@default,"}},
    {"ListDevices", {"list", "devices"}, 0, {"model sm_90", "9.0"}},
    {"ListViews", {"list", "views"}, 0, {"comparison", "gld_efficiency"}},
    {"ListViewsJson", {"list", "views", "--format", "json"}, 0, {R"("column":"gld_efficiency")"}},
    {"Doctor", {"doctor"}, 0, {"model", "executes and counts", "database", "run"}},
    {"CompletionBash",
     {"completion", "bash"},
     0,
     {"complete -F _warpmeter warpmeter", "--backend"}},
    {"CompletionZsh", {"completion", "zsh"}, 0, {"#compdef warpmeter"}},
    {"CompletionFish", {"completion", "fish"}, 0, {"-l backend -x -a 'auto cupti model'"}},
    {"DryRun",
     {"run", "transpose/tiled", "-n", "100", "-b", "model", "--dry-run"},
     0,
     {"transpose", "tiled", "7 x 7 x 1", "16 x 16 x 1"}},
};

INSTANTIATE_TEST_SUITE_P(Table, GoodCommand, ::testing::ValuesIn(good), name_of);

class BadCommand : public Workspace, public ::testing::WithParamInterface<Answer> {};

TEST_P(BadCommand, SaysWhyInOneSentence) {
  const Outcome outcome = warpmeter(GetParam().words);
  EXPECT_EQ(outcome.exit_code, GetParam().exit_code);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.error, StartsWith("warpmeter: "));
  EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
  for (const std::string& text : GetParam().texts) EXPECT_THAT(outcome.error, HasSubstr(text));
  EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "something was written";
}

const Answer bad[] = {
    {"NoCommand",
     {},
     2,
     {"a command is needed: run, profile, model, nvprof, report, explain, compare, check, history, "
      "query, "
      "merge, push, pull, submit, runs, list, doctor, mcp, completion"}},
    {"UnknownCommand", {"rnu"}, 2, {"no command 'rnu'", "did you mean run?"}},
    {"UnknownProgramOption", {"--versoin"}, 2, {"no option '--versoin'", "--version"}},
    {"UnknownShortOption", {"run", "-x"}, 2, {"warpmeter run has no option '-x'"}},
    {"OptionBeforeTheCommand",
     {"--db", "x", "run"},
     2,
     {"goes after the command: warpmeter run --db"}},
    {"ValueMissing", {"run", "--size"}, 2, {"--size needs a value", "warpmeter run --help"}},
    {"DatabaseNameMissing", {"query", "runs", "--db"}, 2, {"--db needs a value"}},
    {"UnknownFamily", {"run", "trnaspose"}, 2, {"'trnaspose'", "transpose"}},
    {"UnknownVariant", {"run", "transpose/naiv"}, 2, {"'transpose/naiv'", "transpose/naive"}},
    {"EmptyGlob", {"run", "zzz*"}, 2, {"'zzz*'", "warpmeter list kernels"}},
    {"UnknownMetric", {"run", "-m", "gld_eficiency"}, 2, {"gld_eficiency", "gld_efficiency"}},
    {"UnknownSet", {"run", "-m", "@shraed"}, 2, {"@shraed", "@shared"}},
    {"EmptyMetric", {"run", "-m", "gld_efficiency,"}, 2, {"--metrics", "empty part"}},
    {"UnknownBackend", {"run", "-b", "modle"}, 2, {"--backend", "'modle'", "model"}},
    {"UnknownCache", {"run", "--cache", "hot"}, 2, {"--cache takes cold, warm, not 'hot'"}},
    {"UnknownArch", {"run", "-b", "model", "--arch", "sm_12"}, 2, {"12", "90"}},
    {"ArchIsNoNumber", {"run", "--arch", "hopper"}, 2, {"--arch", "'hopper'"}},
    {"SizeZero", {"run", "-n", "0"}, 2, {"-n takes", "'0'"}},
    {"SizeNegative", {"run", "-n", "-5"}, 2, {"-n takes", "'-5'"}},
    {"SizeNoNumber", {"run", "-n", "big"}, 2, {"-n takes", "'big'"}},
    {"SizeWithTail", {"run", "--size=64x"}, 2, {"--size", "'64x'"}},
    {"SizePastEveryInteger",
     {"run", "transpose", "-b", "model", "-n", "9223372036854775808"},
     2,
     {"transpose", "largest size"}},
    {"LabelOfBytes", {"run", "--label", "bad\xff"}, 2, {"--label", "UTF-8"}},
    {"LabelWithoutEnd", {"run", "--label", std::string(5000, 'x')}, 2, {"--label", "200"}},
    {"SizeListBroken", {"run", "-n", "64,,128"}, 2, {"'64,,128'", "empty part"}},
    {"SizePastTheFamily",
     {"run", "transpose", "-n", "2000000000", "-b", "model"},
     2,
     {"transpose"}},
    {"RepeatZero", {"run", "--repeat", "0"}, 2, {"--repeat", "'0'"}},
    {"ThreadsNoNumber", {"run", "--threads", "all"}, 2, {"--threads", "'all'"}},
    {"DeviceNoNumber", {"run", "-d", "first"}, 2, {"--device", "'first'"}},
    {"DeviceOfTheModel", {"run", "-b", "model", "-d", "0"}, 2, {"--device", "-b model"}},
    {"ArchOfTheGpu", {"run", "-b", "cupti", "--arch", "sm_90"}, 2, {"--arch", "-b model"}},
    {"BudgetZero", {"run", "--time-budget", "0"}, 2, {"--time-budget", "'0'"}},
    {"NothingLeft", {"run", "--timing-only", "--counters-only"}, 2, {"--timing-only"}},
    {"TimingWithMetrics", {"run", "--timing-only", "-m", "@shared"}, 2, {"--metrics"}},
    {"TimingOnTheModel",
     {"run", "-b", "model", "--timing-only"},
     4,
     {"only times were asked for", "model"}},
    {"LabelThatIsAnId", {"run", "--label", "12"}, 2, {"--label '12'"}},
    {"WhatThereIsNoListOf",
     {"list", "kernal"},
     2,
     {"list takes kernels, ", "did you mean kernels?"}},
    {"LabelThatIsLast", {"run", "--label", "last~1"}, 2, {"--label 'last~1'"}},
    {"FlagWithValue", {"run", "--dry-run=yes"}, 2, {"--dry-run takes no value"}},
    {"TurnsOfOne",
     {"run", "transpose/tiled", "--interleave", "-b", "model"},
     2,
     {"--interleave", "choose another"}},
    {"AgainstNoProgram", {"run", "--against", "no/such"}, 2, {"'no/such' is no program"}},
    {"CompareCertainly",
     {"compare", "--significance", "0%"},
     2,
     {"--significance '0%'", "between 0% and 100%"}},
    {"CompareNoPercentage", {"compare", "--least-effect", "much"}, 2, {"write it as 3%"}},
    {"CompareByUnknown", {"compare", "--by", "kernel"}, 2, {"--by", "'kernel'", "variant"}},
    {"CompareNoDatabase", {"compare", "--db", "other.db"}, 5, {"other.db"}},
    {"FailOnUnknown", {"compare", "--fail-on", "faster"}, 2, {"slower, changed"}},
    {"GateWithoutRelation",
     {"check", "--gate", "gst_efficiency => 90"},
     2,
     {"'gst_efficiency => 90'", "at column 16"}},
    {"GateOnUnknownMetric",
     {"check", "-g", "transpose: gst_eficiency > 9"},
     2,
     {"column 12", "did you mean gst_efficiency"}},
    {"SlowdownOfNothing", {"check", "--max-slowdown", "3%"}, 2, {"--baseline"}},
    {"SlowdownNoNumber", {"check", "--max-slowdown", "fast"}, 2, {"'fast' is no percentage"}},
    {"CheckNoDatabase", {"check", "--db", "other.db"}, 5, {"other.db"}},
    {"CheckNoConfig", {"check", "--config", "gates.toml"}, 5, {"gates.toml"}},
    {"UnknownFormat", {"report", "--format", "htm"}, 2, {"--format", "'htm'", "markdown"}},
    {"WordTooMany", {"report", "last"}, 2, {"warpmeter report does not take 'last'"}},
    {"ListOfNothing", {"list"}, 2, {"kernels, metrics, devices, runs or views"}},
    {"ListOfFilteredKernels",
     {"list", "kernels", "transpose"},
     2,
     {"a filter is for metrics: warpmeter list metrics transpose"}},
    {"ListOfUnknown", {"list", "kernel"}, 2, {"'kernel'", "did you mean kernels"}},
    {"UnknownShell", {"completion", "tcsh"}, 2, {"bash, zsh, fish", "'tcsh'"}},
    {"NoShell", {"completion"}, 2, {"bash, zsh or fish"}},
    {"UnknownView", {"query", "comparisn"}, 2, {"no view 'comparisn'", "comparison"}},
    {"EmptyQuery", {"query", " ; "}, 2, {"no SQL"}},
    {"ParameterWithoutValue", {"query", "runs", "--param", "x"}, 2, {"NAME=VALUE", "'x'"}},
    {"LimitZero", {"query", "runs", "--limit", "0"}, 2, {"--limit", "'0'"}},
    {"QueryOfNoDatabase", {"query", "runs"}, 5, {"warpmeter.db"}},
    {"ReportOfNoDatabase", {"report", "--db", "other.db"}, 5, {"other.db"}},
    {"RunsOfNoDatabase", {"list", "runs"}, 5, {"warpmeter.db"}},
    {"DatabaseNameTooLong",
     {"run", "vector_add", "-b", "model", "--db", std::string(300, 'x')},
     5,
     {"File name too long"}},
    {"DatabaseInNoFolder",
     {"run", "vector_add", "-n", "32", "-b", "model", "-q", "--db", "no/such/folder.db"},
     5,
     {"no/such/folder.db"}},
    {"DatabaseIsAFolder",
     {"run", "vector_add", "-n", "32", "-b", "model", "-q", "--db", "/tmp"},
     5,
     {"/tmp"}},
    {"DatabaseWhereNoFileCanBe",
     {"run", "vector_add", "-n", "32", "-b", "model", "-q", "--db", "/proc/x.db"},
     5,
     {"/proc/x.db"}},
    {"RunOfAFileOfAnotherKind", {"run", "a.cuu"}, 2, {"'a.cuu'; a file of kernels is named .yaml"}},
    {"CompilerOfTheCatalogue",
     {"run", "transpose", "-n", "64", "-b", "model", "--compiler", "nvcc"},
     2,
     {"--compiler and --cubin are of files"}},
    {"RoundsWithoutTurns", {"run", "transpose", "--rounds", "3"}, 2, {"--rounds", "--against"}},
    {"SplitOfOneProgram",
     {"submit", "--split", "2", "--", "profile", "true"},
     2,
     {"cannot be split"}},
    {"ShapesBesideCheck",
     {"profile", "--check", "--shape", "tile=2x2:f32", "true"},
     2,
     {"--check explains nothing"}},
    {"OutputIntoNoFolder", {"list", "views", "-o", "no/such/file"}, 5, {"no/such/file"}},
    {"OutputOfAProgramIntoNoFolder",
     {"profile", "-b", "model", "-o", "no/such/file", "touch", "ran"},
     5,
     {"there is no folder no/such", "-o"}},
    {"OutputToAFullDisk", {"list", "views", "-o", "/dev/full"}, 5, {"/dev/full", "No space"}},
};

INSTANTIATE_TEST_SUITE_P(Table, BadCommand, ::testing::ValuesIn(bad), name_of);

/// The long names that the lines of a help text begin with: "  -n,--size N" has "--size".
std::set<std::string> options_in(const std::string& help) {
  std::set<std::string> options;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find("--");
    if (line.rfind("  -", 0) != 0 || begin > 5) continue;
    const std::size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", begin);
    options.insert(line.substr(begin, end - begin));
  }
  return options;
}

class Misspelling : public Workspace, public ::testing::WithParamInterface<const char*> {};

TEST_P(Misspelling, OfEveryOptionGetsTheOption) {
  const std::string command = GetParam();
  const std::set<std::string> options = options_in(warpmeter({command, "--help"}).output);
  ASSERT_THAT(options, Not(IsEmpty()));
  for (const std::string& option : options) {
    const std::string wrong = option + option.back();
    const Outcome outcome = warpmeter({command, wrong});
    EXPECT_EQ(outcome.exit_code, 2) << wrong;
    EXPECT_THAT(outcome.error, AllOf(HasSubstr("no option '" + wrong + "'"),
                                     HasSubstr("did you mean"), HasSubstr(option)));
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, Misspelling,
                         ::testing::Values("run", "report", "compare", "check", "history", "query",
                                           "merge", "push", "pull", "submit", "runs", "list",
                                           "doctor", "completion"),
                         [](const auto& command) { return std::string(command.param); });

using Doctor = Workspace;

TEST_F(Doctor, LeavesNoDatabaseBehind) {
  EXPECT_THAT(warpmeter({"doctor"}).output, HasSubstr("does not exist yet and can be made"));
  const Outcome without = run_program({{"doctor"}, folder_, {{"XDG_CACHE_HOME", "/proc/none"}}});
  EXPECT_THAT(without.output, HasSubstr("cache       /proc/none/warpmeter cannot be written"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Doctor, TellsOfADatabaseThatIsNone) {
  write("notes.txt", std::string(3000, 'x'));
  const Outcome outcome = warpmeter({"doctor", "--db", "notes.txt"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("broken   database"), HasSubstr("notes.txt")));
  EXPECT_EQ(contents("notes.txt"), std::string(3000, 'x'));
}

TEST_F(Doctor, TellsOfAFolderThatTakesNoFiles) {
  EXPECT_THAT(warpmeter({"doctor", "--db", "/proc/x.db"}).output,
              HasSubstr("cannot be made there"));
}

TEST_F(Doctor, FollowsALinkThatLeadsToNothingYet) {
  std::filesystem::create_symlink("none/a.db", folder_ / "to_no_folder.db");
  std::filesystem::create_symlink("b.db", folder_ / "to_a_folder.db");
  EXPECT_THAT(warpmeter({"doctor", "--db", "to_no_folder.db"}).output,
              HasSubstr("cannot be made there"));
  EXPECT_THAT(warpmeter({"doctor", "--db", "to_a_folder.db"}).output,
              HasSubstr("does not exist yet and can be made"));
}

using FormatOfFile = Workspace;

TEST_F(FormatOfFile, IsWhatItsNameEndsWith) {
  measure_something();
  const auto written = [&](std::vector<std::string> words, const std::string& name) {
    words.insert(words.end(), {"-o", name});
    EXPECT_EQ(warpmeter(words).exit_code, 0) << words[0] << " " << name;
    return contents(name);
  };
  const std::vector<std::string> query = {"query", "SELECT 1 AS one"};
  EXPECT_EQ(nlohmann::json::parse(written(query, "q.json")).size(), 1U);
  EXPECT_EQ(written(query, "q.csv"), "one\n1\n");
  EXPECT_THAT(written({"list", "metrics"}, "m.csv"), StartsWith("name,unit,"));
  EXPECT_THAT(written({"check", "--gate", "global_load_requests >= 1"}, "c.xml"),
              StartsWith("<?xml"));
  EXPECT_THAT(written({"report"}, "r.html"), StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(written({"report", "--format", "csv"}, "t.html"), Not(HasSubstr("<html")));
  EXPECT_THAT(written({"report"}, "r.txt"), StartsWith("# "));
  EXPECT_THAT(written({"explain"}, "e.md"), StartsWith("# "));
  EXPECT_THAT(written({"explain"}, "e.txt"), Not(StartsWith("# ")));
}

using Hardware = Workspace;

TEST_F(Hardware, ThatIsNotThereIsExitCode4WithWhyAndWhatToDo) {
  const Outcome outcome = warpmeter({"run", "vector_add", "-n", "32", "-b", "cupti"});
  if (outcome.exit_code == 0) GTEST_SKIP() << "this machine has a usable GPU";
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_THAT(outcome.error, AnyOf(HasSubstr("driver"), HasSubstr("device"), HasSubstr("CUPTI")));
  EXPECT_FALSE(std::filesystem::exists(file("warpmeter.db")));
}

TEST_F(Hardware, ThatIsNotThereLeavesAutoToTheModel) {
  const Outcome outcome = warpmeter({"run", "vector_add", "-n", "32"});
  EXPECT_EQ(outcome.exit_code, 0);
  if (outcome.error.find("measuring on") != std::string::npos) {
    GTEST_SKIP() << "this machine has a usable GPU";
  }
  EXPECT_THAT(outcome.error, HasSubstr("model sm_90 answers, since no GPU is usable: "));
  EXPECT_THAT(outcome.error, Not(HasSubstr("use the model"))) << "it is in use";
  EXPECT_THAT(outcome.error, Not(HasSubstr("install")));
}

}  // namespace
}  // namespace warpmeter::cli
