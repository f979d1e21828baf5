// SPDX-License-Identifier: MIT
// `profile --check` of programs that mark their mistakes: it finds a mistake on each line that ends
// in "// ! KIND", and on no other.
#include <fstream>
#include <regex>
#include <set>
#include <utility>

#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

using Marks = std::set<std::pair<int, std::string>>;  ///< line and kind

Marks marks_in(const std::string& name) {
  std::ifstream source(source_dir() + "/tests/runtime/programs/" + name + ".cu");
  Marks marks;
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    constexpr std::string_view begin = "// ! ";
    const std::size_t mark = line.find(begin);
    if (mark != std::string::npos) marks.emplace(number, line.substr(mark + begin.size()));
  }
  return marks;
}

Marks mistakes_in(const std::string& name, const std::string& text) {
  const std::regex row("(?:^|\n)([a-z][a-z -]*[a-z])  +\\S*" + name + "\\.cu:(\\d+) +mistake ");
  Marks marks;
  for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it) {
    marks.emplace(std::stoi((*it)[2]), (*it)[1]);
  }
  return marks;
}

class Planted : public RuntimeProgram, public testing::WithParamInterface<const char*> {};

TEST_P(Planted, MistakesAreFoundAndNothingElse) {
  const Outcome outcome = checked(GetParam());
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_EQ(mistakes_in(GetParam(), outcome.error), marks_in(GetParam())) << outcome.error;
  EXPECT_EQ(outcome.output, "");
}

INSTANTIATE_TEST_SUITE_P(Programs, Planted,
                         testing::Values("check_textures", "check_calls_inside", "check_products",
                                         "check_device_launches"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace warpmeter::cli
