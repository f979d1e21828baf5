// SPDX-License-Identifier: MIT
#include "collector/model/counts/rules/measured_access.h"

#include <algorithm>
#include <istream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace warpmeter::model {
namespace {

/// Device allocations are aligned to 256 bytes, and so is the shared memory of the measurement.
constexpr std::uint64_t base = 0x700000000000;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  cells.resize(7);
  return cells;
}

MeasuredAccess access_of(const std::string& line) {
  const std::vector<std::string> cells = cells_of(line);
  MeasuredAccess result;
  result.operation = cells[0];
  result.name = cells[0] + " " + cells[1] + " " + cells[2] + " " + cells[3];
  result.access.width = static_cast<unsigned>(std::stoul(cells[1]));
  result.access.mask = static_cast<std::uint32_t>(std::stoul(cells[3], nullptr, 16));
  std::istringstream offsets(cells[4]);
  for (std::uint64_t& address : result.access.address) {
    if (!(offsets >> address)) throw std::invalid_argument("fewer than 32 lanes");
    address += base;
  }
  result.transactions = static_cast<unsigned>(std::stoul(cells[5]));
  if (!cells[6].empty()) result.bytes = static_cast<unsigned>(std::stoul(cells[6]));
  cost_of(result);
  return result;
}

bool is_met(const MeasuredAccess& measured) {
  const Cost cost = cost_of(measured);
  return cost.transactions == measured.transactions &&
         cost.bytes == measured.bytes.value_or(cost.bytes);
}

}  // namespace

bool MeasuredAccess::is_same_access(const MeasuredAccess& other) const {
  return name == other.name && access.address == other.access.address;
}

std::vector<MeasuredAccess> read_measured(std::istream& file) {
  std::vector<MeasuredAccess> all;
  std::string line;
  std::getline(file, line);  // the heading
  for (int number = 2; std::getline(file, line); ++number) {
    try {
      all.push_back(access_of(line));
    } catch (const std::logic_error& wrong) {
      throw std::runtime_error("line " + std::to_string(number) + ": " + wrong.what());
    }
  }
  return all;
}

std::optional<SharedRequest> shared_request(const MeasuredAccess& measured) {
  const std::string& operation = measured.operation;
  if (operation == "lds") return SharedRequest{measured.access, SharedAccess::load};
  if (operation == "sts") return SharedRequest{measured.access, SharedAccess::store};
  if (operation == "atoms_add" || operation == "atoms_exch") {
    return SharedRequest{measured.access, SharedAccess::atomic};
  }
  if (operation.starts_with("ldsm_") || operation.starts_with("stsm_")) {
    // All lanes execute it; those of the matrices that there are name rows.
    WarpAccess rows = measured.access;
    const char count = operation.at(std::string_view("ldsm_x").size());
    if (count != '4') rows.mask &= count == '2' ? 0xffff : 0xff;
    return SharedRequest{matrix_rows(rows), SharedAccess::store};
  }
  return {};
}

Cost cost_of(const MeasuredAccess& measured) {
  if (const auto shared = shared_request(measured))
    return shared_cost(shared->access, shared->kind);
  for (const char* operation : {"ldg", "stg", "atomg", "redg"}) {
    if (measured.operation == operation) return global_cost(measured.access);
  }
  throw std::invalid_argument("no access is called " + measured.operation);
}

std::size_t count_met(const std::vector<MeasuredAccess>& list,
                      const std::vector<MeasuredAccess>& measured) {
  std::multimap<std::string, const MeasuredAccess*> by_name;
  for (const MeasuredAccess& access : measured) by_name.emplace(access.name, &access);
  const auto is_met_by_device = [&](const MeasuredAccess& wanted) {
    const auto [first, last] = by_name.equal_range(wanted.name);
    return std::any_of(first, last, [&](const auto& found) {
      return found.second->is_same_access(wanted) && is_met(*found.second);
    });
  };
  return static_cast<std::size_t>(std::count_if(list.begin(), list.end(), is_met_by_device));
}

}  // namespace warpmeter::model
