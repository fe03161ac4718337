/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* When to try again: after 1, 2, 4 ... 60 s. A success that lasted a minute resets the delay. */

#include <stdbool.h>
#include <stdint.h>

#include "util/units.h"

#define BACKOFF_FIRST_NS NS_PER_S
#define BACKOFF_LAST_NS (60 * NS_PER_S)

struct backoff {
        uint64_t wait_ns;  /* the current delay; 0: none yet */
        uint64_t until_ns; /* time of the next try */
        uint64_t alive_ns; /* time of the last success; 0: it failed since */
};

static inline bool backoff_due(const struct backoff *backoff, uint64_t now_ns)
{
        return now_ns >= backoff->until_ns;
}

static inline void backoff_succeeded(struct backoff *backoff, uint64_t now_ns)
{
        backoff->alive_ns = now_ns;
}

static inline void backoff_failed(struct backoff *backoff, uint64_t now_ns)
{
        if (backoff->alive_ns && now_ns - backoff->alive_ns >= BACKOFF_LAST_NS)
                backoff->wait_ns = 0;
        backoff->alive_ns = 0;
        backoff->wait_ns = backoff->wait_ns ? backoff->wait_ns * 2 : BACKOFF_FIRST_NS;
        if (backoff->wait_ns > BACKOFF_LAST_NS)
                backoff->wait_ns = BACKOFF_LAST_NS;
        backoff->until_ns = now_ns + backoff->wait_ns;
}
