// SPDX-License-Identifier: MIT
// The file that a person names, as a parsed module: .ptx as it is, .cu compiled by NVRTC, or by
// nvcc where the file holds host code as well, which NVRTC does not compile.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/input/nvrtc.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model {

struct KernelFile {
  std::string path;                          ///< as it was given
  std::unique_ptr<ptx::Module> module;       ///< its text is the PTX
  std::vector<std::byte> cubin;              ///< the machine code of it; empty: there is none
  std::string cubin_path;                    ///< where that was read from; empty: compiled here
  bool cubin_is_named = false;               ///< by the person, not found beside the PTX
  std::map<std::string, std::string> named;  ///< name expression → the entry's name
  std::vector<std::string> folders;          ///< the folders of the headers, by the person (-I)
  std::vector<std::string> remarks;          ///< for the person: by which compiler, and why
};

/// Compiles a .cu: NVRTC, or nvcc where the source holds host code. `expressions` are templates to
/// instantiate. With a failure where they refuse the source or an expression; `remarks` says which
/// compiler, and why. Throws Error{no_hardware} where there is none.
Compiled compile_source(const std::string& path, const CompileOptions& options,
                        const std::vector<std::string>& expressions,
                        std::vector<std::string>& remarks);

/// The file of what was compiled of it. Throws Error{usage} for PTX that cannot be read.
KernelFile kernel_file_of(const std::string& path, Compiled compiled);

/// `kernels` are the names that will be looked for: of a .cu, those with template arguments are
/// instantiated. `cubin`: a file with the machine code of a .ptx; empty: the file beside it with
/// that suffix, if there is one and it can be read. An architecture that was asked for has to be
/// that of a .ptx.
/// Throws Error{usage} with the compiler's messages or what is wrong with the PTX, Error{file} when
/// a file cannot be read, Error{no_hardware} when there is no compiler.
KernelFile read_kernel_file(const std::string& path, const CompileOptions& options,
                            const std::vector<std::string>& kernels, const std::string& cubin = "");

/// Throws Error{usage} where a .cu is given a cubin: its own comes of compiling it.
void refuse_cubin_of_source(const std::string& path, const std::string& cubin);

/// The machine code that is taken where none is named: the .cubin beside a .ptx; "": there is none.
std::string cubin_beside(const std::string& path);

/// The entry's own name for what a person calls it: mangled as it is, or the kernel's name in the
/// source, with namespaces and template arguments or without; the only entry for "". Throws
/// Error{usage} with the entries there are for a name of none or of several.
std::string find_entry(const KernelFile& file, std::string_view kernel);

/// True if the code of this entry stands in a header that lies outside of the source's folder: a
/// kernel of a library that the source includes (CUB, Thrust), and not one's own. False where the
/// PTX does not tell the place.
bool is_of_header(const KernelFile& file, std::string_view entry);

struct Assembled {
  std::vector<std::byte> cubin;
  std::string failure;      ///< why there is none: a sentence without its end; empty: there is one
  bool is_refused = false;  ///< by ptxas, as nvcc would have said of a program
};

/// The machine code that ptxas of this machine's toolkit makes of PTX.
Assembled assemble(const ptx::Module& module);

/// A regular file's text, for showing its lines; empty when it cannot be read.
std::string source_text(const std::string& path);

/// A path as a person in this folder would write it.
std::string relative_path(const std::string& path);

}  // namespace warpmeter::model
