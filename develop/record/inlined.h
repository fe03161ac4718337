/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Functions that a compiler put into others, where debug information tells of them. */

#include <elfutils/libdwfl.h>
#include <stddef.h>

#define INLINED_MAX 32 /* within each other; the outermost that are more are lost */

/*
 * inlined_names() - the inlined functions at an address
 * @names: their symbols, or names where they have none, the innermost first; valid as long as @module. The
 *         function that has the address in the symbol table is not among them.
 *
 * Return: how many; 0 also without debug information.
 */
size_t inlined_names(Dwfl_Module *module, uint64_t address, const char *names[INLINED_MAX]);
