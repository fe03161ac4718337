/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "focus/focus-link.h"
#include "util/units.h"

#define NOW (UINT64_C(1000) * NS_PER_S)

/* A message that is believed. */
static inline struct focus_message good(void)
{
        return (struct focus_message){ .magic = FOCUS_MAGIC, .version = FOCUS_VERSION,
                                       .size = sizeof(struct focus_message),
                                       .have = FOCUS_KNOWN | FOCUS_APP,
                                       .boottime_ns = NOW,
                                       .app_id = "foot" };
}
