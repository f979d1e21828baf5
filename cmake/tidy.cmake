# SPDX-License-Identifier: MIT
# clang-tidy on the program's files as the tests' tree compiles them, several at once: target tidy, ./dev tidy.
find_program(WARPMETER_CLANG_TIDY run-clang-tidy-14)
find_program(WARPMETER_LLVM_CONFIG llvm-config-14)
mark_as_advanced(WARPMETER_CLANG_TIDY WARPMETER_LLVM_CONFIG)
if(WARPMETER_CLANG_TIDY AND WARPMETER_LLVM_CONFIG AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # run-clang-tidy cannot say which plugin to load; what it starts does.
  execute_process(COMMAND ${WARPMETER_LLVM_CONFIG} --includedir OUTPUT_VARIABLE llvm_includes
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  add_library(warpmeter_tidy_scope MODULE EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/own_declarations.cpp)
  target_include_directories(warpmeter_tidy_scope SYSTEM PRIVATE ${llvm_includes})
  target_compile_options(warpmeter_tidy_scope PRIVATE -fno-rtti)
  set(clang_tidy ${CMAKE_BINARY_DIR}/generated/clang-tidy)
  file(GENERATE OUTPUT ${clang_tidy} CONTENT "#!/bin/sh
exec clang-tidy-14 -load='$<TARGET_FILE:warpmeter_tidy_scope>' \"$@\"
"
       FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  add_custom_target(tidy
    COMMAND ${WARPMETER_CLANG_TIDY} -quiet -clang-tidy-binary ${clang_tidy} -p ${CMAKE_BINARY_DIR}
            "^(${CMAKE_SOURCE_DIR}|${CMAKE_BINARY_DIR})/(base|collector|kernels|reports|schema)/.*[.](cpp|cxx)$"
    USES_TERMINAL VERBATIM)
  # They write what others include.
  add_dependencies(tidy warpmeter_rules warpmeter_revision warpmeter_error_texts warpmeter_definitions warpmeter_new_file
                        warpmeter_tidy_scope)
  if(CMAKE_UNITY_BUILD)
    add_dependencies(tidy warpmeter_headers warpmeter_computing_headers)
  endif()
endif()
