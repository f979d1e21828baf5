# SPDX-License-Identifier: MIT
# clang-tidy on the program's files as the tests' tree compiles them, several at once: target tidy, ./dev tidy.
find_program(WARPMETER_CLANG_TIDY run-clang-tidy-14)
mark_as_advanced(WARPMETER_CLANG_TIDY)
if(WARPMETER_CLANG_TIDY AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  foreach(target IN ITEMS tidy tidy_nightly)
    set(more)
    if(target STREQUAL tidy_nightly)
      set(more -checks=performance-unnecessary-value-param)
    endif()
    add_custom_target(${target}
      COMMAND ${WARPMETER_CLANG_TIDY} -quiet -p ${CMAKE_BINARY_DIR} ${more}
              "^(${CMAKE_SOURCE_DIR}|${CMAKE_BINARY_DIR})/(base|collector|kernels|reports|schema)/.*[.](cpp|cxx)$"
      USES_TERMINAL VERBATIM)
    # They write what others include.
    add_dependencies(${target} warpmeter_rules warpmeter_revision warpmeter_error_texts)
    if(CMAKE_UNITY_BUILD)
      add_dependencies(${target} warpmeter_headers warpmeter_computing_headers)
    endif()
  endforeach()
endif()
