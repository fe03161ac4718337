/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Rows with noise: the results are within their errors, and the errors have the right size. */

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>

#include "fit-fixture.h"

static double uniform(uint64_t *state)
{
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        return (double)(*state >> 11) * 0x1p-53;
}

static double normal(uint64_t *state)
{
        double u = uniform(state) + 1e-18, v = uniform(state);

        return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/*
 * 95 of 100 intervals contain the truth if the noise is as assumed: on a phone, and on a laptop with @times
 * the power and background. 400 x 4 intervals: +- 1.1 % by chance.
 */
static void intervals_hold(double times)
{
        struct noise noise = regression_options_default.noise;
        static const struct { const char *key; double truth; } asked[] = {
                { "base.power_mw", BASE }, { "display.power_mw.255", DISPLAY_HIGH },
                { "wifi.rx_mj_per_mb", WIFI_RX }, { "disk.read_mj_per_mb", READ },
        };
        struct observation_run run = run_of("gauge");
        uint64_t state = 88172645463325252u;
        size_t inside = 0, all = 0;

        noise.background_sd_mw = noise.background_part * times * BASE;
        for (int night = 0; night < 400; night++) {
                struct observation list[3 * ARRAY_SIZE(loads)];
                struct outcome outcome;
                char error[128] = "";

                for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                        double mw = times * power(&loads[i % ARRAY_SIZE(loads)]), sd;

                        /* Rows hours apart: background is independent from row to row. */
                        observe(&loads[i % ARRAY_SIZE(loads)], i, &list[i]);
                        sd = sqrt(noise_expected(&noise, false, mw, mw, 20, 0, 5));
                        list[i].power_mw = mw + sd * normal(&state);
                }
                check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
                for (size_t k = 0; k < ARRAY_SIZE(asked); k++)
                        for (size_t j = 0; j < outcome.n_lines; j++)
                                if (strcmp(outcome.lines[j].key, asked[k].key) == 0) {
                                        all++;
                                        inside += fabs(outcome.lines[j].value - times * asked[k].truth) <=
                                                  outcome.lines[j].half_width;
                                }
                outcome_clear(&outcome);
                clear_all(list, ARRAY_SIZE(list));
        }
        check_int(all, 1600);
        check_near((double)inside / (double)all, 0.955, 0.025);
}

/* Rows of one app in a trace have one mode and different powers; the matrix must stay a covariance. */
static void rounding_is_shared(void)
{
        struct observation app = { .mode = "app" };
        struct row list[] = { { .observation = &app, .seconds = 60, .updates = 1000 },
                              { .observation = &app, .seconds = 60, .updates = 1000, .start_s = 1e6 } };
        struct rows rows = { .list = list, .n = 2 };
        struct noise noise = regression_options_default.noise;
        const double power[] = { 400, 0 };
        gsl_matrix *covariance = gsl_matrix_alloc(2, 2);

        noise.gauge_quantum_mw = 14;
        noise.background_sd_mw = 0.3;
        noise_covariance(&noise, &rows, (const size_t[]){ 0, 1 }, 2, power, NULL, covariance);
        check(gsl_matrix_get(covariance, 0, 1) * gsl_matrix_get(covariance, 0, 1) <
              gsl_matrix_get(covariance, 0, 0) * gsl_matrix_get(covariance, 1, 1));
        gsl_matrix_free(covariance);
}

#define LINKS 30

/* Rows of a gauge with gaps of 0, 5 and 400 s, one of them an outlier. */
static void make_links(struct row *list, double *power, double *extra, size_t *index)
{
        static const struct observation app = { .mode = "app" };
        double end_s = 0;

        for (size_t a = 0; a < LINKS; a++) {
                list[a] = (struct row){ .observation = &app, .seconds = 1 + a * a % 50, .updates = 1 + a % 4,
                                        .start_s = end_s + (a % 7 == 3 ? 400 : a % 3 == 1 ? 5 : 0) };
                end_s = list[a].start_s + list[a].seconds;
                power[a] = 300 + 150 * (a % 5);
                extra[a] = a == 11 ? 1e6 : 0;
                index[a] = a;
        }
}

/* It is the same covariance, by far fewer operations; rows that share something else are no chain. */
static void chain_is_the_matrix(void)
{
        struct row list[LINKS];
        struct rows rows = { .list = list, .n = LINKS };
        struct noise noise = regression_options_default.noise;
        struct noise_link chain[LINKS];
        double power[LINKS], extra[LINKS], sum = 0, ones[LINKS], all;
        size_t index[LINKS];
        gsl_matrix *covariance = gsl_matrix_alloc(LINKS, LINKS);
        gsl_matrix *common = gsl_matrix_alloc(LINKS, NOISE_SHARED_MAX);

        make_links(list, power, extra, index);
        noise.background_sd_mw = 40;
        noise_covariance(&noise, &rows, index, LINKS, power, extra, covariance);
        check_int(noise_chain_make(&noise, &rows, index, LINKS, power, extra, chain, common), 0);
        for (size_t a = 0; a < LINKS; a++) {
                double x[2 * LINKS], unit[LINKS] = { [0] = 0 };

                for (size_t b = 0; b < LINKS; b++) {
                        x[2 * b] = gsl_matrix_get(covariance, a, b);
                        sum += x[2 * b];
                }
                noise_chain_solve(chain, LINKS, x, 2);
                for (size_t b = 0; b < LINKS; b++)
                        check_near(x[2 * b], a == b, 1e-9);
                unit[a] = ones[a] = 1;
                noise_chain_solve(chain, LINKS, unit, 1);
                check_near(unit[a] / chain[a].diagonal, 1, 1e-9);
        }
        check_near(noise_chain_variance(chain, LINKS, ones) / sum, 1, 1e-9);
        list[6].kernel = list[7].kernel = true;
        noise.gauge_quantum_mw = 100;
        noise_covariance(&noise, &rows, index, LINKS, power, extra, covariance);
        check_int(noise_chain_make(&noise, &rows, index, LINKS, power, extra, chain, common), 2);
        all = noise_chain_variance(chain, LINKS, ones);
        for (size_t c = 0; c < 2; c++) {
                double column = 0;

                for (size_t a = 0; a < LINKS; a++)
                        column += gsl_matrix_get(common, a, c);
                all += column * column;
        }
        for (size_t a = 0; a < LINKS * LINKS; a++)
                all -= covariance->data[a];
        check_near(all / sum, 0, 1e-9);
        list[5].charge = true;
        check_int(noise_chain_make(&noise, &rows, index, LINKS, power, extra, chain, common), -1);
        list[5].charge = false;
        list[5].start_s -= 1;
        check_int(noise_chain_make(&noise, &rows, index, LINKS, power, extra, chain, common), -1);
        gsl_matrix_free(common);
        gsl_matrix_free(covariance);
}

/* With rows of coarse readings in two blocks. Overlapping rows, here by 20 us, are fitted by the matrix. */
static void chain_fits_as_the_matrix(void)
{
        struct observation_run run = run_of("gauge");
        struct outcome outcomes[2];
        uint64_t state = 88172645463325252u;
        double noise_mw[20 * ARRAY_SIZE(loads)];

        for (size_t i = 0; i < ARRAY_SIZE(noise_mw); i++)
                noise_mw[i] = 20 * normal(&state);
        for (size_t c = 0; c < ARRAY_SIZE(outcomes); c++) {
                static struct observation list[ARRAY_SIZE(noise_mw)];
                char error[128] = "";

                for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                        observe(&loads[i % ARRAY_SIZE(loads)], i, &list[i]);
                        list[i].power_mw = 30 * round((list[i].power_mw + noise_mw[i]) / 30);
                        list[i].start_realtime_ns = (int64_t)(i * list[i].elapsed_ns);
                        if (c == 1 && i % 100 == 50)
                                list[i].start_realtime_ns -= 20000;
                }
                check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcomes[c], error, sizeof(error)), 0);
                clear_all(list, ARRAY_SIZE(list));
        }
        check_int(outcomes[0].profile->n_coefficients, outcomes[1].profile->n_coefficients);
        for (size_t i = 0; i < outcomes[0].profile->n_coefficients; i++) {
                const struct coefficient *a = &outcomes[0].profile->coefficients[i];
                const struct coefficient *b = &outcomes[1].profile->coefficients[i];

                check_near(a->value, b->value, 1e-5 * fabs(b->value));
                check_near(a->standard_error, b->standard_error, 1e-5 * b->standard_error);
        }
        outcome_clear(&outcomes[0]);
        outcome_clear(&outcomes[1]);
}

/* The refresh becomes better known during a run, but a delay that two rows share has one size. */
static void refresh_may_change(void)
{
        struct observation list[2 * ARRAY_SIZE(loads)];
        struct observation_run run = run_of("percent");
        struct outcome outcome;
        char error[128] = "";
        int64_t start = 0;

        for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                observe(&loads[i % ARRAY_SIZE(loads)], i, &list[i]);
                list[i].method = METHOD_PERCENT;
                list[i].steps = power(&loads[i % ARRAY_SIZE(loads)]) * 20 / 1000 / (3.9e6 * 1e-6 * 36 * 3.8);
                list[i].voltage_mv = 3800;
                list[i].charge_full_uah = 3.9e6;
                list[i].refresh_s = i == 0 ? NAN : i % 2 ? 1 : 100;
                list[i].start_realtime_ns = start;
                start += (int64_t)list[i].elapsed_ns;
        }
        check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
        check(value_of(&outcome, "base.power_mw") > 0);
        outcome_clear(&outcome);
        clear_all(list, ARRAY_SIZE(list));
}

/*
 * Noise must not lower the coefficients: the gauge's curve multiplies the model's power, not the observed
 * one.
 */
static void noise_takes_nothing(void)
{
        static struct observation list[16 * ARRAY_SIZE(loads)];
        struct observation_run run = run_of("ticks");
        struct outcome outcome;
        char error[128] = "";

        for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                const struct load *load = &loads[i % ARRAY_SIZE(loads)];
                double noisy = power(load) + (i / ARRAY_SIZE(loads) % 2 ? 25 : -25);

                observe(load, i, &list[i]);
                list[i].method = METHOD_TICKS;
                list[i].steps = noisy * 20 / 1000 / (3.9e6 * 1e-6 * 36 * 3.8);
                list[i].voltage_mv = 3800;
                list[i].charge_full_uah = 3.9e6;
                list[i].refresh_s = 0.1;
                list[i].percent = 95 - 20 * (double)i / ARRAY_SIZE(list);
        }
        check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
        check_near(value_of(&outcome, "display.power_mw.255") / DISPLAY_HIGH, 1, 0.01);
        check_near(value_of(&outcome, "wifi.rx_mj_per_mb") / WIFI_RX, 1, 0.01);
        check_near(value_of(&outcome, "base.power_mw") / BASE, 1, 0.02);
        outcome_clear(&outcome);
        clear_all(list, ARRAY_SIZE(list));
}

static void outlier_loses_weight(void)
{
        struct observation list[3 * ARRAY_SIZE(loads)];
        struct observation_run run = run_of("gauge");
        struct outcome outcome;
        char error[128] = "";

        for (size_t i = 0; i < ARRAY_SIZE(list); i++)
                observe(&loads[i % ARRAY_SIZE(loads)], i, &list[i]);
        list[10].power_mw *= 2; /* display.255, once of three times */
        check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
        check_near(value_of(&outcome, "display.power_mw.255"), DISPLAY_HIGH, 25); /* the mean would be 283
                                                                                     off */
        outcome_clear(&outcome);
        clear_all(list, ARRAY_SIZE(list));
}

/* All rows of a state are rounded alike, so that a coarse gauge is less certain however many rows there are. */
static void quantum_is_learnt(void)
{
        static const double quanta[] = { 1, 30 };
        struct observation_run run = run_of("gauge");
        double se[ARRAY_SIZE(quanta)];

        for (size_t c = 0; c < ARRAY_SIZE(quanta); c++) {
                struct observation list[4 * ARRAY_SIZE(loads)];
                struct outcome outcome;
                char error[128] = "";

                for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                        observe(&loads[i % ARRAY_SIZE(loads)], i, &list[i]);
                        list[i].power_mw = quanta[c] * round(list[i].power_mw / quanta[c]);
                }
                check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
                se[c] = outcome.profile->coefficients[profile_find_key(outcome.profile, "wifi.on_mw")].standard_error;
                outcome_clear(&outcome);
                clear_all(list, ARRAY_SIZE(list));
        }
        check(se[1] > 1.15 * se[0]);
}

/* A daemon's spike is no part of the state that it disturbs, but of the base in proportion to time. */
static void spikes_belong_to_the_base(void)
{
        struct observation_run run = run_of("gauge");
        double base[2], seconds = 0;
        enum { SPIKES = 4, SPIKE_MW = 250 };

        for (size_t c = 0; c < ARRAY_SIZE(base); c++) {
                static struct observation list[12 * ARRAY_SIZE(loads)];
                struct outcome outcome;
                char error[128] = "";

                seconds = 0;
                for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                        observe(&loads[i % ARRAY_SIZE(loads)], i, &list[i]);
                        seconds += (double)list[i].elapsed_ns / NS_PER_S;
                }
                for (size_t i = 0; c > 0 && i < SPIKES; i++)
                        list[(2 * i + 1) * ARRAY_SIZE(loads) + 9 + i].power_mw += SPIKE_MW;
                check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
                base[c] = value_of(&outcome, "base.power_mw");
                check_near(value_of(&outcome, "display.power_mw.5"), DISPLAY_LOW, 4);
                outcome_clear(&outcome);
                clear_all(list, ARRAY_SIZE(list));
        }
        /* The mean of spikes, as far as the observed time shows how often they come (an hour is enough). */
        check_near((base[1] - base[0]) /
                           (SPIKES * SPIKE_MW / (12.0 * ARRAY_SIZE(loads)) * seconds / (seconds + 3600)),
                   1, 0.3);
}

/*
 * The median of a mode's rows judges: a daemon's spike in one of three rows is no fault of the model, the same
 * in two of three is.
 */
static void held_back_rows_judge(void)
{
        static const struct { size_t rows, off; enum validation wanted; } cases[] = {
                { 0, 0, VALIDATION_NONE },   { 1, 0, VALIDATION_PASSED }, { 1, 1, VALIDATION_FAILED },
                { 3, 1, VALIDATION_PASSED }, { 3, 2, VALIDATION_FAILED }, { 3, 3, VALIDATION_FAILED },
        };
        static const char *const words[] = { "none", "true", "false" };
        struct observation_run run = run_of("gauge");

        for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
                struct observation list[4 * ARRAY_SIZE(loads)];
                struct outcome outcome;
                char error[128] = "";
                const char *said;

                for (size_t i = 0; i < ARRAY_SIZE(list); i++)
                        observe(&loads[i % ARRAY_SIZE(loads)], i, &list[i]);
                for (size_t i = 0; i < cases[c].rows; i++) {
                        struct observation *row = &list[i * ARRAY_SIZE(loads) + 7];

                        row->held_back = true;
                        row->power_mw *= i < cases[c].off ? 1.3 : 1;
                }
                check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
                check_int(outcome.n_rows, ARRAY_SIZE(list) - cases[c].rows);
                check_int(outcome.n_checks, cases[c].rows > 0);
                check_int(outcome.validation, cases[c].wanted);
                said = profile_extra(outcome.profile, "profile", "x-validated");
                check_text(said ? said : "none", words[cases[c].wanted]);
                outcome_clear(&outcome);
                clear_all(list, ARRAY_SIZE(list));
        }
}

/*
 * A policy whose highest frequency is a boost takes twice what its neighbours suggest: one row is enough to
 * show it.
 */
static void boost_is_believed(void)
{
        struct observation list[ARRAY_SIZE(loads)];
        struct observation_run run = run_of("gauge");
        struct outcome outcome;
        char error[128] = "";
        double boost_mw = 300, learnt_mw;
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
                if (loads[i].frequency == 3 && loads[i].cores == 2)
                        continue;
                observe(&loads[i], n, &list[n]);
                if (loads[i].frequency == 3)
                        list[n].power_mw += boost_mw;
                n++;
        }
        check_int(refit_regression(&run, list, n, &outcome, error, sizeof(error)), 0);
        learnt_mw = value_of(&outcome, "cpu.0.active_mw.1200000") + value_of(&outcome, "cpu.0.shared_mw.1200000") +
                    value_of(&outcome, "cpu.0.idle_mw.1200000");
        check_near(learnt_mw / (active[3] + shared[3] + boost_mw), 1, 0.03);
        outcome_clear(&outcome);
        clear_all(list, n);
}

int main(void)
{
        gsl_set_error_handler_off();
        rounding_is_shared();
        chain_is_the_matrix();
        chain_fits_as_the_matrix();
        refresh_may_change();
        noise_takes_nothing();
        outlier_loses_weight();
        quantum_is_learnt();
        spikes_belong_to_the_base();
        held_back_rows_judge();
        boost_is_believed();
        intervals_hold(1);
        intervals_hold(16);
        return check_result();
}
