/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Battery drop with an app against without it, from sums over clients. Each client compares with itself, so a client that
 * always draws more makes none of its apps a hog; and one client is one observation, because its own rates are not
 * independent. docs/community.md has the formulas.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prior.h"

#define COMMUNITY_CLIENTS_MIN 5 /* below that, nobody learns anything of an app */
#define COMMUNITY_Q_MAX 0.002 /* of what is called a hog, so much may be none */
#define COMMUNITY_EFFECT_MIN 0.02 /* of the rate; less is what apps beside it may do */

/* All rates. */
struct all_sums {
        double clients, n, s1, s2;
        double rate; /* of the middle client: what minutes are of */
};

/*
 * Of one app, over its clients: integers, so the order of clients is no matter. The names are those of struct app_sums; "ww" is
 * the sum of w * w.
 */
struct drop_sums {
        wide clients, n, s1, s2;
        wide both;             /* clients that had rates with it and without it */
        wide more, less;       /* those of them whose rate was higher with it, and lower */
        wide w, ww;
        wide wa, wb, waa, wbb, wab; /* of wa and wb: sums, squares, products */
        wide wwa, wwb;         /* w * wa, w * wb */
        wide x, xx, wx;
};

struct drop {
        double rate_with, rate_without;         /* of a device like the middle one, by the clients that had both */
        double minutes, minutes_low, minutes_high; /* of a full charge that it costs, with 95 % bounds */
        double effect, effect_low;              /* the rate with it is so much higher, of the client's mean; lower 95 % bound */
        double t, degrees;                      /* effect in standard errors, and what Student's t needs */
        double p, q;                            /* one-sided; q: Benjamini and Hochberg's; 1: not tested */
        bool enough;                            /* was it tested? */
        bool hog, paper_rule;
};

struct app_sums;
/* Adds one client's. */
void drop_add(struct drop_sums *sums, const struct app_sums *app);
/* Adds what other clients amount to. */
void drop_merge(struct drop_sums *sums, const struct drop_sums *others);

/* All of @ret but q and hog. */
void drop_compare(const struct drop_sums *app, const struct all_sums *all, struct drop *ret);

/* q and hog of all that were tested; @order is room for n numbers. */
void drop_decide(struct drop *drops, size_t n, size_t *order);

/*
 * So many times as many clients, of the same kind, would make a hog of it, if its effect is what it seems to be; 0: it seems
 * to have none. As
 * errors go with the square root of their number, that is (t that q needs / t)^2; 4 standard errors are taken for the former.
 */
double drop_more(const struct drop *drop);

/* P(T > t) of Student's t. */
double drop_student_upper(double t, double degrees_of_freedom);
