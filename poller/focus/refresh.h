/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The refresh rate of the built-in screen, as the session's Wayland compositor has it set. */

#include <stdint.h>

/*
 * In mHz; 0: unknown, as the session has no Wayland, its compositor does not name its outputs (wl_output version 4), the built-in
 * one is off, or nothing was said within a second.
 */
uint32_t refresh_read(void);
