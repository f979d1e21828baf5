// SPDX-License-Identifier: MIT
// .npy files: what NumPy writes is read, what we write is what NumPy would, and a file that lies is
// refused without taking more memory than it holds.
#include "collector/model/input/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/temporary.h"

namespace warpmeter::model {
namespace {

using testing::HasSubstr;

std::vector<std::byte> file_with(const std::string& header, std::size_t data_bytes,
                                 char version = 1) {
  std::string text = "\x93NUMPY";
  text += version;
  text += '\0';
  text += static_cast<char>(header.size() & 255);
  text += static_cast<char>(header.size() >> 8);
  if (version > 1) text += std::string(2, '\0');
  text += header;
  text += std::string(data_bytes, '\1');
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

TEST(Npy, IsReadAsNumpyWritesIt) {
  const Npy npy =
      parse_npy(file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }  \n", 24),
                "x.npy", Element::f32);
  EXPECT_EQ(npy.element, Element::f32);
  EXPECT_EQ(npy.count, 6u);
  EXPECT_EQ(npy.data.size(), 24u);
  const Npy scalar =
      parse_npy(file_with("{'descr': '|u1', 'fortran_order': False, 'shape': (), }\n", 1, 2),
                "x.npy", Element::u8);
  EXPECT_EQ(scalar.count, 1u);
  const Npy narrow =
      parse_npy(file_with("{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }\n", 4),
                "x.npy", Element::bf16);
  EXPECT_EQ(narrow.element, Element::bf16);
}

TEST(Npy, ThatIsWrittenIsReadBack) {
  for (const std::string& name : element_names()) {
    const Element element = *element_named(name);
    std::vector<std::byte> data(7 * bytes_of(element), std::byte{5});
    const std::string header = npy_header(element, data.size());
    EXPECT_EQ(header.size(), 128u) << "the elements are aligned";
    const auto* bytes = reinterpret_cast<const std::byte*>(header.data());
    std::vector<std::byte> file(bytes, bytes + header.size());
    file.insert(file.end(), data.begin(), data.end());
    const Npy npy = parse_npy(std::move(file), "x.npy", element);
    EXPECT_EQ(npy.element, element);
    EXPECT_EQ(npy.data, data);
  }
}

TEST(Npy, ThatLiesIsRefused) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }\n";
  std::vector<std::byte> no_magic = file_with(good, 24);
  no_magic[0] = std::byte{0};
  std::vector<std::byte> long_header = file_with(good, 24);
  long_header[9] = std::byte{0xff};
  const std::pair<std::vector<std::byte>, const char*> table[] = {
      {{}, "is no .npy file"},
      {no_magic, "is no .npy file"},
      {long_header, "ends within its header"},
      {file_with(good, 24, 9), "version 9"},
      {file_with(good, 23), "holds 23 bytes, fewer than the 6 elements"},
      {file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999)}",
                 4),
       "claims to be too big"},
      {file_with("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,)}", 4),
       "fewer than"},
      {file_with("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2)}", 24),
       "column by column"},
      {file_with("{'descr': '>f4', 'fortran_order': False, 'shape': (3, 2)}", 24), "type '>f4'"},
      {file_with("{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}", 24), "type '<c8'"},
      {file_with("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}", 24),
       "records"},
      {file_with("{'descr': '<f4', 'fortran_order': False}", 24), "no shape"},
      {file_with("{'descr': '<f4', 'shape': (3, 2)}", 24), "no order"},
      {file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}", 24), "no shape"},
  };
  for (const auto& [bytes, words] : table) {
    try {
      parse_npy(bytes, "x.npy", Element::f32);
      ADD_FAILURE() << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::file);
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
  }
}

TEST(Npy, HeaderSaysWhatTheFileHolds) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "x.npy").string();
  const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }\n";
  const auto save = [&](const std::vector<std::byte>& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  };
  save(file_with(good, 48));
  const NpyHeader header = read_npy_header(path, Element::f32);
  EXPECT_EQ(header.element, Element::f64);
  EXPECT_EQ(header.count, 6u);
  EXPECT_EQ(header.begin, 10 + good.size());
  save(file_with(good, 47));
  EXPECT_THROW(read_npy_header(path, Element::f32), Error);
  EXPECT_THROW(read_npy_header("/nowhere/x.npy", Element::f32), Error);
}

TEST(Npy, FilesThatAreNotThereOrNoFilesAreNamed) {
  EXPECT_THROW(read_whole_file("/nowhere/x.npy"), Error);
  EXPECT_THROW(read_whole_file("/dev/zero"), Error);
}

}  // namespace
}  // namespace warpmeter::model
