/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Shared by the search and its candidates. */

#include "endure.h"

struct endurer {
        const struct history *history;
        const struct endure_goal *goal;
        const struct forecast_battery *battery;
        struct whatif *whatif;
        bool surely;                                        /* the low end is known */
        ssize_t app;                                        /* index of the app in the foreground; -1: none */
        struct endure_change list[ENDURE_CANDIDATES_MAX];   /* in the order of ties */
        double least_power[ENDURE_CANDIDATES_MAX];          /* part of the mean power that is left with one of them */
        size_t n;
};

/* 0; -ENODATA: an app of without was never seen, which @missing gets unless it is NULL. */
int endure_check_without(const struct history *history, const struct endure_goal *goal, const char **missing);
/* Fills the list. 0; -ENOMEM. */
int endure_find_candidates(struct endurer *endurer);
