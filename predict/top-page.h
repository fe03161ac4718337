/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Pages about one app in `joulecast top`; each is opened by a key. */

#include "ask.h"
#include "top-view.h"

struct top_subject {
        const struct ask *ask;       /* its usage is NULL if nothing is recorded */
        const struct top_row *row;
        const char *said;            /* the library's last sentence: why there is no answer */
        size_t columns, lines;
        bool ascii;
        int64_t now_ns;
};

/* The app's last hours, as recorded. */
void top_page_history(const struct top_subject *subject, struct top_view *view);
/* How much longer the battery would last without the app. */
void top_page_gain(const struct top_subject *subject, struct top_view *view);
