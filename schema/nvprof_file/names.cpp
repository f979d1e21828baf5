// SPDX-License-Identifier: MIT
#include "schema/nvprof_file/names.h"

#include <array>
#include <cstring>

#include "base/utf8.h"
#include "schema/nvprof_file/source.h"
#include "schema/nvprof_file/words.h"

namespace warpmeter::schema {

NvprofNames read_nvprof_names(const std::string& path) {
  const NvprofSource source(path);
  NvprofNames names;
  if (!source.has("NAME")) return names;
  Statement row(source.db(), source.select("NAME", "objectKind name objectId", 3));
  while (row.step()) {
    const auto kind = static_cast<NvprofObject>(source.number(row, 0, 0, NvprofSource::any_32));
    const std::string& name = source.text(source.number(row, 1, 0, NvprofSource::any));
    const std::string object = row.text(2);
    std::array<std::uint32_t, 3> place{};  // device, context, stream
    if (object.size() != sizeof place || !is_utf8(name)) continue;
    std::memcpy(place.data(), object.data(), sizeof place);
    if (kind == NvprofObject::context) names.contexts[place[1]] = name;
    if (kind == NvprofObject::stream) names.streams[{place[1], place[2]}] = name;
  }
  return names;
}

}  // namespace warpmeter::schema
