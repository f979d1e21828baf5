// SPDX-License-Identifier: MIT
// A run of launches whose counts are made up, and its report on what limits them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/render/report.h"
#include "tests/reports/limits_run.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports {

class LimitsFixture : public testing::Test {
 protected:
  LimitsFixture() : store_(database_.path()), run_(store_.begin_run({})) {}

  /// The launches to come are of this card.
  void use_gpu() {
    schema::Device device;
    device.backend = "cupti";
    device.name = "NVIDIA H200";
    device.compute_capability = 90;
    device.uuid = "GPU-1";
    device_ = store_.add_device(run_, device);
  }

  /// On the model, where no card is used.
  void add(const schema::Launch& launch) {
    if (device_ == 0) device_ = add_model_device(store_, run_);
    store_.add_launch(run_, device_, launch);
  }
  void add(const std::string& variant, const std::map<std::string, double>& counts,
           std::int64_t bytes = 1024) {
    add(counted_launch(variant, counts, bytes));
  }

  std::string report(ReportOptions options) {
    std::string text;
    write_report(schema::Reader(database_.path()), run_, options, [&](std::string_view part) {
      text += part;
      return true;
    });
    return text;
  }
  /// Sections, as text or markdown.
  std::string section(const std::string& name, Format format = Format::markdown) {
    ReportOptions options;
    options.format = format;
    options.sections = {{name, ""}};
    return report(options);
  }
  /// The section of limits with the run before it, for a section alone has another JSON.
  std::string limits_json() {
    ReportOptions options;
    options.format = Format::json;
    options.sections = {{"run", ""}, {"limits", ""}};
    return nlohmann::json::parse(report(options)).dump();
  }
  /// The first picture whose file's name begins so; empty where there is none.
  std::string picture(std::string_view name) {
    ReportOptions options;
    options.sections = {{"limits", ""}};
    options.plot_folder = "files";
    for (const PlotFile& file : write_report(schema::Reader(database_.path()), run_, options,
                                             [](std::string_view) { return true; })) {
      if (file.name.starts_with(name)) return file.svg;
    }
    return "";
  }

  const TemporaryDatabase database_;
  schema::Store store_;
  std::int64_t run_ = 0, device_ = 0;
};

}  // namespace warpmeter::reports
