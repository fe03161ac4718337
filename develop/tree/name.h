/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Names of functions in all languages: without parts that differ between two builds or runs and name nothing, and
 * cut to the part that tells a function from others.
 */

#include <stdbool.h>
#include <stddef.h>

#define NAME_MAX_BYTES 4096

/* Owners are the first parts of a name: package, namespace, class, file. Names with more owners lose all at once. */
#define NAME_OWNERS_MAX 12
#define NAME_LEVELS (2 * (NAME_OWNERS_MAX + 2))

/*
 * name_clean() - remove parts that differ by build or run and name nothing, in place; name-clean.c has the table
 *
 * A name of interpreted code becomes "FILE:FUNCTION". A number that tells functions of one program apart, but
 * changes with the source above it (a line, the number of a lambda), goes to the end, after '#'.
 *
 * Return: 0; -ENOMEM, as name_clean_library() and name_clean_variant().
 */
int name_clean(char name[NAME_MAX_BYTES]);

/*
 * name_clean_library() - make the name by which a program calls a library's function, in place, after name_clean()
 *
 * "__fprintf_chk" is fprintf with a check of its buffer, "__isoc99_sscanf" sscanf, "_IO_puts" puts.
 * name_clean_variant() replaces only variants that callers cannot distinguish: "__memcpy_avx_unaligned_erms" is the
 * variant of memcpy that the loader chose by the CPU.
 */
int name_clean_library(char name[NAME_MAX_BYTES]);
int name_clean_variant(char name[NAME_MAX_BYTES]);

/*
 * name_rust() - demangle a symbol of rustc into the name in the source; without types of instances if that is too long
 *
 * False: it is no such symbol, or is damaged; @made is then undefined.
 */
bool name_rust(const char *name, char made[NAME_MAX_BYTES]);
/* Writes what other demanglers made of such a symbol as name_rust() does: "<app::A>::f::<u8>" as "app::A::f<u8>". */
void name_rust_respell(char *name);

/*
 * name_encoded() - decode a symbol of GHC or D: "base_GHCziBase_map_info" is "base:GHC.Base.map"
 *
 * False: it is no such symbol; @made is then undefined.
 */
bool name_encoded(const char *name, char made[NAME_MAX_BYTES]);

/*
 * name_text() - cut a clean name to a level of detail
 * @program: the program, whose name may be a prefix of its functions, as in "zip_squeeze"
 * @level:   0 is the shortest: the last word that names something, without types. Each level has one owner more; then
 * follow the same with types and parameters. The last, NAME_LEVELS - 1, is the whole name.
 */
const char *name_text(const char *name, const char *program, size_t level, char buf[NAME_MAX_BYTES]);

/*
 * name_without_numbers() - cut a clean name to its shortest text, without numbers in what is anonymous there: closures
 * in "run.func2" and "run::{lambda()#1}::operator()" have others where one is added before them
 */
const char *name_without_numbers(const char *name, const char *program, char buf[NAME_MAX_BYTES]);

/* The length without '#' and the number after it at the end; the whole length if there is none. */
size_t name_plain_length(const char *name);

/* The length of "operator()", "operator<<" or "operator" before a type; 0: @at is no operator of C++. */
size_t name_operator_length(const char *name, const char *at);
/* The position after the bracket that closes the one at @at; NULL: none does. */
const char *name_skip_brackets(const char *name, const char *at);
