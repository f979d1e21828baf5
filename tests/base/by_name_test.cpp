// SPDX-License-Identifier: MIT
#include "base/by_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace warpmeter {
namespace {

struct City {
  std::string name;
  int height = 0;
};

TEST(ByName, FindsTheFirstRowOfAName) {
  const std::vector<City> cities = {{"Bern", 540}, {"Graz", 353}, {"Bern", 1}};
  const ByName<City> by_name(cities, &City::name);
  ASSERT_NE(by_name.find("Bern"), nullptr);
  EXPECT_EQ(by_name.find("Bern")->height, 540);
  EXPECT_EQ(by_name.find("Graz"), &cities[1]);
  EXPECT_EQ(by_name.find("Ber"), nullptr);
  EXPECT_EQ(ByName<City>().find("Bern"), nullptr);
}

}  // namespace
}  // namespace warpmeter
