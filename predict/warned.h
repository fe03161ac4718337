/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Remembers the warnings that the user has got, so that none comes twice; in a file that outlives sessions. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WARNED_MAX 32 /* warnings that are remembered */
#define WARNED_ID_MAX 160

struct warned {
        struct {
                char id[WARNED_ID_MAX];
                int64_t held_ns; /* realtime: when it was last true */
        } list[WARNED_MAX];
        size_t n;
        int64_t sent_ns; /* when the last one was shown; 0: never */
};

/* An unreadable file is an empty one: at worst a warning comes again. */
void warned_read(const char *path, struct warned *ret);
/* 0; a negative errno: nothing was kept, so a warning that is shown now would come again and again. */
int warned_write(const char *path, const struct warned *warned);

/* Notes that the warning @id is true now. Returns whether it was shown already. */
bool warned_holds(struct warned *warned, const char *id, int64_t now_ns);
/* Notes that it was shown. */
void warned_told(struct warned *warned, const char *id, int64_t now_ns);
/* Whether a warning may be shown now: not more than one in ten minutes. */
bool warned_may(const struct warned *warned, int64_t now_ns);
/* Forgets warnings that have not been true for a while: they may come again. */
void warned_forget(struct warned *warned, int64_t now_ns);
