# SPDX-License-Identifier: MIT
# embed_images(LIBRARY HEADER NAME… [ARCHITECTURES arch…] [DEPENDS file…]): the .cu files NAME.cu of the calling
# folder, compiled and embedded as an object library LIBRARY, and declared as Images in the generated HEADER
# ("kernels/images.h"). The text of a NAME.yaml beside such a file is embedded too. The files include those of DEPENDS.
#
# Per architecture nvcc makes PTX of a file, and ptxas makes a cubin of *that* PTX, so that the text that the
# model executes is the text that the hardware's code came from. Both, and the source, are embedded by the
# assembler's .incbin.
set(image_templates ${CMAKE_CURRENT_LIST_DIR})

# compile_device_code(FOLDER NAME ARCH): NAME.sm_ARCH.{ptx,cubin} from FOLDER/NAME.cu. nvcc writes the source's
# full path into the PTX; relative_paths.cmake makes it relative to the repository, for ptxas to pass on.
function(compile_device_code folder name arch)
  set(stem ${image_dir}/${name}.sm_${arch})
  set(root "")
  if(arg_DEPENDS)
    set(root -I.)  # the repository: where the command runs
  endif()
  add_custom_command(
    OUTPUT ${stem}.ptx ${stem}.cubin
    COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} --ptx -O3 -lineinfo -std=c++17 ${root}
            --generate-code=arch=compute_${arch},code=compute_${arch}
            -o ${stem}.ptx.raw ${folder}/${name}.cu
    COMMAND ${CMAKE_COMMAND} -D SOURCE=${folder}/${name}.cu -D IN=${stem}.ptx.raw -D OUT=${stem}.ptx
            -P ${image_templates}/relative_paths.cmake
    COMMAND ${WARPMETER_PTXAS} -arch=sm_${arch} -O3 -lineinfo -o ${stem}.cubin ${stem}.ptx
    DEPENDS ${name}.cu ${arg_DEPENDS} ${image_templates}/relative_paths.cmake
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    COMMENT "Compiling ${folder}/${name}.cu for sm_${arch}"
    VERBATIM)
endfunction()

# embed_image(FOLDER HEADER NAME): writes images/NAME.s, which includes the files, and images/NAME.cpp, which
# defines images::NAME over its symbols. A NUL follows each piece: the driver takes PTX as a C string.
function(embed_image folder header name)
  set(assembly "    .section .rodata\n")
  set(symbols "")
  set(codes "")
  macro(embed symbol file)
    string(APPEND assembly "    .balign 16\n    .globl ${symbol}\n    .hidden ${symbol}\n${symbol}:\n"
                           "    .incbin \"${file}\"\n    .globl ${symbol}_end\n    .hidden ${symbol}_end\n"
                           "${symbol}_end:\n    .byte 0\n")
    string(APPEND symbols "extern const char ${symbol}[], ${symbol}_end[];\n")
  endmacro()

  set(prefix warpmeter_${name})
  set(files ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cu)
  embed(${prefix}_source ${files})
  set(family "{}")
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.yaml)
    list(APPEND files ${CMAKE_CURRENT_SOURCE_DIR}/${name}.yaml)
    embed(${prefix}_family ${CMAKE_CURRENT_SOURCE_DIR}/${name}.yaml)
    set(family "text(${prefix}_family, ${prefix}_family_end)")
  endif()
  foreach(arch IN LISTS architectures)
    compile_device_code(${folder} ${name} ${arch})
    set(stem ${image_dir}/${name}.sm_${arch})
    list(APPEND files ${stem}.ptx ${stem}.cubin)
    embed(${prefix}_ptx_${arch} ${stem}.ptx)
    embed(${prefix}_cubin_${arch} ${stem}.cubin)
    string(REGEX REPLACE "a$" "" number ${arch})  # 90a is Hopper's own code
    string(APPEND codes
           "    {${number}, text(${prefix}_ptx_${arch}, ${prefix}_ptx_${arch}_end),\n"
           "     bytes(${prefix}_cubin_${arch}, ${prefix}_cubin_${arch}_end)},\n")
  endforeach()
  string(APPEND assembly "    .section .note.GNU-stack,\"\",%progbits\n")

  file(CONFIGURE OUTPUT ${image_dir}/${name}.s CONTENT "${assembly}" @ONLY)
  configure_file(${image_templates}/image.cpp.in ${image_dir}/${name}.cpp @ONLY)
  set_source_files_properties(${image_dir}/${name}.s PROPERTIES OBJECT_DEPENDS "${files}")
endfunction()

function(embed_images library header)
  cmake_parse_arguments(arg "" "" "ARCHITECTURES;DEPENDS" ${ARGN})
  set(architectures ${arg_ARCHITECTURES})
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(image_dir ${CMAKE_CURRENT_BINARY_DIR}/images)
  file(MAKE_DIRECTORY ${image_dir})
  string(REGEX REPLACE "(/images)?[.]h$" "" list "all_in_${header}")
  string(MAKE_C_IDENTIFIER ${list} list)
  set(image_declarations "")
  set(image_addresses "")
  set(sources "")
  foreach(name IN LISTS arg_UNPARSED_ARGUMENTS)
    embed_image(${folder} ${header} ${name})
    string(APPEND image_declarations "extern const Image ${name};\n")
    string(APPEND image_addresses "&${name}, ")
    list(APPEND sources ${image_dir}/${name}.cpp ${image_dir}/${name}.s)
  endforeach()
  configure_file(${image_templates}/images.h.in ${CMAKE_BINARY_DIR}/generated/${header} @ONLY)
  add_library(${library} OBJECT ${sources})
  set_target_properties(${library} PROPERTIES UNITY_BUILD OFF)  # the files name their parts alike
  # Not warpmeter_options: the assembler has no use for our compiler options.
  target_include_directories(${library} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
endfunction()
