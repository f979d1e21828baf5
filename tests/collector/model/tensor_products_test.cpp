// SPDX-License-Identifier: MIT
// Operations of tensor cores: by the shape in nvdisasm's name of each instruction, and counted in a
// kernel. data/tensor_products.txt has a line of each mma and wgmma that ptxas of CUDA 13 makes:
// architecture, the two halves of the word, and the name that nvdisasm 13.5 gives it.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "collector/model/counts/sass/operations.h"
#include "collector/model/counts/sass/products.h"
#include "tests/paths.h"

namespace warpmeter::model::sass {
namespace {

struct Named {
  std::string arch, name;
  Word word;

  bool has(std::string_view modifier) const {
    return (name + ".").find("." + std::string(modifier) + ".") != std::string::npos;
  }
};

std::vector<Named> named_products() {
  std::ifstream file(source_dir() + "/tests/collector/model/data/tensor_products.txt");
  std::vector<Named> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream text(line);
    Named next;
    text >> next.arch >> std::hex >> next.word.low >> next.word.high >> next.name;
    all.push_back(std::move(next));
  }
  return all;
}

/// "HMMA.16816.F32", "DMMA.16x8x4", "HGMMA.64x128x16.F32": m × n × k.
std::uint32_t shape_volume(const Named& named) {
  std::size_t at = named.name.find('.') + 1;
  if (named.name.compare(at, 3, "SP.") == 0) at += 3;
  const std::string shape = named.name.substr(at, named.name.find('.', at) - at);
  if (shape.find('x') != std::string::npos) {
    std::uint32_t m = 0, n = 0, k = 0;
    char x = 0;
    std::istringstream(shape) >> m >> x >> n >> x >> k;
    return m * n * k;
  }
  const std::size_t digits = shape.starts_with("16") ? 2 : 1;  // m's; n is 8
  return static_cast<std::uint32_t>(std::stoul(shape.substr(0, digits)) * 8 *
                                    std::stoul(shape.substr(digits + 1)));
}

ProductType type_of(const Named& named) {
  const char first = named.name.front();
  if (first == 'D') return ProductType::fp64;
  if (first == 'B') return ProductType::int1;
  if (first == 'Q') return ProductType::fp8;
  if (first == 'I') {
    return named.has("S4") || named.has("U4") ? ProductType::int4 : ProductType::int8;
  }
  return named.has("BF16")   ? ProductType::bf16
         : named.has("TF32") ? ProductType::tf32
                             : ProductType::fp16;
}

/// A kernel that executes one of these has no count: it was not measured.
bool is_refused(const Named& named) {
  return named.has("SP") || named.name.starts_with("HMMA.884");
}

TEST(TensorProducts, HaveTheOperationsOfTheirShapes) {
  int whole = 0, refused = 0;
  for (const Named& named : named_products()) {
    SCOPED_TRACE(named.arch + " " + named.name);
    const TensorProduct product = product_of(named.word, std::stoi(named.arch));
    if (named.name.starts_with("QMMA")) {  // nothing is known of it, and no counter has a value
      EXPECT_EQ(counted_as(named.word), 0U);
      continue;
    }
    EXPECT_EQ(product.type, type_of(named));
    // The four warps of a warpgroup share its product.
    const std::uint32_t warps = named.name.find("GMMA") != std::string::npos ? 4 : 1;
    EXPECT_EQ(product.operations, is_refused(named) ? 0 : 2 * shape_volume(named) / warps);
    ++(is_refused(named) ? refused : whole);
  }
  EXPECT_EQ(whole, 212);
  EXPECT_EQ(refused, 36);
}

TEST(TensorProducts, AreNoOtherInstructions) {
  for (const OperationRow& row : operation_rows()) {
    const std::string name(row.name);
    const bool multiplies = name.find("MMA") != std::string::npos;
    const Word word{row.number, 0};
    EXPECT_EQ(product_of(word, 90).type != ProductType::none, multiplies) << name;
  }
}

}  // namespace
}  // namespace warpmeter::model::sass
