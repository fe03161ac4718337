/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the user wants to be limited: limits.ini. `joulecast limit` writes it, joulecast-focus does it. */

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
        char app[APP_ID_MAX];  /* id */
        double cpu_percent;    /* of one core; 0: not */
        double freeze_after_s; /* in the background; 0: not */
        int64_t since_ns;      /* realtime: when it was wished */
};

struct limit_wishes {
        struct limit_wish list[LIMIT_WISHES_MAX];
        size_t n;
        int64_t written_ns; /* the file's time; 0: there is none */
};

/* A missing file is an empty one. 0; -EINVAL after a sentence to @log, and @ret untouched; another negative errno. */
int limit_wishes_read(const char *path, const struct log *log, struct limit_wishes *ret);
/* Makes its folder, too. 0; a negative errno. */
int limit_wishes_write(const char *path, struct limit_wishes *wishes);

struct limit_wish *limit_wish_find(struct limit_wishes *wishes, const char *app); /* or NULL */
/* Adds it, or replaces that of its app. 0; -ENOSPC: there are LIMIT_WISHES_MAX; -EINVAL: the file cannot hold that id. */
int limit_wish_set(struct limit_wishes *wishes, const struct limit_wish *wish);
void limit_wish_remove(struct limit_wishes *wishes, const char *app);
