// SPDX-License-Identifier: MIT
// The words that PTX instructions are made of, behind the opcode: ".shared.v4.f32" is three. The
// parser turns each into a Word, and what they mean together (type, space, scope, order, rounding)
// into fields of the Instruction, so that nothing beyond it compares text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warpmeter::model::ptx {

/// A type's values: predicates, bits, whole numbers, floating point (by format), handles.
enum class Kind : std::uint8_t { none, pred, bits, u, s, f, bf, tf, e4m3, e5m2, other, handle };

// WORD(name, text), and TYPE(name, kind, bits, elements): a word whose text is its name.
#define WARPMETER_PTX_TYPES(TYPE) \
  TYPE(pred, pred, 1, 1)          \
  TYPE(b1, bits, 1, 1)            \
  TYPE(b8, bits, 8, 1)            \
  TYPE(b16, bits, 16, 1)          \
  TYPE(b32, bits, 32, 1)          \
  TYPE(b64, bits, 64, 1)          \
  TYPE(b128, bits, 128, 1)        \
  TYPE(u4, u, 4, 1)               \
  TYPE(u8, u, 8, 1)               \
  TYPE(u16, u, 16, 1)             \
  TYPE(u32, u, 32, 1)             \
  TYPE(u64, u, 64, 1)             \
  TYPE(s4, s, 4, 1)               \
  TYPE(s8, s, 8, 1)               \
  TYPE(s16, s, 16, 1)             \
  TYPE(s32, s, 32, 1)             \
  TYPE(s64, s, 64, 1)             \
  TYPE(f16, f, 16, 1)             \
  TYPE(f32, f, 32, 1)             \
  TYPE(f64, f, 64, 1)             \
  TYPE(bf16, bf, 16, 1)           \
  TYPE(tf32, tf, 32, 1)           \
  TYPE(f16x2, f, 32, 2)           \
  TYPE(bf16x2, bf, 32, 2)         \
  TYPE(f32x2, f, 64, 2)           \
  TYPE(u16x2, u, 32, 2)           \
  TYPE(s16x2, s, 32, 2)           \
  TYPE(e4m3, e4m3, 8, 1)          \
  TYPE(e5m2, e5m2, 8, 1)          \
  TYPE(e4m3x2, e4m3, 16, 2)       \
  TYPE(e5m2x2, e5m2, 16, 2)       \
  TYPE(e2m1x2, other, 8, 2)       \
  TYPE(e2m3x2, other, 16, 2)      \
  TYPE(e3m2x2, other, 16, 2)      \
  TYPE(ue8m0x2, other, 16, 2)     \
  TYPE(texref, handle, 64, 1)     \
  TYPE(samplerref, handle, 64, 1) \
  TYPE(surfref, handle, 64, 1)

#define WARPMETER_PTX_WORDS(WORD)                                       \
  /* spaces */                                                          \
  WORD(global, "global")                                                \
  WORD(shared, "shared")                                                \
  WORD(shared_cta, "shared::cta")                                       \
  WORD(shared_cluster, "shared::cluster")                               \
  WORD(local, "local")                                                  \
  WORD(param, "param")                                                  \
  WORD(param_entry, "param::entry")                                     \
  WORD(param_func, "param::func")                                       \
  WORD(constant, "const")                                               \
  /* order and scope */                                                 \
  WORD(weak, "weak")                                                    \
  WORD(volatile_, "volatile")                                           \
  WORD(relaxed, "relaxed")                                              \
  WORD(acquire, "acquire")                                              \
  WORD(release, "release")                                              \
  WORD(acq_rel, "acq_rel")                                              \
  WORD(sc, "sc")                                                        \
  WORD(mmio, "mmio")                                                    \
  WORD(unified, "unified")                                              \
  WORD(cta, "cta")                                                      \
  WORD(cluster, "cluster")                                              \
  WORD(gpu, "gpu")                                                      \
  WORD(sys, "sys")                                                      \
  WORD(gl, "gl")                                                        \
  /* caches */                                                          \
  WORD(ca, "ca")                                                        \
  WORD(cg, "cg")                                                        \
  WORD(cs, "cs")                                                        \
  WORD(lu, "lu")                                                        \
  WORD(cv, "cv")                                                        \
  WORD(wb, "wb")                                                        \
  WORD(wt, "wt")                                                        \
  WORD(nc, "nc")                                                        \
  WORD(L1, "L1")                                                        \
  WORD(L2, "L2")                                                        \
  WORD(L1_evict_normal, "L1::evict_normal")                             \
  WORD(L1_evict_unchanged, "L1::evict_unchanged")                       \
  WORD(L1_evict_first, "L1::evict_first")                               \
  WORD(L1_evict_last, "L1::evict_last")                                 \
  WORD(L1_no_allocate, "L1::no_allocate")                               \
  WORD(L2_evict_normal, "L2::evict_normal")                             \
  WORD(L2_evict_unchanged, "L2::evict_unchanged")                       \
  WORD(L2_evict_first, "L2::evict_first")                               \
  WORD(L2_evict_last, "L2::evict_last")                                 \
  WORD(L2_cache_hint, "L2::cache_hint")                                 \
  WORD(L2_64B, "L2::64B")                                               \
  WORD(L2_128B, "L2::128B")                                             \
  WORD(L2_256B, "L2::256B")                                             \
  WORD(fractional, "fractional")                                        \
  WORD(range, "range")                                                  \
  WORD(cvt, "cvt")                                                      \
  WORD(tensormap, "tensormap")                                          \
  WORD(b1024, "b1024")                                                  \
  /* registers together */                                              \
  WORD(v2, "v2")                                                        \
  WORD(v4, "v4")                                                        \
  WORD(v8, "v8")                                                        \
  WORD(x1, "x1")                                                        \
  WORD(x2, "x2")                                                        \
  WORD(x4, "x4")                                                        \
  WORD(m8n8, "m8n8")                                                    \
  WORD(m8n8k4, "m8n8k4")                                                \
  WORD(m8n8k16, "m8n8k16")                                              \
  WORD(m8n8k32, "m8n8k32")                                              \
  WORD(m8n8k128, "m8n8k128")                                            \
  WORD(m16n8k4, "m16n8k4")                                              \
  WORD(m16n8k8, "m16n8k8")                                              \
  WORD(m16n8k16, "m16n8k16")                                            \
  WORD(m16n8k32, "m16n8k32")                                            \
  WORD(m16n8k64, "m16n8k64")                                            \
  WORD(m16n8k128, "m16n8k128")                                          \
  WORD(m16n8k256, "m16n8k256")                                          \
  WORD(m16n16k8, "m16n16k8")                                            \
  WORD(m16n16k16, "m16n16k16")                                          \
  WORD(m8n32k16, "m8n32k16")                                            \
  WORD(m32n8k16, "m32n8k16")                                            \
  WORD(a, "a")                                                          \
  WORD(b, "b")                                                          \
  WORD(c, "c")                                                          \
  WORD(d, "d")                                                          \
  WORD(row, "row")                                                      \
  WORD(col, "col")                                                      \
  WORD(m8n16, "m8n16")                                                  \
  WORD(m16n16, "m16n16")                                                \
  WORD(m64nk, "m64nk") /* any shape of wgmma: m64n8k16, m64n256k32 */   \
  WORD(m16n8, "m16n8")                                                  \
  WORD(trans, "trans")                                                  \
  WORD(three, "3") /* for min and max: three sources; no text of PTX */ \
  /* rounding and what else shapes a result */                          \
  WORD(rn, "rn")                                                        \
  WORD(rz, "rz")                                                        \
  WORD(rm, "rm")                                                        \
  WORD(rp, "rp")                                                        \
  WORD(rna, "rna")                                                      \
  WORD(rs, "rs")                                                        \
  WORD(rni, "rni")                                                      \
  WORD(rzi, "rzi")                                                      \
  WORD(rmi, "rmi")                                                      \
  WORD(rpi, "rpi")                                                      \
  WORD(ftz, "ftz")                                                      \
  WORD(noftz, "noftz")                                                  \
  WORD(sat, "sat")                                                      \
  WORD(satfinite, "satfinite")                                          \
  WORD(relu, "relu")                                                    \
  WORD(approx, "approx")                                                \
  WORD(full, "full")                                                    \
  WORD(cc, "cc")                                                        \
  WORD(xorsign, "xorsign")                                              \
  WORD(abs, "abs")                                                      \
  WORD(NaN, "NaN")                                                      \
  WORD(pack, "pack")                                                    \
  WORD(lo, "lo")                                                        \
  WORD(hi, "hi")                                                        \
  WORD(wide, "wide")                                                    \
  WORD(l, "l")                                                          \
  WORD(r, "r")                                                          \
  WORD(wrap, "wrap")                                                    \
  WORD(clamp, "clamp")                                                  \
  WORD(shiftamt, "shiftamt")                                            \
  WORD(f4e, "f4e")                                                      \
  WORD(b4e, "b4e")                                                      \
  WORD(rc8, "rc8")                                                      \
  WORD(rc16, "rc16")                                                    \
  WORD(ecl, "ecl")                                                      \
  WORD(ecr, "ecr")                                                      \
  WORD(po, "po")                                                        \
  WORD(shr7, "shr7")                                                    \
  WORD(shr15, "shr15")                                                  \
  WORD(to, "to")                                                        \
  WORD(idx, "idx")                                                      \
  /* comparisons and classes */                                         \
  WORD(eq, "eq")                                                        \
  WORD(ne, "ne")                                                        \
  WORD(lt, "lt")                                                        \
  WORD(le, "le")                                                        \
  WORD(gt, "gt")                                                        \
  WORD(ge, "ge")                                                        \
  WORD(ls, "ls")                                                        \
  WORD(hs, "hs")                                                        \
  WORD(equ, "equ")                                                      \
  WORD(neu, "neu")                                                      \
  WORD(ltu, "ltu")                                                      \
  WORD(leu, "leu")                                                      \
  WORD(gtu, "gtu")                                                      \
  WORD(geu, "geu")                                                      \
  WORD(num, "num")                                                      \
  WORD(nan, "nan")                                                      \
  WORD(finite, "finite")                                                \
  WORD(infinite, "infinite")                                            \
  WORD(number, "number")                                                \
  WORD(notanumber, "notanumber")                                        \
  WORD(normal, "normal")                                                \
  WORD(subnormal, "subnormal")                                          \
  /* the work of atomics, reductions and lanes */                       \
  WORD(and_, "and")                                                     \
  WORD(or_, "or")                                                       \
  WORD(xor_, "xor")                                                     \
  WORD(popc, "popc")                                                    \
  WORD(add, "add")                                                      \
  WORD(min, "min")                                                      \
  WORD(max, "max")                                                      \
  WORD(inc, "inc")                                                      \
  WORD(dec, "dec")                                                      \
  WORD(exch, "exch")                                                    \
  WORD(cas, "cas")                                                      \
  WORD(up, "up")                                                        \
  WORD(down, "down")                                                    \
  WORD(bfly, "bfly")                                                    \
  WORD(all, "all")                                                      \
  WORD(any, "any")                                                      \
  WORD(uni, "uni")                                                      \
  WORD(ballot, "ballot")                                                \
  WORD(sync, "sync")                                                    \
  WORD(arrive, "arrive")                                                \
  WORD(aligned, "aligned")                                              \
  WORD(wait, "wait")                                                    \
  WORD(noinc, "noinc")                                                  \
  WORD(noComplete, "noComplete")                                        \
  WORD(parity, "parity")                                                \
  WORD(expect_tx, "expect_tx")                                          \
  WORD(mask, "mask")                                                    \
  WORD(counts_bytes, "mbarrier::complete_tx::bytes")                    \
  WORD(bulk_group, "bulk_group")                                        \
  WORD(multicast, "multicast::cluster")                                 \
  WORD(read, "read")                                                    \
  WORD(launch_dependents, "launch_dependents")                          \
  /* textures and surfaces */                                           \
  WORD(d1, "1d")                                                        \
  WORD(d2, "2d")                                                        \
  WORD(d3, "3d")                                                        \
  WORD(d4, "4d")                                                        \
  WORD(d5, "5d")                                                        \
  WORD(tile, "tile")                                                    \
  WORD(a1d, "a1d")                                                      \
  WORD(a2d, "a2d")                                                      \
  WORD(cube, "cube")                                                    \
  WORD(acube, "acube")                                                  \
  WORD(level, "level")                                                  \
  WORD(grad, "grad")                                                    \
  WORD(g, "g")                                                          \
  WORD(p, "p")                                                          \
  WORD(trap, "trap")                                                    \
  WORD(zero, "zero")                                                    \
  WORD(width, "width")                                                  \
  WORD(height, "height")                                                \
  WORD(depth, "depth")                                                  \
  /* fences between proxies */                                          \
  WORD(proxy, "proxy")                                                  \
  WORD(alias, "alias")                                                  \
  WORD(async, "async")                                                  \
  WORD(async_global, "async::global")                                   \
  WORD(async_generic, "async::generic")                                 \
  WORD(async_shared, "async::shared::cta")                              \
  WORD(tensormap_generic, "tensormap::generic")                         \
  WORD(mbarrier_init, "mbarrier_init")                                  \
  WORD(sync_restrict_cta, "sync_restrict::shared::cta")                 \
  WORD(sync_restrict_cluster, "sync_restrict::shared::cluster")

enum class Word : std::uint8_t {
#define TYPE(name, ...) name,
  WARPMETER_PTX_TYPES(TYPE)
#undef TYPE
#define WORD(name, text) name,
      WARPMETER_PTX_WORDS(WORD)
#undef WORD
          unknown,  ///< none that we know
};
constexpr std::size_t word_count = static_cast<std::size_t>(Word::unknown);
static_assert(word_count < 255, "a word is a byte of ValueKey");

/// As it is written: "shared::cta". Empty for Word::unknown.
std::string_view text_of(Word word);
Word find_word(std::string_view text);

/// A fundamental type, the first words.
enum class Type : std::uint8_t {
#define TYPE(name, ...) name,
  WARPMETER_PTX_TYPES(TYPE)
#undef TYPE
      none,
};
constexpr std::size_t type_count = static_cast<std::size_t>(Type::none);

struct TypeInfo {
  Kind kind = Kind::none;
  std::uint8_t bits = 0;      ///< the bits of all elements: 32 for f16x2
  std::uint8_t elements = 1;  ///< 2 for f16x2

  bool is_float() const {
    return kind == Kind::f || kind == Kind::bf || kind == Kind::tf || kind == Kind::e4m3 ||
           kind == Kind::e5m2;
  }
  bool is_signed() const { return kind == Kind::s; }
  /// A whole number or plain bits, one of them.
  bool is_integer() const {
    return (kind == Kind::u || kind == Kind::s || kind == Kind::bits) && elements == 1;
  }
  unsigned bytes() const { return bits / 8u; }
};
/// Type::none has no bits.
TypeInfo info_of(Type type);
/// Type::none for a word, or a text, that is none.
Type type_of(Word word);
Type type_named(std::string_view text);
std::string_view text_of(Type type);

/// The words behind an opcode, in order and as a set.
class Words {
 public:
  static constexpr std::size_t most = 12;

  /// False when there are too many.
  bool add(Word word);
  bool has(Word word) const {
    const auto bit = static_cast<std::size_t>(word);
    return (set_[bit / 64] >> bit % 64 & 1) != 0;
  }
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  Word operator[](std::size_t i) const { return words_[i]; }
  Word back() const { return count_ == 0 ? Word::unknown : words_[count_ - 1u]; }
  const Word* begin() const { return words_.data(); }
  const Word* end() const { return words_.data() + count_; }

 private:
  std::array<std::uint64_t, 4> set_{};
  std::array<Word, most> words_{};
  std::uint8_t count_ = 0;
};

}  // namespace warpmeter::model::ptx
