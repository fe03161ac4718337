/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "answer-run.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "answer/options.h"
#include "hungriest.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"

#define PARTS 60       /* columns of the picture of power over time */
#define SPREAD_LARGE 2 /* a sentence is printed if a kernel's CPU factor is more than so many times another's */
#define LEAST_TAIL_J 0.005
#define FACTOR_OFF 0.03 /* a sentence is printed if the CPU factor reached is off by more than this part of it */

static int make_condition(struct answer_run *answer, double battery_mwh, const struct log *log)
{
        const struct recorded_run *recorded = answer->recorded;
        struct condition *condition = &answer->condition;

        *condition = (struct condition){ .target = &answer->target,
                                         .network = &answer->network,
                                         .brightness_percent = recorded->brightness_percent,
                                         .battery_mwh = battery_mwh };
        if (isfinite(recorded->cpu_factor)) {
                condition->factor = (struct factor){ .value = recorded->cpu_factor, .low = recorded->cpu_factor,
                                                     .high = recorded->cpu_factor, .known = true, .spread = NAN };
                return 0;
        }
        return target_factor(&answer->target, recorded->speed, log, &condition->factor);
}

int answer_run_make(struct recorded_run *recorded, double battery_mwh, const struct log *log, struct answer_run *ret)
{
        int err;

        *ret = (struct answer_run){ .recorded = recorded };
        err = network_load(recorded->network, log, &ret->network);
        if (!err)
                err = target_load(recorded->target, &ret->network, recorded->carrier, recorded->signal, log,
                                  &ret->target);
        if (!err)
                err = make_condition(ret, battery_mwh, log);
        for (size_t i = 0; !err && i < recorded->n_runs; i++)
                err = price_run(&ret->condition, &recorded->runs[i], &ret->prices[i]);
        if (!err && recorded->n_runs)
                price_mean(&ret->condition, ret->prices, recorded->n_runs, &ret->price);
        if (err)
                answer_run_clear(ret);
        return err;
}

enum component answer_run_air(const struct answer_run *answer)
{
        return answer->network.kind == NETWORK_WIFI ? COMPONENT_WIFI : COMPONENT_CELLULAR;
}

void answer_run_clear(struct answer_run *answer)
{
        target_clear(&answer->target);
}

static struct cJSON *span_json(const struct span *span)
{
        struct cJSON *json = cJSON_CreateObject();

        cJSON_AddNumberToObject(json, "value", span->value);
        cJSON_AddNumberToObject(json, "low", span->low);
        cJSON_AddNumberToObject(json, "high", span->high);
        return json;
}

static struct cJSON *components_json(const struct price *price)
{
        struct cJSON *json = cJSON_CreateObject();

        for (int c = 0; c < COMPONENT_COUNT; c++)
                if (isfinite(price->component_j[c]))
                        cJSON_AddNumberToObject(json, component_names[c], price->component_j[c]);
        return json;
}

static struct cJSON *quality_json(const struct factor *factor, enum cpu_means means,
                                  const struct price_quality *quality)
{
        struct cJSON *json = cJSON_CreateObject(), *rates, *slow;

        cJSON_AddNumberToObject(json, "cpu_factor", factor->value);
        cJSON_AddNumberToObject(json, "cpu_factor_low", factor->low);
        cJSON_AddNumberToObject(json, "cpu_factor_high", factor->high);
        cJSON_AddNumberToObject(json, "cpu_factor_reached", quality->cpu_reached);
        cJSON_AddStringToObject(json, "cpu_means", record_means[means]);
        cJSON_AddNumberToObject(json, "outlived", quality->outlived);
        rates = cJSON_AddObjectToObject(json, "rate_kbps");
        cJSON_AddNumberToObject(rates, "down", quality->kbps[RADIO_RX]);
        cJSON_AddNumberToObject(rates, "up", quality->kbps[RADIO_TX]);
        cJSON_AddNumberToObject(json, "lateness_p99_ms", quality->lateness_p99_ms);
        cJSON_AddNumberToObject(json, "host_delay_ms", quality->host_delay_ms);
        cJSON_AddNumberToObject(json, "host_late_ms", quality->host_late_ms);
        cJSON_AddNumberToObject(json, "host_unknown_packets", quality->unknown_packets);
        slow = cJSON_AddObjectToObject(json, "host_slow_s");
        cJSON_AddNumberToObject(slow, "down", quality->slow_s[RADIO_RX]);
        cJSON_AddNumberToObject(slow, "up", quality->slow_s[RADIO_TX]);
        return json;
}

/* Adds the members that an answer has both for each seed and for the mean of several. */
static void add_price(struct cJSON *json, const struct answer_run *answer, const struct run *run,
                      const struct price *price)
{
        cJSON_AddNumberToObject(json, "wall_s", price->wall_s);
        cJSON_AddItemToObject(json, "energy_j", span_json(&price->energy_j));
        cJSON_AddItemToObject(json, "components_j", components_json(price));
        cJSON_AddNumberToObject(json, "tail_j", price->tail_j);
        cJSON_AddItemToObject(json, "battery_hours", span_json(&price->battery_hours));
        cJSON_AddItemToObject(json, "quality", quality_json(&answer->condition.factor, run->means, &price->quality));
}

/* Battery that the app would use a day on the target, if it were used as long as on this device. */
struct daily {
        struct span percent; /* part of the target's battery */
        struct span minutes; /* battery for the app's CPU time and packets */
};

/*
 * Part of a run's energy that is the app's own. The total's error may lie in its own energy or in the rest, which moves
 * the part in opposite directions: the interval has both.
 */
static struct span own_part(const struct span *total_j, double own_j)
{
        double below = total_j->value - total_j->low, above = total_j->high - total_j->value;

        return (struct span){ own_j / total_j->value,
                              fmin(fmax(own_j - below, 0) / total_j->low, own_j / total_j->high),
                              fmin(1, fmax((own_j + above) / total_j->high, own_j / total_j->low)) };
}

static struct daily find_daily(const struct answer_run *answer)
{
        const struct price *price = &answer->price;
        const struct span *hours = &price->battery_hours;
        double cpu_j = price->component_j[COMPONENT_CPU], air_j = price->component_j[answer_run_air(answer)];
        double own_j = (isfinite(cpu_j) ? cpu_j : 0) + (isfinite(air_j) ? air_j : 0);
        double percent_hours = answer->use->active_s / 36, minutes = answer->use->active_s / 60;
        struct span part = own_part(&price->energy_j, own_j);

        return (struct daily){
                .percent = { percent_hours / hours->value, percent_hours / hours->high, percent_hours / hours->low },
                .minutes = { minutes * part.value, minutes * part.low, minutes * part.high },
        };
}

static void add_worth(struct cJSON *json, const struct answer_run *answer)
{
        struct cJSON *object;
        struct daily daily;

        if (!answer->use) {
                cJSON_AddNullToObject(json, "worth");
                return;
        }
        daily = find_daily(answer);
        object = cJSON_AddObjectToObject(json, "worth");
        cJSON_AddStringToObject(object, "app", answer->use->app);
        cJSON_AddNumberToObject(object, "days", answer->use->days);
        cJSON_AddNumberToObject(object, "active_s_per_day", answer->use->active_s);
        cJSON_AddNumberToObject(object, "percent_per_day", daily.percent.value);
        cJSON_AddNumberToObject(object, "percent_per_day_low", daily.percent.low);
        cJSON_AddNumberToObject(object, "percent_per_day_high", daily.percent.high);
        cJSON_AddNumberToObject(object, "minutes_per_day", daily.minutes.value);
        cJSON_AddNumberToObject(object, "minutes_per_day_low", daily.minutes.low);
        cJSON_AddNumberToObject(object, "minutes_per_day_high", daily.minutes.high);
}

static void print_worth(const struct answer_run *answer)
{
        struct daily daily;

        if (!answer->use)
                return;
        daily = find_daily(answer);
        table_text(TABLE_PLAIN, "If it were used %.3g min a day, as %s was on this device in the last %.1f days, it "
                                "would take %.3g %% (%.3g .. %.3g) of that battery a day; its CPU time and packets "
                                "are worth %.3g min (%.3g .. %.3g) of battery.",
                   answer->use->active_s / 60, answer->use->app, answer->use->days, daily.percent.value,
                   daily.percent.low, daily.percent.high, daily.minutes.value, daily.minutes.low, daily.minutes.high);
}

struct cJSON *answer_run_json(const struct answer_run *answer)
{
        struct cJSON *json = cJSON_CreateObject();

        cJSON_AddStringToObject(json, "target", answer->target.name);
        cJSON_AddStringToObject(json, "network", answer->network.name);
        cJSON_AddNumberToObject(json, "seed", (double)answer->recorded->runs[0].seed);
        add_price(json, answer, &answer->recorded->runs[0], &answer->price);
        add_worth(json, answer);
        if (answer->recorded->n_runs > 1) {
                struct cJSON *seeds = cJSON_AddArrayToObject(json, "seeds");

                for (size_t i = 0; i < answer->recorded->n_runs; i++) {
                        struct cJSON *one = cJSON_CreateObject();

                        cJSON_AddNumberToObject(one, "seed", (double)answer->recorded->runs[i].seed);
                        add_price(one, answer, &answer->recorded->runs[i], &answer->prices[i]);
                        cJSON_AddItemToArray(seeds, one);
                }
        }
        return json;
}

static void print_row(struct table *table, enum table_style style, const char *name, double joules,
                      const struct price *price)
{
        table_row(table, style);
        table_cell(table, "%s", _(name));
        table_cell(table, "%.2f J", joules);
        table_cell(table, "%.0f mW", joules / price->wall_s * 1e3);
        table_cell(table, "%.0f %%", joules / price->energy_j.value * 100);
}

static void print_components(const struct answer_run *answer)
{
        const struct price *price = &answer->price;
        _cleanup_(table_freep) struct table *table = table_new("lrrr");

        table_heads(table, N_("Component"), N_("Energy"), N_("Power"), N_("Part"), NULL);
        for (int c = 0; c < COMPONENT_COUNT; c++)
                if (isfinite(price->component_j[c]))
                        print_row(table, TABLE_PLAIN, component_names[c], price->component_j[c], price);
        print_row(table, TABLE_SUM, N_("all"), price->energy_j.value, price);
        table_print(table);
        if (price->tail_j >= LEAST_TAIL_J)
                table_text(TABLE_PLAIN, "%s: + %.2f J of tail after the end if nothing else comes.",
                           _(component_names[answer_run_air(answer)]), price->tail_j);
}

static double sum_of(const double *parts)
{
        double sum = 0;

        for (int c = 0; c < COMPONENT_COUNT; c++)
                sum += parts[c];
        return sum;
}

/* One line of blocks. */
static void print_blocks(const double (*series)[COMPONENT_COUNT], double part_s)
{
        static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
        double most = 0;

        for (int i = 0; i < PARTS; i++)
                most = fmax(most, sum_of(series[i]));
        putchar('\n');
        printf(_("Power, up to %.0f mW; each block is %.3g s:"), most / part_s * 1e3, part_s);
        putchar('\n');
        for (int i = 0; most > 0 && i < PARTS; i++)
                fputs(blocks[(int)ceil(sum_of(series[i]) / most * 8)], stdout);
        printf("\n\n");
}

/* "?" where it is not known. */
static const char *text_of(char *buf, size_t size, int digits, double value)
{
        if (isnan(value))
                snprintf(buf, size, "?");
        else
                snprintf(buf, size, "%.*f", digits, value);
        return buf;
}

static void print_quality(const struct answer_run *answer)
{
        static const char *const means[CPU_MEANS] = {
                [CPU_MEANS_STOPS] = N_("Its processes were stopped for parts of the time, as no control "
                                       "group with a quota of CPU time could be made."),
                [CPU_MEANS_QUOTA_V1] = N_("Each thread had a quota of CPU time, by control groups of version 1."),
                [CPU_MEANS_QUOTA_V2] = N_("Each thread had a quota of CPU time, by control groups of version 2."),
        };
        const struct factor *factor = &answer->condition.factor;
        const struct price_quality *quality = &answer->price.quality;
        char down[32], up[32], late[32];
        bool moved = isfinite(quality->kbps[RADIO_RX]) || isfinite(quality->kbps[RADIO_TX]);

        putchar('\n');
        if (factor->known)
                table_text(TABLE_PLAIN, "CPU: %.3g times slower than here (%.3g .. %.3g).", factor->value, factor->low,
                           factor->high);
        else
                table_text(TABLE_PLAIN, "CPU: as fast as here, as the target's profile has no results of "
                                        "joulecast bench.");
        if (means[answer->recorded->runs[0].means])
                table_text(TABLE_PLAIN, "%s", _(means[answer->recorded->runs[0].means]));
        if (quality->cpu_reached < factor->value * (1 - FACTOR_OFF))
                table_text(TABLE_PLAIN, "While its threads could run, they were %.3g times slower than here, "
                           "as short bursts are not slowed.", quality->cpu_reached);
        if (quality->cpu_reached > factor->value * (1 + FACTOR_OFF))
                table_text(TABLE_PLAIN, "While its threads could run, they were %.3g times slower than here, "
                           "as others used this machine's CPUs, too.", quality->cpu_reached);
        if (factor->spread > SPREAD_LARGE)
                table_text(TABLE_PLAIN, "The kernels of joulecast bench differ by a factor of %.1f; the "
                           "answer depends on what the app computes.", factor->spread);
        if (isnan(quality->lateness_p99_ms))
                table_text(TABLE_PLAIN, "Network: no packets.");
        else if (!moved)
                table_text(TABLE_PLAIN, "Network: no packet had to wait; 99 of 100 were at most %s ms late.",
                           text_of(late, sizeof(late), 2, quality->lateness_p99_ms));
        else
                table_text(TABLE_PLAIN, "Network: %s kbit/s down and %s up while packets waited; 99 of 100 "
                           "were at most %s ms late.", text_of(down, sizeof(down), 0, quality->kbps[RADIO_RX]),
                           text_of(up, sizeof(up), 0, quality->kbps[RADIO_TX]),
                           text_of(late, sizeof(late), 2, quality->lateness_p99_ms));
}

#define LATE_MS 1.0 /* that is worth a sentence; ... */
#define SLOW_S 1.0  /* likewise */

static void print_slow(const struct price_quality *quality)
{
        if (quality->slow_s[RADIO_RX] > SLOW_S)
                table_text(TABLE_PLAIN, "For %.1f s bytes came more slowly than the emulated link carries "
                           "them, from the server or by this machine's own link. If it was the link, the "
                           "target would have got them sooner.",
                           quality->slow_s[RADIO_RX]);
        if (quality->slow_s[RADIO_TX] > SLOW_S)
                table_text(TABLE_PLAIN,
                           "For %.1f s sent bytes waited for the server or for this machine's "
                           "own link. If it was the link, the target would have sent them sooner.",
                           quality->slow_s[RADIO_TX]);
        if (quality->unknown_packets > 0)
                table_text(TABLE_PLAIN, "It is not known how long some packets of UDP (%.0f) took on this "
                           "machine's own network; that came on top of the emulated delay.", quality->unknown_packets);
}

static void print_host(const struct answer_run *answer)
{
        const struct price_quality *quality = &answer->price.quality;
        const struct network_way *way = answer->network.way;

        print_slow(quality);
        if (isnan(quality->host_delay_ms))
                return;
        if (!(way[RADIO_TX].delay_ms > 0) && !(way[RADIO_RX].delay_ms > 0))
                table_text(TABLE_PLAIN, "This machine's own network took %.1f ms there and back, and %s has no delay.",
                           quality->host_delay_ms, answer->network.name);
        else if (quality->host_late_ms < LATE_MS)
                table_text(TABLE_PLAIN, "This machine's own network took %.1f ms there and back, which were "
                                        "taken off the delay.",
                           quality->host_delay_ms);
        else
                table_text(TABLE_PLAIN, "This machine's own network took %.1f ms there and back, more than "
                           "%s has: each packet came %.1f ms too late on average, so the run took longer "
                           "than it would on the target.",
                           quality->host_delay_ms, answer->network.name, quality->host_late_ms);
}

/* Prints a table, a picture of power over time, the hungriest parts, and how well the emulation went. 0; -ENOMEM. */
static int answer_run_print(const struct answer_run *answer)
{
        const struct price *price = &answer->price;
        double (*series)[COMPONENT_COUNT] = calloc(PARTS, sizeof(*series)), part_s;
        int err = series ? price_series(&answer->condition, &answer->recorded->runs[0], PARTS, series) : -ENOMEM;

        if (err) {
                free(series);
                return err;
        }
        table_text(TABLE_HEAD, "%s on %s would take %.2f J (%.2f .. %.2f) in %.2f s: %.0f mW.",
                   answer->target.name, answer->network.name, price->energy_j.value, price->energy_j.low,
                   price->energy_j.high, price->wall_s, price->energy_j.value / price->wall_s * 1e3);
        table_text(TABLE_PLAIN, "That is %.3g %% of its battery.", price->wall_s / 36 / price->battery_hours.value);
        table_text(TABLE_PLAIN, "Its battery would last %.1f h (%.1f .. %.1f) if it went on like this.",
                   price->battery_hours.value, price->battery_hours.low, price->battery_hours.high);
        print_worth(answer);
        putchar('\n');
        print_components(answer);
        part_s = (double)answer->recorded->runs[0].wall_ns / 1e9 / PARTS;
        print_blocks((const double (*)[COMPONENT_COUNT])series, part_s);
        err = hungriest_print(&answer->condition, &answer->recorded->runs[0],
                              (const double(*)[COMPONENT_COUNT])series, PARTS, part_s);
        print_quality(answer);
        print_host(answer);
        table_note("Emulated, not measured: docs/emulation.md says how right that is.");
        free(series);
        return err;
}

int answer_run_say(struct answer_run *answer, const char *path, const struct options *options, const char *app)
{
        const char *const names[] = { answer->recorded->app ? answer->recorded->app : "", NULL };
        struct daily_use use;
        int err = daily_use_find(options, app, names, &use);

        if (err < 0 && err != -ENOENT)
                return CODE_FAILED;
        answer->use = err == 0 ? &use : NULL;
        if (options->json)
                return answer_print_json(answer_run_json(answer));
        return (path ? answer_run_page(answer, path) : answer_run_print(answer)) < 0 ? CODE_FAILED : CODE_OK;
}
