/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "joulecast.h"

/*
 * The gain of a change as a sentence, such as "The battery lasts 34 minutes longer (20 to 48), ...". The caller makes
 * the change with joulecast_change_new() and gets @gain from joulecast_gain_new(). Returns @buf.
 */
char *whatif_sentence(const struct joulecast_gain *gain, char *buf, size_t size);
/* Minutes as text, such as "34 minutes (20 to 48)"; @buf of 96 bytes. */
char *whatif_minutes(struct joulecast_value minutes, char *buf);
