// SPDX-License-Identifier: MIT
// Samples of textures are those that an H100 took (driver 580.159, CUDA 13.0, 2026-11-25): a hash
// of each texture's samples, 1,412,840 of 523 textures. Those that are not met to the last bit are
// not in the table: docs/accuracy.md says which.
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "collector/model/machine/texture/sample.h"
#include "tests/device/facts/texture_configs.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

namespace warpmeter::model {
namespace {

using namespace samples_of_textures;

class Memory : public ImageMemory {
 public:
  const std::byte* at(std::uint64_t address, unsigned bytes) override {
    return address + bytes <= bytes_.size() ? bytes_.data() + address : nullptr;
  }
  std::vector<std::byte> bytes_;
};

TexelFormat format_of(const Config& c) {
  using enum ChannelKind;
  TexelFormat format;
  format.bits = static_cast<std::uint8_t>(c.bits);
  format.channels = static_cast<std::uint8_t>(c.channels);
  format.kind = c.type == 'f'   ? floating
                : c.type == 'u' ? (c.norm ? unsigned_fraction : unsigned_number)
                                : (c.norm ? signed_fraction : signed_number);
  format.is_srgb = c.srgb;
  return format;
}

void add_level(const Config& c, int level, Texture& texture, Memory& memory) {
  const auto part = [&](int whole) { return std::max(1, whole >> level); };
  const bool has_fixed_depth = c.layered || c.cube;
  Image image;
  image.address = memory.bytes_.size();
  image.width = static_cast<std::uint32_t>(part(c.w));
  image.height = static_cast<std::uint32_t>(c.h == 0 ? 1 : part(c.h));
  image.depth = static_cast<std::uint32_t>(c.d == 0 ? 1 : has_fixed_depth ? c.d : part(c.d));
  image.row_bytes = std::uint64_t{image.width} * texture.format.bytes();
  image.slice_bytes = image.row_bytes * image.height;
  for (unsigned z = 0; z < image.depth; ++z) {
    for (unsigned y = 0; y < image.height; ++y) {
      for (unsigned x = 0; x < image.width; ++x) {
        for (int channel = 0; channel < c.channels; ++channel) {
          u32 bits = texel_bits(c, static_cast<int>(x), static_cast<int>(y), static_cast<int>(z),
                                level, channel);
          for (int byte = 0; byte < c.bits / 8; ++byte, bits >>= 8) {
            memory.bytes_.push_back(static_cast<std::byte>(bits & 255));
          }
        }
      }
    }
  }
  texture.levels.push_back(image);
}

Texture texture_of(const Config& c, Memory& memory) {
  Texture texture;
  texture.format = format_of(c);
  for (int level = 0; level < std::max(1, c.levels); ++level) add_level(c, level, texture, memory);
  texture.is_layered = c.layered;
  texture.is_cube = c.cube;
  texture.is_linear_memory = c.source == S_linear;
  for (unsigned axis = 0; axis < 3; ++axis) {
    texture.address[axis] = static_cast<AddressMode>(c.addr[axis]);
  }
  for (unsigned channel = 0; channel < 4; ++channel) texture.border[channel] = c.border[channel];
  texture.is_normalized = c.unit;
  texture.is_linear = c.linear;
  texture.is_linear_between_levels = c.miplinear;
  texture.is_seamless = c.seamless;
  texture.anisotropy = static_cast<unsigned>(c.aniso);
  texture.level_bias = c.bias;
  texture.least_level = c.minl;
  texture.most_level = c.maxl;
  return texture;
}

SamplingKind kind_of(const Config& c) {
  SamplingKind kind;
  kind.is_by_number = c.fetch == F_fetch1d;
  kind.has_level = c.fetch >= F_1d_lod && c.fetch <= F_cubel_lod;
  kind.has_gradients = c.fetch >= F_1d_grad && c.fetch <= F_cubel_grad;
  kind.gathers = c.fetch >= F_g0;
  kind.channel = kind.gathers ? static_cast<unsigned>(c.fetch - F_g0) : 0;
  const int shape = kind.gathers         ? 1
                    : kind.is_by_number  ? 0
                    : kind.has_gradients ? c.fetch - F_1d_grad
                    : kind.has_level     ? c.fetch - F_1d_lod
                                         : c.fetch - F_1d;
  kind.is_layered = shape == 3 || shape == 4 || shape == 6;
  kind.is_cube = shape >= 5;
  kind.axes = shape == 0 || shape == 3 ? 1 : shape == 1 || shape == 4 ? 2 : 3;
  return kind;
}

u32 hash_of(const Config& c) {
  Memory memory;
  const Texture texture = texture_of(c, memory);
  const SamplingKind kind = kind_of(c);
  Hash hash;
  for (const Sample& each : samples(c)) {
    Sampling sampling;
    for (unsigned axis = 0; axis < 3; ++axis) {
      sampling.at[axis] = each.c[axis];
      sampling.gradients[0][axis] = each.a[axis];
      sampling.gradients[1][axis] = each.b[axis];
    }
    sampling.element = static_cast<std::int32_t>(as_u(each.c[0]));
    sampling.layer = static_cast<std::int32_t>(as_u(each.c[3]));
    sampling.level = kind.has_level ? each.a[0] : 0;
    for (const u32 bits : sample(texture, kind, sampling, memory).registers) hash.add(bits);
  }
  return hash.value;
}

TEST(Textures, AreSampledAsAGpuSamplesThem) {
  std::map<std::string, Config> known;
  for (const Config& c : configs()) known.emplace(c.name, c);
  std::ifstream table(source_dir() + "/tests/golden/texture_samples.csv");
  std::string line;
  std::getline(table, line);
  int textures = 0;
  while (std::getline(table, line)) {
    const std::size_t hash = line.rfind(',');
    const std::string name = line.substr(0, line.rfind(',', hash - 1));
    ASSERT_TRUE(known.contains(name)) << name;
    const u32 expected = static_cast<u32>(std::stoul(line.substr(hash + 1), nullptr, 16));
    EXPECT_EQ(hash_of(known.at(name)), expected) << name;
    ++textures;
  }
  EXPECT_EQ(textures, 523);
}

}  // namespace
}  // namespace warpmeter::model
