# SPDX-License-Identifier: MIT
# Fails when a unit of collector/model/execute/ defines a function that another object could define as well (a
# weak symbol outside the unit's own namespace): the linker would keep one of them, maybe the one with
# instructions that this processor lacks. cmake -D NM=… -D OBJECTS=a.o,b.o -P this
string(REPLACE "," ";" objects "${OBJECTS}")
if(NOT objects)
  message(FATAL_ERROR "no objects to look at")
endif()
foreach(object IN LISTS objects)
  execute_process(COMMAND ${NM} -C --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]* [Wu] [^\n]*" shared "${symbols}")
  foreach(symbol IN LISTS shared)
    if(NOT symbol MATCHES "warpmeter::model::(baseline|avx2|avx512)::")
      message(SEND_ERROR "${object} defines ${symbol}")
    endif()
  endforeach()
endforeach()
