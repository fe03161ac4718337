/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Reads spans of discharge from usage.db, with the apps in use.
 *
 * A span lies between two readings of the battery at which its level changed, without charging, a suspend, a
 * restart or a gap in between. A suspend is a span of its own, from the last reading before to the first one
 * after it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/component.h"
#include "model/profile.h"
#include "store/store.h"

#define DISCHARGE_APPS_MAX 250 /* names in a list; further apps are left out */

/*
 * When an app counts as in use: it kept a CPU busy for at least this part of the span, or had the screen,
 * played sound, recorded pictures or used the position for at least this part. docs/community.md
 * names both values.
 */
#define DISCHARGE_CPU_FLOOR 0.005
#define DISCHARGE_HELD_FLOOR 0.05

enum discharge_network {
        NETWORK_UNKNOWN,
        NETWORK_NONE,
        NETWORK_WIFI,  /* associated for most of the span */
        NETWORK_OTHER, /* bytes over a wire or a modem */
};

struct discharge_app {
        uint32_t name;    /* index in the list's names */
        double own_mj;    /* by the device's model; NaN: unknown */
        double parts_mj[COMPONENT_BASE]; /* energy by component; NaN: unknown */
};

struct discharge {
        int64_t t_ns, t2_ns;             /* realtime, whole seconds */
        int32_t level_ppm, level2_ppm;
        int brightness;                  /* class 1 to 5: fifths of the highest; 0: the screen was off; -1: unknown */
        enum discharge_network network;
        /* Settings of struct setting, owned by the caller. */
        const char *profile;
        int external, refresh_hz;
        bool asleep;                     /* suspended all or nearly all of the time; without apps */
        size_t first_app, n_apps;        /* in the list's apps */
};

struct discharge_list {
        struct discharge *spans;         /* ascending in time */
        size_t n, capacity;
        struct discharge_app *apps;
        size_t n_apps, apps_capacity;
        char **names;                    /* names of apps as in usage.db */
        size_t n_names, names_capacity;
        int64_t until_ns;                /* exact end of the last span; only set if there is one */
};

struct discharge_wish {
        const struct profile *profile;
        int64_t from_ns;         /* earlier readings are left out; INT64_MIN: none */
        int64_t to_ns;           /* later readings are left out; INT64_MAX: none */
        int64_t length_ns;       /* a span ends at the first change of the level after this time */
        uint32_t max_brightness; /* 0: unknown */
};

/* Is it an app, and not the base, the kernel, or a row of several apps? */
bool discharge_is_app(const char *app);

/* Returns 0 or a negative errno. Call discharge_clear() also after an error. */
int discharge_read(struct store *store, const struct discharge_wish *wish, struct discharge_list *ret);
void discharge_clear(struct discharge_list *list);
