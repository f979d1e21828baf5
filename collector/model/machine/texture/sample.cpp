// SPDX-License-Identifier: MIT
#include "collector/model/machine/texture/sample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "collector/model/machine/texture/coordinates.h"
#include "collector/model/machine/texture/cube.h"
#include "collector/model/machine/texture/filter.h"
#include "collector/model/machine/texture/format.h"
#include "collector/model/machine/texture/fractions.h"
#include "collector/model/machine/texture/levels.h"

namespace warpmeter::model {
namespace {

/// Elements with their weights, four at a time.
struct Four {
  std::array<Element, 4> elements{};
  std::array<std::uint32_t, 4> weights{};
};

class Sampler {
 public:
  Sampler(const Texture& texture, const SamplingKind& kind, const Sampling& sampling,
          ImageMemory& memory)
      : texture_(texture), kind_(kind), sampling_(sampling), memory_(memory) {}

  Sampled take() {
    // Each is read by its own instruction; the other one finds nothing.
    if (texture_.is_linear_memory != kind_.is_by_number) return sampled_;
    if (kind_.is_by_number) {
      take_number();
      return sampled_;
    }
    axes_ = kind_.is_cube ? 2 : kind_.axes;
    at_ = sampling_.at;
    if (kind_.is_cube) {
      const FacePlace place = face_under(sampling_.at);
      at_ = {place.at[0], place.at[1], 0};
      face_ = place.face;
    }
    if (kind_.gathers) {
      gather();
    } else {
      take_levels();
    }
    return sampled_;
  }

 private:
  bool is_normalized() const { return texture_.is_normalized || kind_.is_cube; }

  AddressMode mode(unsigned axis) const {
    return kind_.is_cube ? AddressMode::clamp : texture_.address[axis];
  }

  Element read(std::uint64_t address) {
    const std::byte* from = memory_.at(address, texture_.format.bytes());
    if (from != nullptr) return raw_element(texture_.format, from);
    if (!sampled_.is_missing) sampled_.missing = address;
    sampled_.is_missing = true;
    return {};
  }

  Element element(const Image& image, std::int64_t x, std::int64_t y, std::int64_t z) {
    if (x == beyond_edge || y == beyond_edge || z == beyond_edge) {
      return raw_border(texture_.format, texture_.border);
    }
    return read(image.address + static_cast<std::uint64_t>(x) * texture_.format.bytes() +
                static_cast<std::uint64_t>(y) * image.row_bytes +
                static_cast<std::uint64_t>(z) * image.slice_bytes);
  }

  void give(const Element& element) {
    for (unsigned channel = 0; channel < texture_.format.channels; ++channel) {
      sampled_.registers[channel] = is_linear_light(channel)
                                        ? linear_light(element[channel])
                                        : channel_of(texture_.format, element[channel]);
    }
  }

  bool is_linear_light(unsigned channel) const { return texture_.format.is_srgb && channel < 3; }

  /// By its number, in memory that is no array; what lies outside is 0.
  void take_number() {
    const Image& image = texture_.levels[0];
    const std::int64_t number = sampling_.element;
    if (number < 0 || number >= image.width) return;
    give(element(image, number, 0, 0));
  }

  std::int64_t slice(const Image& image) const {
    const std::int64_t layers = kind_.is_cube ? image.depth / 6 : image.depth;
    const std::int64_t layer =
        kind_.is_layered
            ? std::min<std::int64_t>(static_cast<std::uint32_t>(sampling_.layer), layers - 1)
            : 0;
    return kind_.is_cube ? layer * 6 + face_ : layer;
  }

  std::uint32_t size(const Image& image, unsigned axis) const {
    return axis == 0 ? image.width : axis == 1 ? image.height : image.depth;
  }

  void point(const Image& image, std::uint32_t weight) {
    std::array<std::int64_t, 3> place{0, 0, slice(image)};
    for (unsigned axis = 0; axis < axes_; ++axis) {
      place[axis] = element_under(at_[axis], size(image, axis), mode(axis), is_normalized());
    }
    Four four;
    four.elements[0] = element(image, place[0], place[1], place[2]);
    four.weights[0] = weight;
    fours_[count_++] = four;
  }

  /// True if the hardware takes a line for a picture of one row at whose upper edge it samples:
  /// half of what comes of it is the border's (an H200).
  bool is_line_at_border() const {
    return axes_ == 1 && !kind_.is_layered && mode(1) == AddressMode::border;
  }

  void around(const Image& image, std::uint32_t weight) {
    std::array<Between, 3> between{};
    between[2].elements = {slice(image), slice(image)};
    Fractions fractions{};
    for (unsigned axis = 0; axis < axes_; ++axis) {
      between[axis] = elements_around(at_[axis], size(image, axis), mode(axis), is_normalized());
      fractions[axis] = between[axis].fraction;
    }
    unsigned axes = axes_;
    if (is_line_at_border()) {
      between[1] = elements_around(0, 1, AddressMode::border, is_normalized());
      fractions[1] = between[1].fraction;
      axes = 2;
    }
    const std::array<std::uint32_t, 8> weights = corner_weights(fractions, axes, weight);
    for (unsigned z = 0; z < (axes_ > 2 ? 2u : 1u); ++z) {
      Four four;
      for (unsigned corner = 0; corner < 4; ++corner) {
        four.weights[corner] = weights[4 * z + corner];
        if (!is_reached(corner + 4 * z, fractions)) continue;
        four.elements[corner] = element(image, between[0].elements[corner & 1],
                                        between[1].elements[corner >> 1], between[2].elements[z]);
      }
      fours_[count_++] = four;
    }
  }

  /// True if a corner's part is more than nothing before it is rounded.
  bool is_reached(unsigned corner, const Fractions& fractions) const {
    for (unsigned axis = 0; axis < 3; ++axis) {
      if ((corner >> axis & 1) != 0 && fractions[axis] == 0) return false;
    }
    return true;
  }

  void take_levels() {
    const LevelChoice choice = choose_levels(texture_, kind_, sampling_);
    for (unsigned i = 0; i < 2; ++i) {
      const std::uint32_t weight = i == 0 ? 256 - choice.fraction : choice.fraction;
      if (weight == 0) continue;
      const Image& image = texture_.levels[i == 0 ? choice.first : choice.second];
      if (texture_.is_linear) {
        around(image, weight);
      } else {
        point(image, weight);
      }
    }
    if (!texture_.is_linear && count_ == 1) return give(fours_[0].elements[0]);
    for (unsigned channel = 0; channel < texture_.format.channels; ++channel) mean(channel);
  }

  /// The weighted mean of a channel.
  void mean(unsigned channel) {
    const bool is_fraction = texture_.format.kind == ChannelKind::unsigned_fraction ||
                             texture_.format.kind == ChannelKind::signed_fraction;
    if (is_fraction && !is_linear_light(channel)) {
      std::int64_t sum = 0;
      for (unsigned i = 0; i < count_; ++i) {
        for (unsigned corner = 0; corner < 4; ++corner) {
          sum += std::int64_t{fours_[i].weights[corner]} *
                 whole_of(texture_.format, fours_[i].elements[corner][channel]);
        }
      }
      sampled_.registers[channel] =
          std::bit_cast<std::uint32_t>(mean_fraction(texture_.format, sum));
      return;
    }
    WeightedSum sum(texture_.format.bits < 32);
    for (unsigned i = 0; i < count_; ++i) {
      std::array<float, 4> values{};
      for (unsigned corner = 0; corner < 4; ++corner) {
        const std::uint32_t bits = fours_[i].elements[corner][channel];
        values[corner] = std::bit_cast<float>(
            is_linear_light(channel) ? linear_light(bits) : channel_of(texture_.format, bits));
      }
      sum.add(values, fours_[i].weights);
    }
    sampled_.registers[channel] = std::bit_cast<std::uint32_t>(sum.value());
  }

  /// A gather makes denormals 0.
  std::uint32_t gathered(std::uint32_t bits) const {
    const bool is_denormal = (bits & 0x7f800000) == 0;
    return is_denormal && texture_.format.kind == ChannelKind::floating ? bits & 0x80000000 : bits;
  }

  void gather() {
    const Image& image = texture_.levels[0];
    std::array<Between, 2> between{};
    for (unsigned axis = 0; axis < 2; ++axis) {
      between[axis] = elements_beside(at_[axis], size(image, axis), mode(axis), is_normalized());
    }
    // From the lower left, against the clock, with y downwards.
    constexpr std::array<std::array<unsigned, 2>, 4> corners{{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
    for (unsigned i = 0; i < 4; ++i) {
      const Element found = element(image, between[0].elements[corners[i][0]],
                                    between[1].elements[corners[i][1]], slice(image));
      if (kind_.channel >= texture_.format.channels) continue;
      sampled_.registers[i] = gathered(channel_of(texture_.format, found[kind_.channel]));
    }
  }

  const Texture& texture_;
  const SamplingKind& kind_;
  const Sampling& sampling_;
  ImageMemory& memory_;
  unsigned axes_ = 0, face_ = 0;
  std::array<float, 3> at_{};
  std::array<Four, 4> fours_{};
  unsigned count_ = 0;
  Sampled sampled_;
};

}  // namespace

Sampled sample(const Texture& texture, const SamplingKind& kind, const Sampling& sampling,
               ImageMemory& memory) {
  return Sampler(texture, kind, sampling, memory).take();
}

}  // namespace warpmeter::model
