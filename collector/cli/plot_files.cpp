// SPDX-License-Identifier: MIT
#include "collector/cli/plot_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/output.h"

namespace warpmeter::cli {

namespace fs = std::filesystem;

std::string plot_folder_beside(const std::string& file) {
  const fs::path path(file);
  if (file.empty() || file == "-" || (fs::exists(path) && !fs::is_regular_file(path))) return "";
  return path.stem().string() + "_files";
}

void write_plots(const std::string& file, const std::string& folder,
                 const std::vector<reports::PlotFile>& plots, FileClaims& files) {
  if (plots.empty()) return;
  const fs::path place = fs::path(file).parent_path() / folder;
  std::vector<Destination> destinations;
  for (const reports::PlotFile& plot : plots) {
    destinations.push_back(files.write((place / plot.name).string(), "the plot"));
  }
  std::error_code error;
  fs::create_directories(place, error);
  if (error) {
    throw Error(ExitCode::file,
                fmt::format("cannot make the folder {} for plots: {}; choose another file with -o, "
                            "or --no-plots",
                            place.string(), error.message()));
  }
  for (std::size_t i = 0; i < plots.size(); ++i) {
    Output output(destinations[i]);
    output.write(plots[i].svg);
    output.finish();
  }
}

}  // namespace warpmeter::cli
