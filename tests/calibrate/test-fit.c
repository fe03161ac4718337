/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The estimator on made-up rows: exact ones are reproduced, deficient ones are flagged. */

#include <gsl/gsl_errno.h>

#include "fit/algebra.h"
#include "fit-fixture.h"
#include "sapp/sapp-fit.h"
#include "util/tuning.h"

#define HOUR 3600.0

/* Exact rows are reproduced; only the prior pulls, and little if the curves are nearly straight. */
static void exact_rows_come_back(void)
{
        struct observation list[2 * ARRAY_SIZE(loads)];
        struct observation_run run = run_of("gauge");
        struct outcome outcome;
        char error[128] = "";

        run.energy_full_mwh = 100 * BATTERY_MWH; /* so large that these loads do not warm it */
        for (size_t i = 0; i < ARRAY_SIZE(list); i++)
                observe(&loads[i % ARRAY_SIZE(loads)], i, &list[i]);
        check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
        check_near(value_of(&outcome, "base.power_mw"), BASE, 4); /* rare tasks may come, though none was seen */
        check_near(value_of(&outcome, "cpu.0.active_mw.300000"), active[0], 4);
        check_near(value_of(&outcome, "cpu.0.active_mw.1200000"), active[3], 6);
        check_near(value_of(&outcome, "cpu.0.shared_mw.900000"), shared[2], 4);
        check_near(value_of(&outcome, "display.power_mw.255"), DISPLAY_HIGH, 0.5);
        check_near(value_of(&outcome, "disk.read_mj_per_mb"), READ, 0.05);
        check_near(value_of(&outcome, "wifi.on_mw"), WIFI_ON, 0.5);
        check_near(value_of(&outcome, "wifi.rx_mj_per_mb"), WIFI_RX, 0.5);
        check(isnan(value_of(&outcome, "gpu.active_mw")));
        check_int(outcome.n_warnings, 0);
        check_int(outcome.validation, VALIDATION_NONE);
        check_text(profile_extra(outcome.profile, "base", "x-background_tau_s"), "300");
        outcome_clear(&outcome);
        clear_all(list, ARRAY_SIZE(list));
}

/* Frequencies must be ascending and distinct. */
static void points_ascend(void)
{
        static const char *const lists[] = { "300000,300000", "600000,300000", "-1", "4294967296", "\"x\"" };

        for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
                struct observation_run run = run_of("gauge");
                struct observation observation;
                struct outcome outcome = { 0 };
                char description[128], error[128] = "";

                snprintf(description, sizeof(description), "{\"policies\":[{\"policy\":0,\"khz\":[%s]}]}", lists[i]);
                run.description = description;
                observe(&loads[0], 0, &observation);
                check_int(refit_regression(&run, &observation, 1, &outcome, error, sizeof(error)), -EINVAL);
                check(strstr(error, "invalid policies") != NULL);
                observation_clear(&observation);
        }
}

/* Small amounts of background traffic give no coefficient. */
static void trickles_are_no_measurement(void)
{
        struct observation list[2 * ARRAY_SIZE(loads)];
        struct observation_run run = run_of("gauge");
        struct outcome outcome;
        char error[128] = "";

        for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                struct usage *usage = &list[i].usage;

                observe(&loads[i % ARRAY_SIZE(loads)], i, &list[i]);
                usage->wifi_rx_bytes += 20 * 1000 * (i % 3);
                usage->wifi_tx_bytes = 20 * 1000 * (i % 5);
                usage->write_bytes = 20 * 20000 * (i % 4);
                usage->wifi_wakes = i % 4;
        }
        check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
        check(isnan(value_of(&outcome, "wifi.tx_mj_per_mb")) && isnan(value_of(&outcome, "wifi.wake_mj")));
        check(isnan(value_of(&outcome, "disk.write_mj_per_mb")));
        check_near(value_of(&outcome, "wifi.rx_mj_per_mb"), WIFI_RX, 20);
        check_near(value_of(&outcome, "disk.read_mj_per_mb"), READ, 0.5);
        outcome_clear(&outcome);
        clear_all(list, ARRAY_SIZE(list));
}

/* With a weak prior, to 1e-6: the algebra itself. */
static void algebra_is_exact(void)
{
        struct regression_options options = regression_options_default;
        struct observation list[ARRAY_SIZE(loads)];
        const struct usage *usages[ARRAY_SIZE(loads)];
        struct device device = { .energy_full_mwh = NAN, .n_policies = 1,
                                 .policies = { { .khz = { 300000, 600000, 900000, 1200000 }, .n_khz = 4 } } };
        struct columns columns;
        struct regression fit;
        struct rows rows;
        enum voltage_basis basis;
        double idle_mw[4] = { 0 };
        char error[64];

        for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
                observe(&loads[i], i, &list[i]);
                usages[i] = &list[i].usage;
        }
        options.smooth_active = options.smooth_shared = options.looseness = 1e6;
        options.noise.background_part = 1e-6;
        check_int(columns_make(&device, usages, ARRAY_SIZE(loads), &columns), 0);
        check_int(rows_make(&columns, list, ARRAY_SIZE(loads), &rows, &basis, error, sizeof(error)), 0);
        check_int(regression_fit(&columns, &rows, &options, &fit), 0);
        idle_mw[1] = gsl_vector_get(fit.value, columns.idle[0]);
        idle_mw[3] = gsl_vector_get(fit.value, columns.idle[0] + 1);
        idle_mw[2] = (idle_mw[1] + idle_mw[3]) / 2;
        for (size_t k = 0; k < 4; k++) {
                check_near(gsl_vector_get(fit.value, columns.active[0] + k) / active[k], 1, 1e-6);
                /* The true shared power includes the idle power, as no load idles at these frequencies. */
                check_near((gsl_vector_get(fit.value, columns.shared[0] + k) + idle_mw[k]) / shared[k], 1, 1e-6);
        }
        check_near(gsl_vector_get(fit.value, 0) / BASE, 1, 1e-6);
        regression_clear(&fit);
        rows_clear(&rows);
        columns_clear(&columns);
        clear_all(list, ARRAY_SIZE(list));
}

/* Always all cores, as in SApp: A and S cannot be separated. Their sum is right, and each has a large error. */
static void deficient_design_is_uncertain(void)
{
        static const size_t picked[] = { 0, 2, 4, 6, 8, 9, 10 };
        struct observation list[2 * ARRAY_SIZE(picked)];
        struct observation_run run = run_of("gauge");
        struct outcome outcome;
        char error[128] = "";

        for (size_t i = 0; i < ARRAY_SIZE(list); i++)
                observe(&loads[picked[i % ARRAY_SIZE(picked)]], i, &list[i]);
        check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
        for (size_t i = 0; i < outcome.n_lines; i++) {
                check(outcome.lines[i].identifiable);
                check(strncmp(outcome.lines[i].key, "cpu.0.shared", 12) != 0 || !outcome.lines[i].resolved);
        }
        for (size_t k = 0; k < ARRAY_SIZE(khz); k++) {
                char a[64], s[64];

                snprintf(a, sizeof(a), "cpu.0.active_mw.%u", khz[k]);
                snprintf(s, sizeof(s), "cpu.0.shared_mw.%u", khz[k]);
                check_near((2 * value_of(&outcome, a) + value_of(&outcome, s)) / (2 * active[k] + shared[k]), 1, 0.02);
        }
        check_near(value_of(&outcome, "base.power_mw"), BASE, 4);
        check_near(value_of(&outcome, "display.power_mw.5"), DISPLAY_LOW, 3);
        outcome_clear(&outcome);
        clear_all(list, ARRAY_SIZE(list));
}

static void nnls_is_known(void)
{
        /* min |Xb - y|: the free answer is (1.25, -0.25), with b >= 0 it is (1.1, 0) by hand. */
        double x[3][2] = { { 1, 1 }, { 1, 2 }, { 1, 3 } }, y[3] = { 1.05, 0.7, 0.55 };
        gsl_matrix *gram = gsl_matrix_calloc(2, 2);
        gsl_vector *moment = gsl_vector_calloc(2), *value = gsl_vector_calloc(2);
        bool both[] = { true, true }, none[] = { false, false };

        for (int i = 0; i < 3; i++)
                for (int a = 0; a < 2; a++) {
                        *gsl_vector_ptr(moment, (size_t)a) += x[i][a] * y[i];
                        for (int b = 0; b < 2; b++)
                                *gsl_matrix_ptr(gram, (size_t)a, (size_t)b) += x[i][a] * x[i][b];
                }
        check_int(algebra_nnls(gram, moment, none, value), 0);
        check_near(gsl_vector_get(value, 1), -0.25, 1e-9);
        gsl_vector_set_all(value, 1);
        check_int(algebra_nnls(gram, moment, both, value), 0);
        check_near(gsl_vector_get(value, 0), 2.3 / 3, 1e-9);
        check_near(gsl_vector_get(value, 1), 0, 0);
        gsl_vector_set_zero(value); /* a cold start gives the same */
        check_int(algebra_nnls(gram, moment, both, value), 0);
        check_near(gsl_vector_get(value, 0), 2.3 / 3, 1e-9);
        gsl_matrix_free(gram);
        gsl_vector_free(moment);
        gsl_vector_free(value);
}

/*
 * A device with leakage, seen in dwells of 20 s, each of which ends before the device is as warm as its load would make
 * it. The fit gives the lasting power: of heavy loads at their own temperature, of light ones at the usual one.
 */
static void warming_is_made_up_for(void)
{
        struct observation list[20 * ARRAY_SIZE(loads)];
        struct observation_run run = run_of("gauge");
        struct outcome outcome;
        char error[128] = "";
        double heat, usual = 0, most = power(&loads[8]), base, whole;

        run.energy_full_mwh = 3000;
        for (size_t i = 0; i < ARRAY_SIZE(loads); i++)
                usual += power(&loads[i]) / ARRAY_SIZE(loads);
        heat = usual;
        for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                const struct load *load = &loads[i * 5 % ARRAY_SIZE(loads)];
                double settled = power(load), leaks = load->frequency >= 0 ? settled : BASE;

                observe(load, i, &list[i]);
                list[i].start_realtime_ns = (int64_t)i * 20 * (int64_t)NS_PER_S;
                list[i].power_mw -= TUNING_WARMING_PER_C * leaks * (settled - heat) / run.energy_full_mwh;
                heat = settled + (heat - settled) * exp(-20 / TUNING_WARMING_TAU_S);
        }
        check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
        base = value_of(&outcome, "base.power_mw");
        whole = base + 2 * value_of(&outcome, "cpu.0.active_mw.1200000") +
                value_of(&outcome, "cpu.0.shared_mw.1200000");
        check_near(base, BASE * (1 + TUNING_WARMING_PER_C * (usual - BASE) / run.energy_full_mwh), 3);
        check_near(whole, most, 0.007 * most); /* 1.5 % less without */
        outcome_clear(&outcome);
        clear_all(list, ARRAY_SIZE(list));
}

/* A drain that empties the battery in minutes is evidence of its size rather than of warmth. */
static void warming_has_a_limit(void)
{
        struct observation list[20 * ARRAY_SIZE(loads)];
        struct observation_run run = run_of("gauge");
        struct outcome outcome;
        char error[128] = "";
        double base;

        run.energy_full_mwh = 100;
        for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                observe(&loads[i * 5 % ARRAY_SIZE(loads)], i, &list[i]);
                list[i].start_realtime_ns = (int64_t)i * 20 * (int64_t)NS_PER_S;
        }
        check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
        base = value_of(&outcome, "base.power_mw");
        check_near(base, BASE * 1.05, 0.1 * BASE);
        outcome_clear(&outcome);
        clear_all(list, ARRAY_SIZE(list));
}

/*
 * A black picture lacks 60 % of a white one's power, and a grey one half of that: this is reported, and not fitted. A
 * grey one that lacks @grey is reported, too.
 */
static void pictures_tell_emission(double grey)
{
        const struct { const char *mode; double part; } pictures[] = { { "picture.255.black", 0.6 },
                                                                       { "picture.255.grey", grey } };
        const struct load *white = &loads[10];
        struct observation list[3 * ARRAY_SIZE(loads) + ARRAY_SIZE(pictures)];
        struct observation_run run = run_of("gauge");
        struct outcome outcome;
        char error[128] = "";
        const char *said;
        size_t n = 0;

        for (; n < 3 * ARRAY_SIZE(loads); n++)
                observe(&loads[n % ARRAY_SIZE(loads)], n, &list[n]);
        for (size_t i = 0; i < ARRAY_SIZE(pictures); i++, n++) {
                observe(white, n, &list[n]);
                snprintf(list[n].mode, sizeof(list[n].mode), "%s", pictures[i].mode);
                snprintf(list[n].kind, sizeof(list[n].kind), "picture");
                list[n].power_mw -= pictures[i].part * DISPLAY_HIGH;
        }
        check_int(refit_regression(&run, list, n, &outcome, error, sizeof(error)), 0);
        check_int(outcome.n_rows, 3 * ARRAY_SIZE(loads));
        check_near(value_of(&outcome, "display.power_mw.255"), DISPLAY_HIGH, 2);
        said = profile_extra(outcome.profile, "display", "x-emission_percent");
        check(said && fabs(atof(said) - 60) < 2);
        said = profile_extra(outcome.profile, "display", "x-emission_se");
        check(said && atof(said) > 0.3 && atof(said) < 5);
        said = profile_extra(outcome.profile, "display", "x-emission_bend_percent");
        check(grey == 0.3 ? !said : said && fabs(atof(said) - 100 * fabs(0.3 - grey)) < 2);
        check_int(outcome.n_warnings, grey == 0.3 ? 0 : 1);
        check(grey == 0.3 || strstr(outcome.warnings[0], grey < 0.3 ? "power more than" : "power less than"));
        outcome_clear(&outcome);
        clear_all(list, n);
}

/*
 * Rows from steps of the level: joules by charge and voltage, delayed steps, a partial first step. A sensor that shows
 * @sensor of the power (0: there is none) reveals the error of the full charge.
 */
static void percent_rows_come_back(double sensor)
{
        struct observation list[2 * ARRAY_SIZE(loads) + 1];
        struct observation_run run = run_of("percent");
        struct outcome outcome;
        char error[128] = "";
        const char *said;
        int64_t start = 0;
        double before = 0;

        for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                const struct load *load = &loads[i % ARRAY_SIZE(loads)];
                double mv = 4100 - 8 * (double)i, j = 3.9e6 * 1e-6 * 36 * mv / 1000, mw = power(load), s;

                observe(load, i, &list[i]);
                usage_clear(&list[i].usage);
                /* Steps are 5 s late, before and after. */
                s = (1000 * j - 5 * (i > 0 ? before : mw)) / mw + 5;
                list[i].method = METHOD_PERCENT;
                list[i].steps = 1;
                list[i].percent = 94.5 - (double)i;
                list[i].voltage_mv = mv;
                list[i].charge_full_uah = 3.9e6;
                list[i].refresh_s = 10;
                list[i].power_mw = sensor > 0 ? sensor * mw : NAN;
                list[i].burn = i == 0;
                list[i].elapsed_ns = (uint64_t)llround(s * NS_PER_S);
                list[i].start_realtime_ns = start;
                start += (int64_t)list[i].elapsed_ns;
                fill_usage(load, s, &list[i].usage);
                before = mw;
        }
        check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
        check_int(outcome.n_rows, ARRAY_SIZE(list) - 1);
        check_near(value_of(&outcome, "base.power_mw"), BASE, 1.5);
        check_near(value_of(&outcome, "display.power_mw.255"), DISPLAY_HIGH, 4);
        check_near(value_of(&outcome, "wifi.rx_mj_per_mb"), WIFI_RX, 3);
        said = profile_extra(outcome.profile, "battery", "x-charge_full_percent");
        check(!said == !(sensor > 0) && (!said || fabs(atof(said) - 100 * (1 / sensor - 1)) < 1.5));
        said = profile_extra(outcome.profile, "battery", "x-charge_full_se");
        check(!said == !(sensor > 0) && (!said || (atof(said) > 0.5 && atof(said) < 5)));
        check(!outcome.stale[0] == !(sensor > 0 && sensor < 0.95));
        outcome_clear(&outcome);
        clear_all(list, ARRAY_SIZE(list));
}

static void sapp_follows_its_equations(void)
{
        static const double seconds[] = { 400, 300, 350 };
        struct load both = { "cpu.0.900000.all", 2, 2 }, screen = { "display", 2, 2, 255 };
        struct observation list[6];
        struct observation_run run = run_of("percent");
        struct outcome outcome;
        char error[128] = "";
        double j = J_PER_PERCENT(BATTERY_MWH), cpu = 1000 * j / (2 * 350), rest = 1000 * j - cpu * 2 * 175;

        for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                const struct load *load = i < 3 ? &both : &screen;
                double s = seconds[i % 3] / (i < 3 ? 1 : 2);

                observe(load, i, &list[i]);
                usage_clear(&list[i].usage);
                list[i].method = METHOD_PERCENT;
                list[i].steps = 1;
                list[i].elapsed_ns = (uint64_t)(s * NS_PER_S);
                fill_usage(load, s, &list[i].usage);
        }
        check_int(sapp_fit(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
        check_near(value_of(&outcome, "cpu.0.active_mw.900000"), cpu, 1e-6);
        check_near(value_of(&outcome, "display.power_mw.255"), rest / 175, 1e-6);
        check(isnan(value_of(&outcome, "base.power_mw")));
        check(isnan(outcome.profile->degrees_of_freedom));
        outcome_clear(&outcome);
        clear_all(list, ARRAY_SIZE(list));
}

int main(void)
{
        gsl_set_error_handler_off();
        nnls_is_known();
        algebra_is_exact();
        exact_rows_come_back();
        points_ascend();
        trickles_are_no_measurement();
        deficient_design_is_uncertain();
        warming_is_made_up_for();
        warming_has_a_limit();
        pictures_tell_emission(0.3);
        pictures_tell_emission(0.15);
        pictures_tell_emission(0.5);
        percent_rows_come_back(0);
        percent_rows_come_back(1);
        percent_rows_come_back(1 / 1.1);
        sapp_follows_its_equations();
        return check_result();
}
