/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Battery drop with an app against without it, over clients. Each client compares with itself, within equal
 * values of the features that it tells (strata); and one client is one observation, because its own rates are
 * not independent. community/METHOD.md has the formulas.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMMUNITY_CLIENTS_MIN 5 /* below that, nobody learns anything of an app */
#define COMMUNITY_Q_MAX 0.02 /* false discovery rate: part of the apps called hogs that may be none */
/* least effect, as a part of the rate; smaller ones may come from apps that run at the same time */
#define COMMUNITY_EFFECT_MIN 0.01

#define DROP_RELATIVE_MAX 3.0 /* rates with and without an app are at most this, relative to the mean rate */

/* An app on one client. Rates are relative to the client's mean rate. */
struct drop_use {
        uint32_t client;     /* ascending in a list */
        float weight, crude; /* precision of the difference within strata, and without regard to them */
        float with, without; /* mean rates */
        float part;          /* near rates are such a part of their stratum */
};

/* Sums over all rates with an app, and over all rates, for the rule of the Carat paper. */
struct drop_rates {
        double n, s1, s2;
};

struct drop {
        double rate_with, rate_without; /* for a device like the median one, from clients that had both */
        double minutes, minutes_low, minutes_high; /* cost in minutes of a full charge, with 95 % bounds */
        /* the rate with it is so much higher, of the client's mean; one-sided lower bound at 95 % */
        double effect, effect_low;
        double t, degrees;                      /* effect in standard errors, and what Student's t needs */
        double p, q;                            /* one-sided; q: Benjamini and Hochberg's; 1: not tested */
        bool enough;                            /* was it tested? */
        /* nothing can be told: it is in use nearly only where a feature has another value, or in other hours */
        bool thin;
        bool hours;     /* it is in use mostly in hours in which the rate is higher; this is taken away */
        bool candidate; /* it may be a hog, and is compared again without the effects of the other candidates */
        bool hog, paper_rule;
        /* clients that were left out, as they are unlike all others */
        size_t odd;
        /* so few clients hold it: if they were false, it would be no hog; 0: it is none without that */
        size_t held_by;
};

/* Adds one stratum of a client: @n rates with the app, with sum @s, of @all_n with sum @all_s. */
void drop_stratum(double n, double s, double all_n, double all_s, double *weight, double *more);
/*
 * Makes a use of sums over strata. @more: by which rates are higher with the app, times @weight. @n: rates with the
 * app, with sum @s, of @all_n with mean @mean. @discount: the part of its weight that it keeps. Without the app the
 * rate is that of all rates without it; with it, it is higher by the difference within strata.
 */
struct drop_use drop_use_of(double weight, double more, double n, double s, double all_n, double mean, double discount);

/* By how much the rate is higher with the app, relative to the client's mean; at most as much again. */
double drop_effect(const struct drop_use *use);

struct drop_groups;
/**
 * drop_compare() - all of @ret but paper_rule, q and hog
 * @rate:   rate of the median client, to which minutes refer
 * @groups: clients that came together; NULL: unknown
 * @held:   find held_by, too
 *
 * Return: 0 or -ENOMEM.
 */
int drop_compare(const struct drop_use *uses, size_t n, double rate, const struct drop_groups *groups, bool held,
                 struct drop *ret);
/**
 * drop_hours() - does the effect come from the hours in which the app is in use?
 * @uses, @near: the same clients, whose rates are compared with all of a stratum, and with near ones in the time of day
 * @ret:         what drop_compare() made of @uses; corrected, with `hours`, if that is more, beyond chance
 *
 * Return: 0 or -ENOMEM.
 */
int drop_hours(const struct drop_use *uses, const struct drop_use *near, size_t n, double rate,
               const struct drop_groups *groups, struct drop *ret);
bool drop_paper_rule(const struct drop_rates *with, const struct drop_rates *all);

/* Sets minutes and their 95 % bounds. @high: that of a symmetric distribution. */
void drop_set_minutes(double value, double low, double high, struct drop *ret);

/* q and hog of all that were tested; @order is room for n numbers. */
void drop_decide(struct drop *drops, size_t n, size_t *order);

/*
 * So many times as many clients, of the same kind, would make a hog of it, if its effect is what it seems to
 * be; 0: it seems to have none. As errors go with the square root of their number, that is (t that q needs /
 * t)^2; 4 standard errors are taken for the former.
 */
double drop_more(const struct drop *drop);

/* P(K >= k) of n clients, if a part @share of all is like that (Abramowitz and Stegun 26.5.24). */
double drop_binomial_upper(size_t k, size_t n, double share);
/* P(T > t) of Student's t. */
double drop_student_upper(double t, double degrees_of_freedom);
