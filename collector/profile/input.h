// SPDX-License-Identifier: MIT
// Standard input for a program that runs several times: a file is read again from where it stood,
// anything else is empty after the first run.
#pragma once

#include <unistd.h>

namespace warpmeter::profile {

class Input {
 public:
  bool can_rewind() const { return begin_ >= 0; }
  void rewind() const {
    if (can_rewind()) lseek(STDIN_FILENO, begin_, SEEK_SET);
  }

 private:
  off_t begin_ = lseek(STDIN_FILENO, 0, SEEK_CUR);
};

}  // namespace warpmeter::profile
