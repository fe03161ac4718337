/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The estimators on made-up rows: exact ones come back, deficient ones are flagged, noisy ones within their errors. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <stdlib.h>

#include "algebra.h"
#include "check.h"
#include "follow.h"
#include "portfolio-usage.h"
#include "refit.h"
#include "store.h"
#include "units.h"
#include "util.h"

#define HOUR 3600.0

/* A made-up device: two cores, four frequencies. */
static const uint32_t khz[] = { 300000, 600000, 900000, 1200000 };
static const double active[] = { 100, 150, 205, 262 }, shared[] = { 40, 48, 55, 64 };
#define BASE 150
#define DISPLAY_LOW 300
#define DISPLAY_HIGH 700
#define READ 6
#define WIFI_ON 30
#define WIFI_RX 350
#define BATTERY_MWH 15000

struct load {
        const char *mode;
        int frequency; /* -1: idle */
        int cores;
        int brightness;
        double read_mb_per_s;
        bool wifi;
        double rx_mb_per_s;
};

static const struct load loads[] = {
        { "idle", -1 },
        { "cpu.0.300000.one", 0, 1 },
        { "cpu.0.300000.all", 0, 2 },
        { "cpu.0.600000.one", 1, 1 },
        { "cpu.0.600000.all", 1, 2 },
        { "cpu.0.900000.one", 2, 1 },
        { "cpu.0.900000.all", 2, 2 },
        { "cpu.0.1200000.one", 3, 1 },
        { "cpu.0.1200000.all", 3, 2 },
        { "display.5", -1, 0, 5 },
        { "display.255", -1, 0, 255 },
        { "disk.read", -1, 0, 0, 20 },
        { "wifi.on", -1, 0, 0, 0, true },
        { "wifi.rx", -1, 0, 0, 0, true, 1.5 },
};

static double power(const struct load *load)
{
        double mw = BASE + load->read_mb_per_s * READ + load->rx_mb_per_s * WIFI_RX + (load->wifi ? WIFI_ON : 0);

        if (load->frequency >= 0)
                mw += active[load->frequency] * load->cores + shared[load->frequency];
        if (load->brightness > 0)
                mw += load->brightness == 5 ? DISPLAY_LOW : DISPLAY_HIGH;
        return mw;
}

static void fill_usage(const struct load *load, double seconds, struct usage *usage)
{
        uint64_t ns = (uint64_t)llround(seconds * NS_PER_S);

        *usage = (struct usage){ .have = USAGE_ALL, .time_ns = ns, .wifi_on_ns = load->wifi ? ns : 0 };
        if (load->frequency >= 0)
                usage_add_cpu(usage, 0, khz[load->frequency], ns * (uint64_t)load->cores, ns);
        if (load->brightness > 0)
                usage_add_screen(usage, (uint32_t)load->brightness, ns);
        usage->read_bytes = (uint64_t)llround(load->read_mb_per_s * BYTES_PER_MB * seconds);
        usage->wifi_rx_bytes = (uint64_t)llround(load->rx_mb_per_s * BYTES_PER_MB * seconds);
}

/* A gauge that tells the truth. */
static void observe(const struct load *load, size_t i, struct observation *observation)
{
        *observation = (struct observation){
                .id = (int64_t)i + 1, .run = 1, .sequence = (uint32_t)i, .method = METHOD_GAUGE,
                .start_realtime_ns = (int64_t)i * 10 * (int64_t)NS_PER_S * 3600, .elapsed_ns = 20 * NS_PER_S,
                .percent = 50, .steps = NAN, .charge_full_uah = NAN, .voltage_mv = NAN, .power_mw = power(load),
                .gauge_updates = 5, .refresh_s = 3.5, .temperature_c = NAN,
        };
        snprintf(observation->mode, sizeof(observation->mode), "%s", load->mode);
        snprintf(observation->kind, sizeof(observation->kind), "%.*s", (int)strcspn(load->mode, "."), load->mode);
        fill_usage(load, 20, &observation->usage);
}

static struct observation_run run_of(const char *method)
{
        struct observation_run run = { .id = 1, .device = "made-up", .energy_full_mwh = BATTERY_MWH,
                                       .max_brightness = 255 };

        snprintf(run.method, sizeof(run.method), "%s", method);
        run.description = (char *)"{\"policies\":[{\"policy\":0,\"cpus\":\"0-1\",\"n_cpus\":2,"
                          "\"khz\":[300000,600000,900000,1200000]}]}";
        return run;
}

static void clear_all(struct observation *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                observation_clear(&list[i]);
}

static double value_of(const struct outcome *outcome, const char *key)
{
        ssize_t at = profile_find_key(outcome->profile, key);

        return at < 0 ? NAN : outcome->profile->coefficients[at].value;
}

/* Truth comes back; what pulls is the prior alone, and that bends little where the curves hardly bend. */
static void exact_rows_come_back(void)
{
        struct observation list[2 * ARRAY_SIZE(loads)];
        struct observation_run run = run_of("gauge");
        struct outcome outcome;
        char error[128] = "";

        for (size_t i = 0; i < ARRAY_SIZE(list); i++)
                observe(&loads[i % ARRAY_SIZE(loads)], i, &list[i]);
        check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
        check_near(value_of(&outcome, "base.power_mw"), BASE, 0.5);
        check_near(value_of(&outcome, "cpu.0.active_mw.300000"), active[0], 2);
        check_near(value_of(&outcome, "cpu.0.active_mw.1200000"), active[3], 2);
        check_near(value_of(&outcome, "cpu.0.shared_mw.900000"), shared[2], 3);
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

/* What a machine moves by itself gets no price: it was not measured. */
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

/* With a prior that hardly holds, to 1e-6: the algebra itself. */
static void algebra_is_exact(void)
{
        struct regression_options options = regression_options_default;
        struct observation list[ARRAY_SIZE(loads)];
        const struct usage *usages[ARRAY_SIZE(loads)];
        struct device device = { .energy_full_mwh = BATTERY_MWH, .n_policies = 1,
                                 .policies = { { .khz = { 300000, 600000, 900000, 1200000 }, .n_khz = 4 } } };
        struct columns columns;
        struct regression fit;
        struct rows rows;
        enum voltage_basis basis;
        char error[64];

        for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
                observe(&loads[i], i, &list[i]);
                usages[i] = &list[i].usage;
        }
        options.smooth_active = options.smooth_shared = 1e6;
        check_int(columns_make(&device, usages, ARRAY_SIZE(loads), &columns), 0);
        check_int(rows_make(&columns, list, ARRAY_SIZE(loads), &rows, &basis, error, sizeof(error)), 0);
        check_int(regression_fit(&columns, &rows, &options, &fit), 0);
        for (size_t k = 0; k < 4; k++) {
                check_near(gsl_vector_get(fit.value, columns.active[0] + k) / active[k], 1, 1e-6);
                check_near(gsl_vector_get(fit.value, columns.shared[0] + k) / shared[k], 1, 1e-6);
        }
        check_near(gsl_vector_get(fit.value, 0) / BASE, 1, 1e-6);
        regression_clear(&fit);
        rows_clear(&rows);
        columns_clear(&columns);
        clear_all(list, ARRAY_SIZE(list));
}

/* Both cores always, as SApp does it: what is shared cannot be told from what is not, and that must be said. */
static void deficient_design_is_flagged(void)
{
        static const size_t picked[] = { 0, 2, 4, 6, 8, 9, 10 };
        struct observation list[2 * ARRAY_SIZE(picked)];
        struct observation_run run = run_of("gauge");
        struct outcome outcome;
        char error[128] = "";
        size_t flagged = 0;

        for (size_t i = 0; i < ARRAY_SIZE(list); i++)
                observe(&loads[picked[i % ARRAY_SIZE(picked)]], i, &list[i]);
        check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
        for (size_t i = 0; i < outcome.n_lines; i++) {
                if (outcome.lines[i].identifiable)
                        continue;
                flagged++;
                check(strncmp(outcome.lines[i].remark, "not identifiable (", 18) == 0);
                check(profile_find_key(outcome.profile, outcome.lines[i].key) < 0);
        }
        check_int(flagged, 8);
        check_near(value_of(&outcome, "base.power_mw"), BASE, 1);
        check_near(value_of(&outcome, "display.power_mw.5"), DISPLAY_LOW, 1);
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
        gsl_vector_set_zero(value); /* a cold start ends in the same place */
        check_int(algebra_nnls(gram, moment, both, value), 0);
        check_near(gsl_vector_get(value, 0), 2.3 / 3, 1e-9);
        gsl_matrix_free(gram);
        gsl_vector_free(moment);
        gsl_vector_free(value);
}

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

/* 95 of 100 intervals hold the truth when the noise is what the fit believes. 400 x 4 intervals: +- 1.1 % by chance. */
static void intervals_hold(void)
{
        static const struct { const char *key; double truth; } asked[] = {
                { "base.power_mw", BASE }, { "display.power_mw.255", DISPLAY_HIGH },
                { "wifi.rx_mj_per_mb", WIFI_RX }, { "disk.read_mj_per_mb", READ },
        };
        struct observation_run run = run_of("gauge");
        uint64_t state = 88172645463325252u;
        size_t inside = 0, all = 0;

        for (int night = 0; night < 400; night++) {
                struct observation list[3 * ARRAY_SIZE(loads)];
                struct outcome outcome;
                char error[128] = "";

                for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                        double mw = power(&loads[i % ARRAY_SIZE(loads)]), sd;

                        /* Rows hours apart: what the daemons do is independent from row to row. */
                        observe(&loads[i % ARRAY_SIZE(loads)], i, &list[i]);
                        sd = sqrt(noise_expected(&regression_options_default.noise, false, mw, mw, 20, 0, 5));
                        list[i].power_mw += sd * normal(&state);
                }
                check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
                for (size_t k = 0; k < ARRAY_SIZE(asked); k++)
                        for (size_t j = 0; j < outcome.n_lines; j++)
                                if (strcmp(outcome.lines[j].key, asked[k].key) == 0) {
                                        all++;
                                        inside += fabs(outcome.lines[j].value - asked[k].truth) <=
                                                  outcome.lines[j].half_width;
                                }
                outcome_clear(&outcome);
                clear_all(list, ARRAY_SIZE(list));
        }
        check_int(all, 1600);
        check_near((double)inside / (double)all, 0.955, 0.025);
}

/* What is known of the refresh gets better during a night; one delay that two rows share has one size all the same. */
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

/* Noise in many rows must not make everything a little cheaper: the gauge's curve bends the model, not what was seen. */
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

/* Rows from steps of the level: joules by charge and voltage, the step's delay known, a burnt one first. */
static void percent_rows_come_back(void)
{
        struct observation list[2 * ARRAY_SIZE(loads) + 1];
        struct observation_run run = run_of("percent");
        struct outcome outcome;
        char error[128] = "";
        int64_t start = 0;
        double before = 0;

        for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                const struct load *load = &loads[i % ARRAY_SIZE(loads)];
                double mv = 4100 - 8 * (double)i, j = 3.9e6 * 1e-6 * 36 * mv / 1000, mw = power(load), s;

                observe(load, i, &list[i]);
                usage_clear(&list[i].usage);
                /* The step came 5 s late before and comes 5 s late after. */
                s = (1000 * j - 5 * (i > 0 ? before : mw)) / mw + 5;
                list[i].method = METHOD_PERCENT;
                list[i].steps = 1;
                list[i].percent = 94.5 - (double)i;
                list[i].voltage_mv = mv;
                list[i].charge_full_uah = 3.9e6;
                list[i].refresh_s = 10;
                list[i].power_mw = NAN;
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
        check_near(value_of(&outcome, "display.power_mw.255"), DISPLAY_HIGH, 25); /* the mean would be 283 off */
        outcome_clear(&outcome);
        clear_all(list, ARRAY_SIZE(list));
}

static void held_back_rows_judge(void)
{
        struct observation list[2 * ARRAY_SIZE(loads)];
        struct observation_run run = run_of("gauge");
        struct outcome outcome;
        char error[128] = "";

        for (int bad = 0; bad < 2; bad++) {
                for (size_t i = 0; i < ARRAY_SIZE(list); i++)
                        observe(&loads[i % ARRAY_SIZE(loads)], i, &list[i]);
                list[20].held_back = true;
                list[20].power_mw *= bad ? 1.3 : 1;
                check_int(refit_regression(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
                check_int(outcome.n_rows, ARRAY_SIZE(list) - 1);
                check_int(outcome.validation, bad ? VALIDATION_FAILED : VALIDATION_PASSED);
                check_text(profile_extra(outcome.profile, "profile", "x-validated"), bad ? "false" : "true");
                outcome_clear(&outcome);
                clear_all(list, ARRAY_SIZE(list));
        }
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
        check_int(refit_sapp(&run, list, ARRAY_SIZE(list), &outcome, error, sizeof(error)), 0);
        check_near(value_of(&outcome, "cpu.0.active_mw.900000"), cpu, 1e-6);
        check_near(value_of(&outcome, "display.power_mw.255"), rest / 175, 1e-6);
        check(isnan(value_of(&outcome, "base.power_mw")));
        check(isnan(outcome.profile->degrees_of_freedom));
        outcome_clear(&outcome);
        clear_all(list, ARRAY_SIZE(list));
}

static char *line_of(cJSON *json)
{
        char *text = cJSON_PrintUnformatted(json);

        cJSON_Delete(json);
        return text;
}

static cJSON *ask(struct follow *follow, char *line)
{
        bool end;
        cJSON *answer = follow_answer(follow, line, &end);

        free(line);
        return answer;
}

static char *start_line(void)
{
        cJSON *line = cJSON_CreateObject(), *start = cJSON_AddObjectToObject(line, "start"), *modes;

        cJSON_AddStringToObject(start, "device", "made-up");
        cJSON_AddStringToObject(start, "method", "percent");
        cJSON_AddNumberToObject(start, "energy_full_mwh", BATTERY_MWH);
        cJSON_AddNumberToObject(start, "max_brightness", 255);
        cJSON_AddNumberToObject(start, "stop_percent", 3);
        cJSON_AddNullToObject(start, "database");
        cJSON_AddItemToObject(start, "policies",
                              cJSON_Parse("[{\"policy\":0,\"cpus\":\"0-1\",\"n_cpus\":2,"
                                          "\"khz\":[300000,600000,900000,1200000]}]"));
        modes = cJSON_AddArrayToObject(start, "modes");
        for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
                cJSON *mode = cJSON_CreateObject();
                struct usage usage;

                fill_usage(&loads[i], 1, &usage);
                cJSON_AddStringToObject(mode, "name", loads[i].mode);
                cJSON_AddItemToObject(mode, "usage", usage_to_json(&usage));
                cJSON_AddBoolToObject(mode, "held_back", i == 3);
                cJSON_AddItemToArray(modes, mode);
                usage_clear(&usage);
        }
        return line_of(line);
}

/* The @i-th of the night. */
static char *observation_line(const struct load *load, size_t i)
{
        cJSON *line = cJSON_CreateObject();
        struct observation observation;

        observe(load, i, &observation);
        observation.method = METHOD_PERCENT;
        observation.steps = 1;
        observation.refresh_s = 10;
        usage_clear(&observation.usage);
        observation.elapsed_ns = (uint64_t)(1000 * J_PER_PERCENT(BATTERY_MWH) / observation.power_mw * NS_PER_S);
        observation.charge_full_uah = 15000 / 3.8 * 1000;
        observation.voltage_mv = 3800;
        observation.power_mw = NAN;
        fill_usage(load, (double)observation.elapsed_ns / NS_PER_S, &observation.usage);
        cJSON_AddItemToObject(line, "observation", observation_to_json(&observation));
        observation_clear(&observation);
        return line_of(line);
}

static void follow_answers(void)
{
        struct follow *follow;
        cJSON *answer;
        double first = NAN, width = NAN;
        bool end;

        check_int(follow_new(&follow), 0);
        answer = ask(follow, observation_line(&loads[0], 0));
        check(cJSON_HasObjectItem(answer, "error"));
        cJSON_Delete(answer);
        answer = ask(follow, start_line());
        check(cJSON_IsTrue(cJSON_GetObjectItem(answer, "ready")));
        check_int(cJSON_GetNumberValue(cJSON_GetObjectItem(answer, "parameters")), 1 + 8 + 2 + 1 + 2);
        cJSON_Delete(answer);
        for (size_t i = 0; i < 60; i++) {
                const char *next;

                answer = ask(follow, observation_line(&loads[i % ARRAY_SIZE(loads)], i));
                check(!cJSON_HasObjectItem(answer, "error"));
                check_int(cJSON_GetNumberValue(cJSON_GetObjectItem(answer, "rows")), i + 1);
                width = cJSON_GetNumberValue(cJSON_GetObjectItem(answer, "half_width_percent"));
                next = cJSON_GetStringValue(cJSON_GetObjectItem(answer, "next"));
                check(!next || strcmp(next, loads[3].mode) != 0); /* held back */
                check(!next || strcmp(next, loads[i % ARRAY_SIZE(loads)].mode) != 0); /* never twice in a row */
                check(next ? !(width <= 3) : i < 2 || width <= 3);
                if (i == 20)
                        first = width;
                cJSON_Delete(answer);
        }
        check(width < first);
        answer = follow_answer(follow, "{\"end\": true}", &end);
        check(end && cJSON_IsTrue(cJSON_GetObjectItem(answer, "bye")));
        cJSON_Delete(answer);
        answer = follow_answer(follow, "nonsense", &end);
        check(!end && cJSON_HasObjectItem(answer, "error"));
        cJSON_Delete(answer);
        follow_free(follow);
}

/* Observations of all modes but those with WiFi, which are left out or not; @next: what is wanted after the last. */
static double follow_without_wifi(struct follow *follow, bool left_out, size_t from, size_t to, char *next, size_t size)
{
        double width = NAN;

        for (size_t i = from; i < to; i++) {
                _cleanup_free_ char *text = observation_line(&loads[i % 12], i);
                cJSON *line = cJSON_Parse(text), *list = cJSON_AddArrayToObject(line, "left_out");
                const char *said;
                cJSON *answer;

                if (left_out) {
                        cJSON_AddItemToArray(list, cJSON_CreateString("wifi.on"));
                        cJSON_AddItemToArray(list, cJSON_CreateString("wifi.rx"));
                }
                answer = ask(follow, line_of(line));
                check(!cJSON_HasObjectItem(answer, "error"));
                width = cJSON_GetNumberValue(cJSON_GetObjectItem(answer, "half_width_percent"));
                said = cJSON_GetStringValue(cJSON_GetObjectItem(answer, "next"));
                check(!left_out || !said || strncmp(said, "wifi", 4) != 0);
                snprintf(next, size, "%s", said ? said : "");
                cJSON_Delete(answer);
        }
        return width;
}

/*
 * What no mode can tell of any more is not waited for: the rest is judged, and reaches its precision. When a mode may
 * come again, it is.
 */
static void left_out_is_not_waited_for(void)
{
        struct follow *follow;
        char next[64];

        check_int(follow_new(&follow), 0);
        cJSON_Delete(ask(follow, start_line()));
        check(isnan(follow_without_wifi(follow, false, 0, 60, next, sizeof(next))));
        check(strncmp(next, "wifi", 4) == 0);
        check(follow_without_wifi(follow, true, 60, 61, next, sizeof(next)) <= 3);
        check_text(next, "");
        check(isnan(follow_without_wifi(follow, false, 61, 62, next, sizeof(next))));
        check(strncmp(next, "wifi", 4) == 0);
        follow_free(follow);
}

/* Half an hour of a reader, @n times, into a usage database. */
static void record(const char *path, size_t n)
{
        struct store *store;

        check_int(store_open(path, STORE_WRITE, NULL, &store), 0);
        for (size_t i = 0; i < n; i++) {
                struct interval_row rows[2] = { 0 };
                struct interval interval = { .elapsed_ns = 1800 * NS_PER_S, .rows = rows, .n_rows = 2 };

                interval.start_realtime_ns = (int64_t)(1000000 + 1800 * i) * (int64_t)NS_PER_S;
                interval.end_realtime_ns = interval.start_realtime_ns + 1800 * (int64_t)NS_PER_S;
                rows[0].usage = (struct usage){ .have = USAGE_ALL, .time_ns = 1800 * NS_PER_S };
                rows[1].pid = 7;
                rows[1].state = STATE_FOREGROUND;
                snprintf(rows[1].app, sizeof(rows[1].app), "reader");
                rows[1].usage.have = USAGE_ALL;
                usage_add_cpu(&rows[1].usage, 0, 300000, 180 * NS_PER_S, 180 * NS_PER_S);
                usage_add_screen(&rows[1].usage, 40, 1800 * NS_PER_S);
                check_int(store_append(store, &interval), 0);
                usage_clear(&rows[1].usage);
        }
        store_close(store);
}

static void recorded_usage_is_the_portfolio(void)
{
        char folder[] = "/tmp/test-fit-XXXXXX", path[64], command[80];
        struct portfolio_usage usage = { 0 };
        uint64_t awake = 0;

        check(mkdtemp(folder) != NULL);
        snprintf(path, sizeof(path), "%s/usage.db", folder);
        check_int(portfolio_usage_recorded(path, &usage), -ENOENT);
        record(path, 1);
        check_int(portfolio_usage_recorded(path, &usage), -ENODATA); /* half an hour is too little */
        unlink(path);
        record(path, 20);
        check_int(portfolio_usage_recorded(path, &usage), 0);
        check(usage.n_totals >= 10 && usage.n_totals <= 24);
        check_int(usage.n_apps, 1);
        for (size_t i = 0; i < usage.n_totals; i++)
                awake += usage.totals[i].time_ns;
        check_int(awake / NS_PER_S, 20 * 1800);
        if (usage.n_apps == 1)
                check_int(usage_screen_ns(&usage.apps[0]) / NS_PER_S, 20 * 1800);
        portfolio_usage_clear(&usage);
        snprintf(command, sizeof(command), "rm -r %s", folder);
        check_int(system(command), 0);
}

int main(void)
{
        gsl_set_error_handler_off();
        nnls_is_known();
        algebra_is_exact();
        exact_rows_come_back();
        trickles_are_no_measurement();
        deficient_design_is_flagged();
        refresh_may_change();
        noise_takes_nothing();
        percent_rows_come_back();
        outlier_loses_weight();
        held_back_rows_judge();
        intervals_hold();
        sapp_follows_its_equations();
        follow_answers();
        left_out_is_not_waited_for();
        recorded_usage_is_the_portfolio();
        return check_result();
}
