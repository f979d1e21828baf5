// SPDX-License-Identifier: MIT
// Every instruction of PTX, a row each: what the parser, the analyses, the decoder, the checker,
// `--accepts` and the tests' list of forms know of it. Included with macros that pick what they
// need (row.h, row.cpp).
//
// INSTRUCTION(opcode, names, forms, effects, execution, since): what the machine executes.
// REFUSED(opcode, names, effects, what it does, what to do instead, since): what it does not.
//
//   names    what the text begins with; the longest name that fits is the instruction's
//   forms    what may follow; empty for those of Execution::value and ::logic, whose forms are
//   those
//            of machine/operations.h, with what each computes
//   effects  on registers, memory, control and other lanes (row.h)
//   since    PTX version and architecture: 78, 90 is PTX 7.8 for sm_90
//
// Names and forms hold choices: "{,.sync}.{all,any}.pred" is four forms; what a star follows may
// come several times in any order, or not at all.

#ifndef INSTRUCTION
#define INSTRUCTION(...)
#endif
#ifndef REFUSED
#define REFUSED(...)
#endif

#define QUALIFIERS                                                                             \
  ".weak,.volatile,.relaxed,.acquire,.release,.acq_rel,.mmio,.sc,.unified,.cta,.cluster,.gpu," \
  ".sys,.ca,.cg,.cs,.lu,.cv,.wb,.wt,.nc,.noftz,.global,.shared,.shared::cta,.shared::cluster," \
  ".local,.const,.param,.param::entry,.param::func,.L1::evict_normal,.L1::evict_unchanged,"    \
  ".L1::evict_first,.L1::evict_last,.L1::no_allocate,.L2::evict_normal,.L2::evict_first,"      \
  ".L2::evict_last,.L2::cache_hint,.L2::64B,.L2::128B,.L2::256B"
#define ACCESSED "{b8,u8,s8,b16,u16,s16,b32,u32,s32,b64,u64,s64,b128,f16,bf16,f16x2,bf16x2,f32,f64}"
#define CHANGED "{b16,b32,u32,s32,b64,u64,s64,b128,f16,bf16,f16x2,bf16x2,f32,f64}"
// As the examples of PTX's own manual write atomics on vectors.
#define VECTOR_FIRST "{.v2,.v4,.v8}.{f16,bf16,f16x2,bf16x2,f32}.{add,min,max}"
#define L2_EVICTION ".L2::evict_normal,.L2::evict_unchanged,.L2::evict_first,.L2::evict_last"
#define SPACE \
  "{global,shared,shared::cta,shared::cluster,local,const,param,param::entry,param::func}"
#define COMPARISON "{eq,ne,lt,le,gt,ge,lo,ls,hi,hs,equ,neu,ltu,leu,gtu,geu,num,nan}"
#define COMPARED "{b16,u16,s16,b32,u32,s32,b64,u64,s64,f16,bf16,f16x2,bf16x2,f32,f64}"
#define SELECTED "{b16,u16,s16,b32,u32,s32,b64,u64,s64,f16,bf16,f16x2,bf16x2,f32,f64}"
#define CONVERTED "u8,s8,u16,s16,u32,s32,u64,s64,f16,bf16,f32,f64,f16x2,bf16x2,e4m3x2,e5m2x2"
#define CONVERSION                                                                                \
  "{.pack,.rn,.rz,.rm,.rp,.rna,.rni,.rzi,.rmi,.rpi,.ftz,.sat,.satfinite,.relu}*.{tf32," CONVERTED \
  "}.{" CONVERTED "}{,.b32}"
#define FENCES                                                                                    \
  ".sc,.acq_rel,.acquire,.release,.relaxed,.cta,.cluster,.gpu,.sys,.mbarrier_init,.proxy,.alias," \
  ".async,.async::generic,.global,.shared::cta,.shared::cluster,.tensormap::generic,"             \
  ".sync_restrict::shared::cta,.sync_restrict::shared::cluster"
#define BARRIER_OBJECT                                                                            \
  ".expect_tx,.noComplete,.parity,.release,.relaxed,.acquire,.cta,.cluster,.shared,.shared::cta," \
  ".shared::cluster"
#define SIGNS "{u32,s32}"
#define VIDEO_FORMS "." SIGNS "." SIGNS "." SIGNS "{,.sat}{,.add,.min,.max}"
#define VIDEO_SHIFTS \
  "." SIGNS "." SIGNS ".u32{{,.sat}.{clamp,wrap},.{clamp,wrap}.sat}{,.add,.min,.max}"
#define FRAGMENT_SPACE "{,.global,.shared,.shared::cta}"
#define FRAGMENT_OF_SUM                                                   \
  ".sync.aligned.{row,col}.{{m16n16k16,m8n32k16,m32n8k16}" FRAGMENT_SPACE \
  ".{f16,f32,s32},m16n16k8" FRAGMENT_SPACE ".f32,m8n8k4" FRAGMENT_SPACE   \
  ".f64,{m8n8k32,m8n8k128}" FRAGMENT_SPACE ".s32}"
// ptxas takes the number and the transposition in front of the shape too, and people write it so.
#define MATRIX_FORM                                                                     \
  ".sync.aligned.{m8n8.{x1,x2,x4}{,.trans},{x1,x2,x4}.{m8n8{,.trans},trans.m8n8}}{,.sh" \
  "ared,.shared::cta}.b16"

// Integer arithmetic.
INSTRUCTION(abs, "abs", "", result, value, (Since{10, 10}))
INSTRUCTION(add, "add", "", result, value, (Since{10, 10}))
INSTRUCTION(addc, "addc", "", result, value, (Since{10, 10}))
INSTRUCTION(bfe, "bfe", "", result, value, (Since{20, 20}))
INSTRUCTION(bfi, "bfi", ".{b32,b64}", result, insert, (Since{20, 20}))
INSTRUCTION(bfind, "bfind", "", result, value, (Since{20, 20}))
INSTRUCTION(bmsk, "bmsk", "", result, value, (Since{76, 70}))
INSTRUCTION(brev, "brev", "", result, value, (Since{20, 20}))
INSTRUCTION(clz, "clz", "", result, value, (Since{20, 20}))
INSTRUCTION(div, "div", "", result, value, (Since{10, 10}))
INSTRUCTION(dp2a, "dp2a", "", result, value, (Since{50, 61}))
INSTRUCTION(dp4a, "dp4a", "", result, value, (Since{50, 61}))
INSTRUCTION(fns, "fns", "", result, value, (Since{60, 30}))
INSTRUCTION(mad, "mad", "", result, value, (Since{10, 10}))
INSTRUCTION(mad24, "mad24", "", result, value, (Since{10, 10}))
INSTRUCTION(madc, "madc", "", result, value, (Since{30, 20}))
INSTRUCTION(max, "max", "", result, value, (Since{10, 10}))
INSTRUCTION(min, "min", "", result, value, (Since{10, 10}))
INSTRUCTION(mul, "mul", "", result, value, (Since{10, 10}))
INSTRUCTION(mul24, "mul24", "", result, value, (Since{10, 10}))
INSTRUCTION(neg, "neg", "", result, value, (Since{10, 10}))
INSTRUCTION(popc, "popc", "", result, value, (Since{20, 20}))
INSTRUCTION(rem, "rem", "", result, value, (Since{10, 10}))
INSTRUCTION(sad, "sad", "", result, value, (Since{10, 10}))
INSTRUCTION(sub, "sub", "", result, value, (Since{10, 10}))
INSTRUCTION(subc, "subc", "", result, value, (Since{10, 10}))
INSTRUCTION(szext, "szext", "", result, value, (Since{76, 70}))

// Floating point.
INSTRUCTION(copysign, "copysign", "", result, value, (Since{20, 20}))
INSTRUCTION(cos, "cos", "", result, value, (Since{10, 10}))
INSTRUCTION(ex2, "ex2", "", result, value, (Since{10, 10}))
INSTRUCTION(fma, "fma", "", result, value, (Since{10, 10}))
INSTRUCTION(lg2, "lg2", "", result, value, (Since{10, 10}))
INSTRUCTION(rcp, "rcp", "", result, value, (Since{10, 10}))
INSTRUCTION(rsqrt, "rsqrt", "", result, value, (Since{10, 10}))
INSTRUCTION(sin, "sin", "", result, value, (Since{10, 10}))
INSTRUCTION(sqrt, "sqrt", "", result, value, (Since{10, 10}))
INSTRUCTION(tanh, "tanh", "", result, value, (Since{70, 75}))
INSTRUCTION(testp, "testp", "", result, value, (Since{20, 20}))

// Comparison and selection.
INSTRUCTION(selp, "selp", "." SELECTED, result, select, (Since{10, 10}))
INSTRUCTION(set, "set",
            "." COMPARISON
            "{,.and,.or,.xor}{,.ftz}.{u16,s16,u32,s32,f16,bf16,f32,f16x2,bf16x2}." COMPARED,
            result, set, (Since{10, 10}))
INSTRUCTION(setp, "setp", "." COMPARISON "{,.and,.or,.xor}{,.ftz}." COMPARED, result, set_predicate,
            (Since{10, 10}))
INSTRUCTION(slct, "slct", "", result, value, (Since{10, 10}))

// Logic and shifts.
INSTRUCTION(and_, "and", "", result, logic, (Since{10, 10}))
INSTRUCTION(or_, "or", "", result, logic, (Since{10, 10}))
INSTRUCTION(xor_, "xor", "", result, logic, (Since{10, 10}))
INSTRUCTION(not_, "not", "", result, logic, (Since{10, 10}))
INSTRUCTION(cnot, "cnot", "", result, value, (Since{10, 10}))
INSTRUCTION(lop3, "lop3", "{,.or,.and}.b32", result, lookup, (Since{43, 50}))
INSTRUCTION(shf, "shf", "", result, value, (Since{31, 32}))
INSTRUCTION(shl, "shl", "", result, value, (Since{10, 10}))
INSTRUCTION(shr, "shr", "", result, value, (Since{10, 10}))

// Movement and conversion.
INSTRUCTION(cvt, "cvt", CONVERSION, result, convert, (Since{10, 10}))
INSTRUCTION(cvta, "cvta", "{,.to}." SPACE ".{u32,u64,s64,b64}", result, convert_address,
            (Since{20, 20}))
INSTRUCTION(isspacep, "isspacep", "." SPACE, result, is_in_space, (Since{20, 20}))
REFUSED(istypep, "istypep", result, "asks for the type of a handle", on_a_gpu, (Since{40, 30}))
INSTRUCTION(mov, "mov",
            ".{pred,b16,u16,s16,b32,u32,s32,b64,u64,s64,b128,f16,bf16,f16x2,bf16x2,f32,f64}",
            result, move, (Since{10, 10}))
INSTRUCTION(prmt, "prmt", "", result, value, (Since{20, 20}))
INSTRUCTION(createpolicy, "createpolicy",
            "{.fractional,.range,.cvt,.global,.L2," L2_EVICTION "}*.b64", result, policy,
            (Since{74, 80}))
INSTRUCTION(mapa, "mapa", "{,.shared::cluster}.{u32,u64}", result, map_address, (Since{78, 90}))
INSTRUCTION(getctarank, "getctarank", "{,.shared::cluster}.{u32,u64}", result, rank_of_address,
            (Since{78, 90}))

// Memory.
INSTRUCTION(ld, "ld", "{" QUALIFIERS "}*{,.v2,.v4,.v8}." ACCESSED "{" QUALIFIERS "}*", loads, load,
            (Since{10, 10}))
INSTRUCTION(ldu, "ldu", "{" QUALIFIERS "}*{,.v2,.v4}." ACCESSED, loads, load, (Since{20, 20}))
INSTRUCTION(st, "st", "{" QUALIFIERS "}*{,.v2,.v4,.v8}." ACCESSED "{" QUALIFIERS "}*", stores,
            store, (Since{10, 10}))
REFUSED(st_bulk, "st.bulk", stores, "fills memory by the tensor memory accelerator", on_a_gpu,
        (Since{86, 100}))
INSTRUCTION(
    st_async, "st.async",
    "{,.weak}{,.shared::cluster}.mbarrier::complete_tx::bytes{,.v2,.v4}.{b32,u32,s32,f32,b64,"
    "u64,s64,f64}",
    changes_object, counted_store, (Since{81, 90}))
INSTRUCTION(atom, "atom",
            "{" QUALIFIERS "}*{.{add,min,max,and,or,xor,exch,cas,inc,dec}{" QUALIFIERS
            "}*{,.v2,.v4,.v8}." CHANGED "," VECTOR_FIRST "}{" QUALIFIERS "}*",
            changes, atomic, (Since{11, 11}))
INSTRUCTION(red, "red",
            "{" QUALIFIERS "}*{.{add,min,max,and,or,xor,inc,dec}{" QUALIFIERS
            "}*{,.v2,.v4,.v8}." CHANGED "," VECTOR_FIRST "}{" QUALIFIERS "}*",
            reduces, reduction, (Since{12, 11}))
INSTRUCTION(red_async, "red.async",
            ".relaxed.cluster{,.shared::cluster}.mbarrier::complete_tx::bytes"
            ".{add,min,max,and,or,xor,inc,dec}.{b32,u32,s32,u64}",
            changes_object, counted_reduction, (Since{81, 90}))
INSTRUCTION(cp_async, "cp.async",
            ".{ca,cg}.{shared,shared::cta,shared::cluster}.global{.L2::cache_hint,.L2::64B,.L2::"
            "128B,.L2::256B}*",
            copies, copy, (Since{70, 80}))
INSTRUCTION(cp_async_commit_group, "cp.async.commit_group", "", effect, copy_commit,
            (Since{70, 80}))
INSTRUCTION(cp_async_wait_group, "cp.async.wait_group", "", effect, copy_wait, (Since{70, 80}))
INSTRUCTION(cp_async_wait_all, "cp.async.wait_all", "", effect, copy_wait_all, (Since{70, 80}))
INSTRUCTION(cp_async_mbarrier, "cp.async.mbarrier.arrive", "{,.noinc}{,.shared,.shared::cta}.b64",
            effect, copy_arrive, (Since{70, 80}))
INSTRUCTION(
    cp_async_bulk, "cp.async.bulk",
    "{.{shared::cluster,shared::cta}.global.mbarrier::complete_tx::bytes{,.multicast::cluster}{"
    ",.L2::cache_hint},.shared::cluster.shared::cta.mbarrier::complete_tx::bytes,"
    ".global.shared::cta.bulk_group{,.L2::cache_hint}}",
    changes_object, bulk_copy, (Since{80, 90}))
INSTRUCTION(cp_async_bulk_commit_group, "cp.async.bulk.commit_group", "", effect, bulk_commit,
            (Since{80, 90}))
INSTRUCTION(cp_async_bulk_wait_group, "cp.async.bulk.wait_group", "{,.read}", effect, bulk_wait,
            (Since{80, 90}))
INSTRUCTION(cp_async_bulk_prefetch, "cp.async.bulk.prefetch", ".L2.global{,.L2::cache_hint}",
            changes_object, bulk_copy, (Since{80, 90}))
INSTRUCTION(cp_reduce_async_bulk, "cp.reduce.async.bulk",
            "{.shared::cluster.shared::cta.mbarrier::complete_tx::bytes,"
            ".global.shared::cta.bulk_group{,.L2::cache_hint}}"
            ".{add,min,max,and,or,xor,inc,dec}{,.noftz}.{b32,u32,s32,b64,u64,s64,f16,bf16,f32,f64}",
            changes_object, bulk_copy, (Since{80, 90}))
INSTRUCTION(cp_async_bulk_tensor, "cp.async.bulk.tensor",
            ".{1d,2d,3d,4d,5d}"
            "{.{shared::cluster,shared::cta}.global{,.tile}.mbarrier::complete_tx::bytes"
            "{,.multicast::cluster},.global.shared::cta{,.tile}.bulk_group}{,.L2::cache_hint}",
            changes_object, box_copy, (Since{80, 90}))
INSTRUCTION(cp_async_bulk_prefetch_tensor, "cp.async.bulk.prefetch.tensor",
            ".{1d,2d,3d,4d,5d}.L2.global{,.tile}{,.L2::cache_hint}", changes_object, box_copy,
            (Since{80, 90}))
INSTRUCTION(cp_reduce_async_bulk_tensor, "cp.reduce.async.bulk.tensor",
            ".{1d,2d,3d,4d,5d}.global.shared::cta.{add,min,max,inc,dec,and,or,xor}{,.tile}"
            ".bulk_group{,.L2::cache_hint}",
            changes_object, box_copy, (Since{80, 90}))
REFUSED(multimem_ld_reduce, "multimem.ld_reduce", loads, "reaches the memory of several devices",
        on_a_gpu, (Since{81, 90}))
REFUSED(multimem_st, "multimem.st", stores, "reaches the memory of several devices", on_a_gpu,
        (Since{81, 90}))
REFUSED(multimem_red, "multimem.red", reduces, "reaches the memory of several devices", on_a_gpu,
        (Since{81, 90}))
REFUSED(multimem_cp, "multimem.cp", effect, "reaches the memory of several devices", on_a_gpu,
        (Since{81, 90}))
INSTRUCTION(prefetch, "prefetch",
            "{.global,.local,.const,.param,.tensormap,.L1,.L2," L2_EVICTION "}*", effect, nothing,
            (Since{20, 20}))
INSTRUCTION(prefetchu, "prefetchu", ".L1", effect, nothing, (Since{20, 20}))
INSTRUCTION(applypriority, "applypriority", "{,.global}.L2::evict_normal", effect, nothing,
            (Since{74, 80}))
INSTRUCTION(discard, "discard", "{,.global}.L2", effect, nothing, (Since{74, 80}))
#define MAP_FIELD(field, type, since)                            \
  INSTRUCTION(replace_##field, "tensormap.replace.tile." #field, \
              "{,.global,.shared::cta}.b1024." #type, changes_object, replace_field, since)
MAP_FIELD(global_address, b64, (Since{83, 90}))
MAP_FIELD(rank, b32, (Since{83, 90}))
MAP_FIELD(box_dim, b32, (Since{83, 90}))
MAP_FIELD(global_dim, b32, (Since{83, 90}))
MAP_FIELD(global_stride, b64, (Since{83, 90}))
MAP_FIELD(element_stride, b32, (Since{83, 90}))
MAP_FIELD(elemtype, b32, (Since{83, 90}))
MAP_FIELD(interleave_layout, b32, (Since{83, 90}))
MAP_FIELD(swizzle_mode, b32, (Since{83, 90}))
MAP_FIELD(swizzle_atomicity, b32, (Since{86, 100}))
MAP_FIELD(fill_mode, b32, (Since{83, 90}))
#undef MAP_FIELD
INSTRUCTION(tensormap_cp_fenceproxy, "tensormap.cp_fenceproxy",
            ".global.shared::cta.tensormap::generic.release.{cta,cluster,gpu,sys}.sync.aligned",
            changes_object, publish_map, (Since{83, 90}))

// Textures and surfaces.
INSTRUCTION(tex, "tex", "{,.level,.grad}.{1d,2d,3d,a1d,a2d,cube,acube}.v4.{u32,s32,f32}.{s32,f32}",
            own_result, texture, (Since{15, 20}))
INSTRUCTION(tld4, "tld4", ".{r,g,b,a}.{2d,a2d,cube,acube}.v4.{u32,s32,f32}.f32", own_result,
            texture, (Since{22, 20}))
INSTRUCTION(txq, "txq", "{,.level}.{width,height,depth}.b32", result, ask_texture, (Since{15, 20}))
INSTRUCTION(
    suld, "suld",
    ".b.{1d,2d,3d,a1d,a2d}{,.ca,.cg,.cs,.cv}{,.v2,.v4}.{b8,b16,b32,b64}{,.trap,.clamp,.zero}",
    own_result, surface, (Since{15, 20}))
INSTRUCTION(suq, "suq", ".{width,height,depth}.b32", result, ask_texture, (Since{15, 20}))
INSTRUCTION(
    sust, "sust",
    ".{b,p}.{1d,2d,3d,a1d,a2d}{,.wb,.cg,.cs,.wt}{,.v2,.v4}.{b8,b16,b32,b64}{,.trap,.clamp,.zero}",
    effect, surface, (Since{15, 20}))
INSTRUCTION(sured, "sured",
            ".b.{add,min,max,and,or}.{1d,2d,3d,a1d,a2d}.{u32,s32,b32,u64,s64}{,.trap,.clamp,.zero}",
            effect, surface, (Since{20, 20}))

// Control flow.
INSTRUCTION(bra, "bra", "{,.uni}", jumps, branch, (Since{10, 10}))
INSTRUCTION(brx, "brx.idx", "{,.uni}", jumps_by_index, indexed_branch, (Since{60, 30}))
INSTRUCTION(call, "call", "{,.uni}", calls, call, (Since{10, 10}))
INSTRUCTION(ret, "ret", "{,.uni}", returns, leave, (Since{10, 10}))
INSTRUCTION(exit, "exit", "", ends, finish, (Since{10, 10}))
INSTRUCTION(trap, "trap", "", ends, trap, (Since{10, 10}))
INSTRUCTION(brkpt, "brkpt", "", effect, trap, (Since{10, 11}))

// Synchronisation and communication.
INSTRUCTION(bar_sync, "{bar,barrier}{,.cta}.sync", "{,.aligned}", barrier, barrier, (Since{10, 10}))
INSTRUCTION(bar_arrive, "{bar,barrier}{,.cta}.arrive", "{,.aligned}", barrier, barrier,
            (Since{20, 20}))
INSTRUCTION(bar_red, "{bar,barrier}{,.cta}.red", "{.and,.or,.popc}{,.aligned}.{u32,pred}",
            barrier_result, barrier_reduction, (Since{20, 20}))
INSTRUCTION(bar_warp, "bar.warp", ".sync", warp_barrier, warp_barrier, (Since{60, 30}))
INSTRUCTION(cluster_arrive, "barrier.cluster.arrive", "{,.release,.relaxed}{,.aligned}",
            cluster_barrier, cluster_arrive, (Since{78, 90}))
INSTRUCTION(cluster_wait, "barrier.cluster.wait", "{,.acquire}{,.aligned}", cluster_barrier,
            cluster_wait, (Since{78, 90}))
INSTRUCTION(membar, "membar", "{.cta,.gl,.sys,.gpu,.proxy,.alias}*", effect, fence, (Since{14, 10}))
INSTRUCTION(fence, "fence", "{" FENCES "}*", effect, fence, (Since{60, 70}))
// Their .sync may stand before or behind what they do: ptxas takes both.
INSTRUCTION(shfl, "shfl",
            "{.up,.down,.bfly,.idx,.sync.up,.sync.down,.sync.bfly,.sync.idx,.up.sync,.down.sync,"
            ".bfly.sync,.idx.sync}.b32",
            exchanges, shuffle, (Since{30, 30}))
INSTRUCTION(vote, "vote",
            "{.all.pred,.any.pred,.uni.pred,.ballot.b32,.sync.all.pred,.sync.any.pred,"
            ".sync.uni.pred,.sync.ballot.b32,.all.sync.pred,.any.sync.pred,.uni.sync.pred,"
            ".ballot.sync.b32}",
            exchanges, vote, (Since{12, 12}))
INSTRUCTION(match, "match", "{.any.sync,.all.sync,.sync.any,.sync.all}.{b32,b64}", exchanges, match,
            (Since{60, 70}))
INSTRUCTION(activemask, "activemask", ".b32", asks_lanes, activemask, (Since{62, 30}))
INSTRUCTION(
    redux, "redux",
    ".sync{.add.u32,.add.s32,.min.u32,.min.s32,.max.u32,.max.s32,.and.b32,.or.b32,.xor.b32}",
    exchanges, redux, (Since{70, 80}))
INSTRUCTION(elect, "elect", ".sync", asks_lanes, elect, (Since{80, 90}))
INSTRUCTION(griddepcontrol, "griddepcontrol", ".{launch_dependents,wait}", effect, nothing,
            (Since{78, 90}))
REFUSED(clusterlaunchcontrol_query_cancel, "clusterlaunchcontrol.query_cancel", result,
        "launches clusters", on_a_gpu, (Since{86, 100}))
REFUSED(clusterlaunchcontrol_try_cancel, "clusterlaunchcontrol.try_cancel", effect,
        "launches clusters", on_a_gpu, (Since{86, 100}))
INSTRUCTION(mbarrier_init, "mbarrier.init", "{" BARRIER_OBJECT "}*.b64", changes_object, mbarrier,
            (Since{70, 80}))
INSTRUCTION(mbarrier_inval, "mbarrier.inval", "{" BARRIER_OBJECT "}*.b64", changes_object, mbarrier,
            (Since{70, 80}))
INSTRUCTION(mbarrier_arrive, "mbarrier.arrive", "{" BARRIER_OBJECT "}*.b64", asks_object, mbarrier,
            (Since{70, 80}))
INSTRUCTION(mbarrier_arrive_drop, "mbarrier.arrive_drop", "{" BARRIER_OBJECT "}*.b64", asks_object,
            mbarrier, (Since{70, 80}))
INSTRUCTION(mbarrier_expect_tx, "mbarrier.expect_tx", "{" BARRIER_OBJECT "}*.b64", changes_object,
            mbarrier, (Since{80, 90}))
INSTRUCTION(mbarrier_complete_tx, "mbarrier.complete_tx", "{" BARRIER_OBJECT "}*.b64",
            changes_object, mbarrier, (Since{80, 90}))
INSTRUCTION(mbarrier_test_wait, "mbarrier.test_wait", "{" BARRIER_OBJECT "}*.b64", asks_object,
            mbarrier, (Since{70, 80}))
INSTRUCTION(mbarrier_try_wait, "mbarrier.try_wait", "{" BARRIER_OBJECT "}*.b64", asks_object,
            mbarrier, (Since{78, 90}))
INSTRUCTION(mbarrier_pending_count, "mbarrier.pending_count", ".b64", asks_object, pending_count,
            (Since{70, 80}))

// Matrices.
INSTRUCTION(wmma_load, "wmma.load",
            "{{.a,.b}.sync.aligned.{row,col}.{{m16n16k16,m8n32k16,m32n8k16}" FRAGMENT_SPACE
            ".{f16,bf16,u8,s8},m16n16k8" FRAGMENT_SPACE ".tf32,m8n8k4" FRAGMENT_SPACE
            ".f64},{.a.sync.aligned.row,.b.sync.aligned.col}.{m8n8k32" FRAGMENT_SPACE
            ".{u4,s4},m8n8k128" FRAGMENT_SPACE ".b1},.c" FRAGMENT_OF_SUM "}",
            loads_fragment, fragment, (Since{60, 70}))
INSTRUCTION(wmma_store, "wmma.store", ".d" FRAGMENT_OF_SUM, stores_fragment, fragment,
            (Since{60, 70}))
INSTRUCTION(
    wmma_mma, "wmma.mma",
    "{.sync.aligned.{row,col}.{row,col}.{{m16n16k16,m8n32k16,m32n8k16}.{{f16,f32}.{f16,f32},"
    "f32.bf16.bf16.f32,s32.{u8.u8,s8.s8}.s32{,.satfinite}},m16n16k8.f32.tf32.tf32.f32,"
    "m8n8k4{.rn.f64.f64.f64.f64,.f64.f64.f64.f64{,.rn}}},.sync.aligned.row.col.m8n8k32.s32.{u4.u4,"
    "s4.s4}.s32{,"
    ".satfinite},.{xor,and}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32}",
    own_result, matrix_product, (Since{60, 70}))
INSTRUCTION(mma, "mma",
            ".sync.aligned.{m8n8k4.{row,col}.{row,col}.{f16.f16.f16.f16,f32.f16.f16.{f16,f32}},"
            "{m16n8k8,m16n8k16}.row.col.{f16.f16.f16.f16,f32.f16.f16.f32,f32.bf16.bf16.f32},"
            "{m16n8k4,m16n8k8}.row.col.f32.tf32.tf32.f32,"
            "{m16n8k16,m16n8k32}.row.col.{f16.{e4m3,e5m2}.{e4m3,e5m2}.f16,"
            "f32.{e4m3,e5m2}.{e4m3,e5m2}.f32},"
            "{m8n8k4,m16n8k4,m16n8k8,m16n8k16}.row.col.f64.f64.f64.f64,"
            "{m8n8k16,m16n8k16,m16n8k32}.row.col{,.satfinite}.s32.{u8,s8}.{u8,s8}.s32,"
            "{m8n8k32,m16n8k32,m16n8k64}.row.col{,.satfinite}.s32.{u4,s4}.{u4,s4}.s32,"
            "{m8n8k128,m16n8k128,m16n8k256}.row.col.s32.b1.b1.s32.{xor,and}.popc}",
            own_result, matrix_product, (Since{64, 70}))
INSTRUCTION(mma_sparse, "mma.{sp,sp::ordered_metadata}",
            ".sync.aligned.{{m16n8k16,m16n8k32}.row.col.{f16.f16.f16.f16,f32.f16.f16.f32,"
            "f32.bf16.bf16.f32},{m16n8k8,m16n8k16}.row.col.f32.tf32.tf32.f32,"
            "m16n8k64.row.col.f32.{e4m3,e5m2}.{e4m3,e5m2}.f32,"
            "{m16n8k32,m16n8k64}.row.col{,.satfinite}.s32.{u8,s8}.{u8,s8}.s32,"
            "{m16n8k64,m16n8k128}.row.col{,.satfinite}.s32.{u4,s4}.{u4,s4}.s32}",
            own_result, matrix_product, (Since{71, 80}))
INSTRUCTION(ldmatrix, "ldmatrix", MATRIX_FORM, loads_matrix, matrix, (Since{65, 75}))
INSTRUCTION(stmatrix, "stmatrix", MATRIX_FORM, stores_matrix, matrix, (Since{78, 90}))
INSTRUCTION(movmatrix, "movmatrix", ".sync.aligned.m8n8.trans.b16", own_result, matrix_transpose,
            (Since{78, 75}))
INSTRUCTION(wgmma_fence, "wgmma.fence", ".sync.aligned", effect, nothing, (Since{80, 90}))
INSTRUCTION(wgmma_commit_group, "wgmma.commit_group", ".sync.aligned", effect, nothing,
            (Since{80, 90}))
INSTRUCTION(wgmma_wait_group, "wgmma.wait_group", ".sync.aligned", effect, warpgroup_wait,
            (Since{80, 90}))
INSTRUCTION(wgmma_mma, "wgmma.mma_async",
            ".sync.aligned.m64nk{.{f16,f32}.{f16.f16,{e4m3,e5m2}.{e4m3,e5m2}},.f32.bf16.bf16,"
            ".f32.tf32.tf32,{,.satfinite}.s32.{s8,u8}.{s8,u8},.s32.{s8,u8}.{s8,u8}.satfinite,"
            ".s32.b1.b1.and.popc}",
            adds_products, warpgroup_product, (Since{80, 90}))
REFUSED(wgmma_mma_sparse, "wgmma.mma_async.sp", result, "multiplies a sparse matrix", on_a_gpu,
        (Since{82, 90}))
REFUSED(tcgen05, "tcgen05", effect, "multiplies matrices", on_a_gpu, (Since{86, 100}))
REFUSED(tcgen05_ld, "tcgen05.ld", result, "multiplies matrices", on_a_gpu, (Since{86, 100}))

// The stack.
INSTRUCTION(alloca, "alloca", ".{u32,u64,b32,b64}", own_result, stack_take, (Since{73, 52}))
INSTRUCTION(stacksave, "stacksave", ".{u32,u64,b32,b64}", result, stack_save, (Since{73, 52}))
INSTRUCTION(stackrestore, "stackrestore", ".{u32,u64,b32,b64}", effect, stack_restore,
            (Since{73, 52}))

// Video.
INSTRUCTION(vadd, "vadd", VIDEO_FORMS, result, video, (Since{20, 20}))
INSTRUCTION(vsub, "vsub", VIDEO_FORMS, result, video, (Since{20, 20}))
INSTRUCTION(vabsdiff, "vabsdiff", VIDEO_FORMS, result, video, (Since{20, 20}))
INSTRUCTION(vmin, "vmin", VIDEO_FORMS, result, video, (Since{20, 20}))
INSTRUCTION(vmax, "vmax", VIDEO_FORMS, result, video, (Since{20, 20}))
INSTRUCTION(vshl, "vshl", VIDEO_SHIFTS, result, video, (Since{20, 20}))
INSTRUCTION(vshr, "vshr", VIDEO_SHIFTS, result, video, (Since{20, 20}))
INSTRUCTION(vmad, "vmad", "." SIGNS "." SIGNS "." SIGNS "{,.po}{,.sat}{,.shr7,.shr15}", result,
            video, (Since{20, 20}))
INSTRUCTION(vset, "vset", "." SIGNS "." SIGNS ".{eq,ne,lt,le,gt,ge}{,.add,.min,.max}", result,
            video, (Since{20, 20}))
INSTRUCTION(vadd2, "vadd2", "." SIGNS "." SIGNS "." SIGNS "{,.sat,.add}", result, video,
            (Since{30, 30}))
INSTRUCTION(vsub2, "vsub2", "." SIGNS "." SIGNS "." SIGNS "{,.sat,.add}", result, video,
            (Since{30, 30}))
INSTRUCTION(vavrg2, "vavrg2", "." SIGNS "." SIGNS "." SIGNS "{,.sat,.add}", result, video,
            (Since{30, 30}))
INSTRUCTION(vabsdiff2, "vabsdiff2", "." SIGNS "." SIGNS "." SIGNS "{,.sat,.add}", result, video,
            (Since{30, 30}))
INSTRUCTION(vmin2, "vmin2", "." SIGNS "." SIGNS "." SIGNS "{,.sat,.add}", result, video,
            (Since{30, 30}))
INSTRUCTION(vmax2, "vmax2", "." SIGNS "." SIGNS "." SIGNS "{,.sat,.add}", result, video,
            (Since{30, 30}))
INSTRUCTION(vset2, "vset2", "." SIGNS "." SIGNS ".{eq,ne,lt,le,gt,ge}{,.add}", result, video,
            (Since{30, 30}))
INSTRUCTION(vadd4, "vadd4", "." SIGNS "." SIGNS "." SIGNS "{,.sat,.add}", result, video,
            (Since{30, 30}))
INSTRUCTION(vsub4, "vsub4", "." SIGNS "." SIGNS "." SIGNS "{,.sat,.add}", result, video,
            (Since{30, 30}))
INSTRUCTION(vavrg4, "vavrg4", "." SIGNS "." SIGNS "." SIGNS "{,.sat,.add}", result, video,
            (Since{30, 30}))
INSTRUCTION(vabsdiff4, "vabsdiff4", "." SIGNS "." SIGNS "." SIGNS "{,.sat,.add}", result, video,
            (Since{30, 30}))
INSTRUCTION(vmin4, "vmin4", "." SIGNS "." SIGNS "." SIGNS "{,.sat,.add}", result, video,
            (Since{30, 30}))
INSTRUCTION(vmax4, "vmax4", "." SIGNS "." SIGNS "." SIGNS "{,.sat,.add}", result, video,
            (Since{30, 30}))
INSTRUCTION(vset4, "vset4", "." SIGNS "." SIGNS ".{eq,ne,lt,le,gt,ge}{,.add}", result, video,
            (Since{30, 30}))

// The rest.
INSTRUCTION(nanosleep, "nanosleep", ".u32", effect, nothing, (Since{63, 70}))
INSTRUCTION(pmevent, "pmevent", "{,.mask}", effect, nothing, (Since{14, 10}))
INSTRUCTION(setmaxnreg, "setmaxnreg", ".{inc,dec}.sync.aligned.u32", effect, nothing,
            (Since{80, 90}))

#undef QUALIFIERS
#undef MATRIX_FORM
#undef VECTOR_FIRST
#undef ACCESSED
#undef CHANGED
#undef L2_EVICTION
#undef SPACE
#undef COMPARISON
#undef COMPARED
#undef SELECTED
#undef CONVERTED
#undef CONVERSION
#undef FENCES
#undef BARRIER_OBJECT
#undef SIGNS
#undef VIDEO_FORMS
#undef VIDEO_SHIFTS
#undef FRAGMENT_SPACE
#undef FRAGMENT_OF_SUM
#undef INSTRUCTION
#undef REFUSED
