// SPDX-License-Identifier: MIT
#include "collector/runtime/device/visible_devices.h"

#include <gmock/gmock.h>

namespace warpmeter::runtime {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(VisibleDevices, StandInTheOrderOfTheList) {
  EXPECT_THAT(visible_devices("0", 4), ElementsAre(0));
  EXPECT_THAT(visible_devices("2,0,3", 4), ElementsAre(2, 0, 3));
  EXPECT_THAT(visible_devices(" 1, 3", 4), ElementsAre(1, 3));
  EXPECT_THAT(visible_devices("1gpu", 4), ElementsAre(1));
}

TEST(VisibleDevices, EndAtTheFirstThatThereIsNot) {
  EXPECT_THAT(visible_devices("", 4), IsEmpty());
  EXPECT_THAT(visible_devices("-1", 4), IsEmpty());
  EXPECT_THAT(visible_devices("NoDevFiles", 4), IsEmpty());
  EXPECT_THAT(visible_devices("4", 4), IsEmpty());
  EXPECT_THAT(visible_devices("0,2,-1,1", 4), ElementsAre(0, 2));
  EXPECT_THAT(visible_devices("1,,2", 4), ElementsAre(1));
  EXPECT_THAT(visible_devices("1,7,2", 4), ElementsAre(1));
  EXPECT_THAT(visible_devices("99999999999999999999", 4), IsEmpty());
}

TEST(VisibleDevices, AreNoneWhereOneIsNamedTwice) {
  EXPECT_THAT(visible_devices("0,0", 4), IsEmpty());
  EXPECT_THAT(visible_devices("1,2," + uuid_text(1), 4), IsEmpty());
}

TEST(VisibleDevices, GoByTheBeginningOfAUuidThatOnlyOneHas) {
  EXPECT_EQ(uuid_text(3), "GPU-77030000-0000-0000-0000-000000000003");
  EXPECT_THAT(visible_devices(uuid_text(3) + ",0", 4), ElementsAre(3, 0));
  EXPECT_THAT(visible_devices("GPU-7702,GPU-7700", 4), ElementsAre(2, 0));
  EXPECT_THAT(visible_devices("GPU-77", 4), IsEmpty());
  EXPECT_THAT(visible_devices("GPU-77", 1), ElementsAre(0));
  EXPECT_THAT(visible_devices("GPU-78", 4), IsEmpty());
}

}  // namespace
}  // namespace warpmeter::runtime
