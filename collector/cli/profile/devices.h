// SPDX-License-Identifier: MIT
// The devices of this machine and their states before the program runs. To start the driver here
// takes 0.1 s, and a part of that from the program, which starts it meanwhile (measured on an
// H200): so that is done only where the program's process cannot tell all.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/cupti/device.h"

namespace warpmeter::cli {

class Devices {
 public:
  /// `chip_met` is called once a chip, when a process names the first device of it.
  explicit Devices(std::function<void(const std::string&)> chip_met)
      : chip_met_(std::move(chip_met)) {}
  /// A process of the program is there, and has no context yet.
  void met();
  /// A process names its device by what the driver tells; we know the rest of it.
  void complete(schema::Device& device);
  /// Those of a device around the program, when it has ended.
  std::vector<schema::DeviceState> states(const schema::Device& device);

 private:
  std::function<void(const std::string&)> chip_met_;
  std::shared_future<std::map<std::string, schema::DeviceState>> before_ =
      std::async(std::launch::async, [] { return cupti::read_states("before"); }).share();
  bool is_begun_ = false;
  std::vector<schema::Device> all_;
  std::future<std::vector<schema::Device>> found_;
  std::set<std::string> chips_;
};

}  // namespace warpmeter::cli
