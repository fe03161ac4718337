/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Spans of discharge from usage.db: between two readings of the battery at which its level moved, without charging, a suspend,
 * a restart or a gap in them; and which apps were in use. Of suspends, too: between the last reading before and the first after.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/component.h"
#include "model/profile.h"
#include "store/store.h"

#define DISCHARGE_APPS_MAX 250 /* names in a list; further apps are left out */

/*
 * When an app is in use: it kept a CPU busy for that part of the span or more, or had the screen, played sound, took
 * pictures or asked for the position for that part. docs/community.md has what that was measured by.
 */
#define DISCHARGE_CPU_FLOOR 0.005
#define DISCHARGE_HELD_FLOOR 0.05

enum discharge_network {
        NETWORK_UNKNOWN,
        NETWORK_NONE,
        NETWORK_WIFI,  /* associated for most of the span */
        NETWORK_OTHER, /* bytes by a wire or a modem */
};

struct discharge_app {
        uint32_t name;    /* index in the list's names */
        double own_mj;    /* by the device's model; NaN: unknown */
        double parts_mj[COMPONENT_BASE]; /* of it, by component; NaN: unknown */
};

struct discharge {
        int64_t t_ns, t2_ns;             /* realtime, whole seconds */
        int32_t level_ppm, level2_ppm;
        int brightness;                  /* class 1 to 5: fifths of the highest; 0: the screen was off; -1: unknown */
        enum discharge_network network;
        /* The caller's, as struct setting has them. */
        const char *profile;
        int external, refresh_hz;
        bool asleep;                     /* suspended all the while, or nearly: without apps */
        size_t first_app, n_apps;        /* in the list's apps */
};

struct discharge_list {
        struct discharge *spans;         /* ascending in time */
        size_t n, capacity;
        struct discharge_app *apps;
        size_t n_apps, apps_capacity;
        char **names;                    /* of apps, as usage.db has them */
        size_t n_names, names_capacity;
        int64_t until_ns;                /* end of the last one, exactly; only if there is one */
};

struct discharge_wish {
        const struct profile *profile;
        int64_t from_ns;         /* readings up to here are left out; INT64_MIN: none */
        int64_t to_ns;           /* INT64_MAX: to the last */
        int64_t length_ns;       /* a span ends at the first step of the level after that time */
        uint32_t max_brightness; /* 0: unknown */
};

/* Not the base, the kernel, or a row of several apps. */
bool discharge_is_app(const char *app);

/* 0; a negative errno. discharge_clear() it, also after an error. */
int discharge_read(struct store *store, const struct discharge_wish *wish, struct discharge_list *ret);
void discharge_clear(struct discharge_list *list);
