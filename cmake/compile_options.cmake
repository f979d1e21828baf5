# SPDX-License-Identifier: MIT
# How our code is compiled and linked: warnings, hardening, sanitizers, optimisation.
# Files that are compiled together share their templates: twenty compile in two thirds of the time of as many by eights.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 20)
if(NOT CMAKE_BUILD_TYPE STREQUAL Release)  # the more files share what they include the better, where little is optimised
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 48)
endif()

# Every target of ours links warpmeter_options. Includes are rooted at the repository.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # assembler files have no includes that ninja could read
  add_compile_options($<$<COMPILE_LANGUAGE:ASM>:-Wno-unused-command-line-argument>)
endif()
add_library(warpmeter_options INTERFACE)
target_include_directories(warpmeter_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
target_compile_options(warpmeter_options INTERFACE -Wall -Wextra -Wpedantic -Wnon-virtual-dtor
                       $<$<BOOL:${WARPMETER_WERROR}>:-Werror>)
# Files compiled as one may shadow each other's globals; clang cannot tell these from locals.
if(NOT CMAKE_UNITY_BUILD)
  target_compile_options(warpmeter_options INTERFACE -Wshadow)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(warpmeter_options INTERFACE -Wshadow=local)
endif()
target_link_libraries(warpmeter_options INTERFACE warpmeter_fmt)
# The input was written by others: a mistake of ours ends the program and runs nothing of theirs. All addresses are
# looked up at the start, and their table cannot be written then. tests/package_test.sh looks for it.
target_link_options(warpmeter_options INTERFACE LINKER:-z,relro LINKER:-z,now)
if(CMAKE_BUILD_TYPE STREQUAL Release AND NOT WARPMETER_SANITIZE)  # the checks of functions need an optimiser
  target_compile_options(warpmeter_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong>"
                         "$<$<COMPILE_LANGUAGE:CXX>:-U_FORTIFY_SOURCE>" "$<$<COMPILE_LANGUAGE:CXX>:-D_FORTIFY_SOURCE=2>")
endif()
if(WARPMETER_SANITIZE)
  target_compile_options(warpmeter_options INTERFACE -fsanitize=address,undefined
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # These checks stand at each access to a member, a third of all code. The address sanitizer finds null too.
  if(WARPMETER_SANITIZE STREQUAL SAMPLE)
    target_compile_options(warpmeter_options INTERFACE -fno-sanitize=null,alignment,vptr)
    # The zones around constants are registered at every start, and the tests start the program thousands of times.
    target_compile_options(warpmeter_options INTERFACE
                           "$<$<CXX_COMPILER_ID:Clang>:SHELL:-mllvm -asan-globals=0>")
  endif()
  target_link_options(warpmeter_options INTERFACE -fsanitize=address,undefined)
endif()
# The tests' programs are large, and there are many. The program that people get is linked as ever.
if(NOT CMAKE_BUILD_TYPE STREQUAL Release)
  find_program(WARPMETER_LLD ld.lld)
  mark_as_advanced(WARPMETER_LLD)
  if(WARPMETER_LLD)
    target_link_options(warpmeter_options INTERFACE -fuse-ld=lld)
  endif()
endif()

# add_sanitizer_defaults(NAME OPTIONS): programs that link NAME ask this of the address sanitizer where ASAN_OPTIONS does
# not. A sample's programs live for a tenth of a second: most of it went to memory that the sanitizer keeps from being
# used again, and to stacks that nobody reads. Sanitized in full, programs have the sanitizer's own defaults.
function(add_sanitizer_defaults name options)
  if(WARPMETER_SANITIZE STREQUAL SAMPLE)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${name}.cpp @ONLY CONTENT [[
extern "C" const char* __asan_default_options();
const char* __asan_default_options() {
  return "quarantine_size_mb=1:thread_local_quarantine_size_kb=16:malloc_context_size=1:@options@";
}
]])
    add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/generated/${name}.cpp)
  else()
    add_library(${name} INTERFACE)
  endif()
endfunction()
if(WARPMETER_FUZZERS)  # reports to libFuzzer which branches were taken
  target_compile_options(warpmeter_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# The model and the verification of results take the time: their folders are optimised fully. The rest waits
# for files, databases and drivers; with -Og it compiles in half the time. For the tests the model is -O1 and the
# rest is not optimised: code that tests execute by the million would take longer than to optimise it.
add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-Og>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # its own garbage, collected as eagerly as it is by default, is a sixth of its time
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=524288>
                      $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-expand=1000>)
endif()
if(CMAKE_BUILD_TYPE STREQUAL Release)
  set(WARPMETER_COMPUTING -O3)
else()
  set(WARPMETER_COMPUTING -O1)
endif()
