// SPDX-License-Identifier: MIT
#include "schema/alike/written.h"

#include "base/kernel_name.h"
#include "schema/alike/alike.h"

namespace warpmeter::schema {
namespace {

constexpr std::size_t most_of_part = std::size_t{1} << 20;
/// A run is not followed any further when so many of its launches are like none before.
constexpr std::size_t most_followed_kinds = std::size_t{1} << 14;

}  // namespace

void append_kind(std::vector<AlikePart>& parts, std::int64_t launch, std::uint32_t kind) {
  const bool goes_on =
      !parts.empty() && parts.back().kinds.size() < most_of_part &&
      parts.back().first_launch + static_cast<std::int64_t>(parts.back().kinds.size()) == launch;
  if (!goes_on) parts.push_back({launch, {}});
  parts.back().kinds.push_back(kind);
}

void AlikeParts::add(std::int64_t launch, const std::string& key) {
  append_kind(parts_, launch, kinds_.number_of(key));
  ++launches_;
}

bool AlikeParts::are_too_many() const {
  return static_cast<std::int64_t>(rows()) * least_alike_of_kind > launches_;
}

bool AlikeParts::wants_joining() const {
  return launches_ >= least_launches_alike && are_too_many();
}

const std::vector<AlikePart>& AlikeParts::parts() const {
  static const std::vector<AlikePart> none;
  return launches_ < least_launches_alike || are_too_many() ? none : parts_;
}

void WrittenRuns::begin_launch(std::uint64_t row) {
  row_ = row;
  key_.clear();
  add(row);
}

void WrittenRuns::end_launch(std::int64_t run_id, std::int64_t launch, const Launch& record) {
  const auto found = runs_.find(run_id);
  if (found == runs_.end()) return;
  Run& run = found->second;
  run.alike.add(launch, key_);
  if (run.last_row != row_) note_kernel(run, record);
  run.last_row = row_;
  if (run.alike.kinds() > most_followed_kinds && run.alike.are_too_many()) runs_.erase(found);
}

void WrittenRuns::note_kernel(Run& run, const Launch& record) const {
  const std::string& kernel = run.kernels.try_emplace(record.variant, record.kernel).first->second;
  run.may_share_names |= kernel != record.kernel || record.variant.size() > longest_shown_name;
}

const std::vector<AlikePart>* WrittenRuns::alike(std::int64_t run_id) const {
  const auto run = runs_.find(run_id);
  if (run == runs_.end() || run->second.alike.wants_joining()) return nullptr;
  return &run->second.alike.parts();
}

bool WrittenRuns::may_share_names(std::int64_t run_id) const {
  const auto run = runs_.find(run_id);
  return run == runs_.end() || run->second.may_share_names;
}

}  // namespace warpmeter::schema
