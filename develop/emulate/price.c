/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "price.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "packet.h"
#include "util/quantile.h"
#include "util/units.h"
#include "util/util.h"

#define UNKNOWN_PART 0.5  /* half width of an energy whose coefficients have no standard errors (docs/emulation.md) */
#define RATE_PACKETS 20   /* least number of packets that waited for the link, to measure its rate */
#define VIDEO_MOVES 5     /* so many pictures with movement (the screen is read once a second) ... */
#define VIDEO_NS INT64_C(5500000000) /* ... within this time are a video */
#define MOVING_PART 0.01  /* a picture has movement if more than this part of the pixels changed their colour */
#define RADIO_SLEEP_NS INT64_C(600000000000) /* time after which a radio rests; its rest is priced for as long */
#define BUSY_PART 0.8     /* the governor takes the lowest frequency that keeps the CPUs busy for at most this part */

void price_clear_run(struct run *run)
{
        free(run->packets);
        free(run->heads);
        free(run->cpu);
        free(run->tasks);
        free(run->names);
        free(run->frames);
        *run = (struct run){ 0 };
}

/* Finds the CPU policy with the highest frequency, and that frequency. False: the profile has none. */
static bool fastest(const struct profile *profile, uint32_t *policy, uint32_t *khz)
{
        bool found = false;

        for (size_t i = 0; i < profile->n_coefficients; i++) {
                const struct coefficient *coefficient = &profile->coefficients[i];

                if (coefficient->term != TERM_CPU_ACTIVE || (found && coefficient->point <= *khz))
                        continue;
                *policy = coefficient->policy;
                *khz = coefficient->point;
                found = true;
        }
        return found;
}

/*
 * Adds CPU time on the target at its highest frequency, converted to time at the frequency that its governor would
 * choose for this part of the run.
 */
static int add_busy(const struct condition *condition, int64_t part_ns, double busy_ns, struct usage *usage)
{
        const struct profile *profile = condition->target->profile;
        uint32_t policy = 0, most_khz = 0, khz;
        double slower, busy;

        if (!fastest(profile, &policy, &most_khz) || most_khz == KHZ_UNKNOWN)
                return usage_add_cpu(usage, 0, KHZ_UNKNOWN, (uint64_t)llround(busy_ns), (uint64_t)llround(busy_ns));
        khz = most_khz;
        for (size_t i = 0; i < profile->n_coefficients; i++) {
                const struct coefficient *coefficient = &profile->coefficients[i];

                if (coefficient->term == TERM_CPU_ACTIVE && coefficient->policy == policy && coefficient->point < khz &&
                    busy_ns * most_khz / coefficient->point <= BUSY_PART * (double)part_ns * condition->target->cpus)
                        khz = coefficient->point;
        }
        slower = (double)most_khz / khz;
        busy = busy_ns * slower;
        return usage_add_cpu(usage, policy, khz, (uint64_t)llround(busy),
                             (uint64_t)llround(fmin(busy, (double)part_ns)));
}

/* From one time of the run to another. 0; -ENOMEM. */
static int make_usage(const struct condition *condition, const struct run *run, int64_t from_ns, int64_t to_ns,
                      struct usage *usage)
{
        uint32_t levels = condition->target->profile->max_brightness;
        struct cpu_record before = { 0, 0 };
        int err = 0;

        usage->have = USAGE_CPU | USAGE_DISPLAY;
        usage->time_ns = (uint64_t)(to_ns - from_ns);
        for (size_t i = 0; !err && i < run->n_cpu; i++) {
                const struct cpu_record *record = &run->cpu[i];
                int64_t start_ns = MAX(before.time_ns, from_ns), end_ns = MIN(record->time_ns, to_ns);

                if (end_ns > start_ns)
                        err = add_busy(condition, end_ns - start_ns,
                                       (double)(record->cpu_ns - before.cpu_ns) * condition->factor.value *
                                       (double)(end_ns - start_ns) / (double)(record->time_ns - before.time_ns), usage);
                before = *record;
        }
        if (!err && condition->brightness_percent > 0)
                err = usage_add_screen(usage, levels ? (uint32_t)lround(condition->brightness_percent * levels / 100) :
                                       BRIGHTNESS_UNKNOWN, usage->time_ns);
        return err;
}

static enum component air_of(const struct condition *condition)
{
        return condition->network->kind == NETWORK_WIFI ? COMPONENT_WIFI : COMPONENT_CELLULAR;
}

struct counted {
        double energy_j, error_j; /* half width, 95 % */
};

/* Standard errors of the powers of its states, all wrong together; where one is unknown, that of all is. */
static double radio_error(const struct radio_run *run)
{
        double error_j = 0;

        for (size_t i = 0; i < run->radio->n_states; i++) {
                const struct radio_state *state = &run->radio->states[i];
                const struct radio_value *value = isnan(state->signal_mw[run->signal].value) ? &state->power_mw :
                                                  &state->signal_mw[run->signal];

                if (run->totals[i].ns > 0 && value->value > 0)
                        error_j += isnan(value->standard_error) ? NAN :
                                   1.96 * value->standard_error / value->value * radio_total_j(&run->totals[i]);
        }
        return isnan(error_j) ? UNKNOWN_PART * radio_run_energy_j(run) : error_j;
}

/* The radio's energy at each of @n times, ascending. 0; -ENOMEM. */
static int run_radio(const struct condition *condition, const struct run *run, const int64_t *times, size_t n,
                     struct counted *ret)
{
        const struct target *target = condition->target;
        _cleanup_free_ struct radio_event *events = NULL;
        _cleanup_(radio_run_clear) struct radio_run radio = { 0 };
        size_t n_events, at = 0;
        int err = radio_run_start(&radio, &target->radio, target->signal);

        if (!err)
                err = record_events(run->packets, run->n_packets, &events, &n_events);
        for (size_t i = 0; !err && i < n; i++) {
                for (; !err && at < n_events && events[at].time_ns < times[i]; at++)
                        err = radio_run_packet(&radio, events[at].time_ns, events[at].direction, events[at].bytes);
                if (!err)
                        err = radio_run_until(&radio, times[i]);
                if (!err)
                        ret[i] = (struct counted){ radio_run_energy_j(&radio), radio_error(&radio) };
        }
        return err;
}

/* Did the colours of enough pixels change for a video? A blinking cursor changes too few. */
static bool moves(const struct frame_record *before, const struct frame_record *frame)
{
        uint64_t all = 0, other = 0;

        for (size_t c = 0; c < ARRAY_SIZE(frame->colours); c++) {
                uint32_t old = before->colours[c], new = frame->colours[c];

                all += new;
                other += old > new ? old - new : new - old;
        }
        return (double)other / 2 > MOVING_PART * (double)all;
}

/*
 * For how long between two times a video played: there was movement in nearly all pictures of the screen, and
 * the time counts from the first of them to the last.
 */
static double video_s(const struct run *run, int64_t from_ns, int64_t to_ns)
{
        int64_t moved_ns[VIDEO_MOVES] = { 0 }, counted_ns = from_ns, sum_ns = 0;
        size_t n = 0;

        for (size_t i = 1; i < run->n_frames; i++) {
                int64_t at_ns = run->frames[i].time_ns, end_ns = MIN(at_ns, to_ns), start_ns;

                if (at_ns < from_ns - VIDEO_NS || at_ns > to_ns + VIDEO_NS ||
                    !moves(&run->frames[i - 1], &run->frames[i]))
                        continue;
                memmove(moved_ns, moved_ns + 1, sizeof(moved_ns) - sizeof(*moved_ns));
                moved_ns[VIDEO_MOVES - 1] = at_ns;
                if (++n < VIDEO_MOVES || at_ns - moved_ns[0] > VIDEO_NS)
                        continue;
                start_ns = MAX(moved_ns[0], counted_ns);
                sum_ns += MAX(end_ns - start_ns, INT64_C(0));
                counted_ns = MAX(end_ns, counted_ns);
        }
        return (double)sum_ns / NS_PER_S;
}

struct screen_use {
        double light;   /* mean of the pictures, colours weighted by their power; 1: white or unknown */
        double video_j; /* additional energy for videos */
};

/*
 * Light and video of the screen between two times. A black picture takes less than a white one by emission_percent (as
 * a calibration measures it); between them power is linear in light, with red, green and blue weighted by their parts.
 */
static struct screen_use use_screen(const struct target *target, const struct run *run, int64_t from_ns, int64_t to_ns)
{
        const struct target_screen *screen = &target->screen;
        struct screen_use use = { 1, screen->video_mw > 0 ? screen->video_mw / 1e3 * video_s(run, from_ns, to_ns) : 0 };
        double sum = 0;

        if (run->n_frames == 0 || to_ns <= from_ns)
                return use;
        for (size_t i = 0; i < run->n_frames; i++) {
                const struct frame_record *frame = &run->frames[i];
                int64_t start_ns = i ? MAX(frame->time_ns, from_ns) : from_ns;
                int64_t end_ns = i + 1 < run->n_frames ? MIN(frame[1].time_ns, to_ns) : to_ns;
                double light = 0;

                for (int c = 0; c < 3; c++)
                        light += screen->parts[c] * frame->light[c];
                if (end_ns > start_ns)
                        sum += light * (double)(end_ns - start_ns);
        }
        use.light = sum / (double)(to_ns - from_ns);
        return use;
}

/* How much less than @white_j the screen takes if it shows black. */
static double dark_j(const struct condition *condition, const struct usage *usage, double white_j)
{
        const struct target_screen *screen = &condition->target->screen;

        if (isfinite(screen->channels_mw))
                return fmin(white_j, screen->channels_mw / 1e3 * condition->brightness_percent / 100 *
                                     (double)usage->time_ns / NS_PER_S);
        return isnan(screen->emission) ? 0 : screen->emission * white_j;
}

/*
 * Prices everything but the radio by the model. @error_j gets the half width of the model's interval; without one,
 * the half width if each component has an error of UNKNOWN_PART.
 */
static int price_usage(const struct condition *condition, const struct usage *usage, struct screen_use screen,
                       struct price *price, double *error_j)
{
        const struct profile *profile = condition->target->profile;
        _cleanup_(model_vector_clear) struct model_vector vector = { 0 };
        struct model_energy energy;
        double squares = 0;
        int err = model_vector_make(profile, usage, &vector);

        if (err)
                return err;
        model_energy(profile, &vector, 0.95, 0, &energy);
        for (int c = 0; c < COMPONENT_COUNT; c++) {
                price->component_j[c] = c == COMPONENT_CPU || c == COMPONENT_DISPLAY || c == COMPONENT_BASE ?
                                        energy.component_j[c] : NAN;
                if (c == COMPONENT_DISPLAY)
                        price->component_j[c] += screen.video_j - dark_j(condition, usage, price->component_j[c]) *
                                                                  (1 - screen.light);
                if (isfinite(price->component_j[c]))
                        squares += UNKNOWN_PART * UNKNOWN_PART * price->component_j[c] * price->component_j[c];
        }
        *error_j = isfinite(energy.half_width_j) ? energy.half_width_j : sqrt(squares);
        return 0;
}

static double battery_j(const struct condition *condition)
{
        return J_PER_MWH * (isnan(condition->battery_mwh) ? condition->target->profile->energy_full_mwh :
                                                            condition->battery_mwh);
}

static struct span hours(const struct condition *condition, const struct price *price)
{
        double whole = battery_j(condition) * price->wall_s / 3600;
        const struct span *energy = &price->energy_j;

        return (struct span){ energy->value > 0 ? whole / energy->value : NAN,
                              energy->high > 0 ? whole / energy->high : NAN,
                              energy->low > 0 ? whole / energy->low : NAN };
}

/* The sum of what is known, with an interval of independent errors; the factor's is not symmetric. */
static void add_up(const struct condition *condition, double error_j, struct price *price)
{
        const struct factor *factor = &condition->factor;
        double sum = 0, cpu = isfinite(price->component_j[COMPONENT_CPU]) ? price->component_j[COMPONENT_CPU] : 0;

        for (int c = 0; c < COMPONENT_COUNT; c++)
                if (isfinite(price->component_j[c]))
                        sum += price->component_j[c];
        price->energy_j = (struct span){ sum, fmax(0, sum - hypot(error_j, cpu * (1 - factor->low / factor->value))),
                                         sum + hypot(error_j, cpu * (factor->high / factor->value - 1)) };
        price->battery_hours = hours(condition, price);
}

static int compare(const void *a, const void *b)
{
        double left = *(const double *)a, right = *(const double *)b;

        return left < right ? -1 : left > right;
}

static int measure_lateness(const struct run *run, double *ret)
{
        _cleanup_free_ double *late = calloc(run->n_packets + 1, sizeof(*late));
        size_t n = 0;

        if (!late)
                return -ENOMEM;
        for (size_t i = 0; i < run->n_packets; i++)
                if (run->packets[i].verdict == PACKET_DELIVERED)
                        late[n++] = (double)(run->packets[i].out_ns - run->packets[i].due_ns) / NS_PER_MS;
        qsort(late, n, sizeof(*late), compare);
        *ret = n ? late[MIN((size_t)ceil(0.99 * (double)n), n) - 1] : NAN;
        return 0;
}

/*
 * Measures delay and lateness in this machine's own network, by delivered packets to and from peers whose distance is
 * known, and counts UDP packets of other peers that are not loopback addresses. 0; -ENOMEM.
 */
static int measure_host(const struct run *run, struct price_quality *quality)
{
        _cleanup_free_ double *delays = calloc(run->n_packets + 1, sizeof(*delays));
        double left_ms = 0;
        size_t n = 0, unknown = 0;

        if (!delays)
                return -ENOMEM;
        for (size_t i = 0; i < run->n_packets; i++) {
                const struct packet_record *packet = &run->packets[i];

                if (packet->verdict != PACKET_DELIVERED)
                        continue;
                unknown += packet->host_ns == 0 && packet->protocol == IPPROTO_UDP && !packet_is_loopback(packet->peer);
                if (packet->host_ns == 0)
                        continue;
                /* The host_ns of a packet is one way; that of one that accepts a connection may be the whole way. */
                delays[n++] = 2 * (double)packet->host_ns / NS_PER_MS;
                left_ms += (double)packet->left_ns / NS_PER_MS;
        }
        qsort(delays, n, sizeof(*delays), compare);
        quality->host_delay_ms = n ? delays[n / 2] : NAN;
        quality->host_late_ms = n ? left_ms / (double)n : NAN;
        quality->unknown_packets = (double)unknown;
        return 0;
}

/*
 * Rate in kbit/s while packets waited for the link: their bits by the time that the link took for them. That time is
 * as computed, plus the lateness of the deliveries. NaN with fewer than RATE_PACKETS.
 */
static double measure_rate(const struct run *run, enum radio_direction direction)
{
        int64_t before_ns = 0, took_ns = 0;
        double bits = 0;
        size_t n = 0;

        for (size_t i = 0; i < run->n_packets; i++) {
                const struct packet_record *packet = &run->packets[i];
                int64_t over_ns = packet->link_ns + packet->out_ns - packet->due_ns;

                if (packet->direction != direction || packet->verdict == PACKET_DROPPED ||
                    packet->verdict == PACKET_WAITING)
                        continue;
                if (packet->verdict == PACKET_LOST)
                        over_ns = packet->link_ns;
                if (packet->queued && before_ns) {
                        bits += 8.0 * packet->bytes;
                        took_ns += over_ns - before_ns;
                        n++;
                }
                before_ns = over_ns;
        }
        return n >= RATE_PACKETS && took_ns > 0 ? bits * 1e6 / (double)took_ns : NAN;
}

/* The radio's energy during the app; and after it until the radio rests, above its power at rest. */
static int price_radio(const struct condition *condition, const struct run *run, struct counted *ret,
                       double *ret_tail_j)
{
        const int64_t times[] = { run->wall_ns, run->wall_ns + RADIO_SLEEP_NS, run->wall_ns + 2 * RADIO_SLEEP_NS };
        struct counted air[ARRAY_SIZE(times)];
        int err = run_radio(condition, run, times, ARRAY_SIZE(times), air);

        if (err)
                return err;
        *ret = air[0];
        *ret_tail_j = fmax(0, (air[1].energy_j - air[0].energy_j) - (air[2].energy_j - air[1].energy_j));
        return 0;
}

int price_run(const struct condition *condition, const struct run *run, struct price *ret)
{
        struct price price = { .wall_s = (double)run->wall_ns / NS_PER_S, .tail_j = NAN };
        struct usage usage = { 0 };
        struct counted air;
        double error_j;
        int err = make_usage(condition, run, 0, run->wall_ns, &usage);

        if (!err)
                err = price_usage(condition, &usage, use_screen(condition->target, run, 0, run->wall_ns),
                                  &price, &error_j);
        usage_clear(&usage);
        if (!err && condition->target->has_radio) {
                err = price_radio(condition, run, &air, &price.tail_j);
                if (!err) {
                        price.component_j[air_of(condition)] = air.energy_j;
                        error_j = hypot(error_j, air.error_j);
                }
        }
        if (!err)
                err = measure_lateness(run, &price.quality.lateness_p99_ms);
        if (!err)
                err = measure_host(run, &price.quality);
        if (err)
                return err;
        for (int d = 0; d < RADIO_DIRECTIONS; d++)
                price.quality.kbps[d] = measure_rate(run, (enum radio_direction)d);
        memcpy(price.quality.slow_s, run->slow_s, sizeof(run->slow_s));
        price.quality.cpu_reached = run->cpu_reached;
        price.quality.outlived = run->outlived;
        add_up(condition, error_j, &price);
        *ret = price;
        return 0;
}

/* The mean of what is known of some member of the prices, which lies @offset bytes in them. */
static double mean_of(const struct price *prices, size_t n, size_t offset)
{
        double sum = 0;
        size_t known = 0;

        for (size_t i = 0; i < n; i++) {
                double value = *(const double *)((const char *)&prices[i] + offset);

                if (isfinite(value)) {
                        sum += value;
                        known++;
                }
        }
        return known ? sum / (double)known : NAN;
}

void price_mean(const struct condition *condition, const struct price *prices, size_t n, struct price *ret)
{
        struct price mean;
        double squares = 0, spread_j, down_j, up_j;

        if (n == 1) {
                *ret = prices[0];
                return;
        }
        for (size_t offset = 0; offset < sizeof(mean); offset += sizeof(double))
                *(double *)((char *)&mean + offset) = mean_of(prices, n, offset);
        for (size_t i = 0; i < n; i++)
                squares += (prices[i].energy_j.value - mean.energy_j.value) *
                           (prices[i].energy_j.value - mean.energy_j.value);
        /* Half width of the 95 % prediction interval for one more run, under other weather. */
        spread_j = quantile_student_t((double)(n - 1), 0.95) * sqrt(squares / (double)(n - 1) * (1 + 1 / (double)n));
        down_j = mean.energy_j.value - mean.energy_j.low;
        up_j = mean.energy_j.high - mean.energy_j.value;
        mean.energy_j.low = fmax(0, mean.energy_j.value - hypot(down_j, spread_j));
        mean.energy_j.high = mean.energy_j.value + hypot(up_j, spread_j);
        mean.battery_hours = hours(condition, &mean);
        *ret = mean;
}

int price_series(const struct condition *condition, const struct run *run, size_t n, double (*ret)[COMPONENT_COUNT])
{
        _cleanup_free_ int64_t *times = calloc(n + 1, sizeof(*times));
        _cleanup_free_ struct counted *air = calloc(n + 1, sizeof(*air));
        int err = times && air ? 0 : -ENOMEM;

        for (size_t i = 0; !err && i <= n; i++)
                times[i] = run->wall_ns / (int64_t)n * (int64_t)i;
        for (size_t i = 0; !err && i < n; i++) {
                struct usage usage = { 0 };
                struct price price = { 0 };
                double error_j;

                err = make_usage(condition, run, times[i], times[i + 1], &usage);
                if (!err)
                        err = price_usage(condition, &usage,
                                          use_screen(condition->target, run, times[i], times[i + 1]), &price,
                                          &error_j);
                usage_clear(&usage);
                for (int c = 0; c < COMPONENT_COUNT; c++)
                        ret[i][c] = !err && isfinite(price.component_j[c]) ? price.component_j[c] : 0;
        }
        if (!err && condition->target->has_radio)
                err = run_radio(condition, run, times + 1, n, air);
        for (size_t i = 0; !err && condition->target->has_radio && i < n; i++)
                ret[i][air_of(condition)] = air[i].energy_j - (i ? air[i - 1].energy_j : 0);
        return err;
}

int price_display(const struct condition *condition, const struct run *run, double *ret_j)
{
        struct usage usage = { 0 };
        struct price price = { 0 };
        double error_j;
        int err = make_usage(condition, run, 0, run->wall_ns, &usage);

        if (!err)
                err = price_usage(condition, &usage, use_screen(condition->target, run, 0, run->wall_ns),
                                  &price, &error_j);
        usage_clear(&usage);
        if (!err)
                *ret_j = price.component_j[COMPONENT_DISPLAY];
        return err;
}

int price_radio_states(const struct condition *condition, const struct run *run, size_t n,
                       double (*ret)[RADIO_STATES_MAX])
{
        const struct target *target = condition->target;
        _cleanup_free_ struct radio_event *events = NULL;
        _cleanup_(radio_run_clear) struct radio_run radio = { 0 };
        int64_t before[RADIO_STATES_MAX] = { 0 };
        size_t n_events, at = 0;
        int err = radio_run_start(&radio, &target->radio, target->signal);

        if (!err)
                err = record_events(run->packets, run->n_packets, &events, &n_events);
        for (size_t i = 0; !err && i < n; i++) {
                int64_t until_ns = run->wall_ns / (int64_t)n * (int64_t)(i + 1);

                for (; !err && at < n_events && events[at].time_ns < until_ns; at++)
                        err = radio_run_packet(&radio, events[at].time_ns, events[at].direction, events[at].bytes);
                if (!err)
                        err = radio_run_until(&radio, until_ns);
                for (size_t s = 0; s < target->radio.n_states; s++) {
                        ret[i][s] = (double)(radio.totals[s].ns - before[s]) / NS_PER_S;
                        before[s] = radio.totals[s].ns;
                }
        }
        return err;
}
