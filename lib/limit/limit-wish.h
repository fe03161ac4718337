/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The limits that the user asked for, in limits.ini. `joulecast limit` writes it, and joulecast-focus applies
 * it.
 */

#include <stddef.h>
#include <stdint.h>

#include "source/sample.h"
#include "util/log.h"

#define LIMIT_WISHES_MAX 64
#define LIMIT_CPU_MIN 1     /* percent of one core */
#define LIMIT_CPU_MAX 10000
#define LIMIT_FREEZE_MIN 1  /* s */
#define LIMIT_FREEZE_MAX (7 * 86400)

struct limit_wish {
        char app[APP_ID_MAX];  /* app id */
        double cpu_percent;    /* percent of one core; 0: no limit */
        double freeze_after_s; /* s in the background; 0: never */
        int64_t since_ns;      /* realtime at which the user set it */
};

struct limit_wishes {
        struct limit_wish list[LIMIT_WISHES_MAX];
        size_t n;
        int64_t written_ns; /* modification time of the file; 0: there is none */
};

/*
 * A missing file counts as an empty one. Returns 0; -EINVAL after a sentence to @log, with @ret unchanged;
 * another negative errno.
 */
int limit_wishes_read(const char *path, const struct log *log, struct limit_wishes *ret);
/* Creates the folder, too. Returns 0 or a negative errno. */
int limit_wishes_write(const char *path, struct limit_wishes *wishes);

struct limit_wish *limit_wish_find(struct limit_wishes *wishes, const char *app); /* NULL: there is none */
/*
 * Adds a limit, or replaces that of the same app. Returns 0; -ENOSPC: there are LIMIT_WISHES_MAX already;
 * -EINVAL: the file cannot store that id.
 */
int limit_wish_set(struct limit_wishes *wishes, const struct limit_wish *wish);
void limit_wish_remove(struct limit_wishes *wishes, const char *app);
