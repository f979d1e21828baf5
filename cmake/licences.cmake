# SPDX-License-Identifier: MIT
# The licences of what is linked into the program, for `warpmeter --version --licences`: the copyright files that Debian
# ships with the packages, and ours. Another system names the packages alone.
#
# add_licences(TARGET PACKAGE…): TARGET is an object library that defines warpmeter_licences and warpmeter_licences_end.
function(add_licences target)
  file(READ ${CMAKE_SOURCE_DIR}/LICENSE ours)
  set(text "warpmeter\n\n${ours}")
  foreach(package IN LISTS ARGN)
    set(copyright /usr/share/doc/${package}/copyright)
    string(APPEND text "\n======== ${package}\n\n")
    if(EXISTS ${copyright})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${copyright})
      file(READ ${copyright} licence)
      string(APPEND text "${licence}")
    else()
      string(APPEND text "This system has no ${copyright}; see docs/licences.md.\n")
    endif()
  endforeach()
  string(APPEND text "\n======== Boost.Math\n\nBoost Software License 1.0, https://www.boost.org/LICENSE_1_0.txt\n")
  set(file ${CMAKE_BINARY_DIR}/generated/licences.txt)
  file(CONFIGURE OUTPUT ${file} CONTENT "@text@" @ONLY)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/licences.s @ONLY CONTENT "    .section .rodata
    .globl warpmeter_licences, warpmeter_licences_end
    .hidden warpmeter_licences, warpmeter_licences_end
warpmeter_licences:
    .incbin \"@file@\"
warpmeter_licences_end:
    .byte 0
    .section .note.GNU-stack,\"\",%progbits
")
  set_source_files_properties(${CMAKE_BINARY_DIR}/generated/licences.s PROPERTIES OBJECT_DEPENDS ${file})
  add_library(${target} OBJECT ${CMAKE_BINARY_DIR}/generated/licences.s)
endfunction()
