// SPDX-License-Identifier: MIT
// The program's untimely ends. A signal that ends it (Ctrl-C, SIGTERM, SIGHUP, a limit on CPU time)
// removes what was only there for a while, and then ends it as it would have done.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>

namespace warpmeter {

/// From now on signals that would end the program remove the doomed first. Those that are ignored
/// (nohup) stay so. A limit on the size of files no longer ends the program: writing fails instead.
void catch_endings();

/// Removes the doomed, and ends the program by the signal. For handlers of signals: safe there; the
/// end comes when the handler returns.
void end_by_signal(int signal);

/// A file, or a folder with the files in it, that goes when a signal ends the program while this
/// lives. Removing it otherwise is its owner's business. Only so many at a time are remembered.
class Doomed {
 public:
  explicit Doomed(const std::string& path);
  ~Doomed();
  Doomed(const Doomed&) = delete;
  Doomed& operator=(const Doomed&) = delete;

 private:
  int place_ = -1;
};

/// True if catch_endings() was called: the program is ours.
bool catches_endings();

/// Ends the groups of all DoomedGroup that live, and from now on is_ending(). For handlers of
/// signals: safe there.
void end_doomed_groups();

/// True if a signal has asked this program to end: it starts no compiler any more.
bool is_ending();

/// A group of processes, of a compiler that this program started, that is killed when a signal ends
/// the program. Only so many at a time are remembered.
class DoomedGroup {
 public:
  explicit DoomedGroup(pid_t leader);
  ~DoomedGroup();
  DoomedGroup(const DoomedGroup&) = delete;
  DoomedGroup& operator=(const DoomedGroup&) = delete;

 private:
  int place_ = -1;
};

/// A child that is killed at the second signal, and when a signal ends the program at once: the
/// program that is observed. Only so many at a time are remembered.
class DoomedProcess {
 public:
  explicit DoomedProcess(pid_t process);
  ~DoomedProcess();
  DoomedProcess(const DoomedProcess&) = delete;
  DoomedProcess& operator=(const DoomedProcess&) = delete;

 private:
  int place_ = -1;
};

/// No signal is handled by this thread while it lives, so that nothing comes between making a file
/// and remembering it.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

  /// The signals that were blocked before.
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_;
};

}  // namespace warpmeter
