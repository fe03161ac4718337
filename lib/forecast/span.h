/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Spans of a history: from one step of the battery's level to the next, so that what the battery gave is known to a
 * poll or two, and not only to the step.
 */

#include "history.h"

struct span_use {
        uint32_t app;       /* 0: the base */
        enum app_state state;
        uint64_t active_ns;
        struct usage usage;
};

/* The span that is being filled. */
struct span_reader {
        size_t level;   /* the next of the history's levels */
        bool open;      /* a step was seen, and all since then is known */
        bool follows;
        double measured_j;
        struct span_use *uses;
        size_t n_uses, capacity;
};

/* A row of app @app (0: base), rows ascending in time. 0; -ENOMEM; -EOVERFLOW. */
int span_add(struct history *history, struct span_reader *reader, size_t app, const struct store_row *row);
int span_finish(struct history *history, struct span_reader *reader);
void span_clear(struct span_reader *reader);
