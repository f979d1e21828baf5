# cmake -D ROOT=repository -D IN=raw.ptx -D OUT=out.ptx -P relative_paths.cmake
#
# Line information should read the same wherever the program was built: the .file directives of a PTX
# text become relative to the repository, and those of the toolkit's own headers keep their name only.
file(READ "${IN}" ptx)
string(REPLACE "\"${ROOT}/" "\"" ptx "${ptx}")
string(REGEX REPLACE "(\n[ \t]*\\.file[ \t]+[0-9]+[ \t]+)\"/[^\"\n]*/([^\"/\n]+)\"" "\\1\"\\2\"" ptx "${ptx}")
file(WRITE "${OUT}" "${ptx}")
