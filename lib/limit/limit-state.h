/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The units that are limited now, and their earlier settings: joulecast-limits in the login's runtime folder.
 *
 * joulecast-focus writes a unit down before it changes it, so that the next start can undo the change after a
 * kill. While it runs, it holds a lock on joulecast-limits.lock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/app-units.h"

#define LIMIT_UNITS_MAX 128
#define LIMIT_APPS_MAX 64

/* Present effect of an app's limit. */
enum limit_effect {
        LIMIT_ABSENT,  /* the app does not run */
        LIMIT_FRONT,   /* the app is in the foreground */
        LIMIT_WAITS,   /* the app went to the background a moment ago */
        LIMIT_CPU,
        LIMIT_FROZEN,
        /*
         * not frozen, as it plays, records or keeps the device awake; its CPU time is limited if the user
         * asked for that
         */
        LIMIT_BUSY,
        LIMIT_UNSEEN,  /* the foreground app is unknown */
        LIMIT_REFUSED, /* the app has no unit of its own */
        LIMIT_FAILED,  /* the service manager refused */
        LIMIT_EFFECTS
};

struct limit_state {
        struct limit_unit {
                char unit[APP_UNIT_MAX];
                uint64_t quota_us; /* earlier CPUQuotaPerSecUSec; UINT64_MAX: none */
        } units[LIMIT_UNITS_MAX];
        size_t n_units;
        struct limit_app {
                char app[APP_ID_MAX];
                enum limit_effect effect;
                int64_t since_ns; /* realtime */
        } apps[LIMIT_APPS_MAX];
        size_t n_apps;
        int64_t wishes_ns; /* limit_wishes.written_ns of the wishes that are in effect */
};

/* Makes "$XDG_RUNTIME_DIR/NAME". Returns 0; -ENOENT: there is no such folder; -ENOMEM. */
int limit_state_path(const char *name, char **ret);
#define LIMIT_STATE "joulecast-limits"
#define LIMIT_LOCK "joulecast-limits.lock"

void limit_state_parse(char *text, struct limit_state *ret); /* ignores lines that it cannot parse */
/* Returns 0, also if there is no file; or a negative errno. */
int limit_state_read(const char *path, struct limit_state *ret);
int limit_state_write(const char *path, const struct limit_state *state);

struct limit_unit *limit_state_unit(struct limit_state *state, const char *unit); /* NULL: there is none */
struct limit_app *limit_state_app(struct limit_state *state, const char *app);    /* NULL: there is none */

/* Takes the lock. Returns a descriptor; -EBUSY: another process has it; another negative errno. */
int limit_state_lock(void);
