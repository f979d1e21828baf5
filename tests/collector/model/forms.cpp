// SPDX-License-Identifier: MIT
#include "tests/collector/model/forms.h"

#include <algorithm>
#include <sstream>

namespace warpmeter::model {
namespace {

/// {a,b} stands for each of its words, of which one may be empty.
constexpr const char* by_lane[] = {
    // Integers.
    "{add,sub,mul.lo,mul.hi,div,rem,min,max}.{u16,s16} h h h",
    "{add,sub,mul.lo,mul.hi,div,rem,min,max}.{u32,s32} r r i",
    "{add,sub,mul.lo,mul.hi,div,rem,min,max}.{u64,s64} d d i",
    "{mad.lo,mad.hi,sad}.{u16,s16} h h h h",
    "{mad.lo,mad.hi,sad}.{u32,s32} r r i r",
    "{mad.lo,mad.hi,sad}.{u64,s64} d d d d",
    "{mad.hi,mad24.hi}.sat.s32 r r r r",
    "mul.wide.{u16,s16} r h h",
    "mul.wide.{u32,s32} d r i",
    "mad.wide.{u16,s16} r h h r",
    "mad.wide.{u32,s32} d r r d",
    "mul24.{lo,hi}.{u32,s32} r r r",
    "mad24.{lo,hi}.{u32,s32} r r r r",
    "{add,sub}.sat.s32 r r i",
    "{add{,.sat},min,max}.{u16x2,s16x2} r r r",
    "{min,max}.relu.{s16x2,s32} r r r",
    "{abs,neg}.s16 h h",
    "{abs,neg}.s32 r r",
    "{abs,neg}.s64 d d",
    "{add{,.cc},addc{,.cc},sub{,.cc},subc{,.cc}}.{u32,s32} r r r",
    "{add{,.cc},addc{,.cc},sub{,.cc},subc{,.cc}}.{u64,s64} d d d",
    "{mad.lo.cc,madc.lo{,.cc}}.{u32,s32} r r r r",
    "{mad.lo.cc,madc.lo{,.cc}}.{u64,s64} d d d d",
    "{mad.hi.cc,madc.hi{,.cc}}.u32 r r r r",
    "{mad.hi.cc,madc.hi{,.cc}}.{u64,s64} d d d d",
    "dp4a.{u32,s32}.{u32,s32} r r r r",
    "dp2a.{lo,hi}.{u32,s32}.{u32,s32} r r r r",
    "v{add,sub,avrg,absdiff,min,max}{2,4}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat,.add} r r r r",
    "vset{2,4}.{u32,s32}.{u32,s32}.{eq,ne,lt,le,gt,ge}{,.add} r r r r",
    "v{add,sub,avrg,absdiff,min,max}2.s32.u32.s32{,.sat,.add} r{,.h0,.h1} r.h31 r.h02 r",
    "v{add,sub,avrg,absdiff,min,max}4.u32.s32.u32{,.sat,.add} r{,.b0,.b310} r.b7531 r.b0246 r",
    "v{add,sub,absdiff,min,max}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat}{,.min,.max} r r r.h1 r",
    "v{add,sub,absdiff,min,max}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat} r r r",
    "v{add,sub,absdiff,min,max}.{u32,s32}.s32.u32{,.sat} r.{b0,b3,h0,h1} r r.b2 r",
    "vset.{u32,s32}.{u32,s32}.{eq,ne,lt,le,gt,ge}{,.add,.min,.max} r r.h0 r r",
    "vset.{u32,s32}.u32.{lt,ge} r.{b1,h1} r r r",
    "v{shl,shr}.{u32,s32}.{u32,s32}.u32{,.sat}.{clamp,wrap}{,.add,.min,.max} r r r.b0 r",
    "v{shl,shr}.{u32,s32}.{u32,s32}.u32{,.sat}.{clamp,wrap} r.{b2,h1} r o r",
    "vmad.{u32,s32}.{u32,s32}.{u32,s32}{,.po}{,.sat}{,.shr7,.shr15} r r r r",
    "vmad.s32.{u32,s32}.{u32,s32}{,.sat}{,.shr7} r {-r r r,r -r.h0 r,r r.b1 -r}",
    // Bits.
    "{and,or,xor}.b16 h h h",
    "{and,or,xor}.b32 r r i",
    "{and,or,xor}.b64 d d i",
    "{not,cnot}.b16 h h",
    "{not,cnot}.b32 r r",
    "{not,cnot}.b64 d d",
    "shl.b16 h h o",
    "shl.b32 r r o",
    "shl.b64 d d o",
    "shr.{u16,s16,b16} h h o",
    "shr.{u32,s32,b32} r r o",
    "shr.{u64,s64,b64} d d o",
    "shf.{l,r}.{wrap,clamp}.b32 r r r o",
    "{popc,clz}.b32 r r",
    "{popc,clz}.b64 r d",
    "brev.b32 r r",
    "brev.b64 d d",
    "{bfind,bfind.shiftamt}.{u32,s32} r r",
    "{bfind,bfind.shiftamt}.{u64,s64} r d",
    "bfe.{u32,s32} r r o o",
    "bfe.{u64,s64} d d o o",
    "bfi.b32 r r r o o",
    "bfi.b64 d d d o o",
    "bmsk.{clamp,wrap}.b32 r o o",
    "szext.{clamp,wrap}.{u32,s32} r r o",
    "prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16} r r r r",
    "lop3.b32 r r r r t",
    "fns.b32 r r o o",
    // Floats.
    "{add,sub,mul}{,.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32 f f f",
    "{add,sub,mul}{,.rn,.rz,.rm,.rp}.f64 g g g",
    "div.{rn,rz,rm,rp}{,.ftz}.f32 f f f",
    "div.{rn,rz,rm,rp}.f64 g g g",
    "{fma,mad}.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32 f f f f",
    "{fma,mad}.{rn,rz,rm,rp}.f64 g g g g",
    "{rcp,sqrt}.{rn,rz,rm,rp}{,.ftz}.f32 f f",
    "{rcp,sqrt}.{rn,rz,rm,rp}.f64 g g",
    "{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f32 f f f",
    "{min,max}{,.ftz}{,.NaN}.f32 f f f f",
    "{min,max}.f64 g g g",
    "{abs,neg}{,.ftz}.f32 f f",
    "{abs,neg}.f64 g g",
    "copysign.f32 f f f",
    "copysign.f64 g g g",
    "{add,sub,mul}{,.rn}{,.ftz}.f32x2 d d d",
    "fma.rn{,.ftz}.f32x2 d d d d",
    "testp.{finite,infinite,number,notanumber,normal,subnormal}.f32 p f",
    "testp.{finite,infinite,number,notanumber,normal,subnormal}.f64 p g",
    "{add,sub,mul}{,.rn}{,.ftz}{,.sat}.f16 x x x",
    "{add,sub,mul}{,.rn}{,.ftz}{,.sat}.f16x2 v v v",
    "{add,sub,mul}{,.rn}{,.sat}.bf16 y y y",  // .sat: the machine takes more than PTX has
    "{add,sub,mul}{,.rn}{,.sat}.bf16x2 w w w",
    "fma.rn{,.ftz}{,.sat,.relu}.f16 x x x x",
    "fma.rn{,.ftz}{,.sat,.relu}.f16x2 v v v v",
    "fma.rn{,.relu}.bf16 y y y y",
    "fma.rn{,.relu}.bf16x2 w w w w",
    "{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f16 x x x",
    "{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f16x2 v v v",
    "{min,max}{,.NaN}{,.xorsign.abs}.bf16 y y y",
    "{min,max}{,.NaN}{,.xorsign.abs}.bf16x2 w w w",
    "{abs,neg}{,.ftz}.f16 x x",
    "{abs,neg}{,.ftz}.f16x2 v v",
    "{abs,neg}.bf16 y y",
    "{abs,neg}.bf16x2 w w",
    // Comparisons and choices.
    "setp.{eq,ne,lt,le,gt,ge}.{u16,s16} p h h",
    "setp.{eq,ne,lt,le,gt,ge}.{u32,s32} p{,|p} r i",
    "setp.{eq,ne,lt,le,gt,ge}.{u64,s64} p d i",
    "setp.{eq,ne}.b16 p h h",
    "setp.{eq,ne}.b32 p r i",
    "setp.{eq,ne}.b64 p d i",
    "setp.{lo,ls,hi,hs}.u16 p h h",
    "setp.{lo,ls,hi,hs}.u32 p{,|p} r r",
    "setp.{lo,ls,hi,hs}.u64 p d d",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.f32 p{,|p} f f",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.f64 p{,|p} g g",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.f16 p{,|p} x x",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.bf16 p{,|p} y y",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.f16x2 p|p v v",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.bf16x2 p|p w w",
    "setp.{lt,ge,eq}.{and,or,xor}.{u16,s16} p{,|p} h h {,!}p",
    "setp.{lt,ge,eq}.{and,or,xor}.{u32,s32} p{,|p} r i {,!}p",
    "setp.{lt,ge,eq}.{and,or,xor}.{u64,s64} p{,|p} d d {,!}p",
    "setp.{lt,neu,num}.{and,or,xor}.f32 p{,|p} f f {,!}p",
    "setp.{lt,neu,num}.{and,or,xor}.f64 p{,|p} g g {,!}p",
    "setp.{lt,neu,num}.{and,or,xor}.f16 p{,|p} x x {,!}p",
    "setp.{lt,neu,num}.{and,or,xor}.bf16 p{,|p} y y {,!}p",
    "set.{eq,ne,lt,le,gt,ge}.{u32,s32}.{u16,s16} r h h",
    "set.{eq,ne,lt,le,gt,ge}.{u32,s32}.{u32,s32} r r i",
    "set.{eq,ne,lt,le,gt,ge}.{u32,s32}.{u64,s64} r d d",
    "set.{eq,ne}.{u32,s32}.b16 r h h",
    "set.{eq,ne}.{u32,s32}.b32 r r r",
    "set.{eq,ne}.{u32,s32}.b64 r d d",
    "set.{lo,ls,hi,hs}.{u32,s32}.u32 r r r",
    "set.{eq,ne,lt,le,gt,ge}.f32.{u16,s16} f h h",
    "set.{eq,ne,lt,le,gt,ge}.f32.{u32,s32} f r r",
    "set.{eq,ne,lt,le,gt,ge}.f32.{u64,s64} f d d",
    "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.{u32,s32}.f32 r f f",
    "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.f32.f32 f f f",
    "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{u32,s32}.f64 r g g",
    "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.f32.f64 f g g",
    "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.{u16,s16}.f16 h x x",
    "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.{u32,s32}.f16 r x x",
    "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.f16.f16 x x x",
    "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.f16x2.f16x2 v v v",
    "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{u16,s16}.bf16 h y y",
    "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{u32,s32}.bf16 r y y",
    "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.bf16.bf16 y y y",
    "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.bf16x2.bf16x2 w w w",
    "set.{lt,ge}.{and,or,xor}.u32.s32 r r i {,!}p",
    "set.{lt,neu}.{and,or,xor}.u32.f32 r f f {,!}p",
    "{and,or,xor}.pred p p p",
    "not.pred p p",
    "mov.{u16,b16,s16} h h",
    "mov.{u32,b32,s32} r i",
    "mov.{u64,b64,s64} d i",
    "mov.f32 f f",
    "mov.f64 g g",
    "mov.pred p p",
    "mov.b16 {x,y} h",
    "mov.b32 {v,w,f} r",
    "mov.b64 g d",
    "mov.b32 hh r",
    "mov.b32 r hh",
    "mov.b32 xx v",
    "mov.b32 v xx",
    "mov.b64 rr d",
    "mov.b64 d rr",
    "mov.b64 hhhh d",
    "mov.b64 d hhhh",
    "selp.{b16,u16,s16} h h h {,!}p",
    "selp.{b32,u32,s32} r r i {,!}p",
    "selp.{b64,u64,s64} d d d {,!}p",
    "selp.f32 f f f p",
    "selp.f64 g g g p",
    "selp.b16 {x x x,y y y} p",
    "slct.{b16,u16,s16}.s32 h h h r",
    "slct.{b16,u16,s16}{,.ftz}.f32 h h h f",
    "slct.{b32,u32,s32}.s32 r r r r",
    "slct.{b64,u64,s64}.s32 d d d r",
    "slct.{b32,u32,s32}{,.ftz}.f32 r r r f",
    "slct.{b64,u64,s64}{,.ftz}.f32 d d d f",
    "slct.f32.s32 f f f r",
    "slct.f64.s32 g g g r",
    "slct.f32{,.ftz}.f32 f f f f",
    "slct.f64{,.ftz}.f32 g g g f",
    // Conversions.
    "cvt{,.sat}.{u16,s16,u8,s8}.{u16,s16,u8,s8} h h",
    "cvt{,.sat}.{u16,s16,u8,s8}.{u32,s32} h r",
    "cvt{,.sat}.{u16,s16,u8,s8}.{u64,s64} h d",
    "cvt{,.sat}.{u32,s32}.{u16,s16,u8,s8} r h",
    "cvt{,.sat}.{u32,s32}.{u32,s32} r r",
    "cvt{,.sat}.{u32,s32}.{u64,s64} r d",
    "cvt{,.sat}.{u64,s64}.{u16,s16,u8,s8} d h",
    "cvt{,.sat}.{u64,s64}.{u32,s32} d r",
    "cvt{,.sat}.{u64,s64}.{u64,s64} d d",
    "cvt.{rn,rz,rm,rp}{,.sat}.f32.{u16,s16,u8,s8} f h",
    "cvt.{rn,rz,rm,rp}{,.sat}.f32.{u32,s32} f r",
    "cvt.{rn,rz,rm,rp}{,.sat}.f32.{u64,s64} f d",
    "cvt.{rn,rz,rm,rp}{,.sat}.f64.{u16,s16,u8,s8} g h",
    "cvt.{rn,rz,rm,rp}{,.sat}.f64.{u32,s32} g r",
    "cvt.{rn,rz,rm,rp}{,.sat}.f64.{u64,s64} g d",
    "cvt.{rn,rz,rm,rp}{,.sat}.f16.{u16,s16,u8,s8} x h",
    "cvt.{rn,rz,rm,rp}{,.sat}.f16.{u32,s32} x r",
    "cvt.{rn,rz,rm,rp}{,.sat}.f16.{u64,s64} x d",
    "cvt.{rn,rz,rm,rp}.bf16.{u16,s16,u8,s8} y h",
    "cvt.{rn,rz,rm,rp}.bf16.{u32,s32} y r",
    "cvt.{rn,rz,rm,rp}.bf16.{u64,s64} y d",
    "cvt.{rni,rzi,rmi,rpi}{,.ftz}{,.sat}.{u16,s16,u8,s8}.f32 h f",
    "cvt.{rni,rzi,rmi,rpi}{,.ftz}{,.sat}.{u32,s32}.f32 r f",
    "cvt.{rni,rzi,rmi,rpi}{,.ftz}{,.sat}.{u64,s64}.f32 d f",
    "cvt.{rni,rzi,rmi,rpi}{,.sat}.{u16,s16,u8,s8}.f64 h g",
    "cvt.{rni,rzi,rmi,rpi}{,.sat}.{u32,s32}.f64 r g",
    "cvt.{rni,rzi,rmi,rpi}{,.sat}.{u64,s64}.f64 d g",
    "cvt.{rni,rzi,rmi,rpi}{,.sat}.{u16,s16,u8,s8}.f16 h x",
    "cvt.{rni,rzi,rmi,rpi}{,.sat}.{u32,s32}.f16 r x",
    "cvt.{rni,rzi,rmi,rpi}{,.sat}.{u64,s64}.f16 d x",
    "cvt.{rni,rzi,rmi,rpi}.{u16,s16,u8,s8}.bf16 h y",
    "cvt.{rni,rzi,rmi,rpi}.{u32,s32}.bf16 r y",
    "cvt.{rni,rzi,rmi,rpi}.{u64,s64}.bf16 d y",
    "cvt{.rni,.rzi,.rmi,.rpi,}{,.ftz}{,.sat}.f32.f32 f f",
    "cvt{.rni,.rzi,.rmi,.rpi,}{,.sat}.f64.f64 g g",
    "cvt{.rni,.rzi,.rmi,.rpi,}{,.sat}.f16.f16 x x",
    "cvt.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32.f64 f g",
    "cvt{,.ftz}{,.sat}.f64.f32 g f",
    "cvt{,.ftz}{,.sat}.f32.f16 f x",
    "cvt{,.sat}.f64.f16 g x",
    "cvt{,.ftz}{,.sat}.f32.bf16 f y",
    "cvt.f64.bf16 g y",
    "cvt.{rn,rz,rm,rp}{,.ftz}{,.sat}.f16.f32 x f",
    "cvt.{rn,rz}{.relu,.satfinite,.relu.satfinite}.f16.f32 x f",
    "cvt.{rn,rz,rm,rp}{,.sat}.f16.f64 x g",
    "cvt.{rn,rz,rm,rp}.bf16.f32 y f",
    "cvt.{rn,rz}{.relu,.satfinite,.relu.satfinite}.bf16.f32 y f",
    "cvt.{rn,rz,rm,rp}.bf16.f64 y g",
    "cvt.{rn,rz}.bf16.f16 y x",
    "cvt.{rn,rz,rm,rp}.f16.bf16 x y",
    "cvt.rna{,.satfinite}.tf32.f32 r f",
    "cvt.{rn,rz}{,.relu}{,.satfinite}.tf32.f32 r f",
    "cvt.{rn,rz}{,.relu}{,.satfinite}.f16x2.f32 v f f",
    "cvt.{rn,rz}{,.relu}{,.satfinite}.bf16x2.f32 w f f",
    "cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f32 h f f",
    "cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f16x2 h v",
    "cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2} v h",
    "cvt.pack.sat.{u16,s16}.s32 r r r",
    "cvt.pack.sat.{u8,s8}.s32.b32 r r r r",
    // Memory.
    "ld{,.global,.shared,.local}.{u8,s8,b8,u16,s16,b16} h M",
    "ld{,.global,.shared,.local}.{u8,s8,b8,u16,s16,b16,u32,s32,b32} r M",
    "ld{,.global,.shared,.local}.{u8,s8,b8,u16,s16,b16,u32,s32,b32,u64,s64,b64} d M",
    "ld{,.global,.shared,.local}.f32 f M",
    "ld{,.global,.shared,.local}.f64 g M",
    "ld{,.global,.shared,.local}.v2.{u8,s8,b8,u16,s16,b16} hh M",
    "ld{,.global,.shared,.local}.v4.{u8,s8,b8,u16,s16,b16} hhhh M",
    "ld{,.global,.shared,.local}.v2.{u8,s8,u16,s16,u32,s32,b32} rr M",
    "ld{,.global,.shared,.local}.v4.{u8,s8,u16,s16,u32,s32,b32} rrrr M",
    "ld{,.global,.shared,.local}.v2.{u8,s8,u16,s16,u32,s32,u64,s64,b64} dd M",
    "ld{,.global,.shared,.local}.v2.f32 ff M",
    "ld{,.global,.shared,.local}.v4.f32 ffff M",
    "ld{,.global,.shared,.local}.v2.f64 gg M",
    "st{,.global,.shared,.local}.{u8,s8,b8,u16,s16,b16} M h",
    "st{,.global,.shared,.local}.{u8,s8,b8,u16,s16,b16,u32,s32,b32} M r",
    "st{,.global,.shared,.local}.{u8,s8,b8,u16,s16,b16,u32,s32,b32,u64,s64,b64} M d",
    "st{,.global,.shared,.local}.v2.{u8,s8,b8,u16,s16,b16} M hh",
    "st{,.global,.shared,.local}.v4.{u8,s8,b8,u16,s16,b16} M hhhh",
    "st{,.global,.shared,.local}.v2.{u8,u16,u32,s32,b32} M rr",
    "st{,.global,.shared,.local}.v4.{u32,s32,b32} M rrrr",
    "st{,.global,.shared,.local}.v2.{u8,u16,u32,u64,s64,b64} M dd",
    "atom{,.global,.shared}.{add,min,max}.{u32,s32} r M r",
    "atom{,.global,.shared}.{and,or,xor,exch}.b32 r M r",
    "atom{,.global,.shared}.{inc,dec}.u32 r M r",
    "atom{,.global,.shared}.cas.b32 r M r r",
    "atom{,.global,.shared}.{add.u64,min.u64,min.s64,max.u64,max.s64} d M d",
    "atom{,.global,.shared}.{and,or,xor,exch}.b64 d M d",
    "atom{,.global,.shared}.cas.b64 d M d d",
    "atom{,.global,.shared}.cas.b16 h M h h",
    "red{,.global,.shared}.{add,min,max}.{u32,s32} M r",
    "red{,.global,.shared}.{and,or,xor}.b32 M r",
    "red{,.global,.shared}.{inc,dec}.u32 M r",
    "red{,.global,.shared}.{add.u64,min.u64,min.s64,max.u64,max.s64} M d",
    "red{,.global,.shared}.{and,or,xor}.b64 M d",
};

constexpr const char* lonely[] = {
    "st{,.global,.shared,.local}.f32 M f",
    "st{,.global,.shared,.local}.f64 M g",
    "st{,.global,.shared,.local}.v2.f32 M ff",
    "st{,.global,.shared,.local}.v4.f32 M ffff",
    "st{,.global,.shared,.local}.v2.f64 M gg",
    "atom{,.global,.shared}.add.f32 f M f",
    "atom{,.global,.shared}.add.f64 g M g",
    "atom{,.global,.shared}.add.noftz.f16 x M x",
    "atom{,.global,.shared}.add.noftz.f16x2 v M v",
    "atom{,.global,.shared}.add.noftz.bf16 y M y",
    "atom{,.global,.shared}.add.noftz.bf16x2 w M w",
    "red{,.global,.shared}.add.f32 M f",
    "red{,.global,.shared}.add.f64 M g",
    "red{,.global,.shared}.add.noftz.f16 M x",
    "red{,.global,.shared}.add.noftz.f16x2 M v",
    "red{,.global,.shared}.add.noftz.bf16 M y",
    "red{,.global,.shared}.add.noftz.bf16x2 M w",
};

constexpr const char* by_group[] = {
    "vote.sync.{all,any,uni}.pred p {,!}p K",
    "vote.sync.ballot.b32 r {,!}p K",
    "match.any.sync.b32 r r K",
    "match.any.sync.b64 r d K",
    "match.all.sync.b32 r{,|p} r K",
    "match.all.sync.b64 r{,|p} d K",
    "redux.sync.{add,min,max}.{u32,s32} r r K",
    "redux.sync.{and,or,xor}.b32 r r K",
    "elect.sync r|p K",
    "bar.warp.sync K",
};

constexpr const char* by_warp[] = {
    "shfl.sync.{up,down,bfly,idx}.b32 r{,|p} r o s K",
    "activemask.b32 r",
    "bar.red.popc.u32 r 0 {,!}p",
    "bar.red.{and,or}.pred p 0 {,!}p",
    "bar.sync 0",
};

template <std::size_t n>
std::vector<Form> all_of(const char* const (&forms)[n]) {
  std::vector<std::string> lines;
  for (const char* form : forms) {
    for (std::string& line : expanded(form)) lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::vector<Form> result;
  for (const std::string& line : lines) {
    std::istringstream words(line);
    Form form;
    words >> form.name;
    for (std::string word; words >> word;) form.operands.push_back(word);
    result.push_back(std::move(form));
  }
  return result;
}

}  // namespace

const std::vector<Form>& lane_forms() {
  static const std::vector<Form> forms = all_of(by_lane);
  return forms;
}
const std::vector<Form>& lonely_forms() {
  static const std::vector<Form> forms = all_of(lonely);
  return forms;
}
const std::vector<Form>& group_forms() {
  static const std::vector<Form> forms = all_of(by_group);
  return forms;
}
const std::vector<Form>& warp_forms() {
  static const std::vector<Form> forms = all_of(by_warp);
  return forms;
}

std::vector<Form> every_form() {
  std::vector<Form> all;
  for (const auto* forms : {&lane_forms(), &lonely_forms(), &group_forms(), &warp_forms()}) {
    all.insert(all.end(), forms->begin(), forms->end());
  }
  return all;
}

}  // namespace warpmeter::model
