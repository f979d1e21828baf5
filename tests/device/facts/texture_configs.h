// SPDX-License-Identifier: MIT
// The textures of texture_samples.h.
#pragma once

#include <string>
#include <vector>

#include "tests/device/facts/texture_level_configs.h"

namespace samples_of_textures {

inline std::vector<Config> configs() {
  std::vector<Config> all;
  auto add = [&](Config c, const std::string& name) {
    c.name = name;
    c.seed = (u32)all.size() * 3 + 11;
    all.push_back(c);
  };
  // The rule of linear filtering: 32-bit floats, dense.
  for (int content : {2, 0, 1, 3}) {
    Config c;
    c.w = 8;
    c.linear = true;
    c.content = content;
    c.set = 1;
    c.n = 20000;
    c.fetch = F_1d;
    add(c, "lin1d f32 content" + std::to_string(content));
    c.h = 8;
    c.fetch = F_2d;
    c.n = 16000;
    c.set = 0;
    add(c, "lin2d f32 content" + std::to_string(content));
    c.d = 8;
    c.fetch = F_3d;
    c.n = 16000;
    add(c, "lin3d f32 content" + std::to_string(content));
  }
  struct T {
    char t;
    int b;
  };
  const T types[] = {{'u', 8}, {'s', 8}, {'u', 16}, {'s', 16}, {'f', 16}, {'f', 32}};
  for (T t : types)
    for (int ch : {1, 2, 4})
      for (int dim = 1; dim <= 3; ++dim) {
        if (dim == 3 && ch == 2) continue;
        Config c;
        c.type = t.t;
        c.bits = t.b;
        c.channels = ch;
        c.norm = t.t != 'f';
        c.linear = true;
        c.w = 16;
        if (dim > 1) c.h = 8;
        if (dim > 2) c.d = 4;
        c.fetch = F_1d + dim - 1;
        c.n = 6000;
        add(c, "lin" + std::to_string(dim) + "d " + t.t + std::to_string(t.b) + "x" +
                   std::to_string(ch));
        if (dim < 3 && ch == 1) {
          c.content = 2;
          add(c, "lin" + std::to_string(dim) + "d onehot " + t.t + std::to_string(t.b) + "x" +
                     std::to_string(ch));
        }
        if (dim < 3 && ch == 1 && t.t == 'f') {
          c.content = 1;
          add(c, "lin" + std::to_string(dim) + "d wide " + t.t + std::to_string(t.b) + "x" +
                     std::to_string(ch));
        }
      }
  // Point sampling of every type, as numbers and as fractions.
  const T every[] = {{'u', 8},  {'s', 8},  {'u', 16}, {'s', 16},
                     {'f', 16}, {'f', 32}, {'u', 32}, {'s', 32}};
  for (T t : every)
    for (int ch : {1, 2, 4})
      for (bool norm : {false, true}) {
        if (norm && (t.t == 'f' || t.b == 32)) continue;
        Config c;
        c.type = t.t;
        c.bits = t.b;
        c.channels = ch;
        c.norm = norm;
        c.w = 16;
        c.h = 8;
        c.fetch = F_2d;
        c.n = 1000;
        c.content = 3;
        add(c, std::string("point ") + t.t + std::to_string(t.b) + "x" + std::to_string(ch) +
                   (norm ? " norm" : ""));
      }
  for (T t : {T{'u', 8}, T{'s', 8}, T{'u', 16}, T{'s', 16}}) {  // all values
    Config c;
    c.type = t.t;
    c.bits = t.b;
    c.channels = 1;
    c.norm = true;
    c.w = t.b == 8 ? 256 : 16384;
    c.content = 4;
    c.fetch = F_1d;
    c.n = t.b == 8 ? 3000 : 16000;
    add(c, std::string("values ") + t.t + std::to_string(t.b));
  }
  for (bool linear : {false, true})
    for (int ch : {1, 4}) {
      Config c;
      c.type = 'u';
      c.bits = 8;
      c.channels = ch;
      c.norm = true;
      c.srgb = true;
      c.linear = linear;
      c.w = 256;
      c.content = linear ? 0 : 4;
      c.n = 8000;
      add(c, std::string("srgb ") + (linear ? "linear " : "point ") + std::to_string(ch));
      c.h = 8;
      c.fetch = F_2d;
      c.w = 16;
      c.content = 0;
      add(c, std::string("srgb2d ") + (linear ? "linear " : "point ") + std::to_string(ch));
    }
  // Address modes.
  const char* names[] = {"wrap", "clamp", "mirror", "border"};
  for (int w : {1, 2, 3, 5, 7, 16, 100, 1000, 1023, 4096, 16000, 16384, 30000, 32768})
    for (int a = 0; a < 4; ++a)
      for (bool linear : {false, true}) {
        Config c;
        c.w = w;
        c.addr[0] = a;
        c.unit = true;
        c.linear = linear;
        c.content = linear ? 2 : 5;
        c.n = 2500;
        c.border[0] = 0.75f;
        c.border[3] = 3;
        if (linear && w > 1000) c.content = 0;
        add(c, "addr1d " + std::to_string(w) + " " + names[a] + (linear ? " linear" : " point"));
      }
  for (int a = 0; a < 4; ++a)
    for (bool linear : {false, true})
      for (int w : {5, 1000}) {
        Config c;
        c.w = w;
        c.addr[0] = a;
        c.linear = linear;
        c.content = linear ? 0 : 5;
        c.n = 2000;
        c.border[0] = 0.75f;
        add(c, "addr1d texels " + std::to_string(w) + " " + names[a] +
                   (linear ? " linear" : " point"));
      }
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      for (bool linear : {false, true}) {
        Config c;
        c.w = 12;
        c.h = 7;
        c.fetch = F_2d;
        c.addr[0] = a;
        c.addr[1] = b;
        c.unit = true;
        c.linear = linear;
        c.content = linear ? 0 : 5;
        c.n = 2000;
        c.border[0] = 0.75f;
        c.border[1] = 0.3f;
        add(c,
            std::string("addr2d ") + names[a] + " " + names[b] + (linear ? " linear" : " point"));
      }
  for (int a = 0; a < 4; ++a)
    for (bool linear : {false, true}) {
      Config c;
      c.w = 6;
      c.h = 5;
      c.d = 7;
      c.fetch = F_3d;
      c.addr[0] = c.addr[1] = 1;
      c.addr[2] = a;
      c.unit = true;
      c.linear = linear;
      c.content = linear ? 0 : 5;
      c.n = 2000;
      c.border[0] = 0.75f;
      add(c, std::string("addr3d ") + names[a] + (linear ? " linear" : " point"));
    }
  for (T t : every)
    for (bool norm : {false, true})
      for (bool linear : {false, true}) {  // border colours by type
        if (norm && (t.t == 'f' || t.b == 32)) continue;
        if (linear && !norm && t.t != 'f') continue;
        for (int ch : {1, 4}) {
          Config c;
          c.type = t.t;
          c.bits = t.b;
          c.channels = ch;
          c.norm = norm;
          c.linear = linear;
          c.w = 8;
          c.h = 8;
          c.fetch = F_2d;
          c.n = 1000;
          c.addr[0] = c.addr[1] = 3;
          c.border[0] = 0.6f;
          c.border[1] = 1.5f;
          c.border[2] = -0.25f;
          c.border[3] = 300.7f;
          add(c, std::string("border ") + t.t + std::to_string(t.b) + "x" + std::to_string(ch) +
                     (norm ? " norm" : "") + (linear ? " linear" : ""));
        }
      }
  {
    Config c;
    c.type = 'u';
    c.bits = 8;
    c.channels = 4;
    c.norm = true;
    c.srgb = true;
    c.linear = true;
    c.w = 8;
    c.h = 8;
    c.fetch = F_2d;
    c.n = 1500;
    c.addr[0] = c.addr[1] = 3;
    c.border[0] = 0.6f;
    c.border[1] = 0.2f;
    c.border[3] = 0.3f;
    add(c, "border srgb linear");
  }
  // Layers.
  for (bool linear : {false, true})
    for (bool unit : {false, true}) {
      Config c;
      c.layered = true;
      c.d = 5;
      c.linear = linear;
      c.unit = unit;
      c.content = linear ? 0 : 5;
      c.w = 12;
      c.fetch = F_1dl;
      c.n = 2000;
      add(c, std::string("layers1d ") + (linear ? "linear" : "point") + (unit ? " unit" : ""));
      c.h = 6;
      c.fetch = F_2dl;
      add(c, std::string("layers2d ") + (linear ? "linear" : "point") + (unit ? " unit" : ""));
    }
  // Cubes.
  for (int w : {1, 2, 5, 16})
    for (bool linear : {false, true})
      for (bool seamless : {false, true})
        for (bool layered : {false, true}) {
          if (!linear && seamless) continue;
          Config c;
          c.cube = true;
          c.w = c.h = w;
          c.d = layered ? 18 : 6;
          c.layered = layered;
          c.unit = true;
          c.linear = linear;
          c.seamless = seamless;
          c.content = linear ? 0 : 5;
          c.fetch = layered ? F_cubel : F_cube;
          c.n = layered ? 1500 : 4000;
          add(c, "cube " + std::to_string(w) + (linear ? " linear" : " point") +
                     (seamless ? " seamless" : "") + (layered ? " layered" : ""));
          if (!layered && w == 5) {
            c.unit = false;
            add(c, "cube " + std::to_string(w) + (linear ? " linear" : " point") +
                       (seamless ? " seamless" : "") + " texels");
          }
          if (!layered && w == 16 && linear) {
            c.content = 2;
            add(c, std::string("cube 16 linear onehot") + (seamless ? " seamless" : ""));
          }
        }
  add_levels(all);
  return all;
}

}  // namespace samples_of_textures
