/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Each text once, by a number: names of frames, and whole stacks. */

#include <stddef.h>
#include <stdint.h>

struct words;

struct words *words_new(void); /* NULL: no memory */
void words_free(struct words *words);
/* The number of @length bytes, the same for the same bytes, ascending from 0; negative: -ENOMEM. */
int64_t words_number(struct words *words, const void *bytes, size_t length);
/* The number of bytes that are there already; negative: -ENOENT. */
int64_t words_look_up(const struct words *words, const void *bytes, size_t length);
/* The bytes of a number, followed by a NUL; valid as long as @words. */
const char *words_bytes(const struct words *words, uint32_t number, size_t *length);
size_t words_count(const struct words *words);
