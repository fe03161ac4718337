/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Names of apps as hashes, and numbers that are the same everywhere. "h:" and the first 32 hexadecimal digits
 * of the SHA-256 of "joulecast-app:NAME" stand for a name; who has a list of names can find out which. Linked
 * by programs that have nettle (`community_names` in lib/meson.build).
 */

#include <stdbool.h>
#include <stdint.h>

#define NAME_HASH_SIZE 35 /* "h:", 32 digits, NUL */

/* Is this such a hash, and no name? */
bool name_hash_is(const char *name);

/* The hash of a name; a hash stays as it is. */
void name_hash_of(const char *name, char ret[NAME_HASH_SIZE]);

/* The first 63 bits of that hash: a name and its hash have the same number. Never 0. */
int64_t name_hash_number(const char *name);

/* 63 bits of the SHA-256 of two texts. Never 0. */
int64_t name_hash_number_of(const char *kind, const char *text);

/* The number of a client, by the digits of its id. */
int64_t name_hash_client(const char *hex);

/* The SHA-256 of a text, as 64 digits and a NUL. */
void name_hash_digits(const char *text, char ret[65]);
