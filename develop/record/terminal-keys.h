/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Bytes of keys as a VT100 and xterm send them, and the keys' names in an input script (harness/script.h). */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TERMINAL_KEYS_MAX 8 /* bytes of a key, with the NUL */

/* Finds the bytes that a key sends, such as "Return", "ctrl+c" or "a". False: there is no such key. */
bool terminal_keys_send(const char *name, char keys[TERMINAL_KEYS_MAX]);
/*
 * terminal_keys_steps() - write typed bytes as steps of a script: type TEXT, and key NAME
 * @typed: bytes that came from a terminal together
 *
 * Return: number of bytes of keys that have no name here, and are left out.
 */
size_t terminal_keys_steps(const char *typed, size_t n, FILE *out);
