/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "plan-fixture.h"
#include "run/run.h"
#include "util/util.h"

static double sure_bytes(const struct hardware_description *description, const struct plan *plan,
                         enum observation_method method, uint32_t passes, bool wifi)
{
        double bytes = 0;

        for (size_t i = 0; i < plan->n; i++) {
                const struct planned_mode *mode = &plan->modes[i];
                double rate = wifi ? mode->mode.rx_mb_per_s + mode->mode.tx_mb_per_s : mode->mode.write_mb_per_s;
                uint32_t times = mode->role == ROLE_BLOCK ? method == METHOD_GAUGE ? passes : 1
                                                          : mode->role == ROLE_HELD_BACK;

                bytes += rate * 1e6 * MIN(times, mode->visits_max) *
                         plan_expected_s(description, method, mode);
        }
        return bytes;
}

static char said[1024];

static void remember(void *data, enum log_level level, const char *sentence)
{
        snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", sentence);
}

static void stays_within_limits(void)
{
        static const struct {
                enum observation_method method;
                double write_bytes, wifi_bytes, mwh;
                const char *says; /* NULL: nothing is lowered */
                bool often;       /* every mode as often as without a limit */
        } cases[] = {
                { METHOD_GAUGE, 16e9, 500e6, 15000, NULL, true },
                { METHOD_GAUGE, 16e9, 500e6, 60000, "wifi.rx_mj_per_mb", true },
                { METHOD_GAUGE, 16e9, 100e6, 60000, "wifi-limit", false },
                { METHOD_GAUGE, 100e6, 500e6, 15000, "disk.write_mj_per_mb", false },
                { METHOD_PERCENT, 32e9, 4e9, 15000, NULL, true },
                { METHOD_PERCENT, 16e9, 4e9, 15000, "write-limit", true },
                { METHOD_PERCENT, 12e9, 4e9, 15000, "less certain", true },
                { METHOD_PERCENT, 1e9, 4e9, 15000, "missing", false },
                { METHOD_PERCENT, 0, 0, 15000, "not at all", false },
                { METHOD_TICKS, 16e9, 500e6, 15000, NULL, true },
        };
        const struct log log = { .handler = remember };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct plan_limits limits = { cases[i].write_bytes, 10, cases[i].wifi_bytes };
                struct hardware_description description;
                struct plan plan = { 0 };
                bool often = true;

                phone(&description, 1, 12);
                description.rough_mwh = cases[i].mwh;
                check_int(plan_make(&description, &plan), 0);
                said[0] = '\0';
                plan_limit(&description, cases[i].method, 4, &limits, &log, &plan);
                check(cases[i].says ? strstr(said, cases[i].says) != NULL : !said[0]);
                check(sure_bytes(&description, &plan, cases[i].method, 4, false) <= limits.write_bytes);
                check(sure_bytes(&description, &plan, cases[i].method, 4, true) <= limits.wifi_bytes);
                for (size_t k = 0; k < plan.n; k++) {
                        check(plan.modes[k].mode.write_mb_per_s <= 10);
                        often = often && plan.modes[k].visits_max == UINT32_MAX;
                }
                check_int(often, cases[i].often);
                plan_clear(&plan);
        }
}

/*
 * Without the request there is no state of the modem; with it all of its states together keep the limit,
 * packets, too.
 */
static void modem_stays_within_limit(void)
{
        static const double limits_bytes[] = { 0, 1e3, 1e6, 10e6, 60e6 };
        static const enum observation_method methods[] = { METHOD_PERCENT, METHOD_GAUGE, METHOD_TICKS };

        for (size_t i = 0; i < ARRAY_SIZE(limits_bytes) * ARRAY_SIZE(methods); i++) {
                enum observation_method method = methods[i % ARRAY_SIZE(methods)];
                double most = limits_bytes[i / ARRAY_SIZE(methods)], bytes = 0;
                struct plan_limits limits = { INFINITY, INFINITY, INFINITY, most };
                struct hardware_description description;
                struct plan plan = { 0 };

                phone(&description, 1, 12);
                check_int(plan_make(&description, &plan), 0);
                for (size_t k = 0; k < plan.n; k++)
                        check(plan.modes[k].mode.air == AIR_WIFI);
                plan_clear(&plan);
                description.cellular = true;
                check_int(plan_make(&description, &plan), 0);
                check(plan_find(&plan, "cellular.rx") && plan_find(&plan, "cellular.0.037"));
                plan_limit(&description, method, 4, &limits, &(struct log){ 0 }, &plan);
                for (size_t k = 0; k < plan.n; k++) {
                        const struct planned_mode *mode = &plan.modes[k];
                        bool gauge = method == METHOD_GAUGE;
                        uint32_t times = mode->role == ROLE_BLOCK          ? gauge ? 4 : 1 :
                                         mode->role == ROLE_LATER && gauge ? 3 :
                                                                             0;

                        bytes += MIN(times, mode->visits_max) * plan_air_bytes_per_s(&mode->mode, AIR_CELLULAR) *
                                 plan_expected_s(&description, method, mode);
                }
                check(bytes <= most);
                check(most < 60e6 || method != METHOD_GAUGE || bytes > 20e6);
                plan_clear(&plan);
        }
}

/* Modes with used-up visits do not come in later passes. */
static void comes_as_often_as_it_may(void)
{
        struct hardware_description description;
        struct plan plan = { 0 };
        size_t order[256], n, times = 0;

        phone(&description, 1, 12);
        check_int(plan_make(&description, &plan), 0);
        for (size_t i = 0; i < plan.n; i++)
                if (!strcmp(plan.modes[i].mode.name, "disk.write"))
                        plan.modes[i].visits_max = 2;
        for (uint32_t pass = 0; pass < 4; pass++) {
                n = plan_order(&plan, 1, pass, SIZE_MAX, true, order);
                for (size_t i = 0; i < n; i++)
                        times += !strcmp(plan.modes[order[i]].mode.name, "disk.write");
        }
        check_int(times, 2);
        plan_clear(&plan);
}

/* Without a peer or source no mode sends or receives. */
static void wifi_without_another_side(void)
{
        for (int have = 0; have < 3; have++) {
                struct hardware_description description;
                struct plan plan = { 0 };
                double rx = 0, tx = 0, wakes = 0;

                phone(&description, 1, 12);
                description.wifi_rx = have > 0;
                description.wifi_tx = have > 1;
                check_int(plan_make(&description, &plan), 0);
                check(plan_find(&plan, "wifi.on") != NULL);
                for (size_t i = 0; i < plan.n; i++) {
                        rx += plan.modes[i].mode.rx_mb_per_s;
                        tx += plan.modes[i].mode.tx_mb_per_s;
                        wakes += plan.modes[i].mode.wakes_per_s;
                }
                check_int(rx > 0, have > 0);
                check_int(tx > 0, have > 1);
                check_int(wakes > 0, have > 0);
                plan_clear(&plan);
        }
}

/* During the run, by what the counters showed so far. */
static void leaves_out_what_goes_beyond(void)
{
        double seconds[64], whole;
        bool left_out[64] = { false };
        size_t times[64] = { 0 }, refused[64] = { 0 }, write, read, burn;
        struct run run = { .method = METHOD_GAUGE, .seconds = seconds, .left_out = left_out, .times = times,
                               .refused = refused, .limits = { 1e9, 10, INFINITY } };

        phone(&run.description, 1, 2);
        check_int(plan_make(&run.description, &run.plan), 0);
        check(run.plan.n < 64);
        for (size_t i = 0; i < run.plan.n; i++)
                seconds[i] = NAN;
        write = (size_t)(plan_find(&run.plan, "disk.write") - run.plan.modes);
        read = (size_t)(plan_find(&run.plan, "disk.read") - run.plan.modes);
        whole = run.plan.modes[write].mode.write_mb_per_s * 1e6 *
                plan_expected_s(&run.description, METHOD_GAUGE, &run.plan.modes[write]);
        run.written_bytes = 1e9 - 1.01 * whole;
        check(!run_leaves_out(&run, write));
        run.written_bytes = 1e9 - 0.99 * whole;
        check(run_leaves_out(&run, write) && !run_leaves_out(&run, read));
        seconds[write] = 1; /* it took much less than guessed */
        check(!run_leaves_out(&run, write));
        run.plan.modes[read].visits_max = 2;
        times[read] = 1;
        check(!run_leaves_out(&run, read));
        times[read] = 2;
        check(run_leaves_out(&run, read));
        burn = run.plan.burn;
        refused[write] = refused[burn] = 1;
        check(!run_leaves_out(&run, write));
        refused[write] = refused[burn] = 2;
        check(run_leaves_out(&run, write) && !run_leaves_out(&run, burn));
        refused[write] = 0;
        left_out[write] = true;
        check(run_leaves_out(&run, write) && !run_leaves_out(&run, 0));
        plan_clear(&run.plan);
}

/* Amounts per second are at least a phone's, and at most four times that. */
static void small_rates(void)
{
        struct hardware_description description;
        struct plan_rates rates, usual;

        phone(&description, 1, 1);
        usual = plan_rates(&description);
        description.rough_mwh = 3000; /* a watch */
        rates = plan_rates(&description);
        check(memcmp(&rates, &usual, sizeof(rates)) == 0);
        description.rough_mwh = NAN;
        rates = plan_rates(&description);
        check(memcmp(&rates, &usual, sizeof(rates)) == 0);
        description.rough_mwh = 30000;
        rates = plan_rates(&description);
        check_near(rates.write_mb_per_s, 2 * usual.write_mb_per_s, 1e-9);
        description.rough_mwh = 600000;
        rates = plan_rates(&description);
        check_near(rates.write_mb_per_s, 4 * usual.write_mb_per_s, 1e-9);
}

int main(void)
{
        leaves_out_what_goes_beyond();
        stays_within_limits();
        modem_stays_within_limit();
        comes_as_often_as_it_may();
        wifi_without_another_side();
        small_rates();
        return check_result();
}
