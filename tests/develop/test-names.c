/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Names of functions of many languages: what is left of them, how short they get, and which functions of two
 * programs are one.
 */

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tree/functions.h"
#include "util/util.h"

static const struct {
        const char *name, *clean, *text, *owned; /* @owned: with one owner; NULL: there is none */
} names[] = {
        /* Go */
        { "main.upload", NULL, "upload", "main.upload" },
        { "main.upload.func1", NULL, "upload.func1", "main.upload.func1" },
        { "main.(*Conn).push.func2.1", NULL, "push.func2.1", "(*Conn).push.func2.1" },
        { "main.(*Conn).push-fm", NULL, "push-fm", "(*Conn).push-fm" },
        { "main.Map[...]", NULL, "Map", "main.Map" },
        { "main.Map[go.shape.int].func1", NULL, "Map.func1", "main.Map.func1" },
        { "example.org/a/b/v2/store.(*DB).Get.gowrap2", NULL, "Get.gowrap2", "(*DB).Get.gowrap2" },
        { "main.glob..func1", "main.init.func1", "init.func1", "main.init.func1" },
        { "runtime.memmove.abi0", "runtime.memmove", "memmove", "runtime.memmove" },
        { "main.load.func1-range2", NULL, "load.func1-range2", "main.load.func1-range2" },
        { "main.init.0", NULL, "init.0", "main.init.0" },
        { "main.run\302\267dwrap\302\2672", "main.run.deferwrap2", "run.deferwrap2", "main.run.deferwrap2" },
        { "main.run.func1\302\267dwrap\302\2673", "main.run.func1.deferwrap3", "run.func1.deferwrap3",
          "main.run.func1.deferwrap3" },
        { "main.(*Map[go.shape.int_0,go.shape.string_1]).Get", "main.(*Map[go.shape.int,go.shape.string]).Get", "Get",
          "(*Map[go.shape.int,go.shape.string]).Get" },
        { "type..eq.main.T", "main.T.(eq)", "T.(eq)", "main.T.(eq)" },
        { "type:.hash.main.T", "main.T.(hash)", "T.(hash)", "main.T.(hash)" },
        { "_cgo_abc123def456_Cfunc_load", "_cgo_Cfunc_load", "_cgo_Cfunc_load", NULL },
        { "_cgoexp_abc123def456_load", "_cgoexp_load", "_cgoexp_load", NULL },
        /* Rust */
        { "mycrate::a::h0123456789abcdef", "mycrate::a", "a", "mycrate::a" },
        { "_ZN7mycrate1a17h0123456789abcdefE", "mycrate::a", "a", "mycrate::a" },
        { "_ZN7mycrate1a17h0123456789abcdefE.llvm.123456", "mycrate::a", "a", "mycrate::a" },
        { "_RNvNtCs1234_7mycrate1a3run", "mycrate::a::run", "run", "a::run" },
        { "_RNvNtCsaBcD5678_7mycrate1a3run", "mycrate::a::run", "run", "a::run" },
        { "_RNCNvCs1234_7mycrate3run0B3_", "mycrate::run::{{closure}}#0", "run::{{closure}}",
          "mycrate::run::{{closure}}" },
        { "_RNvCsfLfy6EI15iL_7___rustc14___rust_dealloc", "__rustc::__rust_dealloc", "__rust_dealloc",
          "__rustc::__rust_dealloc" },
        { "_RNvXs1g_NtCsgEmfK2I1SDS_4core3fmtReNtB6_5Debug3fmtCsjrHSEGnQ3l9_3std", "<&str as core::fmt::Debug>::fmt",
          "fmt", "<&str as core::fmt::Debug>::fmt" },
        { "_RNvMNtCslNYArtu3iFV_5alloc6stringNtB2_6String11try_reserve", "alloc::string::String::try_reserve",
          "try_reserve", "String::try_reserve" },
        { "_RINvMNtCsgEmfK2I1SDS_4core5sliceSh11copy_withinINtNtNtB5_3ops5range14RangeInclusivejEECsfEOYDRpO4Ta_11mini"
          "z_oxide.llvm.12", "<[u8]>::copy_within<core::ops::range::RangeInclusive<usize>>", "copy_within",
          "<[u8]>::copy_within" },
        { "_RINvC3app5parsehE", "app::parse<u8>", "parse", "app::parse" },
        { "_RINvC3app5parseAhj4_Kb1_Kanff_EC3app", "app::parse<[u8; 4], 1, -ff>", "parse", "app::parse" },
        { "_RINvC3app5parseLL_E", "app::parse", "parse", "app::parse" },
        { "_RINvC3app5parseFhtEmDNtC3app3RunEL_E", "app::parse<fn(u8, u16) -> u32, dyn app::Run>", "parse",
          "app::parse" },
        { "_RNvMC3appINtC3app3FoohE3run", "app::Foo<u8>::run", "run", "Foo::run" },
        { "_RNSNvC3app3run6vtable", "app::run::{shim:vtable#0}", "run::{shim:vtable#0}", "app::run::{shim:vtable#0}" },
        { "<app::Foo<u8>>::run::<u16>", "app::Foo<u8>::run<u16>", "run", "Foo::run" },
        { "app::load::<u8>::{closure#0}::{closure#1}", "app::load<u8>::{{closure}}::{{closure}}#0:1",
          "load::{{closure}}::{{closure}}", "app::load::{{closure}}::{{closure}}" },
        { "app::load::{async_fn#0}", "app::load::{{closure}}#0", "load::{{closure}}", "app::load::{{closure}}" },
        { "_RNvNvNtC3std3sys9getrandom5READY", "std::sys::getrandom::READY", "READY", "getrandom::READY" },
        { "_RNvB_1a", NULL, "_RNvB_1a", NULL },
        { "_RNvC8my crate3run", NULL, "_RNvC8my crate3run", NULL }, /* a word has no blank */
        { "_RNvC9999999999999999999999a1b", NULL, "_RNvC9999999999999999999999a1b", NULL },
        { "mycrate[317d481089b8c8fe]::a::run", "mycrate::a::run", "run", "a::run" },
        { "app::Map$LT$K$C$V$GT$::get", "app::Map<K,V>::get", "get", "Map::get" },
        { "app::load::{{closure}}", NULL, "load::{{closure}}", "app::load::{{closure}}" },
        { "<app::Foo as app::Bar>::run", NULL, "run", "<app::Foo as app::Bar>::run" },
        { "_$LT$app..Foo$u20$as$u20$app..Bar$GT$::run::h0123456789abcdef", "<app::Foo as app::Bar>::run", "run",
          "<app::Foo as app::Bar>::run" },
        { "app::parse::<u8>", "app::parse<u8>", "parse", "app::parse" },
        { "_ZN71_$LT$core..hash..sip..Hasher$LT$S$GT$$u20$as$u20$core..hash..Hasher$GT$5write17h536c839f985b3decE",
          "<core::hash::sip::Hasher<S> as core::hash::Hasher>::write", "write",
          "<core::hash::sip::Hasher<S> as core::hash::Hasher>::write" },
        { "_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17he9b1bd0085d1beacE",
          "std::rt::lang_start::{{closure}}", "lang_start::{{closure}}", "rt::lang_start::{{closure}}" },
        /* C and C++ */
        { "foo.constprop.0.cold", "foo", "foo", NULL },
        { "foo.part.3.lto_priv.0", "foo", "foo", NULL },
        { "foo() [clone .isra.0]", "foo()", "foo", NULL },
        { "foo(int) [clone .part.0] [clone .cold]", "foo(int)", "foo", NULL },
        { "foo(int) (.cold)", "foo(int)", "foo", NULL },
        { "foo(int) [clone ._omp_fn.1]", "foo(int)._omp_fn.1", "foo._omp_fn.1", NULL },
        { "foo.llvm.1234567890", "foo", "foo", NULL },
        { "ns::foo(int) (.__uniq.245181933781456475607640333933569312899.llvm.2845697060370838518)", "ns::foo(int)",
          "foo", "ns::foo" },
        { "foo.__uniq.68358509610070717889884130747296293671.memprof.1.cold", "foo", "foo", NULL },
        { "foo.specialized.1.argprom", "foo", "foo", NULL },
        { "foo.cfi_jt", "foo", "foo", NULL },
        { "foo.__part.1", "foo", "foo", NULL },
        { "OUTLINED_FUNCTION_123", "OUTLINED_FUNCTION#123", "OUTLINED_FUNCTION", NULL },
        { "main.load().__lambda2(int)", "main.load().__lambda(int)#2", "load.__lambda", "main.load.__lambda" },
        { "main.load().__lambda_L12_C5(int)", "main.load().__lambda(int)#12:5", "load.__lambda",
          "main.load.__lambda" },
        { "main.load().__foreachbody1(ref int)", "main.load().__foreachbody(ref int)#1", "load.__foreachbody",
          "main.load.__foreachbody" },
        { "com.x.coldStart", NULL, "coldStart", "x.coldStart" },
        { "memcpy@plt", "memcpy", "memcpy", NULL },
        { "memcpy@@GLIBC_2.14", "memcpy", "memcpy", NULL },
        { "work+0x1f4", "work", "work", NULL },
        { "work+45", "work", "work", NULL },
        { "bpf_prog_6deef7357e7b4530_sd_fw_egress", "bpf_prog_sd_fw_egress", "bpf_prog_sd_fw_egress", NULL },
        { "bpf_prog_6deef7357e7b4530", "bpf_prog", "bpf_prog", NULL },
        { "bpf_trampoline_6442466157", "bpf_trampoline", "bpf_trampoline", NULL },
        { "work+0x1f4/0x200", "work", "work", NULL },
        { "0x00007f1234567890", "[unknown]", "[unknown]", NULL },
        { "Task<void (int)>::load(int)", NULL, "load", "Task::load" },
        { "load()::{lambda(int)#1}::operator()(int) const", NULL, "load::{lambda(int)#1}::operator()", NULL },
        { "load()::{lambda()#1}::operator()() const::{lambda(int)#2}::operator()(int) const", NULL,
          "load::{lambda()#1}::operator()::{lambda(int)#2}::operator()", NULL },
        { "main()::<lambda(int)>::operator()(int)", NULL, "main::<lambda(int)>::operator()", NULL },
        { "void ns::foo<int>(int) requires std::integral<int>", NULL, "foo", "ns::foo" },
        { "load()::$_0::operator()(int) const", NULL, "load::$_0::operator()", NULL },
        { "load()::'lambda'(int)::operator()(int) const", NULL, "load::'lambda'::operator()", NULL },
        { "foo<(some_enum)0>::bar", NULL, "bar", "foo::bar" },
        { "Vec::operator<(Vec const&) const", NULL, "Vec::operator<", NULL },
        { "Vec::operator->() const", NULL, "Vec::operator->", NULL },
        { "operator<< <std::char_traits<char> >", NULL, "operator<<", NULL },
        { "Foo::operator bool() const", NULL, "Foo::operator bool", NULL },
        { "void ns::foo<int>(int)", NULL, "foo", "ns::foo" },
        { "non-virtual thunk to X::f()", NULL, "f", "X::f" },
        { "(anonymous namespace)::load(int)", NULL, "load", "(anonymous namespace)::load" },
        { "app_load", NULL, "load", "app_load" },
        { "foo<bar", NULL, "foo<bar", NULL },
        { "cmp.2345", "cmp#2345", "cmp", NULL },
        { "work._omp_fn.0", NULL, "work._omp_fn.0", NULL },
        { "work.omp_outlined.2", NULL, "work.omp_outlined.2", NULL },
        { "work.avx2", NULL, "work.avx2", NULL },
        { "work.arch_x86_64_v3.0", NULL, "work.arch_x86_64_v3.0", NULL },
        { "-[Foo run:]", NULL, "-[Foo run:]", NULL },
        { "camlApp__load_123", "App.load#123", "load", "App.load" },
        { "camlDune__exe__App.load_123", "Dune__exe__App.load#123", "load", "Dune__exe__App.load" },
        { "camlApp__fun_512", "App.fun#512", "App.fun", NULL },
        { "camlApp__anon_fn[app.ml:12,3--45]_99", "App.anon_fn#12:3", "App.anon_fn", NULL },
        { "camlApp.anon_fn$5bapp.ml$3a12$2c3$2d$2d45$5d_99", "App.anon_fn#12:3", "App.anon_fn", NULL },
        { "julia_load_123", "julia_load#123", "julia_load", NULL },
        { "[perf-1234.map]", "[perf.map]", "[perf.map]", NULL },
        { "m n", NULL, "m n", NULL },
        { "ns::operator\"\"_km(long double)", NULL, "ns::operator\"\"_km", NULL },
        { "main.App.load(x: Swift.Int) async -> Swift.Int", NULL, "load", "App.load" },
        { "static main.App.load() -> (Swift.Int, Swift.Int)", NULL, "load", "App.load" },
        { "main.App.value.getter : Swift.Int", NULL, "getter", "value.getter" },
        { "closure #1 () -> () in main.App.load()", "main.App.load().{closure}#1", "load.{closure}",
          "App.load.{closure}" },
        { "*App::Loader#load<String>:Foo::Bar", "App::Loader#load<String>", "load", "Loader#load" },
        { "*App::load:(Int32 | Nil)", "App::load", "load", "App::load" },
        { "load__app_u12", "load__app#12", "load__app", NULL },
        { "plus___my95app_345", "plus___my95app#345", "plus___my95app", NULL },
        { "camlApp__load_5_21_code", "App.load#5", "load", "App.load" },
        { "jfptr_load_456", "jfptr_load#456", "jfptr_load", NULL },
        { "julia_#load#12_345", "julia_#load#345", "load", "julia_#load" },
        { "main.Loader__struct_123.load", "main.Loader__struct.load#123", "load", "Loader__struct.load" },
        { "main.App__enum_12.f__anon_34", "main.App__enum.f__anon#12:34", "f__anon", "App__enum.f__anon" },
        { "specialized main.App.load()", "main.App.load()", "load", "App.load" },
        { "generic specialization <Swift.Int> of main.f<A>(A) -> A", "main.f<A>(A) -> A", "f", "main.f" },
        { "closure #2 (Swift.Int) -> Swift.Int in main.App.load() -> ()", "main.App.load().{closure}#2",
          "load.{closure}", "App.load.{closure}" },
        { "closure #1 in closure #2 in main.foo()", "main.foo().{closure}.{closure}#2:1",
          "foo.{closure}.{closure}",
          "main.foo.{closure}.{closure}" },
        { "partial apply for closure #1 () -> () in main.foo() async throws -> ()",
          "main.foo().{partial apply}.{closure}#1", "foo.{partial apply}.{closure}",
          "main.foo.{partial apply}.{closure}" },
        { "closure #1 () -> () in (extension in App):Swift.Array.load()",
          "App.Swift.Array.load().{closure}#1",
          "load.{closure}", "Array.load.{closure}" },
        { "protocol witness for main.P.run() -> Swift.Int in conformance main.S", "main.S.main.P.run().{witness}",
          "run.{witness}", "P.run.{witness}" },
        { "(2) await resume partial function for main.App.load()", "main.App.load().{await}#2", "load.{await}",
          "App.load.{await}" },
        { "$s4main3fooyyFyycfU0_", "$s4main3fooyyFyycfU_#10", "$s4main3fooyyFyycfU_", NULL },
        { "_$s4main3fooyyFyycfU_yycfU1_TA", "_$s4main3fooyyFyycfU_yycfU_TA#1:11", "_$s4main3fooyyFyycfU_yycfU_TA",
          NULL },
        { "$S4main3fooyyFyycfU_", "$S4main3fooyyFyycfU_#1", "$S4main3fooyyFyycfU_", NULL },
        { "_T04main3fooyyFyycfU10_", "_T04main3fooyyFyycfU_#110", "_T04main3fooyyFyycfU_", NULL },
        { "$s4main3fooyyYaFTQ2_", "$s4main3fooyyYaFTQ_#12", "$s4main3fooyyYaFTQ_", NULL },
        { "$s4main3AppC4loadyyF", NULL, "$s4main3AppC4loadyyF", NULL },
        { "_D3app4loadFZv", "app.load(FZv)", "load", "app.load" },
        { "_D3app4mainFZ9__lambda2FiZi", "app.main(FZ).__lambda(FiZi)#2", "main.__lambda", "app.main.__lambda" },
        { "_D3app10__T3mapTiZ3mapFiZi", "app.map!(TiZ).map(FiZi)", "map", "(TiZ).map" },
        { "_D3app__T3mapTiZQhFiZi", NULL, "_D3app__T3mapTiZQhFiZi", NULL },
        { "_D99app", NULL, "_D99app", NULL },
        { "containerszm0zi6zi5zi1_DataziMap_insert_info", "containers:Data.Map.insert", "insert", "Map.insert" },
        { "base_GHCziBase_map_info", "base:GHC.Base.map", "map", "Base.map" },
        { "ghczmprim_GHCziTypes_Izh_con_info", "ghc-prim:GHC.Types.I#.(con)", "I#.(con)", "Types.I#.(con)" },
        { "Main_zdwgo_info", "Main.$wgo", "$wgo", "Main.$wgo" },
        { "Main_zdwgo_r1Xy_info", "Main.$wgo#6442392", "$wgo", "Main.$wgo" },
        { "Display_get_info", NULL, "Display_get_info", NULL },
        { "Main_az_info", NULL, "Main_az_info", NULL }, /* no z-encoding */
        { "$app:'-run/1-fun-3-'/2", "$app:run-fun#3", "run-fun", "$app:run-fun" },
        /* Java */
        { "java/util/HashMap.get_[0]", "java/util/HashMap.get", "get", "HashMap.get" },
        { "java/util/HashMap.get_[j]", "java/util/HashMap.get", "get", "HashMap.get" },
        { "com.x.Upload.run", NULL, "run", "Upload.run" },
        { "com.x.Upload.run(IJ)V", "com.x.Upload.run(IJ)", "run", "Upload.run" },
        { "com/x/Upload.name(I)[Ljava/lang/String;", "com/x/Upload.name(I)", "name", "Upload.name" },
        { "com.x.Main$1.run", NULL, "run", "Main$1.run" },
        { "com.x.Foo.<init>", NULL, "Foo.<init>", "x.Foo.<init>" },
        { "void com.x.Foo.<init>(int)", NULL, "Foo.<init>", "x.Foo.<init>" },
        { "Lcom/x/Foo;::<init>", "com/x/Foo.<init>", "Foo.<init>", "x/Foo.<init>" },
        { "java.lang.invoke.LambdaForm$MH/0x0000000800c03000.invoke", "java.lang.invoke.LambdaForm$MH.invoke",
          "LambdaForm$MH.invoke", "invoke.LambdaForm$MH.invoke" },
        { "com.x.Main$$Lambda$14/0x0000000800c03000.run", "com.x.Main$$Lambda.run", "run", "Main$$Lambda.run" },
        { "com.x.Main$$Lambda+0x000078e1c4001000.run", "com.x.Main$$Lambda.run", "run", "Main$$Lambda.run" },
        { "com.x.Main$$Lambda$14.1234567890.add", "com.x.Main$$Lambda.add", "add", "Main$$Lambda.add" },
        { "com.x.Main.lambda$go$0", "com.x.Main.lambda$go#0", "lambda$go", "Main.lambda$go" },
        { "com.x.MainKt.main$lambda$0", "com.x.MainKt.main$lambda$#0", "main$lambda$", "MainKt.main$lambda$" },
        { "com.x.MainKt.main$lambda-0", "com.x.MainKt.main$lambda$#0", "main$lambda$", "MainKt.main$lambda$" },
        { "com.x.MainKt$main$1.invokeSuspend", "com.x.MainKt$main$.invokeSuspend#1", "MainKt$main$.invokeSuspend",
          "x.MainKt$main$.invokeSuspend" },
        { "com.x.MainKt$main$1$2.invoke", "com.x.MainKt$main$$.invoke#2:1", "MainKt$main$$.invoke",
          "x.MainKt$main$$.invoke" },
        { "com.x.MainKt.run$lambda$3$lambda$2", "com.x.MainKt.run$lambda$$lambda$#3:2", "run$lambda$$lambda$",
          "MainKt.run$lambda$$lambda$" },
        { "com.x.Main$$ExternalSyntheticLambda4.run", "com.x.Main$$ExternalSyntheticLambda.run#4", "run",
          "Main$$ExternalSyntheticLambda.run" },
        { "Main$.$anonfun$go$1$adapted", "Main$.$anonfun$go$adapted#1", "$anonfun$go$adapted",
          "Main$.$anonfun$go$adapted" },
        { "my.ns$load$fn__1234.invoke", "my.ns$load$fn.invoke#1234", "ns$load$fn.invoke", "my.ns$load$fn.invoke" },
        { "com.x.Main.access$000", "com.x.Main.access#000", "access", "Main.access" },
        { "jdk.internal.reflect.GeneratedMethodAccessor12.invoke",
          "jdk.internal.reflect.GeneratedMethodAccessor.invoke", "GeneratedMethodAccessor.invoke",
          "reflect.GeneratedMethodAccessor.invoke" },
        { "jdk.proxy2.$Proxy12.foo", "jdk.proxy.$Proxy.foo", "foo", "$Proxy.foo" },
        { "com.x.Svc$$EnhancerBySpringCGLIB$$1a2b3c4d.foo", "com.x.Svc$$EnhancerBySpringCGLIB.foo", "foo",
          "Svc$$EnhancerBySpringCGLIB.foo" },
        { "[main tid=1234]", "[main]", "[main]", NULL },
        { "Lcom/x/A:::run", "com/x/A.run", "run", "A.run" },
        { "Lcom/x/ClauseList;::getList", "com/x/ClauseList.getList", "getList", "ClauseList.getList" },
        /* Node */
        { "LazyCompile:*load /a/x.js:10:5", "/a/x.js:load#10:5", "load", "x.js:load" },
        { "LazyCompile:~load /a/x.js:10", "/a/x.js:load#10", "load", "x.js:load" },
        { "JS:*hashRows /x/v1.js:2:18", "/x/v1.js:hashRows#2:18", "hashRows", "v1.js:hashRows" },
        { "JS:^get size /x/v1.js:2:18", "/x/v1.js:get size#2:18", "get size", "v1.js:get size" },
        { "JS:~ /x/v1.js:2:18", "/x/v1.js:(anonymous)#2:18", "v1.js:(anonymous)", "x/v1.js:(anonymous)" },
        { "JS:*run /x/a b/c.js:1:2", "/x/a b/c.js:run#1:2", "run", "c.js:run" },
        { "JS:*run", "JS:run", "run", "JS:run" },
        { "JS:^run :2:18", "JS:run#2:18", "run", "JS:run" },
        { "run https://x.org/c.js?v=1:2:3", "https://x.org/c.js?v=1:run#2:3", "run", "js?v=1:run" },
        { "*load file:///a/x.mjs:10:5", "file:///a/x.mjs:load#10:5", "load", "x.mjs:load" },
        { "JS:*normalize node:path:66:25", "node:path:normalize#66:25", "normalize", "path:normalize" },
        { "Ion: load (/a/x.js:10:5)", "/a/x.js:load#10:5", "load", "x.js:load" },
        { "Function:add-3-liftoff", "Function:add#3", "add", "Function:add" },
        /* Python */
        { "py::load:/a/x.py", "/a/x.py:load", "load", "x.py:load" },
        { "py::Conn.push:/a/x.py", "/a/x.py:Conn.push", "push", "Conn.push" },
        { "py::<module>:/a/x.py", "/a/x.py:<module>", "x.py:<module>", "a/x.py:<module>" },
        { "py::Conn.f.<locals>.<lambda>:/a/x.py", "/a/x.py:Conn.f.<locals>.<lambda>", "f.<locals>.<lambda>",
          "Conn.f.<locals>.<lambda>" },
        { "load (x.py:12)", "x.py:load", "load", "x.py:load" },
        { "Conn.push (a/x.py:12)", "a/x.py:Conn.push", "push", "Conn.push" },
        { "py:load:12:/a/x.py", "/a/x.py:load", "load", "x.py:load" },
        { "x.py:12 - load", "x.py:load", "load", "x.py:load" },
        { "/a/x.py:load:12", "/a/x.py:load", "load", "x.py:load" },
        { "thread (0x7F5C1A7FC640): MainThread", "thread MainThread", "thread MainThread", NULL },
        { "__pyx_pf_3app_2load", "__pyx_pf_3app_load#2", "__pyx_pf_3app_load", NULL },
        { "load at x.jl:12", "x.jl:load", "load", "x.jl:load" },
        { "load (/a/x.py)", "/a/x.py:load", "load", "x.py:load" },
        /* Ruby, PHP */
        { "Conn#push@/a/x.rb:12", "/a/x.rb:Conn#push", "push", "Conn#push" },
        { "times@<internal:numeric>:231", "<internal:numeric>:times", "times", "<internal:numeric>:times" },
        { "block (2 levels) in push - /a/x.rb:12", "/a/x.rb:block in push#2", "block in push", "x.rb:block in push" },
        { "sleep [c function] - (unknown):0", "unknown:sleep [c function]", "sleep", "unknown:sleep" },
        { "{closure:/a/x.php:12}", "{closure:/a/x.php}#12", "{closure:/a/x.php}", NULL },
        /* .NET */
        { "int32 [App] Program::Compute(int32)[Tier0]", "int32 [App] Program::Compute(int32)", "Compute",
          "Program::Compute" },
        { "[App] Program::Main(string[])[OptimizedTier1]", "[App] Program::Main(string[])", "Main",
          "Program::Main" },
        { "void [app] Prog+<RunAsync>d__3::MoveNext()[Tier1]", "void [app] Prog+<RunAsync>d__::MoveNext()#3",
          "<RunAsync>d__::MoveNext", "Prog+<RunAsync>d__::MoveNext" },
        { "void [app] Prog+<>c::<Main>b__0_1()[PreJIT]", "void [app] Prog+<>c::<Main>b__()#0_1", "<Main>b__",
          "<>c::<Main>b__" },
        { "App.Prog+<>c__DisplayClass5_0.<Main>g__Load|0(int)", "App.Prog+<>c__DisplayClass.<Main>g__Load|(int)#0",
          "<Main>g__Load|", "<>c__DisplayClass.<Main>g__Load|" },
        { "void [app] Program::<<Main>$>g__Load|0_1(int)[Tier0]", "void [app] Program::<<Main>$>g__Load|(int)#0_1",
          "<<Main>$>g__Load|", "Program::<<Main>$>g__Load|" },
        { "lib (native):load", NULL, "load", "lib :load" },
        { "App.Prog:Run(int):int:this [Tier0]", "App.Prog:Run(int)", "Run", "Prog:Run" },
        { "dynamicClass::lambda_method12(pMT: 00007F0102030405,class Closure)",
          "dynamicClass::lambda_method(class Closure)#12", "lambda_method", "dynamicClass::lambda_method" },
        { "App!Program.Compute(int32)", NULL, "Compute", "Program.Compute" },
};

static void check_names(void)
{
        char clean[NAME_MAX_BYTES], text[NAME_MAX_BYTES];

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                snprintf(clean, sizeof(clean), "%s", names[i].name);
                name_clean(clean);
                check_text(clean, names[i].clean ? names[i].clean : names[i].name);
                check_text(name_text(clean, "app", 0, text), names[i].text);
                check_text(name_text(clean, "app", 1, text), names[i].owned ? names[i].owned : names[i].text);
                check_text(name_text(clean, "app", NAME_LEVELS - 1, text), clean);
        }
}

/* Functions of libraries, by their several names. */
static void check_library_names(void)
{
        static const char *const aliases[][2] = {
                { "__fprintf_chk", "fprintf" },
                { "___snprintf_chk", "snprintf" },
                { "__GI___vsnprintf_chk", "vsnprintf" },
                { "__fgets_unlocked_chk", "fgets_unlocked" },
                { "__memcpy_chk", "memcpy" },
                { "__memcpy_chk_avx_unaligned_erms", "memcpy" },
                { "__memmove_evex_unaligned", "memmove" },
                { "__memcmp_evex_movbe", "memcmp" },
                { "__strlen_asimd", "strlen" },
                { "__memcpy_generic", "memcpy" },
                { "__task_generic", "__task_generic" },
                { "__isoc99_sscanf", "sscanf" },
                { "__isoc23_strtol", "strtol" },
                { "_IO_puts", "puts" },
                { "_IO_new_fopen", "fopen" },
                { "__GI__IO_fwrite", "fwrite" },
                { "__libc_read", "read" },
                { "__GI___libc_write", "write" },
                { "__close_nocancel", "__close" },
                { "__pthread_create_2_1", "pthread_create" },
                { "__x64_sys_read", "sys_read" },
                { "__arm64_sys_read", "sys_read" },
                /* others */
                { "_IO_getline", "_IO_getline" },
                { "_IO_file_write", "_IO_file_write" },
                { "__stack_chk_fail", "__stack_chk_fail" },
                { "_chk", "_chk" },
                { "__strange", "__strange" },
                { "__avx2", "__avx2" },
                { "__libc_", "__libc_" },
                { "compress_2_1", "compress_2_1" },
        };
        char name[NAME_MAX_BYTES];

        for (size_t i = 0; i < ARRAY_SIZE(aliases); i++) {
                snprintf(name, sizeof(name), "%s", aliases[i][0]);
                name_clean_library(name);
                check_text(name, aliases[i][1]);
        }
}

/* Whatever is put in, something comes out. */
static void check_hostile(void)
{
        static const char *const parts[] = { "::",       "(",   ")", "<", ">",   "{",   "[",       "]",       "#1",
                                             "operator", " ",   ".", "/", "$",   "_ZN", "9",       "17h",     "_R",
                                             "py::",     "JS:", "a", "@", "0x1", "+",   "lambda$", "\xc3\xbc",
                                             "_info",    "Main_", "z", "_D", "3abc", "__T" };
        const size_t short_only = 6; /* the last ones: in long names they would only take time */
        char name[NAME_MAX_BYTES], text[NAME_MAX_BYTES];
        unsigned chance = 1;

        for (int i = 0; i < 5000; i++) {
                size_t length = 0, wanted = i % 100 ? (size_t)(i % 12) : 3000;

                name[0] = '\0';
                for (size_t j = 0; j < wanted && length < 4000; j++) {
                        chance = chance * 1103515245 + 12345;
                        length += (size_t)snprintf(name + length, sizeof(name) - length, "%s",
                                                   parts[chance / 65536 % (ARRAY_SIZE(parts) -
                                                                             (wanted > 12 ? short_only : 0))]);
                }
                name_clean(name);
                name_clean_library(name);
                check(wanted == 0 || *name);
                for (size_t level = 0; level < NAME_LEVELS; level++)
                        check(strlen(name_text(name, "app", level, text)) < NAME_MAX_BYTES);
                check_text(text, name);
        }
}

/*
 * Callbacks of two programs below one function of a library: which of B has the label of each of A, and as what
 * those of A are shown.
 */
static const struct {
        const char *a[4], *b[4];
        int partner[4]; /* -1: none */
        const char *shown[4];
} programs[] = {
        { { "com.x.Upload.run", "com.x.Download.run" },
          { "com.x.Download.run", "com.x.Upload.run" },
          { 1, 0 },
          { "Upload.run", "Download.run" } },
        { { "com.x.Upload.run", "com.x.Download.run" },
          { "com.x.Upload.run", "com.x.Fetch.run" },
          { 0, 1 },
          { "Upload.run", "Download.run" } },
        { { "com.x.Upload.run" }, { "com.y.Upload.run" }, { 0 }, { "run" } },
        { { "com.x.Upload.run", "com.x.Download.run" },
          { "com.y.Upload.run", "com.y.Download.run" },
          { 0, 1 },
          { "Upload.run", "Download.run" } },
        { { "com.x.Upload.run", "com.x.Download.run" },
          { "com.x.Run.go" },
          { -1, -1 },
          { "Upload.run", "Download.run" } },
        { { "foo(int)", "foo(char)" }, { "foo(char)", "foo(int)" }, { 1, 0 }, { "foo(int)", "foo(char)" } },
        { { "main.Map[go.shape.int]", "main.Map[go.shape.string]" },
          { "main.Map[go.shape.string]" },
          { -1, 0 },
          { "Map[go.shape.int]", "Map[go.shape.string]" } },
        { { "com.x.M.lambda$go$0", "com.x.M.lambda$go$1" },
          { "com.x.M.lambda$go$3", "com.x.M.lambda$go$4" },
          { 0, 1 },
          { "lambda$go#0", "lambda$go#1" } },
        { { "JS:*f /x.js:10:1", "JS:*f /x.js:90:1" },
          { "JS:~f /x.js:110:1", "JS:*f /x.js:12:1" },
          { 1, 0 },
          { "f#10:1", "f#90:1" } },
        { { "app_load", "load" }, { "load", "app_load" }, { 1, 0 }, { "app_load", "load" } },
        { { "app_app_load", "app_load", "load" }, { "load", "app_app_load", "app_load" }, { 1, 2, 0 }, { NULL } },
        { { "app::run::{{closure}}" }, { "_RNCNvCs1234_3app3run0B3_" }, { 0 }, { "run::{{closure}}" } },
        { { "main.run.func1" }, { "main.run.func2" }, { 0 }, { "run.func1" } },
        { { "main.run.func1", "main.run.func3" }, { "main.run.func1", "main.run.func2" }, { 0, 1 }, { NULL } },
        { { "main.run.func1", "main.run.func2" }, { "main.run.func3" }, { -1, -1 }, { NULL } },
        { { "run()::{lambda(int)#1}::operator()(int) const" }, { "run()::{lambda(int)#2}::operator()(int) const" },
          { 0 }, { "run::{lambda(int)#1}::operator()" } },
        { { "main.run1" }, { "main.run2" }, { -1 }, { "run1" } },
        { { "$s1a1fyyFyycfU_", "$s1a1fyyFyycfU_yycfU0_", "$s1a1fyyFyycfU0_yycfU_" },
          { "$s1a1fyyFyycfU1_", "$s1a1fyyFyycfU1_yycfU0_", "$s1a1fyyFyycfU2_yycfU_" },
          { 0, 1, 2 },
          { NULL } },
        { { "load__store_33", "load__store_49", "load__app_6" },
          { "load__app_u16", "load__store_u40", "load__store_u56" },
          { 1, 2, 0 },
          { "load__store#33", "load__store#49", "load__app" } },
        { { "_RINvC3app5parsehE", "_RINvC3app5parsetE" }, { "app::parse::<u16>", "app::parse::<u8>" }, { 1, 0 },
          { "parse<u8>", "parse<u16>" } },
        { { "JS:~ /a/x1.js:1:1" }, { "JS:~ /b/x2.js:1:1" }, { 0 }, { "x1.js:(anonymous)" } },
        { { "py::<module>:x.py", "py::<module>:y.py" }, { "py::<module>:x.py", "py::<module>:z.py" }, { 0, 1 },
          { "x.py:<module>", "y.py:<module>" } },
        { { "py::<module>:x.py", "py::<module>:y.py" }, { "py::<module>:z.py" }, { -1, -1 }, { NULL } },
        { { "push@/a/x.rb:12" }, { "push@/a/x.rb:14" }, { 0 }, { "push" } },
        { { "class@anonymous::run", "class@anonymous::stop" }, { "class@anonymous::stop" }, { -1, 0 },
          { "run", "stop" } },
        { { "vfs_read+142", "tcp_recvmsg+808" }, { "tcp_recvmsg+810", "vfs_read+150" }, { 1, 0 },
          { "vfs_read", "tcp_recvmsg" } },
        { { "Main_lvl_r1Xy_info", "Main_lvl_r1Xz_info" }, { "Main_lvl_rA2_info", "Main_lvl_rA3_info" }, { 0, 1 },
          { NULL } },
        { { "camlApp__fun_51", "camlApp__fun_77" }, { "camlApp.fun_60", "camlApp.fun_91" }, { 0, 1 }, { NULL } },
        { { "closure #1 in main.foo()" }, { "main.foo()" }, { -1 }, { "foo.{closure}" } },
        { { "my.ns$load.invoke" }, { "my.ns$store.invoke" }, { -1 }, { "ns$load.invoke" } },
        { { "main.run.func1\302\267dwrap\302\2673" }, { "main.load.func1.deferwrap3" }, { -1 }, { NULL } },
        { { "main.run\302\267dwrap\302\2671" }, { "main.run.deferwrap1" }, { 0 }, { NULL } },
        { { "type:.eq.main.T" }, { "type:.hash.main.T" }, { -1 }, { NULL } },
        { { "a::h0123456789abcdef" }, { "a::hfedcba9876543210" }, { 0 }, { "a" } },
};

static int32_t make(struct contexts *ret, struct labels *labels, const char *const *functions)
{
        const char *prefixes[] = { "lib", NULL };
        const struct context_rules rules = { .frames = { .framework_prefixes = prefixes } };
        _cleanup_(stacks_clear) struct stacks stacks = { 0 };
        int32_t lib;

        check_int(stacks_new(&stacks), 0);
        check_int(stacks_begin(&stacks), 0);
        lib = stacks_child(&stacks, stacks_child(&stacks, 0, "app", 3), "lib", 3);
        for (size_t i = 0; i < 4 && functions[i]; i++)
                check_int(stacks_add(&stacks, stacks_child(&stacks, lib, functions[i], strlen(functions[i])),
                                     (double)i + 1),
                          0);
        return contexts_make(&stacks, &rules, labels, ret);
}

/* The node of the i-th function: it counts i + 1. */
static int32_t find(const struct contexts *contexts, int i)
{
        for (int32_t node = 0; node < contexts->tree.n; node++)
                if (contexts->self[0][node] > i + 0.5 && contexts->self[0][node] < i + 1.5)
                        return node;
        return -1;
}

static void check_programs(void)
{
        for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
                _cleanup_(labels_clear) struct labels labels = { 0 };
                _cleanup_(contexts_clear) struct contexts a = { 0 }, b = { 0 };
                _cleanup_free_ int32_t *rank = NULL;

                check_int(make(&a, &labels, programs[i].a), 0);
                check_int(make(&b, &labels, programs[i].b), 0);
                check_int(functions_name((struct contexts *[]){ &a, &b }, 2, &labels), 0);
                check_int(labels_rank(&labels, &rank), 0);
                check_int(contexts_finish(&a, rank, labels.n), 0);
                check_int(contexts_finish(&b, rank, labels.n), 0);
                for (int j = 0; j < 4 && programs[i].a[j]; j++) {
                        int32_t v = find(&a, j), partner = -1;

                        for (int k = 0; v >= 0 && k < 4 && programs[i].b[k]; k++)
                                if (find(&b, k) >= 0 && b.label[find(&b, k)] == a.label[v])
                                        partner = k;
                        check_int(partner, programs[i].partner[j]);
                        if (v >= 0 && programs[i].shown[j])
                                check_text(labels_text(&labels, a.shown[v]) + 1, programs[i].shown[j]);
                }
        }
}

int main(void)
{
        check_names();
        check_library_names();
        check_hostile();
        check_programs();
        return check_result();
}
