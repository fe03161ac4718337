/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a key shows of one app in `joulecast top`. */

#include "ask.h"
#include "top-view.h"

struct top_subject {
        const struct ask *ask;       /* its usage NULL: nothing is recorded */
        const struct top_row *row;
        const char *said;            /* the library's last sentence: why nothing is */
        size_t columns, lines;
        bool ascii;
        int64_t now_ns;
};

/* Its last hours, as recorded. */
void top_page_history(const struct top_subject *subject, struct top_view *view);
/* How much longer the battery would last without it. */
void top_page_gain(const struct top_subject *subject, struct top_view *view);
