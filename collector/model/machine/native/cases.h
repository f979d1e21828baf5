// SPDX-License-Identifier: MIT
// Cases of a switch over codes, for operations whose lanes are computed one vector register at a
// time: the code, the 64-byte units of its rows, and statements for d, a, b and c. The last source
// of those with FROM may be in memory: it stands last in one instruction. Included by those that
// use them.
#pragma once

#define UNARY_CASE(code, units, ...)                                \
  case Code::code:                                                  \
    unary(op, units, [&](Register d_, Register a_) {                \
      [[maybe_unused]] const Vector d = vector(d_), a = vector(a_); \
      __VA_ARGS__;                                                  \
    });                                                             \
    return true;
#define UNARY_FROM_CASE(code, units, ...)                             \
  case Code::code:                                                    \
    unary_from(op, units, [&](Register d_, const Xbyak::Operand& a) { \
      const Vector d = vector(d_);                                    \
      __VA_ARGS__;                                                    \
    });                                                               \
    return true;
#define BINARY_CASE(code, units, ...)                              \
  case Code::code:                                                 \
    binary(op, units, [&](Register d_, Register a_, Register b_) { \
      const Vector d = vector(d_), b = vector(b_);                 \
      __VA_ARGS__;                                                 \
    });                                                            \
    return true;
#define TERNARY_CASE(code, units, ...)                                           \
  case Code::code:                                                               \
    ternary(op, units, [&](Register d_, Register a_, Register b_, Register c_) { \
      const Vector d = vector(d_), b = vector(b_), c = vector(c_);               \
      __VA_ARGS__;                                                               \
    });                                                                          \
    return true;
#define BINARY_FROM_CASE(code, units, ...)                                          \
  case Code::code:                                                                  \
    binary_from(op, units, [&](Register d_, Register a_, const Xbyak::Operand& b) { \
      const Vector d = vector(d_), a = vector(a_);                                  \
      __VA_ARGS__;                                                                  \
    });                                                                             \
    return true;
#define TERNARY_FROM_CASE(code, units, ...)                                                       \
  case Code::code:                                                                                \
    ternary_from(op, units, [&](Register d_, Register a_, Register b_, const Xbyak::Operand& c) { \
      const Vector d = vector(d_), a = vector(a_), b = vector(b_);                                \
      __VA_ARGS__;                                                                                \
    });                                                                                           \
    return true;
