/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Recorded usage as a forecast needs it: in blocks of several minutes (recent
 * polls), hours and days, each with the energy of each app and of the background
 * by one profile.
 */

#include "interval/interval.h"
#include "model/model.h"
#include "model/profile.h"
#include "store/store.h"

/* An app in one state. */
struct history_state {
        struct model_vector sum;  /* of all its usage */
        double active_s;
};

struct history_app {
        char *app, *name;
        struct history_state states[2]; /* by enum app_state */
};

/* One app in one state in one block. */
struct history_use {
        uint32_t app, block;
        enum app_state state;
        double active_s;
        double energy_mj;
};

struct history_block {
        int64_t start_ns, end_ns; /* realtime */
        double awake_s;
        double suspend_s;
        double foreground_s;      /* an app had the screen */
        double *background;       /* weights of all apps in the background, n_coefficients */
};

struct history {
        const struct profile *profile;
        struct history_app *apps;
        size_t n_apps;
        struct history_block *blocks; /* ascending */
        size_t n_blocks;
        struct history_use *uses;     /* ascending by block */
        size_t n_uses;
        struct model_vector base;     /* base while awake, without the screen */
        struct model_vector background;
        double awake_s, suspend_s;
        bool others;                  /* STORE_OTHERS is among the apps */

        struct history_reader *reader;
        struct {
                size_t apps, blocks, uses;
        } capacity;
};

/**
 * history_read() - read what is stored
 * @profile: must outlive the history
 *
 * Polls of the last hours, hours of the last week, and days before that (tuning.h).
 *
 * Return: 0; -ENODATA: nothing is stored; another negative errno.
 */
int history_read(const struct profile *profile, struct store *store, struct history **ret);
/* For user @uid: the apps of other users are one, which history_find() does not find. -1: all apps. */
int history_read_for(const struct profile *profile, struct store *store, int64_t uid, struct history **ret);
void history_free(struct history *history);
void history_freep(struct history **history);

/* The pieces, for tests and for other sources of rows: new, rows ascending in time, done. */
int history_new(const struct profile *profile, struct history **ret);
int history_add(struct history *history, const struct store_row *row);
int history_finish(struct history *history);

/* Index of an app by its id, or by its display name; -ENOENT; -EEXIST: several have that name. */
ssize_t history_find(const struct history *history, const char *app);
