// SPDX-License-Identifier: MIT
// Becomes another user, and then another program: drops PROGRAM [ARGUMENTS…].
#include <unistd.h>
int main(int argc, char** argv) {
  if (argc < 2 || setgid(65534) != 0 || setuid(65534) != 0) return 9;
  execv(argv[1], argv + 1);
  return 8;
}
