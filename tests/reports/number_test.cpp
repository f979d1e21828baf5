// SPDX-License-Identifier: MIT
#include "reports/table/number.h"

#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <limits>
#include <vector>

namespace warpmeter::reports {
namespace {

struct Case {
  double value;
  const char* kept;     // Zeros::keep
  const char* trimmed;  // Zeros::trim
};

constexpr Case cases[] = {
    {0, "0", "0"},
    {1, "1.00", "1"},
    {1.2, "1.20", "1.2"},
    {1.85, "1.85", "1.85"},
    {9.216, "9.22", "9.22"},
    {9.999, "10.0", "10"},
    {10, "10.0", "10"},
    {16, "16.0", "16"},
    {56.25, "56.3", "56.3"},  // printf says 56.2
    {99.95, "100", "100"},
    {100, "100", "100"},
    {999.5, "1,000", "1,000"},
    {1000.4, "1,000", "1,000"},
    {12345.6, "12,346", "12,346"},  // whole digits are never rounded away
    {999999.5, "1,000,000", "1,000,000"},
    {2097152, "2,097,152", "2,097,152"},
    {4.5e15, "4,500,000,000,000,000", "4,500,000,000,000,000"},
    {0.5, "0.500", "0.5"},
    {0.125, "0.125", "0.125"},
    {0.0625, "0.0625", "0.0625"},
    {0.09995, "0.100", "0.1"},
    {0.0012345, "0.00123", "0.00123"},
    {0.00000123, "0.00000123", "0.00000123"},
    {0.000000123456, "1.23e-7", "1.23e-7"},
    {1e-7, "1.00e-7", "1e-7"},
    {1e21, "1.00e21", "1e21"},
    {1.005, "1.01", "1.01"},  // the binary value is a little less than 1.005
    {-56.25, "-56.3", "-56.3"},
    {-1234567, "-1,234,567", "-1,234,567"},
};

TEST(ReadableNumber, HasThreeSignificantDigitsAndSeparators) {
  for (const Case& c : cases) {
    EXPECT_EQ(readable_number(c.value, Zeros::keep), c.kept) << c.value;
    EXPECT_EQ(readable_number(c.value, Zeros::trim), c.trimmed) << c.value;
  }
}

TEST(NumberBeside, HasDigitsThatTellItFromTheOther) {
  EXPECT_EQ(number_beside(99.999609375, 100), "99.9996");
  EXPECT_EQ(number_beside(100.0000001, 100), "100.0000001");
  EXPECT_EQ(number_beside(0.12352, 0.1235), "0.12352");
  EXPECT_EQ(number_beside(25, 90), "25");
  EXPECT_EQ(number_beside(100, 100), "100");
  EXPECT_EQ(number_beside(1234567.1, 1234567.25), "1,234,567.1");
}

TEST(ReadableNumber, NamesWhatIsNoNumber) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(readable_number(infinity, Zeros::keep), "inf");
  EXPECT_EQ(readable_number(-infinity, Zeros::trim), "-inf");
  EXPECT_EQ(readable_number(std::numeric_limits<double>::quiet_NaN(), Zeros::keep), "nan");
}

TEST(ExactNumber, ShowsWholeNumbersWithoutAFraction) {
  EXPECT_EQ(exact_number(0), "0");
  EXPECT_EQ(exact_number(-0.0), "0");
  EXPECT_EQ(exact_number(131072), "131072");
  EXPECT_EQ(exact_number(100000), "100000");  // the shortest form would be 1e+05
  EXPECT_EQ(exact_number(-32), "-32");
  EXPECT_EQ(exact_number(9007199254740992.0), "9007199254740992");
  EXPECT_EQ(exact_number(1e22), "1e+22");
}

TEST(ExactNumber, ReadsBackAsTheSameNumber) {
  for (const double value : {56.25, 0.1, 1.0 / 3, 1e-7, 3.0e-310, 1.7976931348623157e308,
                             123456.789, -2.5, 1.2, 9.2161e15}) {
    const std::string text = exact_number(value);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    EXPECT_EQ(back, value) << text;
  }
  EXPECT_EQ(exact_number(56.25), "56.25");
  EXPECT_EQ(exact_number(0.1), "0.1");
}

TEST(GroupedNumber, SeparatesThousands) {
  EXPECT_EQ(grouped_number(0), "0");
  EXPECT_EQ(grouped_number(999), "999");
  EXPECT_EQ(grouped_number(1000), "1,000");
  EXPECT_EQ(grouped_number(1048576), "1,048,576");
  EXPECT_EQ(grouped_number(-1000), "-1,000");
  EXPECT_EQ(grouped_number(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(SignedPercent, IsReadableHoweverLargeOrSmall) {
  const std::pair<double, const char*> changes[] = {
      {0, "0"},
      {3, "+300"},
      {-0.722, "-72.2"},
      {31, "+3,100"},
      {1234.567, "+123,457"},
      {0.000313, "+0.0313"},
      {-1e-9, "-<0.001"},
      {4e-6, "+<0.001"},
      {1e7, "+1,000,000,000"},
      {1e20, "over +1,000,000,000"},
      {std::numeric_limits<double>::infinity(), "over +1,000,000,000"},
      {std::numeric_limits<double>::quiet_NaN(), "unknown"}};
  for (const auto& [fraction, text] : changes) EXPECT_EQ(signed_percent(fraction), text);
}

TEST(SignedPercent, OfTenthsLinesUpUntilItIsLarge) {
  const std::pair<double, const char*> changes[] = {
      {0, "+0.0"}, {-0.032, "-3.2"}, {0.0104, "+1.0"}, {9.5, "+950.0"}, {31.04, "+3,104"}};
  for (const auto& [fraction, text] : changes) {
    EXPECT_EQ(signed_percent(fraction, Digits::tenth), text);
  }
}

TEST(DurationUnit, IsTheLargestInWhichTheShortestIsAtLeastOne) {
  EXPECT_EQ(duration_unit({}).symbol, "ns");
  EXPECT_EQ(duration_unit(std::vector<double>{0, 0.5}).symbol, "ns");
  EXPECT_EQ(duration_unit(std::vector<double>{999, 5e9}).symbol, "ns");
  EXPECT_EQ(duration_unit(std::vector<double>{5728, 9216}).symbol, "µs");
  EXPECT_EQ(duration_unit(std::vector<double>{1000}).symbol, "µs");
  EXPECT_EQ(duration_unit(std::vector<double>{0, 2.5e6}).symbol, "ms");
  EXPECT_EQ(duration_unit(std::vector<double>{3e9, 2e9}).symbol, "s");
  EXPECT_EQ(duration_unit(std::vector<double>{5728}).in_ns, 1000);
}

}  // namespace
}  // namespace warpmeter::reports
