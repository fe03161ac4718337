/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Demangler of rustc's names: RFC 2603 ("v0", _R...), and the older ones, which are like C++ (_ZN...17h<hash>E). */

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "name.h"
#include "util/util.h"

/* "$" and "." are in the older names only, as of "$LT$alloc..string..String$GT$". */
#define WORD_CHARACTERS "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz$."
#define DEPTH_MAX 64
#define STEPS_MAX 20000 /* a limit, because references may multiply */
#define LENGTH_MAX (NAME_MAX_BYTES * 5 / 8) /* room for the library's name in a frame */

struct symbol {
        const char *start, *at;
        char *made;
        size_t length, steps;
        unsigned depth, quiet;
        bool failed, older, plain; /* @plain: without types of instances */
};

static void take_type(struct symbol *symbol);
static void take_path(struct symbol *symbol);

static void fail(struct symbol *symbol)
{
        symbol->failed = true;
        symbol->at = "";
}

static void add(struct symbol *symbol, const char *text, size_t size)
{
        if (symbol->quiet || symbol->failed)
                return;
        if (symbol->length + size >= LENGTH_MAX) {
                fail(symbol);
                return;
        }
        memcpy(symbol->made + symbol->length, text, size);
        symbol->length += size;
}

static void add_text(struct symbol *symbol, const char *text)
{
        add(symbol, text, strlen(text));
}

static bool take(struct symbol *symbol, char c)
{
        bool is_there = *symbol->at == c;

        symbol->at += is_there;
        return is_there;
}

/* Reads a number in base 62: "_" is 0, "0_" is 1. */
static size_t take_number(struct symbol *symbol)
{
        size_t value = 0;

        if (take(symbol, '_'))
                return 0;
        for (; isalnum((unsigned char)*symbol->at); symbol->at++) {
                char c = *symbol->at;

                value = MIN(value, SIZE_MAX / 128); /* hashes are longer, and not used */
                value = value * 62 + (size_t)(isdigit((unsigned char)c) ? c - '0' :
                                              islower((unsigned char)c) ? c - 'a' + 10 :
                                                                          c - 'A' + 36);
        }
        if (!take(symbol, '_'))
                fail(symbol);
        return value + 1;
}

static size_t take_disambiguator(struct symbol *symbol)
{
        return take(symbol, 's') ? take_number(symbol) + 1 : 0;
}

/* Reads the bytes of an identifier; after "u" they are Punycode, which is kept as it is. */
static const char *take_word(struct symbol *symbol, size_t *size)
{
        const char *word;
        size_t left;

        take(symbol, 'u');
        left = strlen(symbol->at);
        *size = 0;
        if (!isdigit((unsigned char)*symbol->at)) {
                fail(symbol);
                return "";
        }
        if (!take(symbol, '0'))
                for (; isdigit((unsigned char)*symbol->at) && *size <= left; symbol->at++)
                        *size = *size * 10 + (size_t)(*symbol->at - '0');
        if (!symbol->older)
                take(symbol, '_');
        word = symbol->at;
        if (*size > strspn(word, WORD_CHARACTERS)) {
                fail(symbol);
                return "";
        }
        symbol->at += *size;
        return word;
}

static void take_named(struct symbol *symbol)
{
        size_t size;
        const char *word;

        take_disambiguator(symbol);
        word = take_word(symbol, &size);
        add(symbol, word, size);
}

/* Reads a reference: one path, type or constant at an earlier position. */
static void take_reference(struct symbol *symbol, void (*one)(struct symbol *))
{
        const char *here = symbol->at - 1, *back;
        size_t place = take_number(symbol);

        back = symbol->at;
        if (symbol->failed || place >= (size_t)(here - symbol->start)) {
                fail(symbol);
                return;
        }
        symbol->at = symbol->start + place;
        one(symbol);
        if (!symbol->failed)
                symbol->at = back;
}

static void take_hidden(struct symbol *symbol, void (*one)(struct symbol *))
{
        symbol->quiet++;
        one(symbol);
        symbol->quiet--;
}

/* Reads a constant, whose number is shown as it is in the symbol: in hexadecimal digits. */
static void take_constant(struct symbol *symbol)
{
        size_t size;

        if (take(symbol, 'p'))
                return;
        if (take(symbol, 'B')) {
                take_reference(symbol, take_constant);
                return;
        }
        take_hidden(symbol, take_type);
        add_text(symbol, take(symbol, 'n') ? "-" : "");
        size = strspn(symbol->at, "0123456789abcdef");
        add(symbol, symbol->at, size);
        symbol->at += size;
        if (!take(symbol, '_'))
                fail(symbol);
}

static void take_argument(struct symbol *symbol)
{
        if (take(symbol, 'L'))
                take_number(symbol);
        else if (take(symbol, 'K'))
                take_constant(symbol);
        else
                take_type(symbol);
}

/* Reads a list between two brackets; nothing is shown of one of lifetimes, which have no text. */
static void take_list(struct symbol *symbol, void (*one)(struct symbol *), const char *open, const char *close)
{
        size_t start = symbol->length;

        while (!symbol->failed && !take(symbol, 'E')) {
                size_t before = symbol->length, text;

                add_text(symbol, before == start ? open : ", ");
                text = symbol->length;
                one(symbol);
                if (symbol->length == text)
                        symbol->length = before;
        }
        add_text(symbol, symbol->length > start ? close : "");
}

/* Reads the rest of "N" from the kind of name on: upper case kinds have a number in place of a name, or before it. */
static void take_nested(struct symbol *symbol)
{
        char kind = *symbol->at ? *symbol->at++ : '\0', text[32];
        size_t number, size;
        const char *word;

        if (!isalpha((unsigned char)kind)) {
                fail(symbol);
                return;
        }
        take_path(symbol);
        number = take_disambiguator(symbol);
        word = take_word(symbol, &size);
        if (isupper((unsigned char)kind)) {
                add_text(symbol, kind == 'C' ? "::{closure" : kind == 'S' ? "::{shim" : "::{item");
                add_text(symbol, size > 0 ? ":" : "");
                add(symbol, word, size);
                snprintf(text, sizeof(text), "#%zu}", number);
                add_text(symbol, text);
        } else if (size > 0) {
                add_text(symbol, "::");
                add(symbol, word, size);
        }
}

/* Reads "<T as Trait>", or the type alone; the place of the impl is not shown. */
static void take_impl(struct symbol *symbol, bool has_place, bool has_trait)
{
        if (has_place) {
                take_disambiguator(symbol);
                take_hidden(symbol, take_path);
        }
        bool is_path = !has_trait && *symbol->at && strchr("CMXYNI", *symbol->at);

        add_text(symbol, is_path ? "" : "<");
        take_type(symbol);
        add_text(symbol, has_trait ? " as " : "");
        if (has_trait)
                take_path(symbol);
        add_text(symbol, is_path ? "" : ">");
}

static bool enter(struct symbol *symbol)
{
        if (symbol->failed || symbol->depth >= DEPTH_MAX || ++symbol->steps > STEPS_MAX)
                fail(symbol);
        symbol->depth += !symbol->failed;
        return !symbol->failed;
}

static void take_path(struct symbol *symbol)
{
        char kind = *symbol->at;

        if (!kind)
                fail(symbol);
        if (!enter(symbol))
                return;
        symbol->at++;
        if (kind == 'C') {
                take_named(symbol);
        } else if (kind == 'N') {
                take_nested(symbol);
        } else if (strchr("MXY", kind)) {
                take_impl(symbol, kind != 'Y', kind != 'M');
        } else if (kind == 'I') {
                take_path(symbol);
                symbol->quiet += symbol->plain;
                take_list(symbol, take_argument, "<", ">");
                symbol->quiet -= symbol->plain;
        } else if (kind == 'B') {
                take_reference(symbol, take_path);
        } else {
                fail(symbol);
        }
        symbol->depth--;
}

static void take_function(struct symbol *symbol)
{
        size_t size;

        if (take(symbol, 'G'))
                take_number(symbol);
        take(symbol, 'U');
        if (take(symbol, 'K') && !take(symbol, 'C'))
                take_word(symbol, &size);
        add_text(symbol, "fn");
        take_list(symbol, take_type, "(", ")");
        add_text(symbol, " -> ");
        take_type(symbol);
}

static void take_bound(struct symbol *symbol)
{
        size_t size;

        take_path(symbol);
        while (take(symbol, 'p')) {
                take_word(symbol, &size);
                take_hidden(symbol, take_type);
        }
}

static void take_dynamic(struct symbol *symbol)
{
        if (take(symbol, 'G'))
                take_number(symbol);
        take_list(symbol, take_bound, "dyn ", "");
        if (take(symbol, 'L'))
                take_number(symbol);
}

static void take_pointer(struct symbol *symbol, const char *text)
{
        if (take(symbol, 'L'))
                take_number(symbol);
        add_text(symbol, text);
        take_type(symbol);
}

static void take_bracketed(struct symbol *symbol, char kind)
{
        if (kind == 'T') {
                take_list(symbol, take_type, "(", ")");
                return;
        }
        add_text(symbol, "[");
        take_type(symbol);
        add_text(symbol, kind == 'A' ? "; " : "");
        if (kind == 'A')
                take_constant(symbol);
        add_text(symbol, "]");
}

static const char *basic_type(char kind)
{
        static const char *const names['z' - 'a' + 1] = {
                "i8",   "bool", "char", "f64", "str", "f32", NULL,   "u8",  "isize", "usize", NULL, "i32", "u32",
                "i128", "u128", "_",    NULL,  NULL,  "i16", "u16",  "()",  "...",   NULL,    "i64", "u64", "!"
        };

        return kind >= 'a' && kind <= 'z' ? names[kind - 'a'] : NULL;
}

static void take_type(struct symbol *symbol)
{
        static const char *const pointers[] = { "R&", "Q&mut ", "P*const ", "O*mut " };
        char kind = *symbol->at;

        if (!kind || strchr("CMXYNI", kind)) {
                take_path(symbol);
                return;
        }
        if (!enter(symbol))
                return;
        symbol->at++;
        for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++)
                if (kind == *pointers[i])
                        take_pointer(symbol, pointers[i] + 1);
        if (basic_type(kind))
                add_text(symbol, basic_type(kind));
        else if (strchr("AST", kind))
                take_bracketed(symbol, kind);
        else if (kind == 'F')
                take_function(symbol);
        else if (kind == 'D')
                take_dynamic(symbol);
        else if (kind == 'B')
                take_reference(symbol, take_type);
        else if (!strchr("RQPO", kind))
                fail(symbol);
        symbol->depth--;
}

/* Reads "_ZN7mycrate1a17h0123456789abcdefE"; the hash is removed elsewhere. */
static bool demangle_like_cxx(struct symbol *symbol)
{
        size_t size;

        symbol->older = true;
        symbol->at += strlen("_ZN");
        while (!symbol->failed && *symbol->at != 'E') {
                const char *word = take_word(symbol, &size);

                add_text(symbol, symbol->length ? "::" : "");
                add(symbol, word, size);
        }
        return !symbol->failed && symbol->length > 0 && (symbol->at[1] == '\0' || symbol->at[1] == '.');
}

static bool demangle(struct symbol *symbol)
{
        symbol->at = symbol->start;
        take_path(symbol);
        if (!symbol->failed && isupper((unsigned char)*symbol->at)) /* the crate that made this instance */
                take_hidden(symbol, take_path);
        return !symbol->failed;
}

bool name_rust(const char *name, char made[NAME_MAX_BYTES])
{
        struct symbol symbol = { .start = name + 2, .at = name, .made = made };
        const char *rest = NULL;

        if (strncmp(name, "_ZN", 3) == 0 && strstr(name, "17h")) {
                if (!demangle_like_cxx(&symbol))
                        return false;
                rest = symbol.at + 1;
        } else if (strncmp(name, "_R", 2) == 0 && isupper((unsigned char)name[2])) {
                if (!demangle(&symbol)) { /* with the types it may be too long */
                        symbol = (struct symbol){ .start = name + 2, .made = made, .plain = true };
                        demangle(&symbol);
                }
                rest = symbol.at;
        }
        if (!rest || symbol.failed || symbol.length == 0 || (*rest && !strchr(".$", *rest)) ||
            symbol.length + strlen(rest) >= NAME_MAX_BYTES)
                return false;
        strcpy(made + symbol.length, rest);
        return true;
}

/* Is it a name in the source, as "<init>" of Java and "<lambda(int)>" of C++, and no type? */
static bool is_name_in_brackets(const char *text)
{
        static const char *const words[] = { "<init>", "<clinit>", "<module>", "<lambda", "<unnamed" };

        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                if (strncmp(text, words[i], strlen(words[i])) == 0)
                        return true;
        return false;
}

void name_rust_respell(char *name)
{
        const char *end = *name == '<' ? name_skip_brackets(name, name) : NULL;

        if (end && strncmp(end, "::", 2) == 0 && isalpha((unsigned char)name[1]) &&
            memmem(name, (size_t)(end - name), "::", 2) && !memmem(name, (size_t)(end - name), " as ", 4)) {
                memmove((char *)end - 1, end, strlen(end) + 1);
                memmove(name, name + 1, strlen(name));
        }
        for (char *at = name; (at = strstr(at, "::<"));) {
                end = name_skip_brackets(name, at + 2);
                if (end && !is_name_in_brackets(at + 2) && (!*end || strncmp(end, "::", 2) == 0))
                        memmove(at, at + 2, strlen(at + 2) + 1);
                else
                        at += 2;
        }
}
