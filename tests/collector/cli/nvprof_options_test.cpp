// SPDX-License-Identifier: MIT
// nvprof's options: what each word of a command line becomes, and the table of docs/nvprof.md.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/host_name.h"
#include "collector/cli/nvprof/kernel_path.h"
#include "collector/cli/nvprof/log.h"
#include "collector/cli/nvprof/options.h"
#include "collector/cli/nvprof/topology.h"
#include "tests/paths.h"

namespace warpmeter::cli::nvprof {
namespace {

using reports::nvprof::CountedLaunch;
using reports::nvprof::TimeUnit;
using testing::ElementsAre;

Request read(std::vector<std::string> words) { return read_command_line(words); }

TEST(NvprofOptions, EndAtTheProgram) {
  const Request request = read({"--csv", "-u", "ms", "./app", "--csv", "-x"});
  EXPECT_TRUE(request.style.csv);
  EXPECT_EQ(request.style.unit, TimeUnit::ms);
  EXPECT_THAT(request.words, ElementsAre("./app", "--csv", "-x"));
  EXPECT_THAT(read({"-s", "--", "-odd"}).words, ElementsAre("-odd"));
}

TEST(NvprofOptions, TakeValuesInAllFormsOfGetopt) {
  EXPECT_EQ(read({"--log-file=a=b.txt", "./app"}).log_file, "a=b.txt");
  EXPECT_EQ(read({"-uus", "./app"}).style.unit, TimeUnit::us);
  const Request request = read({"-fi", "in.nvvp", "-t", "2.5", "./app"});
  EXPECT_TRUE(request.overwrites);
  EXPECT_EQ(request.import_file, "in.nvvp");
  EXPECT_EQ(request.timeout, 2.5);
}

TEST(NvprofOptions, MayBeCutShortWhereOneBeginsSo) {
  EXPECT_EQ(read({"--metric", "ipc", "./app"}).names.front().name, "ipc");
  EXPECT_EQ(read({"--log=a.txt", "./app"}).log_file, "a.txt");
  EXPECT_TRUE(read({"--print-summary", "./app"}).prints_summary);
  EXPECT_FALSE(read({"--print-summary", "./app"}).prints_summary_per_gpu);
  EXPECT_THROW(read({"--print-gpu", "./app"}), Error);
  EXPECT_THROW(read({"--=a", "./app"}), Error);
}

/// Public scripts have these, among them some for CUDA 10.
TEST(NvprofOptions, AreTakenUnderTheirEarlierNames) {
  EXPECT_EQ(read({"--output-profile", "a.nvvp", "./app"}).export_file, "a.nvvp");
  const Request request = read({"--profile-from-start-off", "--csv", "./app"});
  EXPECT_FALSE(request.from_start);
  EXPECT_THAT(request.words, ElementsAre("./app"));
  EXPECT_THROW(read({"--profile-from-start-off=on", "./app"}), Error);
  EXPECT_THROW(read({"--aggregate-mode-off", "./app"}), Error);
}

TEST(NvprofOptions, GiveNamesTheScopeBeforeThem) {
  const Request request = read({"--devices", "0,2", "-m", ",a,,b,", "--kernels", ":::2", "-e", "c",
                                "--devices", "all", "--metrics", "d", "./app"});
  ASSERT_EQ(request.names.size(), 4);
  EXPECT_THAT(request.names[0].scope.devices, ElementsAre(0, 2));
  EXPECT_EQ(request.names[1].name, "b");
  EXPECT_EQ(request.names[1].scope.kernels, "");
  EXPECT_TRUE(request.names[2].is_event);
  EXPECT_EQ(request.names[2].scope.kernels, ":::2");
  EXPECT_TRUE(request.names[3].scope.devices.empty());
  EXPECT_EQ(request.names[3].scope.kernels, ":::2");
}

/// The value of an option with choices that is not refused.
std::string taken_value(const Option& option) {
  const std::string all(option.value);
  if (all.starts_with('<')) {
    return option.name == "timeout"                 ? "1"
           : option.name == "source-level-analysis" ? "branch,global_access"
                                                    : "0";
  }
  for (std::size_t begin = 0; begin <= all.size();) {
    const std::size_t end = std::min(all.find('|', begin), all.size());
    const std::string word = all.substr(begin, end - begin);
    if (("|" + std::string(option.refused) + "|").find("|" + word + "|") == std::string::npos) {
      return word;
    }
    begin = end + 1;
  }
  return "";
}

TEST(NvprofOptions, AreTakenOrRefusedByName) {
  for (const Option& option : options()) {
    std::vector<std::string> words = {fmt::format("--{}", option.name)};
    if (!option.value.empty()) words.push_back(taken_value(option));
    words.emplace_back("./app");
    if (option.refused == "*") {
      EXPECT_THROW(read(words), Error) << option.name;
      EXPECT_FALSE(option.instead.empty()) << option.name;
      continue;
    }
    EXPECT_THAT(read(words).words, ElementsAre("./app")) << option.name;
    EXPECT_FALSE(option.meaning.empty()) << option.name;
    EXPECT_EQ(option.refused.empty(), option.instead.empty()) << option.name;
    const std::string refused(option.refused.substr(0, option.refused.find('|')));
    if (!refused.empty()) {
      EXPECT_THROW(read({words.front(), refused, "./app"}), Error) << option.name;
    }
  }
}

TEST(NvprofOptions, HaveNamesAndLettersOfTheirOwn) {
  std::set<std::string_view> names;
  std::set<char> letters;
  for (const Option& option : options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    if (option.letter != 0) EXPECT_TRUE(letters.insert(option.letter).second) << option.name;
  }
}

TEST(NvprofFileName, ReplacesWhatStandsBehindAPercentSign) {
  setenv("NVPROF_TEST_RANK", "3", 1);
  EXPECT_EQ(file_name("--log-file", "a%p_%q{NVPROF_TEST_RANK}%%.txt", 42), "a42_3%.txt");
  EXPECT_EQ(file_name("--log-file", "%h", 1), host_name());
  EXPECT_EQ(file_name("--context-name", "c%i of %p", 42, 7), "c7 of 42");
  EXPECT_THROW(file_name("--log-file", "%i", 42), Error);
  for (const char* wrong : {"%", "a%z", "%q", "%q{NVPROF_TEST_NOT_SET}", "%q{NVPROF"}) {
    EXPECT_THROW(file_name("--log-file", wrong, 1), Error) << wrong;
  }
}

CountedLaunch launch(const std::string& kernel, std::uint64_t invocation) {
  return {0, kernel, invocation, {}};
}

TEST(NvprofOptions, NameContextsAndProcesses) {
  const Request request = read({"--context-name", "c%i", "--process-name", "p", "./app"});
  EXPECT_EQ(request.name_of_context(42, 1), "c1");
  EXPECT_EQ(request.process_name, "p");
  EXPECT_EQ(read({"./app"}).name_of_context(42, 1), "");
  EXPECT_THROW(read({"--context-name", "%x", "./app"}), Error);
  EXPECT_THROW(read({"--process-name", "%i", "./app"}), Error);
}

struct Case {
  const char *path, *kernel;
  std::uint64_t invocation;
  bool matches;
};

const Case cases[] = {
    {"gemm", "_Z5sgemmPf", 1, true},
    {"gemm", "_Z4scanPf", 1, false},
    {"::^s.*n$:", "_Z4scanPf", 7, true},
    {"::^s.*n$:", "_Z5sgemmPf", 7, false},
    {"", "_Z4scanPf", 1, true},
    {":::3", "_Z4scanPf", 3, true},
    {":::3", "_Z4scanPf", 13, false},
    {"::scan:[0-9]0", "_Z4scanPf", 50, true},
    {"::scan:[0-9]0", "_Z4scanPf", 5, false},
};

TEST(NvprofKernelPath, ChoosesByBareNameAndInvocation) {
  for (const Case& one : cases) {
    EXPECT_EQ(KernelPath(one.path).matches(launch(one.kernel, one.invocation)), one.matches)
        << one.path << ' ' << one.kernel << ' ' << one.invocation;
  }
}

TEST(NvprofKernelPath, LacksNoColon) {
  EXPECT_NO_THROW(KernelPath("space::kernel"));
  for (const char* path : {":compute:scale", "compute:scale", "1:2", "scale:1"}) {
    try {
      const KernelPath made(path);
      ADD_FAILURE() << path << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("<context>:<stream>:<kernel>:<invocation>"))
          << path;
    }
  }
}

TEST(NvprofKernelPath, ChoosesByContextAndStream) {
  CountedLaunch one = launch("_Z4scanPf", 2);
  one.origin = {42, 1, 13, 0};
  for (const char* path : {"1:::", ":13::", "1:13:scan:2"}) {
    EXPECT_TRUE(KernelPath(path).matches(one)) << path;
  }
  for (const char* path : {"2:::", ":7::", "1:13:scan:1", "13:1::"}) {
    EXPECT_FALSE(KernelPath(path).matches(one)) << path;
  }
}

TEST(NvprofKernelPath, ChoosesByTheNameOfAContext) {
  reports::nvprof::ResourceNames names;
  names.context = [](std::int64_t process, std::int64_t context) {
    return fmt::format("rank {} of {}", context, process);
  };
  CountedLaunch one = launch("_Z4scanPf", 2);
  one.origin = {42, 1, 13, 0};
  for (const char* path : {"rank 1 of 42:::", "rank.*:13:scan:2", "1:::"}) {
    EXPECT_TRUE(KernelPath(path, names).matches(one)) << path;
  }
  for (const char* path : {"rank:::", "rank 2.*:::", "rank.*:7::"}) {
    EXPECT_FALSE(KernelPath(path, names).matches(one)) << path;
  }
  EXPECT_THROW(KernelPath("(:::", names), Error);
}

TEST(NvprofKernelPath, ChoosesByTheNameOfAStream) {
  reports::nvprof::ResourceNames names;
  names.stream = [](std::int64_t process, std::int64_t context, std::int64_t stream) {
    return process == 42 && context == 1 && stream == 13 ? "copies in" : "";
  };
  CountedLaunch one = launch("_Z4scanPf", 2);
  one.origin = {42, 1, 13, 0};
  for (const char* path : {":copies in::", ":copies.*:scan:2", "1:c.*n::", ":13::"}) {
    EXPECT_TRUE(KernelPath(path, names).matches(one)) << path;
  }
  for (const char* path : {":copies::", ":other::", "2:copies in::", "named:copies in::"}) {
    EXPECT_FALSE(KernelPath(path, names).matches(one)) << path;
  }
  EXPECT_THROW(KernelPath(":(::", names), Error);
}

TEST(NvprofKernelPath, RefusesWhatItCannotTell) {
  for (const char* wrong : {"(:::", ":(:scan:2", ":::(", "::(:"}) {
    EXPECT_THROW(KernelPath{wrong}, Error) << wrong;
  }
}

TEST(NvprofTopology, HasARowForEachDeviceAndPeer) {
  cupti::NvLinkTopology topology;
  EXPECT_EQ(topology_text(topology, false), "No device has NVLink.\n");
  topology.links = {{"NVIDIA H200 (0)", "NVSwitch", "4.0", 18}};
  EXPECT_EQ(topology_text(topology, false),
            "                  Device  Links   NVLink  Peer\n"
            "         NVIDIA H200 (0)     18      4.0  NVSwitch\n");
  EXPECT_EQ(
      topology_text(topology, true),
      "\"Device\",\"Links\",\"NVLink\",\"Peer\"\n\"NVIDIA H200 (0)\",18,\"4.0\",\"NVSwitch\"\n");
  topology.failure = "NVML is not there";
  EXPECT_EQ(topology_text(topology, true), "NVLink is not known: NVML is not there\n");
}

/// The rows of docs/nvprof.md's table of options.
std::string documented_options() {
  std::string table = "| option | value | here | not supported; instead |\n|---|---|---|---|\n";
  for (const Option& option : options()) {
    const auto code = [](std::string text) {
      for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
        text.replace(at, 1, "\\|");
      }
      return text.empty() ? "" : "`" + text + "`";
    };
    const std::string letter = option.letter == 0 ? "" : fmt::format(", `-{}`", option.letter);
    const std::string refused =
        option.refused.empty() ? ""
        : option.refused == "*"
            ? std::string(option.instead)
            : fmt::format("{}: {}", code(std::string(option.refused)), option.instead);
    table += fmt::format("| `--{}`{} | {} | {} | {} |\n", option.name, letter,
                         code(std::string(option.value)), option.meaning, refused);
  }
  return table;
}

TEST(NvprofOptions, AreThoseOfTheDocumentation) {
  std::ifstream file(source_dir() + "/docs/nvprof.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(page,
              testing::HasSubstr("<!-- generated -->\n" + documented_options() + "<!-- end -->"));
}

}  // namespace
}  // namespace warpmeter::cli::nvprof
