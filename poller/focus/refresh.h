/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Reads the refresh rate of the built-in screen, as set in the session's Wayland compositor. */

#include <stdint.h>

/*
 * Returns mHz; 0: unknown, because the session has no Wayland, its compositor does not name its outputs
 * (wl_output version 4), the built-in one is off, or the compositor did not reply within a second.
 */
uint32_t refresh_read(void);
