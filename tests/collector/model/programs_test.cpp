// SPDX-License-Identifier: MIT
// Programs as people write them, compiled by nvcc for two architectures, against what the host
// computes: small floats, the toolkit's mathematics, cooperative groups, CUB.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/collector/model/compiled_programs.h"

namespace warpmeter::model {
namespace {

using testing::HasSubstr;

class Programs : public CompiledPrograms {};

void expect_near(float value, double wanted, double tolerance, const std::string& what) {
  EXPECT_NEAR(value, wanted, tolerance * std::max(1.0, std::abs(wanted))) << what;
}

Floats reals() {
  Floats values(33);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = (static_cast<float>(i) - 15.5f) * 0.25f;  // exact in 8 bits of mantissa
  }
  return values;
}

TEST_P(Programs, ComputeWithHalves) {
  const Floats in = reals();
  const Floats out = result<float>("numbers", "halves", 32, 512, {TestArgument::buffer(in)});
  ASSERT_EQ(out.size(), 512u);
  for (std::size_t i = 0; i < 32; ++i) {
    const double a = in[i], b = in[i + 1];
    const double wanted[16] = {a + b,
                               a * b,
                               a * b + a,
                               a - b,
                               a / b,
                               std::max(a, b),
                               a + b,
                               a * b + b,
                               a < b ? 1.0 : 0.0,
                               0,
                               std::sqrt(std::abs(a)),
                               std::exp(a),
                               std::nearbyint(a),
                               a,
                               std::trunc(a),
                               std::max(0.0, a * b + a)};
    for (std::size_t k = 0; k < 16; ++k) {
      expect_near(out[i * 16 + k], wanted[k], 1e-3, fmt::format("halves {} of {}", k, a));
    }
  }
  const Floats coarse = result<float>("numbers", "bfloats", 32, 256, {TestArgument::buffer(in)});
  ASSERT_EQ(coarse.size(), 256u);
  for (std::size_t i = 0; i < 32; ++i) {
    const double a = in[i], b = in[i + 1];
    const double wanted[8] = {a + b, a * b, a * b + a,     std::min(a, b),
                              a - b, 0,     std::trunc(a), std::abs(a)};
    for (std::size_t k = 0; k < 8; ++k) {
      expect_near(coarse[i * 8 + k], wanted[k], 5e-3, fmt::format("bfloats {} of {}", k, a));
    }
  }
  const Floats bytes = result<float>("numbers", "bytes", 32, 64, {TestArgument::buffer(in)});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    expect_near(bytes[i], in[i / 2], i % 2 == 0 ? 0.0625 : 0.125, "8 bits");
  }
  const TestRun atomics =
      run("numbers", "half_atomics", 32,
          {TestArgument::buffer(std::vector<std::uint16_t>(2)),
           TestArgument::buffer(std::vector<std::uint16_t>(2)),
           TestArgument::buffer(std::vector<std::uint16_t>(2)), TestArgument::buffer(Floats(2))});
  ASSERT_EQ(atomics.refusal + atomics.trap(), "");
  EXPECT_EQ(atomics.buffer<std::uint16_t>(0)[0], 0x5000) << "32 in f16";
  EXPECT_EQ(atomics.buffer<std::uint16_t>(1), (std::vector<std::uint16_t>{0x4c00, 0x4c00}));
  EXPECT_EQ(atomics.buffer<std::uint16_t>(2)[0], 0x4200) << "32 in bf16";
  EXPECT_EQ(atomics.buffer<float>(3), (Floats{32, 64}));
}

template <class T>
void expect_functions(const std::vector<T>& out, const std::vector<T>& in, double tolerance) {
  ASSERT_EQ(out.size(), 512u);
  for (std::size_t i = 0; i < 32; ++i) {
    const double v = in[i], m = std::abs(v) + 0.25;
    const double wanted[16] = {
        std::sin(v),    std::cos(v),      std::tan(v),          std::exp(v),
        std::log(m),    std::pow(m, 1.7), std::sqrt(m),         std::erf(v),
        std::tgamma(m), std::atan2(v, 2), std::fmod(v, T(0.7)), std::cbrt(v),
        1 / m,          std::sinh(v),     std::round(v),        std::hypot(v, 3)};
    for (std::size_t k = 0; k < 16; ++k) {
      EXPECT_NEAR(out[i * 16 + k], wanted[k], tolerance * std::max(1.0, std::abs(wanted[k])))
          << "function " << k << " of " << v;
    }
  }
}

TEST_P(Programs, ComputeFunctions) {
  const Floats in = reals();
  const std::vector<double> wide(in.begin(), in.end());
  expect_functions(result<double>("numbers", "functions", 32, 512, {TestArgument::buffer(wide)}),
                   wide, 1e-13);
  expect_functions(result<float>("numbers", "float_functions", 32, 512, {TestArgument::buffer(in)}),
                   in, 2e-6);
}

TEST_P(Programs, ComputeBits) {
  std::vector<std::uint32_t> in(33);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<std::uint32_t>(i * 0x9e3779b97f4a7c15u >> 20);
  const auto out = result<std::uint32_t>("numbers", "bits", 32, 512, {TestArgument::buffer(in)});
  ASSERT_EQ(out.size(), 512u);
  const auto byte = [](std::uint32_t value, int i) {
    return static_cast<int>(value >> 8 * i & 255);
  };
  const auto half = [](std::uint32_t value, int i) {
    return static_cast<std::int16_t>(value >> 16 * i);
  };
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint32_t v = in[i], u = in[i + 1];
    std::uint32_t wanted[16] = {};
    wanted[0] = static_cast<std::uint32_t>(__builtin_popcount(v));
    wanted[1] = v == 0 ? 32 : static_cast<std::uint32_t>(__builtin_clz(v));
    wanted[2] = static_cast<std::uint32_t>(__builtin_ffs(static_cast<int>(v)));
    for (int k = 0; k < 32; ++k) wanted[3] |= (v >> k & 1) << (31 - k);
    wanted[4] = static_cast<std::uint32_t>(std::uint64_t{v} * u >> 32);
    wanted[5] = u << 5 | v >> 27;
    wanted[6] = 3 + static_cast<std::uint32_t>(
                        std::abs(std::int64_t{static_cast<int>(v)} - static_cast<int>(u)));
    wanted[7] = 2 + (v & 0xffff) * (u & 255) + (v >> 16) * (u >> 8 & 255);
    for (int k = 0; k < 4; ++k) {
      const int a = byte(v, k), b = byte(u, k);
      wanted[8] |= static_cast<std::uint32_t>(std::abs(a - b)) << 8 * k;
      wanted[9] += static_cast<std::uint32_t>(std::abs(a - b));
      wanted[12] |= (a > b ? 255u : 0u) << 8 * k;
      wanted[13] |= static_cast<std::uint32_t>((a + b + 1) / 2) << 8 * k;
    }
    for (int k = 0; k < 2; ++k) {
      wanted[10] |= (static_cast<std::uint32_t>(half(v, k) + half(u, k)) & 0xffff) << 16 * k;
      wanted[11] |= (static_cast<std::uint32_t>(std::max(half(v, k), half(u, k))) & 0xffff)
                    << 16 * k;
    }
    wanted[14] = static_cast<std::uint32_t>(std::max(static_cast<int>(v + u), 5));
    __extension__ using u128 = unsigned __int128;
    wanted[15] = static_cast<std::uint32_t>(u128{v} * u * u / (u | 1) >> 20);
    for (std::size_t k = 0; k < 16; ++k) {
      EXPECT_EQ(out[i * 16 + k], wanted[k]) << "result " << k << " of " << v << ' ' << u;
    }
  }
}

TEST_P(Programs, FormGroups) {
  const Ints in = numbers(256);
  const auto at = [&](int i) { return in[static_cast<std::size_t>(i)]; };
  EXPECT_EQ(result<int>("groups", "tiles", 256, 256, {TestArgument::buffer(in)}),
            expected(256, [&](int i) {
              const auto tile = in.begin() + i / 16 * 16;
              return 1000 * std::accumulate(tile, tile + 16, 0) +
                     std::accumulate(tile, in.begin() + i + 1, 0);
            }));
  EXPECT_EQ(result<int>("groups", "coalesced", 256, 256, {TestArgument::buffer(in)}),
            expected(256, [&](int i) {
              if ((at(i) & 1) == 0) return 0;
              int size = 0, rank = 0, first = -1;
              for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
                if ((at(k) & 1) == 0) continue;
                if (first < 0) first = k;
                rank += k < i ? 1 : 0;
                ++size;
              }
              return 10000 * size + 100 * rank + first;
            }));
  EXPECT_EQ(result<int>("groups", "labelled", 256, 256, {TestArgument::buffer(in)}),
            expected(256, [&](int i) {
              int size = 0, rank = 0;
              for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
                if (at(k) % 3 != at(i) % 3) continue;
                rank += k < i ? 1 : 0;
                ++size;
              }
              return 100 * size + rank;
            }));
  EXPECT_EQ(result<int>("groups", "votes", 256, 256, {TestArgument::buffer(in)}),
            expected(256, [&](int i) {
              int same = 0, sum = 0, odd = 0;
              for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
                same += at(k) == at(i) ? 1 : 0;
                sum += at(k);
              }
              for (const int value : in) odd += value & 1;
              return same + 100 * sum + 100000 * odd;
            }));
}

TEST_P(Programs, CopyAndWait) {
  const Ints in = numbers(1024);
  const auto at = [&](int i) { return in[static_cast<std::size_t>(i)]; };
  EXPECT_EQ(result<int>("groups", "asynchronous", 256, 256, {TestArgument::buffer(in)}),
            expected(256, [&](int i) { return at(255 - i); }));
  EXPECT_EQ(result<int>("groups", "barriers", 256, 256, {TestArgument::buffer(in)}),
            expected(256, [&](int i) { return 3 * at((i + 7) % 256) + 3; }));
  EXPECT_EQ(
      result<int>("groups", "pipelines", 256, 256, {TestArgument::buffer(in)}),
      expected(256, [&](int i) { return at(255 - i) + at(511 - i) + at(767 - i) + at(1023 - i); }));
  EXPECT_EQ(result<int>("groups", "named_barriers", 256, 128),
            expected(128, [](int i) { return 127 - i; }));
  const TestRun atomics = run("groups", "atomics", 256,
                              {TestArgument::buffer(Ints(4)), TestArgument::buffer(Floats(1)),
                               TestArgument::buffer(std::vector<std::uint64_t>(1)),
                               TestArgument::buffer(std::vector<std::uint16_t>(2))});
  ASSERT_EQ(atomics.refusal + atomics.trap(), "");
  EXPECT_EQ(atomics.buffer<int>(0), (Ints{256, 768, 255, 0}));
  EXPECT_EQ(atomics.buffer<float>(1)[0], 128.0f);
  EXPECT_EQ(atomics.buffer<std::uint64_t>(2)[0], ~std::uint64_t{0});
  EXPECT_EQ(atomics.buffer<std::uint16_t>(3)[0], 7);
}

TEST_P(Programs, UseCub) {
  const Ints in = numbers(512);
  const Ints few(in.begin(), in.begin() + 128);
  EXPECT_EQ(result<int>("blocks", "block_reduce", 128, 1, {TestArgument::buffer(few)}),
            Ints{std::accumulate(few.begin(), few.end(), 0)});
  EXPECT_EQ(result<int>("blocks", "block_scan", 128, 128, {TestArgument::buffer(few)}),
            expected(128, [&](int i) { return std::accumulate(few.begin(), few.begin() + i, 0); }));
  Ints sorted = in;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(result<int>("blocks", "block_sort", 128, 512, {TestArgument::buffer(in)}), sorted);
}

struct Parameters {  // as in memory.cu
  int values[64];
  double scale;
};

TEST_P(Programs, ReachEveryMemory) {
  const auto u = [](int i) { return static_cast<std::size_t>(i); };
  Parameters parameters{};
  for (int i = 0; i < 64; ++i) parameters.values[i] = 10 * i;
  parameters.scale = 3.5;
  EXPECT_EQ(result<int>("memory", "by_reference", 32, 32,
                        {TestArgument::scalar(parameters), TestArgument::scalar(7)}),
            expected(32, [](int i) { return 30 * (7 + i % 4); }));
  const auto changed = expected(64, [&](int i) {
    const int at = (i + 5) % 64;
    return (at == 5 ? 1000 : parameters.values[at]) + (at == i ? 5 : 0);
  });
  EXPECT_EQ(result<int>("memory", "by_value", 64, 64,
                        {TestArgument::scalar(parameters), TestArgument::scalar(5)}),
            changed);
  const Floats out = result<float>("memory", "variables", 32, 33);
  ASSERT_EQ(out.size(), 33u);
  const float coefficients[4] = {0.5f, 1.5f, -2, 8};
  const int powers[3][4] = {{1, 2, 4, 8}, {1, 3, 9, 27}, {1, 5, 25, 0}};
  for (int i = 0; i < 32; ++i) {
    const int letter = std::string_view("acf")[u(i % 3)];
    EXPECT_EQ(out[u(i)], coefficients[i % 4] * static_cast<float>(powers[i % 3][i / 8]) +
                             static_cast<float>(letter) + static_cast<float>(10 * (i % 4 + 1)));
  }
  EXPECT_EQ(out[32], 67) << "a variable through the pointer that another one holds";
  EXPECT_EQ(result<int>("memory", "spaces", 32, 32, {TestArgument::buffer(Ints{50, 51, 52, 53})}),
            expected(32, [](int i) {
              return i % 3 == 0 ? 71 : i % 3 == 1 ? 4 + 10 * (i % 4 + 1) : 2 + 10 * (50 + i % 4);
            }));
  std::vector<std::uint8_t> bytes(32 * 64);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 >> 2);
  struct Packed {
    std::uint8_t a;
    std::int16_t b;
    std::int64_t c;
    float d[3];
  } packed[2];
  static_assert(sizeof(packed) == 64);
  const auto moved =
      result<std::uint8_t>("memory", "bytes", 32, bytes.size(), {TestArgument::buffer(bytes)});
  ASSERT_EQ(moved.size(), bytes.size());
  for (std::size_t i = 0; i < bytes.size(); i += 64) {
    std::memcpy(packed, bytes.data() + i, sizeof(packed));
    packed[0].b = static_cast<std::int16_t>(packed[0].b + packed[1].b);
    packed[1].c ^= packed[0].c >> 3;
    packed[1].a = static_cast<std::uint8_t>(packed[0].a + packed[1].a);
    Packed got[2];
    std::memcpy(got, moved.data() + i, sizeof(got));
    for (int k = 0; k < 2; ++k) {
      EXPECT_EQ(got[k].a, packed[k].a) << i;
      EXPECT_EQ(got[k].b, packed[k].b) << i;
      EXPECT_EQ(got[k].c, packed[k].c) << i;
      EXPECT_EQ(std::memcmp(got[k].d, packed[k].d, sizeof(got[k].d)), 0) << i;
    }
  }
}

TEST_P(Programs, DecideByWhatTheyRead) {
  const Ints in = numbers(128);
  const auto at = [&](int i) { return in[static_cast<std::size_t>(i)]; };
  const Ints chosen = expected(32, [](int i) { return i * 5 % 11; });
  const auto of = [&](int i) { return chosen[static_cast<std::size_t>(i)]; };
  EXPECT_EQ(result<int>("memory", "choices", 32, 32, {TestArgument::buffer(chosen)}),
            expected(32, [&](int i) {
              const int results[] = {3, of(5), of(6) * 3, of(7) - 1, of(7), 7, of(1) / 3, 0};
              return of(i) < 8 ? results[of(i)] : 99;
            }));
  EXPECT_EQ(result<int>("memory", "early_exits", 128, 128,
                        {TestArgument::buffer(in), TestArgument::scalar(100)}),
            expected(128, [&](int i) {
              int sum = 0;
              for (int k = 0; i < 100 && k < i && at(k) >= 20; ++k) sum += at(k) > 900 ? 0 : at(k);
              return sum;
            }));
  int value = 0;
  for (int i = 0; i < 64; ++i) value = value * 3 % 1000 + 1;
  EXPECT_EQ(result<int>("memory", "locked", 64, 1, {TestArgument::buffer(Ints(1))}), Ints{value});
  EXPECT_EQ(result<int>("memory", "spinning", 64, 65, {TestArgument::buffer(Ints(1))}),
            expected(65, [&](int i) { return value + std::max(i - 1, 0); }));
  Floats many(1024);
  std::iota(many.begin(), many.end(), 0.0f);
  std::ifstream file(
      fmt::format("{}/tests/collector/model/programs/memory.sm_{}.ptx", binary_dir(), GetParam()));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const TestRun blocks = run_ptx(
      text, "last_block", geometry(8, 128),
      {TestArgument::buffer(Floats(9)), TestArgument::buffer(many), TestArgument::buffer(Ints(1))});
  ASSERT_EQ(blocks.refusal + blocks.trap(), "");
  EXPECT_EQ(blocks.buffer<float>(0)[8], 1023.0f * 512);
}

INSTANTIATE_TEST_SUITE_P(Architectures, Programs, testing::Values(90, 100),
                         [](const auto& program) { return fmt::format("sm_{}", program.param); });

}  // namespace
}  // namespace warpmeter::model
