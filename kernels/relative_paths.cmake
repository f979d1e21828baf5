# SPDX-License-Identifier: MIT
# cmake -D SOURCE=kernels/x.cu -D IN=raw.ptx -D OUT=out.ptx -P relative_paths.cmake
#
# Line information should read the same wherever the program was built: in the .file directives of a
# PTX text, the path that ends in SOURCE becomes SOURCE, and the toolkit's own headers keep their name only.
# (Whatever stands before is dropped, not a known root: nvcc resolves links, CMake may not.)
file(READ "${IN}" ptx)
set(directive "(\n[ \t]*\\.file[ \t]+[0-9]+[ \t]+)")
string(REPLACE "." "\\." source_pattern "${SOURCE}")
string(REGEX REPLACE "${directive}\"/[^\"\n]*/${source_pattern}\"" "\\1\"${SOURCE}\"" ptx "${ptx}")
string(REGEX REPLACE "${directive}\"/[^\"\n]*/([^\"/\n]+)\"" "\\1\"\\2\"" ptx "${ptx}")
file(WRITE "${OUT}" "${ptx}")
