/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Counts the calls of a function with each value of each argument. */

#include "probe.h"

#define PROBE_TEXT_SIZE 64
#define PROBE_VALUES_MAX 4096 /* most different values of an argument; further ones are counted together */

struct probed *probe_values_new(void); /* NULL: no memory */
/* @text: the text that the argument points to; empty: none. 0; -ENOMEM. */
int probe_values_add(struct probed *probed, int argument, uint64_t value, const char *text);
void probe_values_end(struct probed *probed); /* to be called when all arguments of a call were added */
uint64_t probe_values_calls(const struct probed *probed);
/* Writes a value for people to @buf, and returns that: a text in quotes, a number, or the kind of value. */
const char *probe_values_name(uint64_t value, const char *text, char *buf, size_t size);
