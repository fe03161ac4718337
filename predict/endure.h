/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* `joulecast advise --until`: the fewest changes with which the charge lasts, and how they are made on this machine. */

#include "ask.h"
#include "forecast/endure.h"

struct cJSON;

struct endure_asked {
        int64_t until_ns;       /* realtime; 0: not given */
        double for_minutes;     /* NaN: not given */
        const char *app;
        const char *without[ENDURE_WITHOUT_MAX];
        size_t n_without;
        bool apply, undo;
};
#define ENDURE_ASKED_NONE { .for_minutes = NAN }

/* A plan, and how to make its changes if it is for this machine. */
struct endure_plan {
        struct endurance endurance;
        int64_t until_ns;
        bool here;                              /* the plan is for this machine */
        char *commands[ENDURE_CHANGES_MAX];     /* NULL: none is known */
        const char *profile;                    /* power profile that may help; NULL: none, or the changes suffice */
        double refresh_hz;                      /* refresh rate, if a lower one may help; 0: no, or they suffice */
};

/* Does the command line ask for a plan that can be made? An exit code; CODE_OK: @wants says whether it asks for one. */
int endure_check(const struct endure_asked *asked, bool *wants);
int endure_answer(const struct options *options, const struct endure_asked *asked);

/* ---- by their files ---- */

/* 0; as joulecast_endurance_new(). The plan has no changes that cannot be made here. */
int endure_print(const struct options *options, const struct endure_plan *plan);
struct cJSON *endure_plan_json(const struct endure_plan *plan, const struct profile *profile);
/* Text for a change, such as "brightness to 40 %"; @buf of @size. */
char *endure_action(const struct options *options, const struct endure_change *change, char *buf, size_t size);
/* Can joulecast-focus make such a change, and undo it? */
bool endure_applies(enum endure_kind kind);
/* Asks the user, and lets joulecast-focus do it. An exit code. */
int endure_apply(const struct options *options, const struct ask *ask, const struct endure_plan *plan);
int endure_undo(const struct options *options);
