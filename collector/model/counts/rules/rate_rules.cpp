// SPDX-License-Identifier: MIT
// Rates the counting rules by the golden files: rate_rules [--list OUTPUT] LIST.csv sm_NN.csv…
//
// LIST names the accesses that have to be measured; a file's name tells its architecture. With
// --list, as in the build, OUTPUT becomes the list that collector/model/counts/rules/measured.cpp
// includes; else a sentence a file says how many accesses are met, and the exit code is 1 when not
// all are.
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "collector/model/counts/rules/measured_access.h"

namespace {

using warpmeter::model::MeasuredAccess;

std::vector<MeasuredAccess> read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("there is no file " + path);
  try {
    return warpmeter::model::read_measured(file);
  } catch (const std::runtime_error& wrong) {
    throw std::runtime_error(path + ", " + wrong.what());
  }
}

/// 90 of "…/sm_90.csv".
int arch_of(const std::string& path) {
  const std::string name = std::filesystem::path(path).stem().string();
  if (!name.starts_with("sm_")) throw std::runtime_error(path + " is not called sm_NN.csv");
  return std::stoi(name.substr(3));
}

int rate(int count, char** words) {
  const bool writes_list = count > 2 && std::strcmp(words[1], "--list") == 0;
  const int first = writes_list ? 3 : 1;
  if (count <= first) throw std::runtime_error("name the list of accesses and the golden files");
  const std::vector<MeasuredAccess> list = read(words[first]);
  std::ofstream output;
  if (writes_list) output.open(words[2]);
  bool all = true;
  for (int i = first + 1; i < count; ++i) {
    const int arch = arch_of(words[i]);
    const std::size_t met = warpmeter::model::count_met(list, read(words[i]));
    all = all && met == list.size();
    if (writes_list) {
      output << "{" << arch << ", " << list.size() << ", " << met << "},\n";
    } else {
      std::printf("sm_%d: %zu of %zu accesses cost what the rules say\n", arch, met, list.size());
    }
  }
  return all || writes_list ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  try {
    return rate(count, words);
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "rate_rules: %s\n", wrong.what());
    return 2;
  }
}
