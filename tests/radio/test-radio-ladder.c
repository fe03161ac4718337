/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Compares amounts that radio-ladder.c keeps, priced by radio-price.c, with the automaton run packet by packet.
 *
 *     test-radio-ladder DATA/radios                  the checks
 *     test-radio-ladder DATA/radios errors [SEED]    a table of errors as it is stored
 *     test-radio-ladder DATA/radios shapes [SEED]    the largest with other rungs, classes and gaps of bursts
 */

#include <stdlib.h>

#include "check.h"
#include "radio-traffic.h"
#include "radio/radio-pack.h"
#include "radio/radio-price.h"
#include "radio/radio-run.h"
#include "util/util.h"

#define POLL_NS INT64_C(30000000000)
#define SLEEP_NS INT64_C(400000000000)
#define RADIOS_TRIED_MAX 128
#define TEXT_MAX 4096
#define OWNERS TRAFFIC_ALL

static const struct log quiet = { 0 };

struct joules {
        double all, owner[OWNERS];
};

/* --- the reference: packet by packet --- */

static void plain_of(const struct radio *radio, struct radio *ret)
{
        *ret = *radio;
        ret->states = malloc(radio->n_states * sizeof(*ret->states));
        memcpy(ret->states, radio->states, radio->n_states * sizeof(*ret->states));
        for (size_t d = 0; d < RADIO_DIRECTIONS; d++) {
                ret->phy_kbps[d] = 0;
                ret->nj_per_byte[d].value = ret->nj_per_packet[d].value = NAN;
                for (size_t i = 0; i < ret->n_states; i++)
                        ret->states[i].nj_per_byte[d].value = ret->states[i].nj_per_packet[d].value = NAN;
        }
}

/* Energy above @base_mw until the radio sleeps, if no packet follows. @state: gets the state in which it sleeps. */
static double at_rest_j(const struct radio_run *run, double base_mw, size_t *state)
{
        struct radio_run copy = *run;
        double joules;

        copy.recent = run->recent ? malloc(run->n_kept * sizeof(*copy.recent)) : NULL;
        copy.waiting = run->waiting ? malloc(run->capacity * sizeof(*copy.waiting)) : NULL;
        if (copy.recent)
                memcpy(copy.recent, run->recent, run->n_kept * sizeof(*copy.recent));
        if (copy.waiting)
                memcpy(copy.waiting, run->waiting, run->capacity * sizeof(*copy.waiting));
        check_int(radio_run_until(&copy, run->now_ns + SLEEP_NS), 0);
        joules = radio_run_energy_j(&copy) - base_mw * 1e-3 * (double)copy.now_ns / 1e9;
        if (state)
                *state = copy.state;
        radio_run_clear(&copy);
        return joules;
}

/*
 * A packet's price and its time on the air are its owner's. The owner that wakes a sleeping radio pays the energy that
 * this packet alone would have taken; the rest of a span's energy is shared by its packets, poll by poll.
 */
static void run_packets(const struct radio *radio, double base_mw, const struct traffic *traffic, struct joules *ret)
{
        _cleanup_(radio_run_clear) struct radio_run run = { 0 }, plain_run = { 0 };
        _cleanup_(radio_clear) struct radio plain = { 0 };
        uint64_t packets[OWNERS] = { 0 }, n_packets = 0;
        double priced_j = 0, span_j = 0;
        size_t asleep;

        plain_of(radio, &plain);
        *ret = (struct joules){ 0 };
        check_int(radio_run_start(&run, radio, RADIO_SIGNAL_HIGH), 0);
        check_int(radio_run_start(&plain_run, &plain, RADIO_SIGNAL_HIGH), 0);
        at_rest_j(&plain_run, base_mw, &asleep);
        for (size_t i = 0; i <= traffic->n; i++) {
                const struct traffic_packet *packet = &traffic->packets[i];
                bool end = i == traffic->n, wakes;
                int64_t time_ns = end ? traffic->until_ns : packet->time_ns;
                double now_j;

                /* the poll of the previous packet is over */
                if (n_packets > 0 && (end || time_ns / POLL_NS != packet[-1].time_ns / POLL_NS)) {
                        double rest_j = at_rest_j(&plain_run, base_mw, NULL);

                        for (size_t o = 0; o < OWNERS; o++)
                                ret->owner[o] += (rest_j - span_j) * (double)packets[o] / (double)n_packets;
                        span_j = rest_j;
                        n_packets = 0;
                        memset(packets, 0, sizeof(packets));
                }
                check_int(radio_run_until(&run, time_ns), 0);
                check_int(radio_run_until(&plain_run, time_ns), 0);
                now_j = radio_run_energy_j(&plain_run);
                if (i > 0)
                        ret->owner[packet[-1].owner] += radio_run_energy_j(&run) - now_j - priced_j;
                priced_j = radio_run_energy_j(&run) - now_j;
                now_j -= base_mw * 1e-3 * (double)time_ns / 1e9;
                wakes = plain_run.state == asleep && plain_run.n_waiting == 0;
                if ((wakes || end) && n_packets > 0) {
                        for (size_t o = 0; o < OWNERS; o++)
                                ret->owner[o] += (now_j - span_j) * (double)packets[o] / (double)n_packets;
                        n_packets = 0;
                        memset(packets, 0, sizeof(packets));
                }
                if (end)
                        break;
                check_int(radio_run_packet(&run, time_ns, packet->direction, packet->bytes), 0);
                check_int(radio_run_packet(&plain_run, time_ns, packet->direction, packet->bytes), 0);
                if (wakes) {
                        span_j = at_rest_j(&plain_run, base_mw, NULL);
                        ret->owner[packet->owner] += span_j - now_j;
                }
                packets[packet->owner]++;
                n_packets++;
        }
        ret->all = radio_run_energy_j(&run) - base_mw * 1e-3 * (double)traffic->until_ns / 1e9;
}

/* --- the ladder --- */

struct kept {
        struct radio_amounts owners[OWNERS]; /* over all polls */
        int64_t *cells;
        size_t rows, filled, bytes;          /* a row is an owner's poll; sums over rows: cells that are not 0, bytes */
};

/* Packed size in bytes; checks that the amounts are the same when unpacked. */
static size_t packed_bytes(const struct radio_shape *shape, const struct radio_amounts *amounts)
{
        _cleanup_free_ unsigned char *packed = NULL;
        struct radio_amounts unpacked = { 0 };
        size_t n = 0;

        check_int(radio_pack(shape, amounts, &packed, &n), 0);
        check_int(radio_unpack(shape, packed, n, &unpacked), 0);
        check(unpacked.cells &&
              memcmp(unpacked.cells, amounts->cells, radio_shape_cells(shape) * sizeof(*unpacked.cells)) == 0 &&
              memcmp(unpacked.bytes, amounts->bytes, sizeof(unpacked.bytes)) == 0);
        free(unpacked.cells);
        return n;
}

static void keep_poll(const struct radio_ladder *ladder, struct kept *kept)
{
        const struct radio_shape *shape = ladder->shape;

        for (size_t i = 0; i < ladder->n_owners; i++) {
                const struct radio_amounts *amounts = &ladder->owners[i];
                struct radio_amounts *sum = &kept->owners[amounts->owner];
                size_t filled = 0;

                for (size_t d = 0; d < RADIO_DIRECTIONS; d++)
                        sum->bytes[d] += amounts->bytes[d];
                for (size_t c = 0; c < radio_shape_cells(shape); c++) {
                        sum->cells[c] += amounts->cells[c];
                        filled += amounts->cells[c] != 0;
                }
                kept->filled += filled;
                kept->rows += filled > 0;
                kept->bytes += packed_bytes(shape, amounts);
        }
}

static void close_burst(struct radio_burst *open, struct radio_burst **bursts, size_t *n, size_t *capacity)
{
        if (open->packets[RADIO_TX] + open->packets[RADIO_RX] == 0)
                return;
        if (util_grow(bursts, capacity, *n + 1, sizeof(**bursts)) < 0)
                abort();
        (*bursts)[(*n)++] = *open;
        memset(open->packets, 0, sizeof(open->packets));
}

/* @one: the same bursts, as if all had one owner. @gap_ns: silence that ends a burst. */
static void keep(const struct radio_shape *shape, const struct traffic *traffic, int64_t gap_ns, bool one,
                 struct kept *ret)
{
        _cleanup_(radio_ladder_clear) struct radio_ladder ladder = { 0 };
        _cleanup_free_ struct radio_burst *bursts = NULL;
        struct radio_burst open[OWNERS] = { 0 };
        size_t cells = radio_shape_cells(shape), n = 0, capacity = 0, i = 0;

        *ret = (struct kept){ .cells = calloc(OWNERS * cells, sizeof(*ret->cells)) };
        for (size_t o = 0; o < OWNERS; o++)
                ret->owners[o] = (struct radio_amounts){ .owner = o, .cells = ret->cells + o * cells };
        check_int(radio_ladder_start(&ladder, shape), 0);
        for (int64_t until_ns = POLL_NS; until_ns <= traffic->until_ns; until_ns += POLL_NS) {
                for (; i < traffic->n && traffic->packets[i].time_ns < until_ns; i++) {
                        const struct traffic_packet *packet = &traffic->packets[i];
                        struct radio_burst *burst = &open[packet->owner];

                        if (packet->time_ns - burst->last_ns >= gap_ns)
                                close_burst(burst, &bursts, &n, &capacity);
                        if (burst->packets[RADIO_TX] + burst->packets[RADIO_RX] == 0)
                                *burst = (struct radio_burst){ .owner = packet->owner, .first_ns = packet->time_ns };
                        burst->last_ns = packet->time_ns;
                        burst->packets[packet->direction]++;
                        burst->bytes[packet->direction] += packet->bytes;
                        burst->large += packet->bytes >= RADIO_LARGE_BYTES;
                }
                for (size_t o = 0; o < OWNERS; o++)
                        close_burst(&open[o], &bursts, &n, &capacity);
                for (size_t b = 0; one && b < n; b++)
                        bursts[b].owner = 0;
                check_int(radio_ladder_poll(&ladder, bursts, n, until_ns), 0);
                keep_poll(&ladder, ret);
                n = 0;
        }
}

/* --- radios --- */

struct tried {
        char name[64];
        struct radio radio;
        bool shipped;
};

static int on_key(void *data, const struct ini_place *place, const char *section, const char *key, const char *value)
{
        size_t length = strcspn(section, " ");
        char name[INI_LINE_MAX];

        snprintf(name, sizeof(name), "%.*s", (int)length, section);
        return radio_parse_key(data, place, name, section + length, key, value);
}

static size_t load_shipped(const char *folder, struct tried *tried)
{
        static const char *const names[] = { "3g", "lte", "wifi", "wifi-nexus-one" };
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                _cleanup_(radio_clear_all) struct radios radios = { 0 };
                char path[4096];
                bool others;

                snprintf(path, sizeof(path), "%s/%s.ini", folder, names[i]);
                check_int(radio_load(path, &quiet, &radios, &others), 0);
                for (size_t c = 0; c <= radios.n_carriers; c++) {
                        const char *carrier = c > 0 ? radios.carriers[c - 1].name : NULL;

                        if (strcmp(names[i], "3g") == 0 && !carrier) /* the same as one of its carriers */
                                continue;
                        check_int(radio_with_carrier(&radios, radios.list[0].name, carrier, &tried[n].radio), 0);
                        snprintf(tried[n].name, sizeof(tried[n].name), "%s%s%s", names[i], carrier ? " " : "",
                                 carrier ? carrier : "");
                        tried[n++].shipped = true;
                }
        }
        return n;
}

static void make_automaton(struct tried *tried, uint64_t seed)
{
        struct ini_place place = { "random", 0, &quiet };
        struct radios radios = { 0 };
        char text[TEXT_MAX];

        traffic_automaton(text, sizeof(text), seed);
        check_int(ini_text_parse(text, strlen(text), "random", &quiet, on_key, &radios), 0);
        check_int(radio_finish(&radios, &place), 0);
        check_int(radio_with_carrier(&radios, "r", NULL, &tried->radio), 0);
        snprintf(tried->name, sizeof(tried->name), "random %u", (unsigned)seed);
        radio_clear_all(&radios);
}

/* --- errors --- */

struct errors {
        double all, owner; /* percent: of the total; the largest one of owners with at least a 20th of it; ... */
        double small;      /* ... the largest one of other owners */
};

static struct errors compare(const struct radio_price *price, const struct kept *kept, const struct joules *want)
{
        struct errors errors = { 0 };
        double all_j = 0;

        for (size_t o = 0; o < OWNERS; o++) {
                double got_j = radio_price_j(price, &kept->owners[o]), error, *largest;

                all_j += got_j;
                if (want->owner[o] == 0)
                        continue;
                error = 100 * (got_j / want->owner[o] - 1);
                largest = want->owner[o] >= want->all / 20 ? &errors.owner : &errors.small;
                if (fabs(error) > fabs(*largest))
                        *largest = error;
        }
        errors.all = 100 * (all_j / want->all - 1);
        return errors;
}

static int compare_double(const void *a, const void *b)
{
        double left = *(const double *)a, right = *(const double *)b;

        return (left > right) - (left < right);
}

static double quantile(double *values, size_t n, double q)
{
        qsort(values, n, sizeof(*values), compare_double);
        return values[(size_t)(q * (double)(n - 1) + 0.5)];
}

struct trial {
        struct tried *tried;
        size_t n_tried;
        struct traffic traffic[TRAFFIC_PATTERNS];
        struct joules (*want)[TRAFFIC_PATTERNS];
};

static void start_trial(struct trial *trial, double seconds, uint64_t seed)
{
        for (size_t p = 0; p < TRAFFIC_PATTERNS; p++)
                traffic_make(&trial->traffic[p], (enum traffic_pattern)p, seconds, seed);
        trial->want = calloc(trial->n_tried, sizeof(*trial->want));
        for (size_t r = 0; r < trial->n_tried; r++) {
                _cleanup_(radio_price_clear) struct radio_price price = { 0 };
                struct radio_shape shape;

                radio_shape_make(&shape, 50000, 1, 0.1, false, 0); /* for the base alone */
                check_int(radio_price_make(&price, &trial->tried[r].radio, RADIO_SIGNAL_HIGH, &shape), 0);
                for (size_t p = 0; p < TRAFFIC_PATTERNS; p++)
                        run_packets(&trial->tried[r].radio, price.base_mw, &trial->traffic[p], &trial->want[r][p]);
        }
}

static void end_trial(struct trial *trial)
{
        for (size_t p = 0; p < TRAFFIC_PATTERNS; p++)
                traffic_clear(&trial->traffic[p]);
        for (size_t r = 0; r < trial->n_tried; r++)
                radio_clear(&trial->tried[r].radio);
        free(trial->want);
}

static void try_shape(const struct trial *trial, const struct radio_shape *shape, int64_t gap_ns,
                      struct errors (*ret)[TRAFFIC_PATTERNS], struct kept *kept)
{
        for (size_t p = 0; p < TRAFFIC_PATTERNS; p++)
                keep(shape, &trial->traffic[p], gap_ns, false, &kept[p]);
        for (size_t r = 0; r < trial->n_tried; r++) {
                _cleanup_(radio_price_clear) struct radio_price price = { 0 };

                check_int(radio_price_make(&price, &trial->tried[r].radio, RADIO_SIGNAL_HIGH, shape), 0);
                for (size_t p = 0; p < TRAFFIC_PATTERNS; p++)
                        ret[r][p] = compare(&price, &kept[p], &trial->want[r][p]);
        }
        for (size_t p = 0; p < TRAFFIC_PATTERNS; p++)
                free(kept[p].cells);
}

/* The quantile @q of the errors of the random radios, with one pattern. */
static struct errors random_errors(const struct trial *trial, struct errors (*errors)[TRAFFIC_PATTERNS],
                                   size_t pattern, double q)
{
        static double all[RADIOS_TRIED_MAX], owner[RADIOS_TRIED_MAX];
        size_t n = 0;

        for (size_t r = 0; r < trial->n_tried; r++)
                if (!trial->tried[r].shipped) {
                        all[n] = fabs(errors[r][pattern].all);
                        owner[n++] = fabs(errors[r][pattern].owner);
                }
        return n == 0 ? (struct errors){ 0 } : (struct errors){ quantile(all, n, q), quantile(owner, n, q) };
}

static double per_row(const struct kept *kept, size_t amount)
{
        return (double)amount / (double)(kept->rows ? kept->rows : 1);
}

static double bytes_of(const struct kept *kept)
{
        return per_row(kept, kept->bytes);
}

static void print_errors(const struct trial *trial, struct errors (*errors)[TRAFFIC_PATTERNS], const struct kept *kept)
{
        static const struct {
                const char *name;
                double q;
        } levels[] = { { "median", 0.5 }, { "p90", 0.9 }, { "largest", 1 } };

        printf("%-18s", "");
        for (size_t p = 0; p < TRAFFIC_PATTERNS; p++)
                printf("%12s", traffic_patterns[p]);
        printf("\n");
        for (size_t r = 0; r < trial->n_tried; r++) {
                if (!trial->tried[r].shipped)
                        continue;
                printf("%-18s", trial->tried[r].name);
                for (size_t p = 0; p < TRAFFIC_PATTERNS; p++)
                        printf(" %+5.1f/%+5.1f", errors[r][p].all, errors[r][p].owner);
                printf("   small: %+.1f\n", errors[r][TRAFFIC_ALL].small);
        }
        for (size_t q = 0; q < ARRAY_SIZE(levels); q++) {
                printf("random, %-10s", levels[q].name);
                for (size_t p = 0; p < TRAFFIC_PATTERNS; p++) {
                        struct errors error = random_errors(trial, errors, p, levels[q].q);

                        printf(" %5.1f/%5.1f", error.all, error.owner);
                }
                printf("\n");
        }
        printf("%-18s", "cells, bytes");
        for (size_t p = 0; p < TRAFFIC_PATTERNS; p++)
                printf(" %5.0f/%5.0f", per_row(&kept[p], kept[p].filled), bytes_of(&kept[p]));
        printf("\n");
}

/* The largest of the shipped radios with the goal's seven patterns, and the largest p90 of the random ones. */
static void sum_up(const struct trial *trial, struct errors (*errors)[TRAFFIC_PATTERNS], struct errors *shipped,
                   struct errors *p90)
{
        *shipped = *p90 = (struct errors){ 0 };
        for (size_t p = 0; p <= TRAFFIC_ALL; p++) {
                struct errors random = random_errors(trial, errors, p, 0.9);

                for (size_t r = 0; r < trial->n_tried; r++)
                        if (trial->tried[r].shipped) {
                                shipped->all = fmax(shipped->all, fabs(errors[r][p].all));
                                shipped->owner = fmax(shipped->owner, fabs(errors[r][p].owner));
                                shipped->small = fmax(shipped->small, fabs(errors[r][p].small));
                        }
                p90->all = fmax(p90->all, random.all);
                p90->owner = fmax(p90->owner, random.owner);
        }
}

static void try_shapes(const struct trial *trial)
{
        static const struct {
                double first_ms, rungs, rates;
                bool sizes;
                int share_ms, gap_ms;
        } tried[] = {
                { 100, 2, 2, true, 1400, 50 },  { 50, 2, 2, true, 1400, 50 },   { 200, 2, 2, true, 1400, 50 },
                { 100, 1, 2, true, 1400, 50 },  { 100, 3, 2, true, 1400, 50 },  { 100, 2, 1, true, 1400, 50 },
                { 100, 2, 4, true, 1400, 50 },  { 100, 2, 0.1, true, 1400, 50 }, { 100, 2, 2, false, 1400, 50 },
                { 100, 2, 2, true, 0, 50 },    { 100, 2, 2, true, 700, 50 },  { 100, 2, 2, true, 1400, 25 },
                { 100, 2, 2, true, 1400, 100 }, { 100, 2, 2, true, 1400, 200 },
        };
        static struct errors errors[RADIOS_TRIED_MAX][TRAFFIC_PATTERNS];
        struct kept kept[TRAFFIC_PATTERNS];

        printf("first  rungs  rates  sizes  share  gap    shipped      random p90   bytes: ssh   game  stream  all\n");
        for (size_t i = 0; i < ARRAY_SIZE(tried); i++) {
                struct errors shipped, random;
                struct radio_shape shape;

                radio_shape_make(&shape, tried[i].first_ms, tried[i].rungs, tried[i].rates, tried[i].sizes,
                                 tried[i].share_ms);
                try_shape(trial, &shape, (int64_t)tried[i].gap_ms * 1000000, errors, kept);
                sum_up(trial, errors, &shipped, &random);
                printf("%5g  %5g  %5g  %5s  %5d  %3d  ", tried[i].first_ms, tried[i].rungs, tried[i].rates,
                       tried[i].sizes ? "yes" : "no", tried[i].share_ms, tried[i].gap_ms);
                printf("%5.1f/%5.1f  %5.1f/%5.1f      ", shipped.all, shipped.owner, random.all, random.owner);
                printf("%7.0f%7.0f%8.0f%5.0f\n", bytes_of(&kept[TRAFFIC_SSH]), bytes_of(&kept[TRAFFIC_GAME]),
                       bytes_of(&kept[TRAFFIC_STREAM]), bytes_of(&kept[TRAFFIC_ALL]));
        }
}

/* --- what must hold to the last ms --- */

/* At each rung owners add up to what one would have, and each packet is counted. */
static void check_sums(const struct traffic *traffic, const struct radio_shape *shape)
{
        struct kept apart, one;
        size_t wrong = 0;
        int64_t packets = 0;

        keep(shape, traffic, RADIO_BURST_GAP_NS, false, &apart);
        keep(shape, traffic, RADIO_BURST_GAP_NS, true, &one);
        for (size_t i = 0; i < radio_shape_cells(shape); i++) {
                int64_t sum = 0;

                for (size_t o = 0; o < OWNERS; o++)
                        sum += apart.owners[o].cells[i];
                if (i < radio_cell_up(shape, 0, 0))
                        packets += sum;
                wrong += sum != one.owners[0].cells[i];
        }
        check_int(wrong, 0);
        check_int(packets, traffic->n);
        free(apart.cells);
        free(one.cells);
}

/* A lone packet costs as much as by the automaton, above the base. */
static void check_lone(const struct tried *tried, const struct radio_shape *shape)
{
        struct radio_burst burst[] = { { 0, 500000000000, 500000000000, { 1, 0 }, { 100, 0 } } };
        _cleanup_(radio_ladder_clear) struct radio_ladder ladder = { 0 };
        _cleanup_(radio_price_clear) struct radio_price price = { 0 };
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        double want_j;

        check_int(radio_price_make(&price, &tried->radio, RADIO_SIGNAL_HIGH, shape), 0);
        check_int(radio_ladder_start(&ladder, shape), 0);
        check_int(radio_ladder_poll(&ladder, burst, 1, INT64_C(1000000000000)), 0);
        check_int(radio_run_start(&run, &tried->radio, RADIO_SIGNAL_HIGH), 0);
        check_int(radio_run_packet(&run, burst[0].first_ns, RADIO_TX, 100), 0);
        check_int(radio_run_until(&run, INT64_C(1000000000000)), 0);
        want_j = radio_run_energy_j(&run) - price.base_mw;
        check_near(radio_price_j(&price, &ladder.owners[0]), want_j, 0.01 * want_j);
}

/* WiFi that takes three times the power above 27 packets a second: all of that class is on one side of it. */
static void check_threshold(const struct radio_shape *shape, double seconds)
{
        static struct errors errors[1][TRAFFIC_PATTERNS];
        struct kept kept[TRAFFIC_PATTERNS];
        struct tried tried = { 0 };
        struct trial trial = { .tried = &tried, .n_tried = 1 };

        make_automaton(&tried, 24);
        start_trial(&trial, seconds, 17);
        try_shape(&trial, shape, RADIO_BURST_GAP_NS, errors, kept);
        for (size_t p = 0; p <= TRAFFIC_ALL; p++)
                check_near(errors[0][p].owner, 0, 25);
        end_trial(&trial);
}

int main(int argc, char **argv)
{
        static struct tried tried[RADIOS_TRIED_MAX];
        static struct errors errors[RADIOS_TRIED_MAX][TRAFFIC_PATTERNS];
        const char *what = argc > 2 ? argv[2] : "";
        struct kept kept[TRAFFIC_PATTERNS];
        struct trial trial = { .tried = tried };
        struct errors shipped, random;
        struct radio_shape shape;

        radio_shape_stored(&shape);
        check_threshold(&shape, *what ? 1800 : 900);
        trial.n_tried = load_shipped(argv[1], tried);
        for (size_t r = 0; r < trial.n_tried; r++)
                check_lone(&tried[r], &shape);
        for (uint64_t i = 0; i < (*what ? 42 : 12); i++)
                make_automaton(&tried[trial.n_tried++], i);
        start_trial(&trial, *what ? 1800 : 900, argc > 3 ? (uint64_t)atoi(argv[3]) : 17);
        for (size_t p = 0; !*what && p < TRAFFIC_PATTERNS; p++)
                check_sums(&trial.traffic[p], &shape);
        try_shape(&trial, &shape, RADIO_BURST_GAP_NS, errors, kept);
        sum_up(&trial, errors, &shipped, &random);
        check(shipped.all <= 2 && shipped.owner <= 5);
        check(random.all <= 5 && random.owner <= 12);
        if (strcmp(what, "errors") == 0 || check_failures)
                print_errors(&trial, errors, kept);
        if (strcmp(what, "shapes") == 0)
                try_shapes(&trial);
        end_trial(&trial);
        return check_result();
}
