// SPDX-License-Identifier: MIT
// From the text of an argument to its value.
#include "collector/cli/arguments.h"

#include "base/utf8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "collector/cli/usage.h"

namespace warpmeter::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// The sentence of the Error{usage} that `action` throws; empty when it throws none.
std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(OutOfMemory, NamesOptionsThatTheCommandHas) {
  const auto said = [](const char* command) {
    CLI::App app("", command);
    const Error error = out_of_memory(app);
    return std::pair(error.code(), std::string(error.what()));
  };
  EXPECT_EQ(said("run").first, ExitCode::file);
  EXPECT_THAT(said("run").second, HasSubstr("--size"));
  for (const char* command : {"model", "profile", "check", "report", "history", "query"}) {
    EXPECT_THAT(said(command).second, Not(HasSubstr("--size"))) << command;
  }
  EXPECT_EQ(said("model").first, ExitCode::file);
  EXPECT_EQ(said("report").first, ExitCode::file);
}

TEST(NamingOtherOption, SaysWhereTheFileWasNamed) {
  const std::string sentence = "x.db is not a database: name another file with --db";
  EXPECT_EQ(naming_other_option(sentence, ""), "x.db is not a database: name another file");
  EXPECT_EQ(naming_other_option(sentence, "--baseline"),
            "x.db is not a database: name another file with --baseline");
}

TEST(WholeNumber, ReadsDigitsInItsRange) {
  EXPECT_EQ(whole_number("--size", "1", 1, INT64_MAX), 1);
  EXPECT_EQ(whole_number("--size", "9223372036854775807", 1, INT64_MAX), INT64_MAX);
  EXPECT_EQ(whole_number("--device", "0", 0, 7), 0);
}

TEST(WholeNumber, RefusesEverythingElseWithTheTextThatWasWrong) {
  for (const char* text : {"0", "-1", "x", "12x", "1.5", "1e3", " 1", "1 ", "+1", "0x10", "",
                           "9223372036854775808", "99999999999999999999"}) {
    const std::string sentence = refusal([&] { whole_number("--size", text, 1, INT64_MAX); });
    EXPECT_THAT(sentence, HasSubstr("--size takes a whole number of at least 1")) << text;
    EXPECT_THAT(sentence, HasSubstr("'" + std::string(text) + "'"));
  }
  EXPECT_THAT(refusal([] { whole_number("--threads", "9", 1, 8); }), HasSubstr("from 1 to 8"));
}

TEST(IsUtf8, TellsTextFromBytes) {
  for (const char* text : {"", "before", "vor-ß", "日本", "\xf0\x9f\x98\x80"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  for (const char* text : {"bad\xff", "\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                           "\xf4\x90\x80\x80", "\xf0\x9f\x98"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

TEST(PositiveSeconds, ReadsDecimalsAndRefusesTheRest) {
  EXPECT_DOUBLE_EQ(positive_seconds("--time-budget", "0.25"), 0.25);
  EXPECT_DOUBLE_EQ(positive_seconds("--time-budget", "3"), 3);
  for (const char* text : {"0", "-1", "inf", "nan", "1s", ""}) {
    EXPECT_THAT(refusal([&] { positive_seconds("--time-budget", text); }),
                HasSubstr("'" + std::string(text) + "'"));
  }
}

TEST(ChooseWord, RefusesAnUnknownWordWithTheNearest) {
  const std::vector<std::string> known = {"auto", "cupti", "model"};
  EXPECT_EQ(choose_word("--backend", "model", known), "model");
  const std::string sentence = refusal([&] { choose_word("--backend", "modle", known); });
  EXPECT_THAT(sentence, HasSubstr("auto, cupti, model"));
  EXPECT_THAT(sentence, HasSubstr("did you mean model?"));
}

TEST(SplitList, SplitsAtCommasAndRefusesEmptyParts) {
  const std::vector<std::string> texts = {"a,b", "c"};
  EXPECT_THAT(split_list("-m", texts), ElementsAre("a", "b", "c"));
  for (const char* text : {"", ",", "a,", ",a", "a,,b"}) {
    const std::vector<std::string> one = {text};
    EXPECT_THAT(refusal([&] { split_list("--size", one); }), HasSubstr("empty part")) << text;
  }
}

TEST(Parameter, HasTheTypeThatItsValueReadsAs) {
  EXPECT_EQ(parameter("n=5"), std::make_pair(std::string(":n"), schema::Value(std::int64_t{5})));
  EXPECT_EQ(parameter("x=-1.5").second, schema::Value(-1.5));
  EXPECT_EQ(parameter("s=a=b").second, schema::Value(std::string("a=b")));
  EXPECT_EQ(parameter("s=").second, schema::Value(std::string()));
  EXPECT_EQ(parameter("s=nan").second, schema::Value(std::string("nan")));
}

TEST(Parameter, NeedsANameAndAnEqualsSign) {
  for (const char* text : {"", "n", "=5", "a b=5", ":n=5"}) {
    EXPECT_THAT(refusal([&] { parameter(text); }), HasSubstr("NAME=VALUE")) << text;
  }
}

TEST(ShellLine, CanBePastedBack) {
  const std::vector<std::string> words = {"warpmeter", "run", "smem_*/*", "it's", "", "a-b_c.d/e"};
  EXPECT_EQ(shell_line(words), "warpmeter run 'smem_*/*' 'it'\\''s' '' a-b_c.d/e");
  EXPECT_EQ(shell_words(shell_line(words)), words);
}

}  // namespace
}  // namespace warpmeter::cli
