/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* How often a function was called with which value of each argument. */

#include "probe.h"

#define PROBE_TEXT_SIZE 64
#define PROBE_VALUES_MAX 4096 /* different ones of an argument; others are counted together */

struct probed *probe_values_new(void); /* NULL: no memory */
/* @text: what it points to; empty: no text. 0; -ENOMEM. */
int probe_values_add(struct probed *probed, int argument, uint64_t value, const char *text);
void probe_values_end(struct probed *probed); /* all arguments of a call were added */
uint64_t probe_values_calls(const struct probed *probed);
/* What people read: a text in quotes, a number, or what kind of thing it is. Into @buf. */
const char *probe_values_name(uint64_t value, const char *text, char *buf, size_t size);
