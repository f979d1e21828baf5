# SPDX-License-Identifier: MIT
# Headers that nearly every file includes are compiled once.
# add_headers(NAME <header>…): a library of the headers that nearly every file includes, for others to reuse. Only where
# files are compiled together anyway: a build of each by itself is to show which of them includes too little.
function(add_headers name)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/headers.cpp @ONLY CONTENT "// Precompiled headers belong to a file.\n")
  add_library(${name} STATIC ${CMAKE_BINARY_DIR}/generated/headers.cpp)
  target_link_libraries(${name} PRIVATE warpmeter_options)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # ccache compares what is in them, not when it was written
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  target_precompile_headers(${name} PRIVATE <algorithm> <array> <chrono> <cstdint> <filesystem> <fstream> <functional> <map>
                            <memory> <mutex> <optional> <set> <span> <sstream> <string> <string_view> <thread> <tuple>
                            <unordered_map> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h> ${ARGN})
endfunction()

function(targets_below folder variable)
  get_property(all DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    targets_below(${below} of_folder)
    list(APPEND all ${of_folder})
  endforeach()
  set(${variable} ${all} PARENT_SCOPE)
endfunction()

# The end of the build's description calls it, once all targets are there.
function(share_precompiled_headers)
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  add_headers(warpmeter_headers <CLI/CLI.hpp> <nlohmann/json.hpp>)
  add_headers(warpmeter_computing_headers)  # gcc wants them compiled as what includes them is
  target_compile_options(warpmeter_computing_headers PRIVATE ${WARPMETER_COMPUTING})
  foreach(folder base schema collector reports)
    targets_below(${CMAKE_SOURCE_DIR}/${folder} targets)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      get_target_property(linked ${target} LINK_LIBRARIES)
      get_target_property(options ${target} COMPILE_OPTIONS)
      set(headers warpmeter_headers)
      if("${WARPMETER_COMPUTING}" IN_LIST options)
        set(headers warpmeter_computing_headers)
      endif()
      if(type MATCHES "STATIC_LIBRARY|SHARED_LIBRARY" AND "warpmeter_options" IN_LIST linked)
        target_precompile_headers(${target} REUSE_FROM ${headers})
      endif()
    endforeach()
  endforeach()
endfunction()
