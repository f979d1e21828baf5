// SPDX-License-Identifier: MIT
// Who else is on a card: an NVML that answers as it is told, and a /proc of a few processes.
#include "collector/cupti/neighbours.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/temporary.h"
#include "collector/cupti/device.h"
#include "collector/cupti/diagnose.h"

namespace warpmeter::cupti {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr pid_t self = 100;
constexpr unsigned long long unknown_memory = ~0ULL;

/// The answers of the fake NVML.
struct Answers {
  std::vector<nvmlProcessInfo_t> computing, drawing;
  std::vector<nvmlProcessUtilizationSample_t> busy;
  nvmlReturn_t list_result = nvml_success, busy_result = nvml_success;
  unsigned clock = 1980;
};
Answers answers;

nvmlReturn_t give(const std::vector<nvmlProcessInfo_t>& all, unsigned* count,
                  nvmlProcessInfo_t* infos) {
  if (answers.list_result != nvml_success) return answers.list_result;
  const unsigned room = *count;
  *count = static_cast<unsigned>(all.size());
  if (all.size() > room) return nvml_insufficient_size;
  for (std::size_t i = 0; i < all.size(); ++i) infos[i] = all[i];
  return nvml_success;
}

NvmlApi fake_api() {
  NvmlApi api;
  api.nvmlErrorString = [](nvmlReturn_t) { return "Not Supported"; };
  api.nvmlDeviceGetComputeRunningProcesses_v3 = [](nvmlDevice_t, unsigned* count,
                                                   nvmlProcessInfo_t* infos) {
    return give(answers.computing, count, infos);
  };
  api.nvmlDeviceGetGraphicsRunningProcesses_v3 = [](nvmlDevice_t, unsigned* count,
                                                    nvmlProcessInfo_t* infos) {
    return give(answers.drawing, count, infos);
  };
  api.nvmlDeviceGetProcessUtilization = [](nvmlDevice_t, nvmlProcessUtilizationSample_t* samples,
                                           unsigned* count, unsigned long long) {
    if (answers.busy_result != nvml_success) return answers.busy_result;
    *count = static_cast<unsigned>(answers.busy.size());
    for (std::size_t i = 0; i < answers.busy.size(); ++i) samples[i] = answers.busy[i];
    return nvml_success;
  };
  api.nvmlSystemGetProcessName = [](unsigned pid, char* name, unsigned length) {
    if (pid != 300) return nvml_not_found;
    std::strncpy(name, "/opt/venv/bin/python3", length);
    return nvml_success;
  };
  api.nvmlDeviceGetApplicationsClock = [](nvmlDevice_t, int, unsigned* mhz) {
    *mhz = answers.clock;
    return nvml_success;
  };
  api.nvmlDeviceGetDefaultApplicationsClock = [](nvmlDevice_t, int, unsigned* mhz) {
    *mhz = 1980;
    return nvml_success;
  };
  return api;
}

class Neighbours : public ::testing::Test {
 protected:
  Neighbours() {
    answers = {};
    process(self, "warpmeter", 50);
    process(200, "my (program) x", self);  // ours: its child
    process(201, "its child", 200);
    process(300, "python3", 50);
    process(301, "train", 1);
  }
  void process(pid_t id, const std::string& name, pid_t parent) const {
    const fs::path folder = folder_.path() / std::to_string(id);
    fs::create_directories(folder);
    std::ofstream(folder / "stat") << id << " (" << name << ") S " << parent << " 1 1 0 -1";
    std::ofstream(folder / "comm") << name << "\n";
  }
  Look look(bool has_context = true) const {
    return {api_, nullptr, has_context, folder_.path(), self};
  }
  static nvmlProcessInfo_t on_card(unsigned pid, unsigned long long mib = 774) {
    return {pid, mib == unknown_memory ? mib : mib << 20U, ~0U, ~0U};
  }
  std::vector<std::string> said(bool has_context = true) const {
    std::vector<std::string> all;
    for (const schema::Disturbance& one : processes_on(look(has_context))) {
      all.push_back((one.is_felt ? "felt: " : "") + one.what + one.reason);
    }
    return all;
  }

  const TemporaryFolder folder_;
  const NvmlApi api_ = fake_api();
};

TEST_F(Neighbours, AreNoneWhereOnlyThisProcessAndItsChildrenAreOnTheCard) {
  answers.computing = {on_card(self), on_card(200), on_card(201)};
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_THAT(look_around(look()), IsEmpty());
}

TEST_F(Neighbours, AreNotTheProcessThatHasThisOneMeasureAPart) {
  process(50, "warpmeter", 1);
  answers.computing = {on_card(self), on_card(50)};
  EXPECT_THAT(said(), IsEmpty());
  process(50, "python3", 1);
  EXPECT_THAT(said(), SizeIs(1));
}

TEST_F(Neighbours, ThatComputeAreFeltAndThoseThatOnlyHoldMemoryAreNot) {
  answers.computing = {on_card(self), on_card(301, 512), on_card(300)};
  answers.busy = {{300, 0, 34, 0, 0, 0}, {300, 0, 88, 0, 0, 0}, {self, 0, 5, 0, 0, 0}};
  EXPECT_THAT(said(),
              ElementsAre("felt: python3 (process 300) computed on the card (88 % busy) and holds "
                          "774 MiB",
                          "train (process 301) holds 512 MiB of the card and computed nothing"));
  const schema::Disturbance row = processes_on(look()).front();
  EXPECT_EQ(row.kind, "process");
  EXPECT_EQ(row.process_id, 300);
  EXPECT_EQ(row.process_name, "python3");
  EXPECT_EQ(row.memory_mib, 774);
  EXPECT_EQ(row.busy, 88);
}

TEST_F(Neighbours, OfWhichNobodyComputedAreNotFelt) {
  answers.computing = {on_card(self), on_card(301, unknown_memory)};
  answers.busy_result = nvml_not_found;
  EXPECT_THAT(said(), ElementsAre("train (process 301) is on the card and computed nothing"));
}

TEST_F(Neighbours, AreFeltWhereNvmlDoesNotTellWhetherTheyComputed) {
  answers.computing = {on_card(self), on_card(301, 512)};
  answers.busy_result = 3;
  EXPECT_THAT(said(), ElementsAre("felt: train (process 301) holds 512 MiB of the card; whether it "
                                  "computed is not known"));
}

TEST_F(Neighbours, ThatDrawAreRowsOfTheirOwnKind) {
  answers.computing = {on_card(self)};
  answers.drawing = {on_card(301, 20), on_card(self)};
  const auto rows = processes_on(look());
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].kind, "graphics process");
}

TEST_F(Neighbours, AreOnlyCountedWhereTheirNumbersAreOfAnotherNamespace) {
  answers.computing = {on_card(70001), on_card(70002), on_card(300)};
  EXPECT_THAT(said(), ElementsAre("felt: 2 other processes computed on the card or keep memory of "
                                  "it (seen from this container without their names)"));
  answers.computing = {on_card(70001)};
  EXPECT_THAT(said(), IsEmpty());  // that is this one
}

TEST_F(Neighbours, BeforeAProgramStartsAreAllThatThereAre) {
  answers.computing = {on_card(300)};
  EXPECT_THAT(said(false), SizeIs(1));
}

TEST_F(Neighbours, ThatCannotBeSeenAreARowWithTheReason) {
  EXPECT_THAT(said(), ElementsAre("NVML lists no process on the card, not even this one: in this "
                                  "container the others cannot be seen"));
  answers.list_result = 3;
  EXPECT_THAT(said(), ElementsAre("NVML does not list the processes: Not Supported"));
  NvmlApi old = api_;
  old.nvmlDeviceGetComputeRunningProcesses_v3 = nullptr;
  const auto rows = processes_on({old, nullptr, true, folder_.path(), self});
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].reason, "this driver's NVML does not list processes");
  EXPECT_FALSE(rows[0].is_felt);
}

TEST_F(Neighbours, OfAnyNumberAreListedAndThoseBeyondThirtyTwoCounted) {
  answers.computing = {on_card(self)};
  for (unsigned i = 0; i < 70; ++i) answers.computing.push_back(on_card(1000 + i));
  const auto rows = processes_on(look());
  ASSERT_THAT(rows, SizeIs(33));
  EXPECT_EQ(rows.back().what, "38 more processes are on the card");
}

TEST_F(Neighbours, IncludeDcgmMpsAndClocksThatSomebodySet) {
  process(812, "nv-hostengine", 1);
  process(813, "nvidia-cuda-mps", 1);
  answers.computing = {on_card(self)};
  answers.clock = 1410;
  std::map<std::string, std::string> kinds;
  for (const schema::Disturbance& one : look_around(look())) {
    EXPECT_FALSE(one.is_felt) << one.what;
    kinds[one.kind] = one.what;
  }
  EXPECT_THAT(kinds["DCGM"], HasSubstr("may hold the counters"));
  EXPECT_THAT(kinds["MPS"], HasSubstr("share a card"));
  EXPECT_THAT(kinds["application clocks"], HasSubstr("1410 MHz, 1980 is its default"));
}

TEST_F(Neighbours, AreSaidByDoctorWithWhatToDo) {
  schema::DeviceState state;
  EXPECT_EQ(neighbours_finding(state).detail, "nobody else is on the card");
  answers.computing = {on_card(self), on_card(300)};
  answers.busy = {{300, 0, 88, 0, 0, 0}};
  process(812, "nv-hostengine", 1);
  state.disturbances = look_around(look());
  const Finding finding = neighbours_finding(state);
  EXPECT_FALSE(finding.ok);
  EXPECT_THAT(finding.detail, HasSubstr("python3 (process 300)"));
  EXPECT_THAT(finding.detail, HasSubstr("--pause-dcgm"));
  EXPECT_THAT(finding.remedy, HasSubstr("--device"));
}

TEST(Throttling, IsNoneWhereTheCardIsOnlyIdleOrSetSo) {
  EXPECT_FALSE(is_slowing(0x1 | 0x2 | 0x10 | 0x100));
  EXPECT_TRUE(is_slowing(0x1 | 0x4));
  EXPECT_TRUE(is_slowing(0x4000));  // without a name yet
}

}  // namespace
}  // namespace warpmeter::cupti
