// SPDX-License-Identifier: MIT
// More textures of texture_samples.h: those with levels, and those that are gathered from or
// fetched.
#pragma once

#include <string>
#include <vector>

#include "tests/device/facts/texture_samples.h"

namespace samples_of_textures {

inline void add_levels(std::vector<Config>& all) {
  auto add = [&](Config c, const std::string& name) {
    c.name = name;
    c.seed = (u32)all.size() * 3 + 11;
    all.push_back(c);
  };
  struct T {
    char t;
    int b;
  };
  const T types[] = {{'u', 8}, {'s', 8}, {'u', 16}, {'s', 16}, {'f', 16}, {'f', 32}};
  const T every[] = {{'u', 8},  {'s', 8},  {'u', 16}, {'s', 16},
                     {'f', 16}, {'f', 32}, {'u', 32}, {'s', 32}};
  const char* names[] = {"wrap", "clamp", "mirror", "border"};
  // Levels.
  for (int fetch :
       {F_1d_lod, F_2d_lod, F_3d_lod, F_1dl_lod, F_2dl_lod, F_cube_lod, F_cubel_lod, F_1d_grad,
        F_2d_grad, F_3d_grad, F_1dl_grad, F_2dl_grad, F_cube_grad, F_cubel_grad, F_2d, F_cube})
    for (bool linear : {false, true})
      for (bool miplinear : {false, true})
        for (int variant = 0; variant < 4; ++variant) {
          Config c;
          c.fetch = fetch;
          c.linear = linear;
          c.miplinear = miplinear;
          c.levels = 5;
          c.unit = true;
          c.w = 16;
          c.n = fetch == F_2d_grad || fetch == F_2d_lod ? 3000 : 1200;
          const int base = fetch >= F_1d_grad  ? fetch - F_1d_grad
                           : fetch >= F_1d_lod ? fetch - F_1d_lod
                                               : fetch - F_1d;
          if (base != 0 && base != 3) c.h = base >= 5 ? 16 : 12;
          if (base == 2) c.d = 6;
          if (base == 3 || base == 4) c.d = 3, c.layered = true;
          if (base == 5) c.d = 6, c.cube = true;
          if (base == 6) c.d = 12, c.cube = c.layered = true;
          c.content = linear || miplinear ? 0 : 5;
          if (variant == 1) c.bias = 0.7f, c.minl = 0.3f, c.maxl = 2.6f;
          if (variant == 2) {
            if (!miplinear) continue;
            c.content = 5;
            c.notrilinear = true;
          }
          if (variant == 3) {
            if (fetch != F_2d_grad && fetch != F_2d_lod) continue;
            c.w = 64;
            c.h = 37;
            c.levels = 6;
            c.bias = -0.3f;
            c.unit = true;
            c.maxl = 3.5f;
          }
          add(c, "levels fetch" + std::to_string(fetch) + (linear ? " linear" : " point") +
                     (miplinear ? " miplinear" : "") + " v" + std::to_string(variant));
        }
  for (int content : {0, 1, 2})
    for (int bits : {32, 16}) {
      Config c;
      c.bits = bits;
      c.fetch = F_2d_lod;
      c.linear = c.miplinear = true;
      c.levels = 4;
      c.unit = true;
      c.w = c.h = 8;
      c.content = content;
      c.n = 8000;
      add(c, "trilinear f" + std::to_string(bits) + " content" + std::to_string(content));
    }
  for (T t : types)
    if (t.t != 'f') {
      Config c;
      c.type = t.t;
      c.bits = t.b;
      c.channels = 4;
      c.norm = true;
      c.fetch = F_2d_lod;
      c.linear = c.miplinear = true;
      c.levels = 4;
      c.unit = true;
      c.w = c.h = 8;
      c.n = 3000;
      add(c, std::string("trilinear ") + t.t + std::to_string(t.b));
    }
  // Anisotropy.
  for (int aniso : {1, 2, 3, 4, 8, 16})
    for (bool miplinear : {false, true})
      for (int content : {0, 2, 5}) {
        Config c;
        c.fetch = F_2d_grad;
        c.linear = true;
        c.miplinear = miplinear;
        c.aniso = aniso;
        c.levels = 5;
        c.unit = true;
        c.w = c.h = 32;
        c.content = content;
        c.n = 3000;
        add(c, "aniso " + std::to_string(aniso) + (miplinear ? " miplinear" : "") + " content" +
                   std::to_string(content));
        if (aniso == 16 && content == 2) {
          c.fetch = F_2d_lod;
          add(c, std::string("aniso lod") + (miplinear ? " miplinear" : ""));
        }
      }
  // Gathers.
  for (T t : {T{'f', 32}, T{'u', 8}, T{'s', 32}, T{'f', 16}})
    for (int g = 0; g < 4; ++g)
      for (int unit = 0; unit < 2; ++unit) {
        Config c;
        c.type = t.t;
        c.bits = t.b;
        c.channels = 4;
        c.gather = true;
        c.fetch = F_g0 + g;
        c.w = 12;
        c.h = 7;
        c.unit = unit;
        c.addr[0] = unit ? g : 1;
        c.addr[1] = unit ? 3 - g : 3;
        c.border[0] = 0.7f;
        c.border[1] = 2;
        c.content = 3;
        c.n = 1500;
        add(c, std::string("gather ") + t.t + std::to_string(t.b) + " " + std::to_string(g) +
                   (unit ? " unit" : ""));
        if (t.t == 'u') {
          c.norm = true;
          c.linear = true;
          add(c, std::string("gather norm linear ") + std::to_string(g) + (unit ? " unit" : ""));
        }
        if (g == 0) {
          c.channels = 1;
          c.norm = false;
          c.linear = false;
          add(c, std::string("gather one channel ") + t.t + std::to_string(t.b) +
                     (unit ? " unit" : ""));
        }
      }
  // Linear memory, and rows.
  for (T t : every)
    for (int ch : {1, 2, 4}) {
      Config c;
      c.source = S_linear;
      c.fetch = F_fetch1d;
      c.type = t.t;
      c.bits = t.b;
      c.channels = ch;
      c.w = 1000;
      c.content = 3;
      c.n = 800;
      add(c, std::string("fetch ") + t.t + std::to_string(t.b) + "x" + std::to_string(ch));
      if (t.t != 'f' && t.b < 32) {
        c.norm = true;
        add(c, std::string("fetch norm ") + t.t + std::to_string(t.b) + "x" + std::to_string(ch));
      }
    }
  {
    Config c;
    c.fetch = F_fetch1d;
    c.w = 100;
    c.content = 5;
    add(c, "fetch of an array");
    c.linear = true;
    add(c, "fetch of an array linear");
  }
  {
    Config c;
    c.source = S_linear;
    c.fetch = F_1d;
    c.w = 100;
    c.content = 5;
    add(c, "tex1D of linear memory");
  }
  {
    Config c;
    c.source = S_linear;
    c.fetch = F_fetch1d;
    c.w = 1000;
    c.content = 5;
    c.addr[0] = 3;
    c.border[0] = 5;
    add(c, "fetch border");
  }
  {
    Config c;
    c.source = S_linear;
    c.fetch = F_fetch1d;
    c.w = 256;
    c.type = 'u';
    c.bits = 8;
    c.channels = 4;
    c.norm = c.srgb = true;
    add(c, "fetch srgb");
  }
  for (int a = 0; a < 4; ++a)
    for (bool linear : {false, true})
      for (bool unit : {false, true})
        for (T t : {T{'f', 32}, T{'u', 8}}) {
          Config c;
          c.source = S_pitch;
          c.fetch = F_2d;
          c.w = 37;
          c.h = 11;
          c.addr[0] = c.addr[1] = a;
          c.linear = linear;
          c.unit = unit;
          c.type = t.t;
          c.bits = t.b;
          c.channels = 1;
          c.norm = t.t == 'u';
          c.n = 1200;
          c.border[0] = 0.5f;
          add(c, std::string("pitch ") + names[a] + (linear ? " linear" : " point") +
                     (unit ? " unit " : " ") + t.t);
        }
  // Views: of what has the same size of element.
  for (int view : {0x03, 0x08, 0x10, 0x14, 0x16}) {
    Config c;
    c.w = 16;
    c.h = 8;
    c.fetch = F_2d;
    c.type = 'u';
    c.bits = 32;
    c.channels = 1;
    c.view = view;
    c.n = 600;
    add(c, "view " + std::to_string(view));
  }
}

}  // namespace samples_of_textures
