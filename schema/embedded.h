// SPDX-License-Identifier: MIT
// Files of this folder that are built into the program: the catalogue, the migrations, the views
// and what is known of nvprof's files. schema/CMakeLists.txt writes the definitions.
#pragma once

#include <span>
#include <string_view>

namespace warpmeter::schema::embedded {

struct File {
  std::string_view name;  ///< without its ending: "0001_initial", "comparison"
  std::string_view text;
};

extern const std::string_view catalogue;         ///< catalogue.json
extern const std::string_view nvprof_names;      ///< nvprof_names.json
std::span<const File> catalogue_parts();         ///< catalogue/*.json: more counters and metrics
std::span<const File> migrations();              ///< in order; the nth makes version n
std::span<const File> private_views();           ///< the base of public views
std::span<const File> public_views();            ///< the public views by name
extern const std::string_view server_functions;  ///< server/functions.sql
extern const std::string_view server_roles;      ///< server/roles.sql
extern const std::string_view nvprof_ids;        ///< nvprof_file/ids.txt
extern const std::string_view nvprof_calls;      ///< nvprof_file/calls.txt
extern const std::string_view nvprof_tables;     ///< nvprof_file/tables.txt

}  // namespace warpmeter::schema::embedded
