// SPDX-License-Identifier: MIT
// Frames survive the way there and back; anything else is refused without harm.
#include "collector/inject/protocol.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "collector/inject/bytes.h"

namespace warpmeter::inject {
namespace {

LaunchShape some_shape() {
  LaunchShape shape;
  shape.device = 1;
  shape.context = 2;
  shape.stream = 7;
  shape.kernel = 3;
  shape.range = 4;
  shape.grid = {64, 2, 1};
  shape.block = {16, 16, 1};
  shape.dynamic_shared_bytes = 4096;
  shape.registers = 32;
  shape.local_bytes = 48;
  return shape;
}

Found some_finding() {
  Found found;
  schema::Finding& finding = found.finding;
  finding.kind = "bank_conflict";
  finding.file = "transpose.cu";
  finding.line = 44;
  finding.also_lines = {47, 51};
  finding.object = "tile";
  finding.evidence = "All 32 lanes, 32 words apart, meet in one bank.";
  finding.requests = 32768;
  finding.transactions = 262144;
  finding.ideal = 32768;
  finding.share = 0.89;
  finding.lanes.mask = 3;
  finding.lanes.address[1] = 128;
  finding.lanes.pass[1] = 2;
  schema::Remedy& remedy = finding.remedies.emplace_back();
  remedy.name = "padding 1";
  remedy.change = "tile[16][17]";
  remedy.predicted = {{"shared_load_wavefronts", 65536}};
  remedy.shared_bytes = 1088;
  remedy.also_amounts = {3, 5};
  remedy.is_advised = true;
  return found;
}

ActivityShape some_peer_copy() {
  ActivityShape copy;
  copy.id = 2;
  copy.kind = ActivityKind::copy;
  copy.name = 5;
  copy.shape = some_shape();
  copy.source_memory = MemoryKind::device;
  copy.target_memory = MemoryKind::managed;
  copy.source = {0, 1};
  copy.target = {1, 2};
  return copy;
}

std::vector<Message> one_of_each() {
  Config config;
  config.mode = Mode::counters;
  config.cupti_directory = "/opt/cuda/lib64";
  config.counters = {"a.sum", "b.sum"};
  config.selection = {"regex:re.*", 2, 10, {0, 3}, {"solve"}};
  config.lines_of = "_Z6reduceILi4EEvPf";
  Device device;
  device.device.ordinal = 1;
  device.device.name = "NVIDIA H200";
  device.device.memory_bytes = 143771;
  return {Hello{12, 1, "/bin/app"},
          config,
          device,
          Name{3, "reduce"},
          Launch{some_shape(), {{270336, 0}, {0, 9}}},
          Activities{{{1, 1'764'000'000'000'000'000, 1480, 0, 77, true, std::nullopt},
                      {2, 0, std::nullopt, 4096, 0, false, 0x7f00'0000'0000}}},
          Seen{3},
          Running{3},
          Refused{4},
          FailedCall{"cuInit returned CUDA_ERROR_NO_DEVICE", true, true},
          Problem{true, "no permission"},
          Shaped{"tile", "--shape gives 'tile' 4 bytes, and it has 8"},
          Bye{17},
          Finding{"leak", "app.cu:12", "4 bytes are never freed", 3, true, "app.cu:9"},
          Checked{5, 1, 2, 3, 4},
          some_finding(),
          Explained{1, true, {{"low_occupancy", "the machine code was not read"}}},
          Lines{{{4, 5, 0, 44, 32, 256, 32, std::nullopt, schema::Grade::measured}}},
          Unobserved{"./app", "it is statically linked as a whole"},
          Stalls{{{4, 6, 44, 96, 32}, {0, 6, 0, 1, 0}}},
          Instructions{{{6, 16, 96}, {5, 32, 4}}},
          some_peer_copy(),
          ResourceName{Resource::stream, 1, 13, "copies"},
          TraceBegins{1'764'000'000'000'000'000}};
}

TEST(Protocol, EveryMessageComesBackAsItWas) {
  for (const Message& message : one_of_each()) {
    const auto frame = encode(message);
    const auto decoded = decode(frame);
    ASSERT_TRUE(decoded) << message.index();
    EXPECT_EQ(decoded->index(), message.index());
    EXPECT_EQ(encode(*decoded), frame) << message.index();
  }
}

TEST(Protocol, FieldsKeepTheirValues) {
  const auto decoded = decode(encode(Launch{some_shape(), {{270336, 0}, {0, 9}}, 5}));
  const Launch& launch = std::get<Launch>(*decoded);
  EXPECT_EQ(launch.shape.stream, 7U);
  EXPECT_EQ(launch.shape.grid[1], 2U);
  EXPECT_EQ(launch.shape.registers, 32U);
  EXPECT_EQ(launch.shape.local_bytes, 48U);
  EXPECT_FALSE(launch.shape.static_shared_bytes);
  EXPECT_EQ(launch.values[0].value, 270336);
  EXPECT_EQ(launch.values[1].reason, 9U);
  EXPECT_EQ(launch.occurrence, 5U);
  Launch without;
  without.without_lines = 4;
  without.could_not_run = true;
  EXPECT_EQ(std::get<Launch>(*decode(encode(without))).without_lines, 4U);
  EXPECT_TRUE(std::get<Launch>(*decode(encode(without))).could_not_run);
  Config config;
  config.mode = Mode::lines;
  config.lines_of = "_Z6reduceILi4EEvPf";
  config.shapes = {"tile=16x16:f32", "row=64:u8"};
  EXPECT_EQ(std::get<Config>(*decode(encode(config))).lines_of, config.lines_of);
  EXPECT_EQ(std::get<Config>(*decode(encode(config))).shapes, config.shapes);
  config.source_folders = {"/home/u/lab", "/usr/include"};
  EXPECT_EQ(std::get<Config>(*decode(encode(config))).source_folders, config.source_folders);
  config.selection.launch_timeout_ms = 1500;
  EXPECT_EQ(std::get<Config>(*decode(encode(config))).selection.launch_timeout_ms, 1500U);
  const auto found = decode(encode(some_finding()));
  const schema::Finding& finding = std::get<Found>(*found).finding;
  EXPECT_EQ(finding.line, 44);
  EXPECT_EQ(finding.also_lines, (std::vector<int>{47, 51}));
  EXPECT_EQ(finding.share, 0.89);
  EXPECT_EQ(finding.lanes.pass[1], 2U);
  EXPECT_EQ(finding.remedies[0].change, "tile[16][17]");
  EXPECT_EQ(finding.remedies[0].predicted[0].counter, "shared_load_wavefronts");
  EXPECT_EQ(finding.remedies[0].predicted[0].value, 65536U);
  EXPECT_EQ(finding.remedies[0].blocks, std::nullopt);
  const auto& also = finding.remedies[0].also_amounts;
  EXPECT_EQ(std::vector<int>(also.begin(), also.end()), (std::vector<int>{3, 5}));
  const auto batch =
      decode(encode(Activities{{{1, 5'000'000'000, 1480, 0, 77, true, std::nullopt}}}));
  const Activity& activity = std::get<Activities>(*batch).activities[0];
  EXPECT_EQ(activity.start_ns, 5'000'000'000U);
  EXPECT_EQ(activity.correlation, 77U);
  EXPECT_TRUE(activity.is_in_graph);
  const auto copy = decode(encode(some_peer_copy()));
  EXPECT_EQ(std::get<ActivityShape>(*copy).target->context, 2U);
  EXPECT_EQ(std::get<ActivityShape>(*copy).target_memory, MemoryKind::managed);
}

TEST(Protocol, AFrameCutShortIsRefused) {
  for (const Message& message : one_of_each()) {
    auto frame = encode(message);
    while (!frame.empty()) {
      frame.pop_back();
      EXPECT_FALSE(decode(frame)) << message.index() << " of " << frame.size() << " bytes";
    }
  }
}

TEST(Protocol, AFrameWithMoreThanItsFieldsIsRefused) {
  for (const Message& message : one_of_each()) {
    auto frame = encode(message);
    frame.push_back(0);
    EXPECT_FALSE(decode(frame)) << message.index();
  }
}

TEST(Protocol, AnotherVersionIsRefused) {
  auto frame = encode(Seen{3});
  ++frame[0];
  EXPECT_FALSE(decode(frame));
}

TEST(Protocol, AnUnknownKindIsRefused) {
  auto frame = encode(Seen{3});
  frame[2] = static_cast<std::uint8_t>(std::variant_size_v<Message>);
  EXPECT_FALSE(decode(frame));
}

TEST(Protocol, ALieAboutACountCostsNoMemory) {
  ByteWriter bytes;
  bytes.number(protocol_version);
  bytes.number(static_cast<std::uint16_t>(Message(Activities{}).index()));
  bytes.number(std::numeric_limits<std::uint32_t>::max());
  EXPECT_FALSE(decode(bytes.take()));
}

TEST(Protocol, ALieAboutATextIsRefused) {
  ByteWriter bytes;
  bytes.number(protocol_version);
  bytes.number(static_cast<std::uint16_t>(Message(Name{}).index()));
  bytes.number(std::uint32_t{1});
  bytes.number(std::uint32_t{1000});
  EXPECT_FALSE(decode(bytes.take()));
}

TEST(Protocol, AnEnumeratorThatThereIsNotIsRefused) {
  auto frame = encode(Config{});
  frame[4] = 200;
  EXPECT_FALSE(decode(frame));
}

TEST(Protocol, AnOverlongTextIsCutToFitAFrame) {
  const auto frame = encode(Name{1, std::string(2 * max_frame_bytes, 'x')});
  EXPECT_LE(frame.size(), max_frame_bytes);
  EXPECT_EQ(std::get<Name>(*decode(frame)).text.size(), max_text_bytes);
}

TEST(Protocol, FramesWithWrongBytesAreReadOrRefusedWithoutHarm) {
  std::mt19937 random(42);
  for (const Message& message : one_of_each()) {
    const auto frame = encode(message);
    for (int round = 0; round < 2000; ++round) {
      auto damaged = frame;
      for (int change = 0; change < 3; ++change) {
        damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
      }
      const auto decoded = decode(damaged);
      EXPECT_TRUE(!decoded || encode(*decoded).size() == damaged.size());
    }
  }
}

TEST(Protocol, NoiseIsRefusedWithoutHarm) {
  std::mt19937 random(7);
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::uint8_t> noise(random() % 300);
    for (std::uint8_t& byte : noise) byte = static_cast<std::uint8_t>(random());
    decode(noise);
  }
}

}  // namespace
}  // namespace warpmeter::inject
