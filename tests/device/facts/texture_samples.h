// SPDX-License-Identifier: MIT
// The samples that hold the model to a GPU: textures with what lies in them, and coordinates, made
// of numbers that are the same on every machine. texture_samples.cu samples them on a GPU;
// texture_test.cpp on the model.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace samples_of_textures {

using u32 = std::uint32_t;
enum Fetch {
  F_fetch1d,
  F_1d,
  F_2d,
  F_3d,
  F_1dl,
  F_2dl,
  F_cube,
  F_cubel,
  F_1d_lod,
  F_2d_lod,
  F_3d_lod,
  F_1dl_lod,
  F_2dl_lod,
  F_cube_lod,
  F_cubel_lod,
  F_1d_grad,
  F_2d_grad,
  F_3d_grad,
  F_1dl_grad,
  F_2dl_grad,
  F_cube_grad,
  F_cubel_grad,
  F_g0,
  F_g1,
  F_g2,
  F_g3
};
enum Source { S_array, S_linear, S_pitch };
struct Config {
  std::string name;
  int fetch = F_1d, source = S_array;
  int w = 16, h = 0, d = 0;
  bool layered = false, cube = false;
  int levels = 0;
  bool gather = false;
  char type = 'f';
  int bits = 32, channels = 1;
  bool norm = false, srgb = false, unit = false, linear = false, miplinear = false;
  int addr[3] = {1, 1, 1};  // 0 wrap 1 clamp 2 mirror 3 border
  float border[4] = {0, 0, 0, 0};
  int aniso = 0;
  float bias = 0, minl = 0, maxl = 99;
  bool seamless = false, notrilinear = false;
  int content = 0, set = 0, n = 2048;
  u32 seed = 1;
  int view = 0;  // resource view: 0 none, else a cudaResourceViewFormat
};
inline u32 mix(u32 h) {
  h ^= h >> 16;
  h *= 0x7feb352du;
  h ^= h >> 15;
  h *= 0x846ca68bu;
  h ^= h >> 16;
  return h;
}
struct Rng {
  u32 s;
  u32 next() { return mix(s += 0x9e3779b9u); }
  float unit() { return (next() >> 8) * (1.0f / 16777216); }
};
inline float as_f(u32 b) {
  float f;
  memcpy(&f, &b, 4);
  return f;
}
inline u32 as_u(float f) {
  u32 b;
  memcpy(&b, &f, 4);
  return b;
}
inline u32 half_of_unit(float f) {  // f in [0,1), truncated
  if (f < 6.103515625e-05f) return (u32)(f * 16777216.0f);
  u32 b = as_u(f);
  return ((b >> 23) - 112) << 10 | ((b >> 13) & 1023);
}
// bits of a channel
inline u32 texel_bits(const Config& c, int x, int y, int z, int level, int ch) {
  u32 h = mix(c.seed * 7919u + mix(x + 1) + mix(mix(y + 77) + 3 * mix(z + 1234567)) +
              31 * mix(level * 13 + ch + 999));
  h = mix(h);
  if (c.type != 'f') {
    if (c.content == 4)
      return c.bits == 32 ? (u32)x : (u32)((x + ch * 64) & ((1u << c.bits) - 1));  // counting
    if (c.content == 2)
      return ((x % 4 == 1) && (c.h == 0 || y % 4 == 1) &&
              (c.d == 0 || c.layered || c.cube || z % 4 == 1))
                 ? (c.type == 's' ? (1u << (c.bits - 1)) - 1 : (u32)((1ull << c.bits) - 1))
                 : 0;
    return c.bits == 32 ? h : h & ((1u << c.bits) - 1);
  }
  if (c.content == 5)
    return c.bits == 32 ? as_u((float)(x + 100 * y + 10000 * z + 1000000 * level + ch * 0.25f)) : 0;
  if (c.content == 2) {
    bool one =
        (x % 4 == 1) && (c.h == 0 || y % 4 == 1) && (c.d == 0 || c.layered || c.cube || z % 4 == 1);
    return one ? (c.bits == 32 ? 0x3f800000u : 0x3c00u) : 0;
  }
  if (c.content == 3) return c.bits == 32 ? h : h & 0xffff;
  if (c.content == 1) {
    if (c.bits == 32) return (h & 0x807fffff) | (127 - 12 + (mix(h) % 24)) << 23;
    return (h & 0x83ff) | (15 - 10 + (mix(h) % 20)) << 10;
  }
  float f = (h >> 8) * (1.0f / 16777216);
  return c.bits == 32 ? as_u(f) : half_of_unit(f);
}
static const u32 specials[] = {
    0,          0x80000000, 1,          0x80000001, 0x7f800000, 0xff800000, 0x7fc00000,
    0xffc00001, 0x4b000000, 0xcb000000, 0x4f000000, 0xcf000000, 0x4f800000, 0x7149f2ca,
    0xf149f2ca, 0x3f800000, 0xbf800000, 0x3f7fffff, 0xbf7fffff, 0x7f7fffff, 0x46000000,
    0xc6000000, 0x4a800000, 0x49800000, 0x48800000, 0x47800001, 0xb3000000, 0x33000000};
inline float ulps(float f, int n) {
  u32 b = as_u(f);
  return as_f(b + (u32)n);
}
inline float coordinate(Rng& r, int i, int n, bool unit, int set, bool first) {
  float N = (float)n, x;
  u32 pick = set == 1 && first ? 9 : r.next() % 8;
  int ulp = 0;
  int k = (int)(r.next() % (u32)(n + 4)) - 2;
  switch (pick) {
    case 0:
      x = (r.unit() * 2 - 0.5f) * N;
      break;
    case 1:
      x = k + (r.next() % 256) / 256.0f + 1 / 512.0f;
      ulp = (int)(r.next() % 7) - 3;
      break;
    case 2:
      x = k + (r.next() % 2) * 0.5f;
      ulp = (int)(r.next() % 7) - 3;
      break;
    case 3:
      x = r.unit() * N;
      break;
    case 4:
      x = k + (r.next() % 512) / 512.0f;
      break;
    case 5:
      x = k + (r.next() % 256) / 256.0f;
      ulp = (int)(r.next() % 7) - 3;
      break;
    case 6:
      x = (r.unit() * 100 - 50) * N;
      break;
    case 7:
      if (r.next() % 3 == 0) return as_f(specials[r.next() % (sizeof(specials) / 4)]);
      x = r.unit() * N;
      break;
    default:
      x = -1 + i * (1 / 2048.0f);
  }
  if (unit) x = x / N;
  if (x != 0) x = ulps(x, ulp);
  return x;
}
struct Sample {
  float c[4], a[4], b[4];
};  // coordinates (c[3]: layer's bits), dx and lod, dy
inline std::vector<Sample> samples(const Config& c) {
  std::vector<Sample> all(c.n);
  Rng r{c.seed * 977u + 5};
  for (int i = 0; i < c.n; ++i) {
    Sample& s = all[i];
    memset(&s, 0, sizeof s);
    if (c.fetch == F_fetch1d) {
      u32 x = r.next() % 4 == 0
                  ? (r.next() % 3 == 0 ? r.next() : (u32)((int)(r.next() % (u32)(c.w + 8)) - 4))
                  : r.next() % (u32)c.w;
      s.c[0] = as_f(x);
      continue;
    }
    if (c.cube) {
      u32 pick = r.next() % 8;
      for (int k = 0; k < 3; ++k) s.c[k] = (r.unit() * 2 - 1) * (pick == 3 ? 100.0f : 1.0f);
      if (pick == 0) {
        u32 p = r.next() % 3, q = (p + 1 + r.next() % 2) % 3;
        s.c[q] = s.c[p] * (r.next() % 2 ? 1.0f : -1.0f);
        if (r.next() % 2) s.c[q] = ulps(s.c[q], (int)(r.next() % 5) - 2);
      }
      if (pick == 1) {
        float m = r.unit() + 0.1f;
        for (int k = 0; k < 3; ++k) s.c[k] = r.next() % 2 ? m : -m;
        if (r.next() % 2) s.c[r.next() % 3] = ulps(m, -(int)(r.next() % 4));
      }
      if (pick == 2) {
        int p = r.next() % 3;
        float m = r.next() % 2 ? 1.0f : -1.0f;
        for (int k = 0; k < 3; ++k) {
          int j = (int)(r.next() % (u32)(c.w * 256 + 1));
          s.c[k] = 2 * (j / 256.0f) / c.w - 1;
        }
        s.c[p] = m;
      }
      if (pick == 4 && r.next() % 4 == 0)
        for (int k = 0; k < 3; ++k) s.c[k] = as_f(specials[r.next() % (sizeof(specials) / 4)]);
    } else {
      int sizes[3] = {c.w, c.h ? c.h : 1, c.d && !c.layered ? c.d : 1};
      int axes = c.h == 0 ? 1 : c.d && !c.layered ? 3 : 2;
      for (int k = 0; k < axes; ++k) s.c[k] = coordinate(r, i, sizes[k], c.unit, c.set, k == 0);
    }
    int layers = c.cube ? c.d / 6 : c.d;
    int layer = (int)(r.next() % (u32)(layers + 1));
    if (r.next() % 16 == 0) layer = (int)r.next() >> (r.next() % 32);
    s.c[3] = as_f((u32)layer);
    if (c.fetch >= F_1d_lod && c.fetch <= F_cubel_lod) {
      u32 pick = r.next() % 6;
      float lod = (r.unit() * (c.levels + 3)) - 1.5f;
      if (pick == 0)
        lod = (float)((int)(r.next() % (u32)((c.levels + 1) * 256))) / 256.0f + 1 / 512.0f - 0.5f;
      if (pick == 1) lod = (float)((int)(r.next() % (u32)((c.levels + 1) * 512))) / 512.0f - 0.5f;
      if (pick == 2) lod = (float)(int)(r.next() % (u32)(c.levels + 2)) - 1;
      if (pick < 3 && lod != 0 && r.next() % 2) lod = ulps(lod, (int)(r.next() % 5) - 2);
      if (pick == 3 && r.next() % 8 == 0) lod = as_f(specials[r.next() % (sizeof(specials) / 4)]);
      s.a[0] = lod;
    }
    if (c.fetch >= F_1d_grad && c.fetch <= F_cubel_grad) {
      for (int k = 0; k < 3; ++k) {
        float per = c.cube || c.unit ? 1.0f / c.w : 1.0f;
        s.a[k] = (r.unit() * 2 - 1) * per * exp2f((float)(int)(r.next() % 9) - 3);
        s.b[k] = (r.unit() * 2 - 1) * per * exp2f((float)(int)(r.next() % 9) - 3);
      }
      u32 pick = r.next() % 4;
      if (pick == 0)
        for (int k = 1; k < 3; ++k) s.a[k] = s.b[k] = 0;
      if (pick == 0) s.b[0] = 0;
      if (pick == 1) {
        for (int k = 0; k < 3; ++k) s.b[k] = 0;
      }
      if (pick == 2 && r.next() % 2) {
        float e = exp2f((float)(int)(r.next() % 6)) * (c.cube || c.unit ? 1.0f / c.w : 1.0f);
        for (int k = 0; k < 3; ++k) s.a[k] = s.b[k] = 0;
        s.a[0] = e;
        if (r.next() % 2) s.b[1] = e;
      }
    }
  }
  return all;
}
/// Over the registers of all samples; what is no number counts as one.
struct Hash {
  u32 value = 2166136261u;
  void add(u32 bits) {
    const bool is_number = (bits & 0x7fffffff) <= 0x7f800000;
    value = (value ^ (is_number ? bits : 0x7fffffff)) * 16777619u;
  }
};

}  // namespace samples_of_textures
