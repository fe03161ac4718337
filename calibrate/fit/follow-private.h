/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* --follow in two files: its protocol (follow.c) and its judgement (follow-judge.c). */

#include "follow.h"
#include "observation/observation.h"

struct follow_mode {
        char name[MODE_NAME_MAX];
        struct usage usage; /* usage in one second of the mode */
        bool held_back;
        bool left_out;      /* cannot be measured any more */
        double *x;          /* values of the columns */
};

struct follow {
        bool started;
        struct device device;
        struct columns columns;
        struct portfolio portfolio;
        struct follow_mode *modes;
        size_t n_modes;
        struct observation *observations;
        size_t n, capacity;
        enum observation_method method;
        double stop_percent;
        double remaining_percent; /* NaN: no limit */
        double remaining_hours;
};

/* follow-judge.c: the judgement so far and the next mode, as the reply. */
struct cJSON *follow_judge(struct follow *follow);
