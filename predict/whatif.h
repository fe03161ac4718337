/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "joulecast.h"

/*
 * What a change gains, as a sentence, such as "The battery lasts 34 minutes longer (20 to 48), ...". Whoever asks makes
 * the change with joulecast_change_new() and gets the gain of joulecast_gain_new(). Returns @buf.
 */
char *whatif_sentence(const struct joulecast_gain *gain, char *buf, size_t size);
/* "34 minutes (20 to 48)"; of 96 bytes. */
char *whatif_minutes(struct joulecast_value minutes, char *buf);
