# SPDX-License-Identifier: MIT
# The libraries that the program needs. fmt is compiled here.
find_package(CUDAToolkit REQUIRED)
find_package(Threads REQUIRED)
find_package(Boost REQUIRED)
find_package(fmt REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(pugixml REQUIRED)
find_path(WARPMETER_TOML_INCLUDE toml++/toml.h REQUIRED)
find_path(WARPMETER_ZLIB_INCLUDE zlib.h REQUIRED)
find_library(WARPMETER_ZLIB_LIBRARY NAMES libz.a z REQUIRED)
find_path(WARPMETER_PROTOZERO_INCLUDE protozero/pbf_builder.hpp REQUIRED)

# fmt, compiled once into what links it. Its shared library would be one more file for a lab machine to
# miss, its header-only form doubles the time of every file of ours, and distributions ship no static one.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/fmt_once.cpp @ONLY CONTENT [[
#include <fmt/format-inl.h>

// What format.h uses and leaves to the library to instantiate.
template auto fmt::detail::dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto fmt::detail::dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template fmt::detail::locale_ref::locale_ref(const std::locale&);
template auto fmt::detail::locale_ref::get<std::locale>() const -> std::locale;
template auto fmt::detail::thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl(locale_ref) -> char;
template void fmt::detail::buffer<char>::append(const char*, const char*);
template void fmt::detail::vformat_to(buffer<char>&, string_view,
                                      basic_format_args<buffer_context<char>>, locale_ref);
]])
get_target_property(fmt_includes fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
add_library(warpmeter_fmt STATIC ${CMAKE_BINARY_DIR}/generated/fmt_once.cpp)
target_include_directories(warpmeter_fmt SYSTEM PUBLIC ${fmt_includes})
set_target_properties(warpmeter_fmt PROPERTIES POSITION_INDEPENDENT_CODE ON)
