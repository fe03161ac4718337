/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Names of C++, and of Rust where it is mangled like C++. */

#include <stdbool.h>
#include <stddef.h>

#define CXX_SYMBOL_MAX 4096  /* longer symbols stay as they are */
#define CXX_NAME_MAX (1u << 20)
/* Repetitions of earlier parts of a symbol: at most 2^16 times its length; without a limit it could be gigabytes. */
#define CXX_REPEATS_MAX 32

/*
 * cxx_name() - the short name of a symbol: `game::World::tick` of _ZN4game5World4tickEi
 *
 * False, and @buf is as it was: it is no such symbol, it does not fit, or this build has no libstdc++.
 */
bool cxx_name(const char *symbol, char *buf, size_t size);

/*
 * cxx_short() - a demangled name without what differs between instances and builds
 *
 * Parameters, return type, template arguments (<> is left), ABI tags, anonymous namespaces, what a thunk is
 * called, and Rust's hash go. False, and @buf is as it was: brackets do not match, nothing is left, or it does not fit.
 */
bool cxx_short(const char *name, char *buf, size_t size);

/*
 * cxx-demangle.c, which alone needs libstdc++: the whole name; free() it. NULL: it is no symbol of C++, or
 * its name is too long.
 */
char *cxx_demangle(const char *symbol);
