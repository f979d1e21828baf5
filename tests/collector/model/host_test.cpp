// SPDX-License-Identifier: MIT
// The machine as another program's part: nothing but its library is linked, memory belongs to the
// host, and launches come from several threads.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "collector/model/machine/decode/decode.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model {
namespace {

constexpr const char* add_text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 to, .param .u32 what)
{
  .reg .b64 %rd<5>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [what];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r6, [%rd3];
  add.u32 %r7, %r6, %r1;
  st.global.u32 [%rd3], %r7;
  ret;
}
)";

Program add_program() {
  auto parsed = ptx::parse(add_text);
  return std::get<Program>(decode(*std::get<std::unique_ptr<ptx::Module>>(parsed), "add"));
}

constexpr Geometry eight_blocks = {{8, 1, 1}, {64, 1, 1}, 0};
using Numbers = std::vector<std::uint32_t>;

Numbers counting() {
  Numbers numbers(512);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

/// Lends the numbers where they are on this machine, as unified addresses do.
std::uint64_t lend(DeviceMemory& memory, Numbers& numbers) {
  const auto address = reinterpret_cast<std::uint64_t>(numbers.data());
  memory.lend(address, std::as_writable_bytes(std::span(numbers)), "numbers");
  return address;
}

LaunchOutcome add(const Program& program, DeviceMemory& memory, std::uint64_t address,
                  std::uint32_t what, unsigned threads) {
  std::vector<std::vector<std::byte>> arguments(2);
  arguments[0].resize(8), arguments[1].resize(4);
  std::memcpy(arguments[0].data(), &address, 8);
  std::memcpy(arguments[1].data(), &what, 4);
  LaunchOptions options;
  options.threads = threads;
  return launch(program, eight_blocks, *pack_parameters(program, arguments), memory, options);
}

TEST(Host, LendsItsMemoryWithoutACopy) {
  const Program program = add_program();
  Numbers numbers = counting();
  DeviceMemory memory;
  const std::uint64_t address = lend(memory, numbers);
  const LaunchOutcome outcome = add(program, memory, address, 7, 2);
  EXPECT_FALSE(outcome.trap.has_value());
  for (std::uint32_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], i + 7);
  EXPECT_TRUE(memory.remove(address).empty()) << "it stays the host's";
  EXPECT_EQ(memory.find(address), nullptr);
}

TEST(Host, IsToldOfAccessesBeyondWhatItLent) {
  const Program program = add_program();
  Numbers numbers(100);
  DeviceMemory memory;
  const LaunchOutcome outcome = add(program, memory, lend(memory, numbers), 1, 1);
  ASSERT_TRUE(outcome.trap.has_value());
  EXPECT_EQ(outcome.trap->kind, TrapKind::out_of_bounds);
  EXPECT_NE(outcome.trap->message.find("numbers"), std::string::npos) << outcome.trap->message;
}

TEST(Host, LaunchesFromSeveralThreadsOverMemoriesOfTheirOwn) {
  const Program program = add_program();
  std::vector<std::thread> threads;
  std::vector<Numbers> results(4);
  for (std::uint32_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&program, &results, t] {
      Numbers numbers = counting();
      DeviceMemory memory;
      const std::uint64_t address = lend(memory, numbers);
      for (int launches = 0; launches < 50; ++launches) add(program, memory, address, t + 1, 2);
      results[t] = numbers;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t t = 0; t < results.size(); ++t) {
    for (std::uint32_t i = 0; i < 512; ++i) ASSERT_EQ(results[t][i], i + 50 * (t + 1));
  }
}

TEST(Host, LaunchesFromSeveralThreadsOverOneMemoryOneAfterTheOther) {
  const Program program = add_program();
  Numbers numbers = counting();
  DeviceMemory memory;
  const std::uint64_t address = lend(memory, numbers);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int launches = 0; launches < 25; ++launches) add(program, memory, address, 1, 2);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t i = 0; i < 512; ++i) ASSERT_EQ(numbers[i], i + 100);
}

}  // namespace
}  // namespace warpmeter::model
