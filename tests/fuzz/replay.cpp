// SPDX-License-Identifier: MIT
// Stands in for libFuzzer where the compiler has none: runs a fuzzer on every file of the folders
// that are named, so that what once broke something is tried by every test run.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** arguments) {
  std::size_t files = 0;
  for (int i = 1; i < count; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      std::cerr << entry.path().filename().string() << '\n';  // the last one named is the culprit
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
      ++files;
    }
  }
  if (files == 0) std::cerr << "the corpus is empty\n";
  return files == 0 ? 1 : 0;
}
