// SPDX-License-Identifier: MIT
#include "schema/catalogue/built_in_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace warpmeter::schema {
namespace {

using ::testing::ElementsAre;

TEST(BuiltInJson, HasTheMembersOfAnObjectAndTheElementsOfAnArray) {
  const BuiltInJson json = BuiltInJson::parse(
      R"( {"name": "a b", "scale": -1.5e1, "nvprof": true, "also": ["x", "y"], "none": [], "of": {}} )");
  EXPECT_EQ(json.at("name").text, "a b");
  EXPECT_EQ(json.at("scale").number(), -15);
  EXPECT_TRUE(json.is_true("nvprof"));
  EXPECT_FALSE(json.is_true("name"));
  EXPECT_THAT(json.texts_of("also"), ElementsAre("x", "y"));
  EXPECT_THAT(json.texts_of("none"), ElementsAre());
  EXPECT_THAT(json.texts_of("missing"), ElementsAre());
  EXPECT_EQ(json.text_of("missing", "otherwise"), "otherwise");
  EXPECT_EQ(json.find("missing"), nullptr);
  EXPECT_EQ(json.children.back().name, "of");
}

TEST(BuiltInJson, IsNotReadWhereItIsNone) {
  for (const char* text : {"", "{", "[1", "{\"a\" 1}", "{\"a\": }", "[1 2]", "[1,]", "\"a", "1 2",
                           "[\"a\\n\"]", "{1: 2}", "[]]"}) {
    EXPECT_THROW(BuiltInJson::parse(text), std::logic_error) << text;
  }
  EXPECT_THROW(BuiltInJson::parse("[x]").children.front().number(), std::logic_error);
  EXPECT_THROW(BuiltInJson::parse("{}").at("name"), std::logic_error);
}

}  // namespace
}  // namespace warpmeter::schema
