// SPDX-License-Identifier: MIT
#include "collector/profile/resource_names.h"

#include <utility>

namespace warpmeter::profile {

using inject::Resource;

bool ResourceNames::take(pid_t process, inject::ResourceName&& name) {
  constexpr std::size_t most = 100'000;
  names_[{process, name.resource, name.context, name.number}] = std::move(name.name);
  return names_.size() <= most;
}

std::string ResourceNames::of_context(std::int64_t process, std::int64_t context) const {
  return find({process, Resource::context, 0, static_cast<std::uint64_t>(context)});
}

std::string ResourceNames::of_stream(std::int64_t process, std::int64_t context,
                                     std::int64_t stream) const {
  return find({process, Resource::stream, context, static_cast<std::uint64_t>(stream)});
}

void ResourceNames::each(
    const std::function<void(pid_t, const inject::ResourceName&)>& on_name) const {
  for (const auto& [key, name] : names_) {
    const auto& [process, resource, context, number] = key;
    on_name(static_cast<pid_t>(process),
            {resource, static_cast<std::uint32_t>(context), number, name});
  }
}

std::string ResourceNames::find(const Key& key) const {
  const auto found = names_.find(key);
  return found == names_.end() ? "" : found->second;
}

}  // namespace warpmeter::profile
