/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A plan that makes the charge last: the changes that `joulecast advise --apply` asks for ("plan"), and the
 * journal of those that joulecast-focus has made ("plan-made"). Both are in the user's state folder, as the
 * changes may outlive a login.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "forecast/endure.h"

#define PLAN_CHANGES_MAX 8
#define PLAN_VALUE_MAX 96

enum plan_state {
        PLAN_WISHED,
        PLAN_MAKING, /* is being made, or is in effect */
        PLAN_MADE,
        PLAN_SAME,   /* the setting had this value already */
        PLAN_FAILED,
        PLAN_STATES
};

struct plan_file {
        int64_t until_ns; /* realtime of the undoing */
        struct plan_change {
                enum endure_kind kind;
                enum plan_state state;
                /* wished: percent, or a power profile; made: the value that was set; "-": none */
                char value[PLAN_VALUE_MAX];
                char old[PLAN_VALUE_MAX];   /* the earlier value; "-": not read yet */
                char app[APP_ID_MAX];       /* app of a limit; otherwise "" */
        } list[PLAN_CHANGES_MAX];
        size_t n;
};

extern const char *const plan_states[PLAN_STATES];

void plan_file_parse(char *text, struct plan_file *ret); /* ignores lines that it cannot parse */
/* Returns 0; -ENOENT: there is none; another negative errno. */
int plan_file_read(const char *path, struct plan_file *ret);
/* Replaces the file atomically and syncs it to disk (util_write_file()). Returns 0 or a negative errno. */
int plan_file_write(const char *path, const struct plan_file *plan);
