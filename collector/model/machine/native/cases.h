// Cases of a switch over codes, for operations whose lanes are computed one vector register at a
// time: the code, the pieces of its rows, and statements for d, a, b and c. Included by those that
// use them.
#pragma once

#define UNARY_CASE(code, pieces, ...)                 \
  case Code::code:                                    \
    unary(op, pieces, [&](Register d_, Register a_) { \
      const Xbyak::Zmm d = zmm(d_), a = zmm(a_);      \
      __VA_ARGS__;                                    \
    });                                               \
    return true;
#define BINARY_CASE(code, pieces, ...)                              \
  case Code::code:                                                  \
    binary(op, pieces, [&](Register d_, Register a_, Register b_) { \
      const Xbyak::Zmm d = zmm(d_), a = zmm(a_), b = zmm(b_);       \
      __VA_ARGS__;                                                  \
    });                                                             \
    return true;
#define TERNARY_CASE(code, pieces, ...)                                           \
  case Code::code:                                                                \
    ternary(op, pieces, [&](Register d_, Register a_, Register b_, Register c_) { \
      const Xbyak::Zmm d = zmm(d_), a = zmm(a_), b = zmm(b_), c = zmm(c_);        \
      __VA_ARGS__;                                                                \
    });                                                                           \
    return true;
