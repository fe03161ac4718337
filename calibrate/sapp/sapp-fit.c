/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * SApp's estimator: equations 1 to 4 of the paper, for runs of `--plan sapp`. Each mode has three iterations
 * of one percent; the one with the median time counts.
 *
 *     E_f = 1 / cycles                        (1)
 *     E_d = (1 - E_f cycles) / time           (2)
 *     E_r, E_w = (1 - E_f cycles) / bytes     (3)
 *     E_x = (1 - E_f cycles) / bytes received (4)
 *
 * 1 is one percent of the battery; a cycle is CPU time. There is no base, no shared part and no interval.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sapp-fit.h"
#include "util/units.h"
#include "util/util.h"

struct iterations {
        const struct observation *list[3];
        size_t n;
};

static bool usable(const struct observation *observation)
{
        return !observation->burn && !observation->held_back && !observation->rejected[0] &&
               observation->elapsed_ns > 0 && observation->steps > 0;
}

static int by_time(const void *a, const void *b)
{
        const struct observation *x = *(const struct observation *const *)a,
                                 *y = *(const struct observation *const *)b;

        return (x->elapsed_ns > y->elapsed_ns) - (x->elapsed_ns < y->elapsed_ns);
}

/*
 * The median iteration of the mode of @observations[first]; NULL if an earlier row has stood for this mode.
 */
static const struct observation *median(const struct observation *observations, size_t n, size_t first)
{
        struct iterations iterations = { 0 };

        for (size_t i = 0; i < n; i++) {
                if (strcmp(observations[i].mode, observations[first].mode) != 0 || !usable(&observations[i]))
                        continue;
                if (i < first)
                        return NULL;
                if (iterations.n < ARRAY_SIZE(iterations.list))
                        iterations.list[iterations.n++] = &observations[i];
        }
        if (iterations.n == 0)
                return NULL;
        qsort(iterations.list, iterations.n, sizeof(iterations.list[0]), by_time);
        return iterations.list[(iterations.n - 1) / 2 + (iterations.n == 2)];
}

static bool has(const struct observation *observation, enum term term)
{
        const struct usage *usage = &observation->usage;

        switch (term) {
        case TERM_DISPLAY:
                return usage->screen.n > 0;
        case TERM_DISK_READ:
                return usage->read_bytes > usage->write_bytes && usage->screen.n == 0;
        case TERM_DISK_WRITE:
                return usage->write_bytes > usage->read_bytes && usage->screen.n == 0;
        case TERM_WIFI_RX:
                return usage->wifi_rx_bytes > usage->wifi_tx_bytes && usage->screen.n == 0;
        default:
                return usage->screen.n == 0 && usage->read_bytes == 0 && usage->write_bytes == 0 &&
                       usage->wifi_rx_bytes == 0;
        }
}

/* Energy of the percents that passed, mJ: SApp takes all percents as equal. */
static double percents_mj(const struct observation *observation, double energy_full_mwh)
{
        return 1000 * J_PER_PERCENT(energy_full_mwh) * observation->steps;
}

/* E_f times cycles, mJ. */
static double cpu_mj(const struct outcome *outcome, const struct observation *observation)
{
        double sum = 0;

        for (size_t i = 0; i < observation->usage.cpu.n; i++) {
                const struct point *cpu = &observation->usage.cpu.list[i];
                ssize_t at = profile_find(outcome->profile, TERM_CPU_ACTIVE,
                                          profile_as(outcome->profile, cpu->policy), cpu->khz, "");

                if (at >= 0)
                        sum += outcome->profile->coefficients[at].value * (double)cpu->busy_ns / NS_PER_S;
        }
        return sum;
}

static int add(struct outcome *outcome, enum term term, uint32_t policy, uint32_t point, double value)
{
        struct coefficient coefficient = { .term = term, .policy = policy, .point = point,
                                           .value = fmax(value, 0), .standard_error = NAN };
        struct outcome_line *line;
        int err = profile_add(outcome->profile, &coefficient);

        if (!err)
                err = outcome_line_add(outcome, &coefficient, &line);
        if (err)
                return err == -EEXIST ? 0 : err;
        line->value = coefficient.value;
        if (value < 0)
                snprintf(line->remark, sizeof(line->remark), "came out below 0");
        return 0;
}

/* Busy time at @khz, summed over all policies of a group. */
static uint64_t busy_at(const struct outcome *outcome, const struct usage *usage, uint32_t as, uint32_t khz)
{
        uint64_t busy_ns = 0;

        for (size_t i = 0; i < usage->cpu.n; i++)
                if (usage->cpu.list[i].khz == khz && profile_as(outcome->profile, usage->cpu.list[i].policy) == as)
                        busy_ns += usage->cpu.list[i].busy_ns;
        return busy_ns;
}

/* Equation 1, for a mode without other load; if several policies were busy, a policy's part. */
static int add_cpu(struct outcome *outcome, const struct observation *observation, double energy_full_mwh)
{
        uint64_t all = usage_busy_ns(&observation->usage);

        for (size_t i = 0; i < observation->usage.cpu.n; i++) {
                const struct point *cpu = &observation->usage.cpu.list[i];
                uint32_t as = profile_as(outcome->profile, cpu->policy);
                int err;

                if (busy_at(outcome, &observation->usage, as, cpu->khz) < all / 10)
                        continue; /* a short time at another frequency */
                err = add(outcome, TERM_CPU_ACTIVE, as, cpu->khz,
                          percents_mj(observation, energy_full_mwh) * NS_PER_S / (double)all);
                if (err)
                        return err;
        }
        return 0;
}

static double amount(const struct observation *observation, enum term term, uint32_t *point)
{
        const struct usage *usage = &observation->usage;

        *point = 0;
        switch (term) {
        case TERM_DISPLAY:
                *point = usage->screen.list[0].brightness;
                return (double)usage_screen_ns(usage) / NS_PER_S;
        case TERM_DISK_READ:
                return (double)usage->read_bytes / BYTES_PER_MB;
        case TERM_DISK_WRITE:
                return (double)usage->write_bytes / BYTES_PER_MB;
        default:
                return (double)usage->wifi_rx_bytes / BYTES_PER_MB;
        }
}

/* Equations 2 to 4. */
static int add_rest(struct outcome *outcome, const struct observation *observation, enum term term,
                    double energy_full_mwh)
{
        double rest = percents_mj(observation, energy_full_mwh) - cpu_mj(outcome, observation);
        uint32_t point;
        double divisor = amount(observation, term, &point);

        return divisor > 0 ? add(outcome, term, 0, point, rest / divisor) : 0;
}

static int add_all(struct outcome *outcome, const struct observation *observations, size_t n,
                   double energy_full_mwh)
{
        static const enum term terms[] = { TERM_BASE, TERM_DISPLAY, TERM_DISK_READ, TERM_DISK_WRITE,
                                           TERM_WIFI_RX };

        for (size_t k = 0; k < ARRAY_SIZE(terms); k++) {
                for (size_t i = 0; i < n; i++) {
                        const struct observation *observation = median(observations, n, i);
                        int err;

                        if (!observation || !has(observation, terms[k]))
                                continue;
                        err = terms[k] == TERM_BASE
                                      ? add_cpu(outcome, observation, energy_full_mwh)
                                      : add_rest(outcome, observation, terms[k], energy_full_mwh);
                        if (err)
                                return err;
                        outcome->n_rows++;
                }
        }
        return 0;
}

int sapp_fit(const struct observation_run *run, const struct observation *observations, size_t n,
               struct outcome *ret, char *error, size_t error_size)
{
        struct outcome outcome = { .estimator = "sapp", .noise_scale = NAN };
        struct device device;
        int err;

        err = refit_device(run, observations, n, &device, error, error_size);
        if (err)
                return err;
        if (device.before) {
                snprintf(error, error_size, "the run measured only a part of the device (%s); SApp's "
                                            "equations need a whole calibration", run->plan);
                columns_device_clear(&device);
                return -EINVAL;
        }
        err = profile_new(device.name, device.energy_full_mwh, &outcome.profile);
        if (err)
                return err;
        snprintf(outcome.profile->method, sizeof(outcome.profile->method), "%s", device.method);
        outcome.profile->max_brightness = device.max_brightness;
        for (size_t i = 0; i < n; i++)
                outcome.n_rejected += observations[i].rejected[0] != '\0';
        err = outcome_add_policies(outcome.profile, &device);
        if (!err)
                err = add_all(&outcome, observations, n, device.energy_full_mwh);
        if (!err && outcome.n_rows == 0) {
                snprintf(error, error_size, "no observation of the run can be fitted");
                err = -ENODATA;
        }
        if (err)
                outcome_clear(&outcome);
        else
                *ret = outcome;
        return err;
}
