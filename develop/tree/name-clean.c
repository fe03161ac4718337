/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "name.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

#define PARTS_MAX 6
#define TIMES_MAX 64 /* most times that a row is applied to one name */

/*
 * A row of the tables of replacements, which are made in this order. @has: a text that is in every name that the
 * pattern matches; @by: the replacement, with \1 to \6; the number that it has after '#' goes to the name's end.
 */
struct row {
        const char *has, *pattern, *by;
        bool is_compiled;
        regex_t compiled;
};

/* The file of a function of an interpreter, as "/a/x.py" or "<internal:numeric>". */
#define SOURCE "([^@():]*[^@():0-9]|<[^<>]*>)"

/* In symbols of Swift: the number of a closure, or of a place where a function waits. */
#define SWIFT_NUMBER "(f[Uu]|T[QY])([0-9]*)_"

static struct row rows[] = {
        /* marks of profilers and compilers of code that runs: how far it is optimised */
        { "]", "_\\[[kijw0-9]\\]$", "" },
        { ": ", "^(Ion|Baseline(Interpreter)?): ", "" },
        { "-", "-([0-9]+)-(liftoff|turbofan)$", "#\\1" },
        { "]",
          " ?\\[(Optimized|Instrumented|PreJIT|ReadyToRun|((MinOpt|Quick)Jitted)|((Optimized|Instrumented)?Tier[01]["
          "A-Za-z]*))( [a-z]+)?\\]$",
          "" },
        /* addresses, and offsets to them */
        { "+0x", "\\+0x[0-9a-f]+(/0x[0-9a-f]+)?$", "" },
        { "+", "\\+[0-9]+$", "" }, /* bpftrace */
        { "0x", "^0x[0-9a-f]+$", "[unknown]" },
        { "0x", "[/.+]0x[0-9a-fA-F]{5,16}", "" }, /* hidden classes of Java */
        /* numbers of processes and threads, and hashes: cgo's of a package, the kernel's of a BPF program */
        { "perf-", "perf-[0-9]+\\.map", "perf.map" },
        { " tid=", " tid=[0-9]+\\]$", "]" },
        { "process ", "^process [0-9]+:", "process " },
        { "thread (", "^thread \\((0x)?[0-9A-Fa-f]+\\):?", "thread" },
        { "_cgo", "^_cgo(exp)?_[0-9a-f]{12}_", "_cgo\\1_" },
        { "bpf_prog_", "^bpf_prog_[0-9a-f]{16}(_|$)", "bpf_prog\\1" },
        { "bpf_trampoline_", "^bpf_trampoline_[0-9]+$", "bpf_trampoline" },
        /* Go: names of older versions, and functions that compare values of a type */
        { ".glob..", "\\.glob\\.\\.func", ".init.func" },
        { "dwrap", "\302\267dwrap\302\267([0-9]+)", ".deferwrap\\1" },
        { "go.shape.", "_[0-9]+([],])", "\\1" },
        { "type", "^type[:.]\\.(eq|hash)\\.(.*)$", "\\2.(\\1)" },
        /* additions of compilers and linkers to copies, parts and versions of a function */
        { " [clone ", " \\[clone (\\.[^]]*)\\]", "\\1" },
        { " (.", " \\((\\.[^()]*)\\)$", "\\1" },
        { ".",
          "(\\.(constprop|isra|part|lto_priv|llvm|__part|__uniq|memprof|specialized)\\.[0-9]+|"
          "\\.(cold|localalias)(\\.[0-9]+)?|\\.(abi0|argprom|cfi(_jt)?))+$",
          "" },
        { "OUTLINED_", "^OUTLINED_FUNCTION_([0-9]+)$", "OUTLINED_FUNCTION#\\1" },
        { "@", "@@.*$", "" },
        { "@", "@[A-Z][A-Za-z0-9]*_[0-9.]+$", "" },
        { "@plt", "@plt$", "" },
        /* Rust: hashes of the older names, disambiguators of crates and of the newer names */
        { "::h", "::h[0-9a-f]{16}$", "" },
        { "17h", "17h[0-9a-f]{16}E", "E" },
        { "]::", "\\[[0-9a-f]{6,16}\\]::", "::" },
        { "#", "\\{(closure|async_[a-z_]+)#([0-9]+)\\}", "{{closure}}#\\2" },
        { "$LT$", "([A-Za-z0-9_$])\\.\\.([A-Za-z0-9_$])", "\\1::\\2" },
        { "$LT$", "[_]*\\$LT\\$", "<" },
        { "$GT$", "\\$GT\\$", ">" },
        { "$u20$", "\\$u20\\$", " " },
        { "$u7b$", "[_]*\\$u7b\\$", "{" },
        { "$u7d$", "\\$u7d\\$", "}" },
        { "$RF$", "\\$RF\\$", "&" },
        { "$C$", "\\$C\\$", "," },
        /* D: lambdas, by their number or place */
        { "__", "__(lambda|foreachbody|dgliteral|funcliteral)_L([0-9]+)_C([0-9]+)", "__\\1#\\2:\\3" },
        { "__", "__(lambda|foreachbody|dgliteral|funcliteral)([0-9]+)", "__\\1#\\2" },
        /*
         * Java and others: types of results, lambdas, accessors, proxies, and classes that libraries make; names of
         * perf-map-agent
         */
        { ")", "\\)\\[*([BCDFIJSZV]|L[A-Za-z0-9_$/]+;)$", ")" },
        { ".invoke", "\\$([0-9]+)(\\.invoke(Suspend)?)$", "$\\2#\\1" },
        { "$.invoke", "\\$([0-9]+)(\\$\\.invoke(Suspend)?)", "$\\2#\\1" },
        { "$lambda", "\\$lambda[-$]([0-9]+)", "$lambda$#\\1" },
        { "SyntheticLambda", "(SyntheticLambda)(\\$[0-9]+\\$[0-9a-f]+\\$)?([0-9]+)", "\\1#\\3" },
        { "$$Lambda", "\\$\\$Lambda(\\$[0-9]+)?(/[0-9a-f]+|\\.[0-9]{4,})?", "$$Lambda" },
        { "LambdaForm$", "LambdaForm\\$([A-Z]+)[0-9]+", "LambdaForm$\\1" },
        { "lambda$", "lambda\\$((.*)\\$)?([0-9]+)", "lambda$\\2#\\3" },
        { "anonfun$", "anonfun\\$((.*)\\$)?([0-9]+)", "anonfun$\\2#\\3" },
        { "$fn__", "\\$fn__([0-9]+)", "$fn#\\1" },
        { "access$", "access\\$([0-9]+)", "access#\\1" },
        { "Accessor", "(Generated[A-Za-z]*Accessor)[0-9]+", "\\1" },
        { "roxy", "(\\$Proxy|jdk[./]proxy)[0-9]+", "\\1" },
        { "$", "(CGLIB|ByteBuddy|HibernateProxy|MockitoMock|Instance)\\$+[0-9A-Za-z]+", "\\1" },
        { "::", "^L([A-Za-z_][A-Za-z0-9_/$]*)[;:_]::", "\\1." },
        /* numbers of local functions: of C, of .NET (also asynchronous ones and lambdas), of OCaml, Julia, Zig, Nim */
        { ".", "\\.([0-9]{4,})$", "#\\1" },
        { "<>c__", "<>c__DisplayClass[0-9_]+", "<>c__DisplayClass" },
        { "__", "(<([^<>]|<[^<>]*>)*>(g__[^|]*\\||[a-z]__))([0-9]+(_[0-9]+)?)", "\\1#\\4" },
        { "lambda_method", "lambda_method([0-9]+)", "lambda_method#\\1" },
        { "(pMT: ", "\\(pMT: [0-9A-F]{8,16},?", "(" },
        { "):", "([]A-Za-z0-9_>]\\([^()]*\\))(:[A-Za-z_][^():]*)+$", "\\1" },
        { "anon_fn[", "anon_fn\\[[^]:]*:([0-9]+),([0-9]+)--[0-9]+\\]_[0-9]+", "anon_fn#\\1:\\2" },
        { "anon_fn$5b",
          "anon_fn\\$5b.*\\$3a([0-9]+)\\$2c([0-9]+)\\$2d\\$2d[0-9]+\\$5d_[0-9]+",
          "anon_fn#\\1:\\2" },
        { "caml", "^(caml[A-Z].*)_([0-9]+)(_[0-9]+_code)?$", "\\1#\\2" },
        { "caml", "^caml([A-Z].*)(__|\\.)([a-z_$][^.]*)$", "\\1.\\3" },
        { "julia_#", "^(julia_#[^#0-9]+)#[0-9]+(_[0-9]+)$", "\\1\\2" },
        { "julia_", "^(julia_.*)_([0-9]+)$", "\\1#\\2" },
        { "japi1_", "^(japi1_.*)_([0-9]+)$", "\\1#\\2" },
        { "jfptr_", "^(jfptr_.*)_([0-9]+)$", "\\1#\\2" },
        { "__", "__(anon|struct|enum|union|opaque)_([0-9]+)", "__\\1#\\2" },
        { "__", "^([A-Za-z][A-Za-z0-9_]*__[A-Za-z0-9]+)_u?([0-9]+)$", "\\1#\\2" },
        { "__pyx_p", "^(__pyx_p[a-z]*_[0-9].*_)([0-9]+)([A-Za-z_][A-Za-z0-9_]*)$", "\\1\\3#\\2" }, /* Cython */
        { "*", "^\\*(([^:]|::)*):[A-Z({].*$", "\\1" }, /* types that Crystal returns */
        /* Swift: what the compiler makes of a function, closures by their number, where a function waits */
        { " -> ",
          "(( in |^partial apply |^protocol witness | resume ).*\\))( async)?( throws)? -> ([^()# ]*|\\([^()#]*\\))"
          "( in conformance .*)?$",
          "\\1\\6" },
        { "pecializ", "^((function signature|generic) )?(specialized|specialization <.*> of) ", "" },
        { "merged ", "^merged ", "" },
        { "(extension in ", "\\(extension in ([^)]*)\\):", "\\1." },
        { "partial apply ", "^partial apply (forwarder )?for (.*)$", "\\2.{partial apply}" },
        { "protocol witness ", "^protocol witness for (.*) in conformance (.*)$", "\\2.\\1.{witness}" },
        { " resume ", "^\\(([0-9]+)\\) (await|suspend) resume partial function for (.*)$", "\\3.{\\2}#\\1" },
        { "closure #", "closure #([0-9]+) ([^#]* )?in ([^#]*)(#[0-9:]*)?$", "\\3.{closure}\\4#\\1" },
        { "closure #", "closure #([0-9]+) ([^#]* )?in ([^#]*)(#[0-9:]*)?$", "\\3.{closure}\\4#\\1" },
        /* Swift's symbols stay whole; only the numbers of closures and waits, "_" "0_" "1_", become 1 10 11 */
        { "$s", SWIFT_NUMBER, "\\1_#1\\2" },
        { "$S", SWIFT_NUMBER, "\\1_#1\\2" },
        { "_T0", SWIFT_NUMBER, "\\1_#1\\2" },
        { "{closure:", "\\{closure:(.*):([0-9]+)\\}$", "{closure:\\1}#\\2" }, /* PHP */
        { "-fun-", "'-([^/]*)/[0-9]+-fun-([0-9]+)-'/[0-9]+$", "\\1-fun#\\2" }, /* Erlang */
        /*
         * Interpreters: "JS:*f /x.js:2:18" of V8, "py::f:/x.py" of Python. A single number is the line that ran: in
         * "f (x.py:12)" of py-spy, "f - /x.rb:12" of rbspy, "f@/x.rb:12" of YJIT, "x.py:12 - f" of pyroscope,
         * "x.py:f:12" of austin.
         */
        { ":",
          "^(JS|LazyCompile|Function|InterpretedFunction|Script|Eval):[*~^+]?(((get|set|async|static|bound) )?[^ "
          "]*) (.*[^0-9:][0-9]*)((:[0-9]+)*)$",
          "\\5:\\2#\\6" },
        { ":", "^(JS|LazyCompile|Function|Script|Eval):[*~^+]([^ ]*) ?((:[0-9]+)*)$", "\\1:\\2#\\3" }, /* no file */
        { " (", "^(.*[^-]) \\(" SOURCE ":[0-9]+\\)$", "\\2:\\1" },
        { " - ", "^(.*) - \\(?" SOURCE "\\)?:[0-9]+$", "\\2:\\1" },
        { " - ", "^([^ ]+):[0-9]+ - (.+)$", "\\1:\\2" },
        { " at ", "^(.*) at " SOURCE ":[0-9]+$", "\\2:\\1" },
        { "@", "^(.*)@" SOURCE ":[0-9]+$", "\\2:\\1" },
        { ".py:", "^(.*\\.py):([^:]+):[0-9]+$", "\\1:\\2" },
        { "block (", "block \\(([0-9]+) levels\\)", "block#\\1" },
        { ":", "^[*~^+]?([^ /]*) \\(?((file:|node:|[a-z]*:?/)[^ ]*[^0-9:][0-9]*)((:[0-9]+)+)\\)?$", "\\2:\\1#\\4" },
        { "py:", "^py::?([^:]*):([0-9]+:)?(.*)$", "\\3:\\1" },
        { ")", "^([^ (]+) \\(([^():]*\\.(py|rb|php|lua|pl|ex))\\)$", "\\2:\\1" },
        { ":", "([./][^:]*:)(#[0-9:]*)?$", "\\1(anonymous)\\2" },
};

/* Variants of a function, among which the loader chooses by CPU: they are named by the CPU's vector units, and more. */
#define UNIT "_(s?sse[0-9]*|avx[0-9]*f?|evex[0-9]*|erms|asimd|sve|mops|neon|falkor|thunderx2?|a64fx|kryo|kunpeng)"
#define VARIANT "(_(no|unaligned|generic))*" UNIT "(_[a-z0-9]+)*"
static struct row variant_rows[] = {
        { .has = "_chk_", .pattern = "^(__[a-z0-9]+_chk)" VARIANT "$", .by = "\\1" },
        { .has = "_", .pattern = "^__([a-z0-9]+)" VARIANT "$", .by = "\\1" },
        { .has = "_generic", .pattern = "^__((mem|str|wcs|wmem|stp|rawmem)[a-z]*)_generic$", .by = "\\1" },
};

/*
 * Other names of the C library's functions: for checks of buffers, for other standards, for internal use; and of the
 * kernel's, by architecture.
 */
#define STDIO                                                                                                          \
        "(f?puts|f?gets|f?putc|f?getc|ungetc|fread|fwrite|fopen|fdopen|fclose|fflush|popen|v?[fs]?n?printf|v?[fs]?"    \
        "scanf|setbuffer|setvbuf|ftell|fgetpos(64)?|fsetpos(64)?|feof|ferror|f(un|try)?lockfile)"
static struct row library_rows[] = {
        { .has = "__GI_", .pattern = "^__GI_", .by = "" },
        { .has = "__libc_", .pattern = "^__libc_", .by = "" },
        { .has = "__isoc", .pattern = "^__isoc[0-9][0-9]_", .by = "" },
        { .has = "_IO_", .pattern = "^_IO_(new_|old_)?" STDIO "$", .by = "\\2" },
        { .has = "_sys_", .pattern = "^__(x64|ia32|arm64|riscv|s390x?|se|do)_sys_", .by = "sys_" },
        { .has = "_nocancel", .pattern = "_nocancel$", .by = "" },
        { .has = "_2_", .pattern = "^__(new_|old_)?([a-z][a-z0-9_]*)_2_[0-9]+(_[0-9]+)?$", .by = "\\2" },
        { .has = "_chk", .pattern = "^__+([a-z0-9]+(_[a-z0-9]+)*)_chk$", .by = "\\1" },
};

/*
 * We match a '^' at the beginning ourselves: glibc duplicates the pattern behind it, and frees that twice if it has no
 * memory for the copy (regcomp.c, re_dfa_add_node()).
 */
static bool is_anchored(const struct row *row)
{
        return row->pattern[0] == '^';
}

/* NULL: no memory; there is no other error, because all patterns are right. */
static const regex_t *compiled(struct row *row)
{
        if (!row->is_compiled && regcomp(&row->compiled, row->pattern + is_anchored(row), REG_EXTENDED) != 0)
                return NULL;
        row->is_compiled = true;
        return &row->compiled;
}

/* Writes a replacement up to @end, or its own end. Its length. */
static size_t expand(const char *by, char end, const char *match, const regmatch_t *parts, char made[NAME_MAX_BYTES])
{
        size_t length = 0;

        for (; *by && *by != end && length < NAME_MAX_BYTES - 1; by++) {
                if (*by != '\\') {
                        made[length++] = *by;
                        continue;
                }
                const regmatch_t *part = &parts[*++by - '0'];
                size_t size = part->rm_so < 0 ? 0 : (size_t)(part->rm_eo - part->rm_so);

                size = MIN(size, NAME_MAX_BYTES - 1 - length);
                memcpy(made + length, match + (part->rm_so < 0 ? 0 : part->rm_so), size);
                length += size;
        }
        made[length] = '\0';
        return length;
}

/* Puts a number to the end of a name, after the others. */
static void put_number(char *name, const char *number)
{
        size_t length = strlen(name);
        char mark = name_plain_length(name) < length ? ':' : '#';

        number += *number == ':';
        if (*number)
                snprintf(name + length, NAME_MAX_BYTES - length, "%c%s", mark, number);
}

/* Replaces a match. The number of bytes up to the end of the replacement. */
static size_t replace(char *name, size_t from, const regmatch_t *parts, const char *by)
{
        char made[NAME_MAX_BYTES], number[NAME_MAX_BYTES] = "";
        const char *after = strchr(by, '#');
        size_t length = expand(by, '#', name + from, parts, made);
        char *start = name + from + parts[0].rm_so, *rest = name + from + parts[0].rm_eo;
        size_t room = NAME_MAX_BYTES - 1 - (size_t)(start - name), behind = strlen(rest);

        if (after)
                expand(after + 1, '\0', name + from, parts, number);
        length = MIN(length, room);
        behind = MIN(behind, room - length);
        memmove(start + length, rest, behind);
        start[length + behind] = '\0';
        memcpy(start, made, length);
        put_number(name, number);
        return (size_t)(start + length - name);
}

static int apply(struct row *row, char *name)
{
        const regex_t *pattern;
        regmatch_t parts[PARTS_MAX + 1];
        size_t from = 0;

        /* most names are without it; a first byte that is no part of an expression is the name's */
        if (!strstr(name, row->has) || (is_anchored(row) && (isalnum((unsigned char)row->pattern[1]) ||
                                                             row->pattern[1] == '_') && *name != row->pattern[1]))
                return 0;
        pattern = compiled(row);
        if (!pattern)
                return -ENOMEM;
        for (int i = 0; i < TIMES_MAX && name[from]; i++) {
                int code = regexec(pattern, name + from, PARTS_MAX + 1, parts, from > 0 ? REG_NOTBOL : 0);

                if (code != 0)
                        return code == REG_NOMATCH ? 0 : -ENOMEM;
                if (is_anchored(row) && (from > 0 || parts[0].rm_so > 0))
                        return 0;
                if (parts[0].rm_so == 0 && from == 0 && parts[0].rm_eo == (regoff_t)strlen(name) && !*row->by)
                        return 0; /* nothing would be left */
                from = replace(name, from, parts, row->by);
        }
        return 0;
}

static int apply_all(struct row *table, size_t n, char *name)
{
        int err = 0;

        for (size_t i = 0; err == 0 && i < n; i++)
                err = apply(&table[i], name);
        return err;
}

int name_clean(char name[NAME_MAX_BYTES])
{
        char made[NAME_MAX_BYTES];

        if (name_rust(name, made) || name_encoded(name, made))
                strcpy(name, made);
        name_rust_respell(name);
        return apply_all(rows, ARRAY_SIZE(rows), name);
}

int name_clean_variant(char name[NAME_MAX_BYTES])
{
        return apply_all(variant_rows, ARRAY_SIZE(variant_rows), name);
}

int name_clean_library(char name[NAME_MAX_BYTES])
{
        int err = name_clean_variant(name);

        return err ? err : apply_all(library_rows, ARRAY_SIZE(library_rows), name);
}
