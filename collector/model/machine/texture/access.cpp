// SPDX-License-Identifier: MIT
#include "collector/model/machine/texture/access.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "base/lanes.h"
#include "collector/model/machine/memory/sharing.h"
#include "collector/model/machine/observer.h"
#include "collector/model/machine/texture/format.h"
#include "collector/model/machine/texture/surface.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {
namespace {

/// Device memory, with who follows what blocks touch told of it.
class DeviceImages : public ImageMemory {
 public:
  explicit DeviceImages(WorkerMemory& memory) : memory_(memory) {}

  const std::byte* at(std::uint64_t address, unsigned bytes) override {
    const std::byte* const there = reach(address, bytes, false);
    if (there != nullptr && memory_.observer != nullptr) read_.push_back(address);
    return there;
  }
  /// The elements that were read since it was asked the last time, for an observer.
  std::vector<std::uint64_t> take_read() { return std::exchange(read_, {}); }

  std::byte* reach(std::uint64_t address, unsigned bytes, bool stores) {
    if (allocation_ == nullptr || !holds(address, bytes) || stores != stores_) {
      allocation_ = memory_.device->find(address);
      if (allocation_ == nullptr || !holds(address, bytes)) {
        allocation_ = nullptr;
        return nullptr;
      }
      stores_ = stores;
      touched_ =
          memory_.footprint == nullptr ? nullptr : memory_.footprint->enter(*allocation_, stores);
    }
    const std::uint64_t offset = address - allocation_->address;
    if (touched_ != nullptr) memory_.footprint->touch(*touched_, offset, bytes, stores);
    return allocation_->data.data() + offset;
  }

  bool has(std::uint64_t address, unsigned bytes) const {
    const Allocation* there = memory_.device->find(address);
    return there != nullptr && address - there->address + bytes <= there->data.size();
  }

 private:
  bool holds(std::uint64_t address, unsigned bytes) const {
    return address >= allocation_->address &&
           address - allocation_->address + bytes <= allocation_->data.size();
  }

  WorkerMemory& memory_;
  std::vector<std::uint64_t> read_;
  Allocation* allocation_ = nullptr;
  TouchedWords* touched_ = nullptr;
  bool stores_ = false;
};

std::byte* lane_of(const Warp& w, std::uint16_t row, unsigned lane, unsigned bytes) {
  return w.registers + std::size_t{row} * row_unit_bytes + std::size_t{lane} * bytes;
}

template <class T>
T read(const Warp& w, std::uint16_t row, unsigned lane) {
  T value{};
  if (row != no_operand) std::memcpy(&value, lane_of(w, row, lane, sizeof(T)), sizeof(T));
  return value;
}

std::uint32_t handle_of(const Warp& w, const TextureAccess& access, unsigned lane) {
  return static_cast<std::uint32_t>(read<std::uint64_t>(w, access.handle, lane));
}

const Texture* texture_of(const Warp& w, std::uint32_t handle) {
  if (w.memory->textures == nullptr) return nullptr;
  const auto found = w.memory->textures->textures.find(handle);
  return found == w.memory->textures->textures.end() ? nullptr : &found->second;
}

const Surface* surface_of(const Warp& w, std::uint32_t handle) {
  if (w.memory->textures == nullptr) return nullptr;
  const auto found = w.memory->textures->surfaces.find(handle);
  return found == w.memory->textures->surfaces.end() ? nullptr : &found->second;
}

bool raise(Warp& w, const Operation* op, TrapKind kind, unsigned lane) {
  w.trap.kind = kind;
  w.trap.lane = lane;
  w.trap.instruction = op->instruction;
  w.status = WarpStatus::trapped;
  w.pc = op;
  return false;
}

bool raise_missing(Warp& w, const Operation* op, unsigned lane, std::uint64_t address,
                   std::uint64_t bytes) {
  w.trap = {};
  w.trap.space = static_cast<std::uint8_t>(AddressSpace::global);
  w.trap.address = address;
  w.trap.width = bytes;
  return raise(w, op, TrapKind::out_of_bounds, lane);
}

/// Registers of a lane get four numbers of 32 bits.
void give(const Warp& w, const TextureAccess& access, unsigned lane,
          const std::array<std::uint32_t, 4>& values) {
  for (unsigned part = 0; part < access.parts; ++part) {
    std::memcpy(lane_of(w, access.data[part], lane, 4), &values[part], 4);
  }
}

/// Elements of one size that lanes have read.
class Samples {
 public:
  void add(unsigned lane, unsigned parts, unsigned bytes, std::vector<std::uint64_t> elements) {
    if (elements.empty()) return;
    Lane& of = lanes_[lane];
    of.elements = std::move(elements);
    of.parts = static_cast<std::uint8_t>(parts);
    of.bytes = static_cast<std::uint8_t>(bytes);
  }

  /// Tells the observer of the first element of each lane, of the second, and so on.
  void tell(const Warp& w, const Operation* op) const {
    const auto& sites = w.memory->program->sites;
    SiteInfo& site = w.memory->sampled.try_emplace(op->extra, sites[op->extra]).first->second;
    for (std::size_t round = 0;; ++round) {
      std::uint32_t left = 0;
      std::array<std::uint64_t, warp_lanes> addresses{};
      for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        if (round >= lanes_[lane].elements.size()) continue;
        left |= 1u << lane;
        addresses[lane] = lanes_[lane].elements[round];
      }
      if (left == 0) return;
      while (left != 0) {
        const Lane& first = lanes_[static_cast<unsigned>(std::countr_zero(left))];
        Places places{AddressSpace::global, 0, 0, addresses.data()};
        for_each_lane(left, [&](unsigned lane) {
          const Lane& own = lanes_[lane];
          const bool is_alike = own.bytes == first.bytes && own.parts == first.parts;
          if (is_alike) places.mask |= 1u << lane;
        });
        left &= ~places.mask;
        site.width = first.bytes;
        site.parts = first.parts;
        w.memory->observer->accept(w, op, site, places);
      }
    }
  }

 private:
  struct Lane {
    std::vector<std::uint64_t> elements;
    std::uint8_t parts = 1, bytes = 4;
  };
  std::array<Lane, warp_lanes> lanes_;
};

bool sample_lane(Warp& w, const Operation* op, const TextureAccess& access, unsigned lane,
                 DeviceImages& images, Samples& samples) {
  const Texture* texture = texture_of(w, handle_of(w, access, lane));
  if (texture == nullptr) {
    give(w, access, lane, {});
    return true;
  }
  Sampling sampling;
  for (unsigned axis = 0; axis < 3; ++axis) {
    sampling.at[axis] = read<float>(w, access.at[axis], lane);
    for (unsigned i = 0; i < 2; ++i) {
      sampling.gradients[i][axis] = read<float>(w, access.gradients[i][axis], lane);
    }
  }
  sampling.element = read<std::int32_t>(w, access.at[0], lane);
  sampling.layer = read<std::int32_t>(w, access.layer, lane);
  sampling.level = read<float>(w, access.level, lane);
  const Sampled sampled = sample(*texture, access.sampling, sampling, images);
  if (sampled.is_missing) {
    return raise_missing(w, op, lane, sampled.missing, texture->format.bytes());
  }
  samples.add(lane, texture->format.channels, texture->format.bytes(), images.take_read());
  give(w, access, lane, sampled.registers);
  return true;
}

template <class T>
T changed(SurfaceChange change, bool is_signed, T old, T operand) {
  using Signed = std::make_signed_t<T>;
  const auto a = static_cast<Signed>(old), b = static_cast<Signed>(operand);
  switch (change) {
    case SurfaceChange::add:
      return old + operand;
    case SurfaceChange::minimum:
      return is_signed ? static_cast<T>(std::min(a, b)) : std::min(old, operand);
    case SurfaceChange::maximum:
      return is_signed ? static_cast<T>(std::max(a, b)) : std::max(old, operand);
    case SurfaceChange::bit_and:
      return old & operand;
    case SurfaceChange::bit_or:
      break;
  }
  return old | operand;
}

template <class T>
void change_in_place(const Warp& w, const TextureAccess& access, unsigned lane, std::byte* place) {
  T old{};
  std::memcpy(&old, place, sizeof(T));
  const T value = changed(access.change, access.is_signed, old, read<T>(w, access.data[0], lane));
  std::memcpy(place, &value, sizeof(T));
}

void store_lane(const Warp& w, const TextureAccess& access, const Surface& surface, unsigned lane,
                std::byte* place) {
  if (access.work == TextureAccess::Work::store_formatted) {
    std::array<std::uint32_t, 4> registers{};
    for (unsigned part = 0; part < access.parts; ++part) {
      registers[part] = read<std::uint32_t>(w, access.data[part], lane);
    }
    store_element(surface.format, registers, place);
    return;
  }
  for (unsigned part = 0; part < access.parts; ++part) {
    std::memcpy(place + std::size_t{part} * access.data_bytes,
                lane_of(w, access.data[part], lane, access.row_bytes), access.data_bytes);
  }
}

/// A row of data is wider than what is loaded where that is narrower than a register: the rest is
/// 0.
void load_lane(const Warp& w, const TextureAccess& access, unsigned lane, const std::byte* place) {
  for (unsigned part = 0; part < access.parts; ++part) {
    std::byte* to = lane_of(w, access.data[part], lane, access.row_bytes);
    std::memset(to, 0, access.row_bytes);
    if (place != nullptr) {
      std::memcpy(to, place + std::size_t{part} * access.data_bytes, access.data_bytes);
    }
  }
}

unsigned bytes_on(const Surface& surface, const TextureAccess& access) {
  return access.work == TextureAccess::Work::store_formatted
             ? surface.format.bytes()
             : std::uint32_t{access.data_bytes} * access.parts;
}

SurfacePlace place_of_lane(const Warp& w, const Surface& surface, const TextureAccess& access,
                           unsigned lane) {
  std::array<std::int32_t, 3> at{};
  for (unsigned axis = 0; axis < 3; ++axis) at[axis] = read<std::int32_t>(w, access.at[axis], lane);
  return place_on(surface, access, at, read<std::int32_t>(w, access.layer, lane),
                  bytes_on(surface, access));
}

/// Tells the observer where lanes will reach surfaces, before they do. The memory of a formatted
/// store, whose value in memory is another than in registers, is only set.
void tell_of_surfaces(const Warp& w, const Operation* op, const TextureAccess& access,
                      std::uint32_t mask, DeviceImages& images) {
  std::array<std::uint64_t, warp_lanes> addresses{};
  Places places{AddressSpace::global, 0, 0, addresses.data()};
  const bool is_formatted = access.work == TextureAccess::Work::store_formatted;
  for_each_lane(mask, [&](unsigned lane) {
    const Surface* surface = surface_of(w, handle_of(w, access, lane));
    if (surface == nullptr) return;
    const SurfacePlace place = place_of_lane(w, *surface, access, lane);
    const unsigned bytes = bytes_on(*surface, access);
    if (place.kind != SurfacePlace::Kind::inside || !images.has(place.address, bytes)) return;
    if (is_formatted) return w.memory->observer->written_for(w, lane, place.address, bytes);
    addresses[lane] = place.address;
    places.mask |= 1u << lane;
  });
  if (places.mask == 0) return;
  Operation part = *op;  // with its rows where those of a plain store are
  part.d = access.data[0];
  part.b = access.data[1];
  part.c = access.data[2];
  part.e = access.data[3];
  w.memory->observer->accept(w, &part, w.memory->program->sites[op->extra], places);
}

bool reach_surface(Warp& w, const Operation* op, const TextureAccess& access, unsigned lane,
                   DeviceImages& images) {
  const bool loads = access.work == TextureAccess::Work::load;
  const Surface* surface = surface_of(w, handle_of(w, access, lane));
  if (surface == nullptr) {
    if (loads) load_lane(w, access, lane, nullptr);
    return true;
  }
  const unsigned bytes = bytes_on(*surface, access);
  const SurfacePlace place = place_of_lane(w, *surface, access, lane);
  if (place.kind == SurfacePlace::Kind::misaligned ||
      (place.kind == SurfacePlace::Kind::beyond && access.beyond_edge == BeyondEdge::trap)) {
    const bool is_misaligned = place.kind == SurfacePlace::Kind::misaligned;
    w.trap = {};
    w.trap.space = static_cast<std::uint8_t>(place.axis);
    const std::uint16_t row = place.axis == 3 ? access.layer : access.at[place.axis];
    w.trap.address = static_cast<std::uint64_t>(std::int64_t{read<std::int32_t>(w, row, lane)});
    w.trap.width = bytes;
    return raise(w, op, is_misaligned ? TrapKind::misaligned_surface : TrapKind::outside_surface,
                 lane);
  }
  if (place.kind == SurfacePlace::Kind::beyond) {
    if (loads) load_lane(w, access, lane, nullptr);
    return true;
  }
  std::byte* const host = images.reach(place.address, bytes, !loads);
  if (host == nullptr) return raise_missing(w, op, lane, place.address, bytes);
  if (loads) {
    load_lane(w, access, lane, host);
  } else if (access.work != TextureAccess::Work::change) {
    store_lane(w, access, *surface, lane, host);
  } else if (access.data_bytes == 8) {
    change_in_place<std::uint64_t>(w, access, lane, host);
  } else {
    change_in_place<std::uint32_t>(w, access, lane, host);
  }
  return true;
}

/// The answer of txq and suq for an axis, as an H100 did: layers stand behind the axes of an image,
/// and count cubes where there are some; what there is not is 0, but for the height of a line that
/// is a texture of its own.
std::uint32_t size_of(const Image& image, unsigned axis, unsigned dimensions, bool is_layered,
                      bool is_cube) {
  const std::uint32_t layers = is_cube ? image.depth / 6 : image.depth;
  if (axis == 0) return image.width;
  if (axis == 1) return dimensions > 1 ? image.height : is_layered ? layers : 0;
  return dimensions == 3 || (dimensions == 2 && is_layered) ? layers : 0;
}

void answer_lane(const Warp& w, const TextureAccess& access, unsigned lane) {
  const std::uint32_t handle = handle_of(w, access, lane);
  const auto level = read<std::uint32_t>(w, access.level, lane);
  std::uint32_t answer = 0;
  if (access.is_surface) {
    if (const Surface* surface = surface_of(w, handle)) {
      answer = size_of(surface->image, access.asked_axis, surface->dimensions, surface->is_layered,
                       false);
    }
  } else if (const Texture* texture = texture_of(w, handle);
             texture != nullptr && level < texture->levels.size()) {
    answer = size_of(texture->levels[level], access.asked_axis, texture->dimensions,
                     texture->is_layered, texture->is_cube);
    if (answer == 0 && access.asked_axis == 1 && !texture->is_linear_memory) answer = 1;
  }
  std::memcpy(lane_of(w, access.data[0], lane, 4), &answer, 4);
}

}  // namespace

bool access_texture(Warp& w, const Operation* op, std::uint32_t mask) {
  using Work = TextureAccess::Work;
  const TextureAccess& access =
      w.memory->program->texture_accesses[static_cast<std::size_t>(op->imm)];
  const bool is_observed = w.memory->observer != nullptr && access.work != Work::ask;
  DeviceImages images(*w.memory);
  Samples samples;
  if (is_observed && access.is_surface) tell_of_surfaces(w, op, access, mask, images);
  // The lowest lane of those that store to one place stays, as of plain stores of up to 4 bytes.
  const bool is_backwards = access.work == Work::store || access.work == Work::store_formatted;
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const unsigned lane = is_backwards ? warp_lanes - 1 - i : i;
    if ((mask >> lane & 1) == 0) continue;
    if (access.work == Work::sample) {
      if (!sample_lane(w, op, access, lane, images, samples)) return false;
    } else if (access.work == Work::ask) {
      answer_lane(w, access, lane);
    } else if (!reach_surface(w, op, access, lane, images)) {
      return false;
    }
  }
  if (is_observed && !access.is_surface) samples.tell(w, op);
  if (access.is_resident != no_operand) w.predicates[access.is_resident] |= mask;
  return true;
}

}  // namespace warpmeter::model
