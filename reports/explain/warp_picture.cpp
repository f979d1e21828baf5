// SPDX-License-Identifier: MIT
#include "reports/explain/warp_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "reports/table/json.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

constexpr std::uint64_t word_bytes = 4, sector_bytes = 32;
constexpr std::size_t banks = 32, words_of_sector = sector_bytes / word_bytes;
constexpr std::size_t most_rows = 64;
constexpr std::uint64_t most_passes = 4096;

/// Lanes that meet in a cell: the lowest is shown, all are told.
void add_lane(Picture::Cell& cell, const Lane& lane, const std::string& place) {
  if (cell.text.empty()) {
    cell.text = std::to_string(lane.lane);
    cell.title = fmt::format("lane {}: {}", lane.lane, place);
  } else {
    if (!cell.text.ends_with('+')) cell.text += '+';
    cell.title += fmt::format("; lane {}: {}", lane.lane, place);
  }
}

/// The words that a lane touches, from the first to the last.
template <class Visit>
void each_word(const Lane& lane, unsigned width, Visit&& visit) {
  const std::uint64_t last = lane.address + std::max(width, 1U) - 1;
  for (std::uint64_t word = lane.address / word_bytes; word <= last / word_bytes; ++word) {
    visit(word);
  }
}

Picture picture_of_banks(const Lanes& lanes) {
  Picture picture;
  picture.corner = "bank";
  for (std::size_t bank = 0; bank < banks; ++bank) picture.columns.push_back(std::to_string(bank));
  std::map<unsigned, Picture::Row> passes;
  for (const Lane& lane : lanes.lanes) {
    const unsigned pass = std::max(lane.pass, 1U);
    Picture::Row& row = passes[pass];
    row.label = fmt::format("pass {}", pass);
    row.cells.resize(banks);
    each_word(lane, lanes.width, [&](std::uint64_t word) {
      const std::uint64_t bank = word % banks;
      add_lane(row.cells[bank], lane,
               fmt::format("byte {}, bank {}, pass {}", lane.address, bank, pass));
    });
  }
  for (auto& [pass, row] : passes) picture.rows.push_back(std::move(row));
  picture.description = fmt::format(
      "{} on 32 banks, {}. A number is the lane that the pass serves in the bank, + more lanes of "
      "the same word.",
      counted(lanes.lanes.size(), "lane", "lanes"), counted(passes.size(), "pass", "passes"));
  return picture;
}

Picture picture_of_sectors(const Lanes& lanes) {
  Picture picture;
  picture.corner = "byte";
  for (std::size_t word = 0; word < words_of_sector; ++word) {
    picture.columns.push_back(std::to_string(word * word_bytes));
  }
  std::map<std::uint64_t, Picture::Row> sectors;
  for (const Lane& lane : lanes.lanes) {
    each_word(lane, lanes.width, [&](std::uint64_t word) {
      const std::uint64_t sector = word / words_of_sector;
      Picture::Row& row = sectors[sector];
      row.label =
          fmt::format("+{}", grouped_number(static_cast<std::int64_t>(sector * sector_bytes)));
      row.cells.resize(words_of_sector);
      add_lane(row.cells[word % words_of_sector], lane,
               fmt::format("byte {}, sector at {}", lane.address, sector * sector_bytes));
    });
  }
  for (auto& [sector, row] : sectors) {
    if (picture.rows.size() == most_rows) break;
    picture.rows.push_back(std::move(row));
  }
  picture.description = fmt::format(
      "{} on {}. A row is a sector of 32 bytes, with its distance from the first in bytes; a "
      "number is the lane that uses those 4 bytes, + more lanes. What is empty is moved for "
      "nothing.",
      counted(lanes.lanes.size(), "lane", "lanes"), counted(sectors.size(), "sector", "sectors"));
  return picture;
}

}  // namespace

std::optional<Lanes> read_lanes(std::string_view text) {
  if (text.empty()) return std::nullopt;
  constexpr std::uint64_t most_lanes = 1024, widest = 1024, any = ~std::uint64_t{0};
  const auto json = stored_json(std::string(text), lanes_of_finding);
  const auto number = [](const auto& object, const char* key, std::uint64_t most) {
    const auto found = object.find(key);
    if (found == object.end()) return std::uint64_t{0};
    if (!found->is_number_unsigned()) refuse_stored(lanes_of_finding);
    const auto value = found->template get<std::uint64_t>();
    if (value > most) refuse_stored(lanes_of_finding);
    return value;
  };
  const bool has_lanes = json.is_object() && json.contains("lanes") && json["lanes"].is_array();
  if (!has_lanes || json["lanes"].size() > most_lanes) refuse_stored(lanes_of_finding);
  Lanes lanes;
  lanes.width = static_cast<unsigned>(number(json, "width", widest));
  for (const auto& entry : json["lanes"]) {
    if (!entry.is_object()) refuse_stored(lanes_of_finding);
    lanes.lanes.push_back({static_cast<unsigned>(number(entry, "lane", most_lanes - 1)),
                           number(entry, "address", any),
                           static_cast<unsigned>(number(entry, "pass", most_passes))});
  }
  return lanes.lanes.empty() ? std::nullopt : std::optional(lanes);
}

Picture warp_picture(const Lanes& lanes, std::string_view access, std::string title) {
  Picture picture =
      access.starts_with("shared") ? picture_of_banks(lanes) : picture_of_sectors(lanes);
  picture.title = std::move(title);
  return picture;
}

}  // namespace warpmeter::reports
