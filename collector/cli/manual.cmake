# SPDX-License-Identifier: MIT
# Writes the manual page from what --help says, so that the two cannot differ. PROGRAM: warpmeter, OUTPUT: the page.
function(help_of variable)
  execute_process(COMMAND ${PROGRAM} ${ARGN} --help OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# Text as it is: backslashes are roff's, and so are points and quotes at the beginning of a line.
function(append_verbatim variable text)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  set(${variable} "${${variable}}.nf\n${text}.fi\n" PARENT_SCOPE)
endfunction()

help_of(overview)
set(page ".TH WARPMETER 1\n.SH NAME\nwarpmeter \\- measure how CUDA kernels use memory\n.SH SYNOPSIS\n")
string(APPEND page "warpmeter COMMAND [OPTIONS]\n.SH DESCRIPTION\n")
append_verbatim(page "${overview}")
# A command is a line of two blanks, a word, and its summary, between "Commands:" and the next empty line.
string(REGEX MATCH "\nCommands:\n([^\n]+\n)+" commands "${overview}")
string(REGEX MATCHALL "\n  [a-z]+ " commands "${commands}")
foreach(command IN LISTS commands)
  string(STRIP "${command}" command)
  help_of(text ${command})
  string(APPEND page ".SH \"warpmeter ${command}\"\n")
  append_verbatim(page "${text}")
endforeach()
file(WRITE ${OUTPUT} "${page}")
