/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the rates of the clients that have one of the joint's apps, and sums what the sweeps need. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "rates.h"
#include "report-features.h"
#include "threads.h"
#include "util/util.h"

#define NEAR_RATES (size_t)4 /* fewer would cost much of the precision, more would leave much of the hours */

/* An app of the joint on a client: its bit in the rates, and its rank. */
struct bit {
        size_t bit;
        uint16_t rank;
};

/* Sums over one stratum of a client, by the index of each of its apps, and what they add up to over all strata. */
struct stratum_sums {
        double *both;       /* for each pair of its apps: rates with both, by span */
        struct sums_of_app {
                double s, n, rest, weight, more, more_rest, all_s, part;
        } *apps;
        size_t both_capacity, apps_capacity;
};

/* Hash table of the current client's cells, by context and apps. A slot has 1 + index in part->cells. */
struct finder {
        struct joint_part *part;
        struct bit *bits;   /* apps of the client */
        size_t *slots;
        uint16_t *ranks;    /* apps of one rate */
        size_t n_bits, bits_capacity, slots_capacity, mask, ranks_capacity;
        struct stratum_sums sums;
        uint32_t *index_of; /* by rank: the app's place among the client's */
        const struct features *features;
        struct strata strata;
};

static void free_finder(struct finder *finder)
{
        free(finder->bits);
        free(finder->slots);
        free(finder->ranks);
        free(finder->sums.both);
        free(finder->sums.apps);
        free(finder->index_of);
        strata_clear(&finder->strata);
}

/* Lists the apps of the joint that the client has. */
static int list_bits(struct finder *finder, const struct client_rates *rates, uint32_t client)
{
        struct joint_part *part = finder->part;
        const struct joint *joint = part->joint;

        finder->n_bits = 0;
        for (size_t i = 0; i < rates->n_apps; i++) {
                int32_t rank = joint_rank(joint, rates->apps[i].app);

                if (rank < 0)
                        continue;
                if (util_grow(&finder->bits, &finder->bits_capacity, finder->n_bits + 1, sizeof(*finder->bits)) < 0 ||
                    util_grow(&part->apps, &part->apps_capacity, part->n_apps + 1, sizeof(*part->apps)) < 0 ||
                    util_grow(&part->uses, &part->uses_capacity, part->n_apps + 1, sizeof(*part->uses)) < 0)
                        return -ENOMEM;
                finder->index_of[rank] = (uint32_t)finder->n_bits;
                part->uses[part->n_apps] = (struct one_use){
                        .bug = report_has_bug(joint->report, joint->clients[client].id, rates->apps[i].app) };
                finder->bits[finder->n_bits++] = (struct bit){ i, (uint16_t)rank };
                part->apps[part->n_apps++] = (uint16_t)rank;
        }
        return util_grow(&finder->ranks, &finder->ranks_capacity, finder->n_bits + 1, sizeof(*finder->ranks));
}

/* Makes twice as many slots as there can be cells. */
static int clear_slots(struct finder *finder, size_t n)
{
        size_t size = 4;
        int err;

        while (size < 2 * n)
                size *= 2;
        err = util_grow(&finder->slots, &finder->slots_capacity, size, sizeof(*finder->slots));
        if (err < 0)
                return err;
        memset(finder->slots, 0, size * sizeof(*finder->slots));
        finder->mask = size - 1;
        return 0;
}

static bool same_cell(const struct joint_part *part, size_t cell, uint32_t context, const uint16_t *ranks, size_t n)
{
        size_t first = part->cells[cell].first, end = cell + 1 < part->n_cells ? part->cells[cell + 1].first :
                       part->n_ranks;

        return part->cells[cell].context == context && end - first == n &&
               memcmp(part->ranks + first, ranks, n * sizeof(*ranks)) == 0;
}

static size_t apps_in_use(const struct client_rates *rates, const struct client_rate *rate)
{
        size_t sum = 0;

        for (size_t byte = 0; byte < (rates->n_apps + 7) / 8; byte++)
                sum += (size_t)__builtin_popcount(rate->apps[byte]);
        return sum;
}

/* Appends a cell. */
static int add_cell(struct joint_part *part, uint32_t context, const uint16_t *ranks, size_t n)
{
        int err = util_grow(&part->cells, &part->cells_capacity, part->n_cells + 2, sizeof(*part->cells));

        if (!err)
                err = util_grow(&part->ranks, &part->ranks_capacity, part->n_ranks + n + 1, sizeof(*part->ranks));
        if (!err && part->n_ranks + n > UINT32_MAX)
                err = -ENOMEM;
        if (err < 0)
                return err;
        part->cells[part->n_cells++] = (struct cell){ .context = context & CELL_NO_CONTEXT,
                                                      .first = (uint32_t)part->n_ranks };
        memcpy(part->ranks + part->n_ranks, ranks, n * sizeof(*ranks));
        part->n_ranks += n;
        return 0;
}

/* Lists the apps of the joint that were in use. */
static size_t list_ranks(struct finder *finder, const struct client_rate *rate)
{
        size_t n = 0;

        for (size_t i = 0; i < finder->n_bits; i++) {
                const struct bit *bit = &finder->bits[i];

                if (rate->apps[bit->bit / 8] >> bit->bit % 8 & 1)
                        finder->ranks[n++] = bit->rank;
        }
        return n;
}

/* @begins: is it the first of its stratum? */
static int add_rate(struct finder *finder, const struct client_rates *rates, const struct client_rate *rate,
                    bool begins)
{
        struct joint_part *part = finder->part;
        const struct context *header = finder->strata.contexts[rate->context];
        uint32_t context = header ? (uint32_t)(header - finder->features->contexts) : CELL_NO_CONTEXT;
        uint64_t hash = context;
        size_t n = list_ranks(finder, rate), slot;
        struct cell *cell;

        for (size_t i = 0; i < n; i++)
                hash = (hash ^ finder->ranks[i]) * 0x9E3779B97F4A7C15;
        for (slot = (hash >> 32) & finder->mask; finder->slots[slot]; slot = (slot + 1) & finder->mask)
                if (same_cell(part, finder->slots[slot] - 1, context, finder->ranks, n))
                        break;
        if (!finder->slots[slot]) {
                if (add_cell(part, context, finder->ranks, n) < 0)
                        return -ENOMEM;
                finder->slots[slot] = part->n_cells;
        }
        cell = &part->cells[finder->slots[slot] - 1];
        cell->begins |= begins;
        cell->n += rate->span;
        cell->rest += rate->span * (float)(apps_in_use(rates, rate) - n);
        cell->s += (double)rate->span * rate->rate;
        return 0;
}

/* Adds rates with the same apps to the sums of their stratum. @n: their spans; @s, @rest: as in a cell. */
static void add_to_stratum(struct finder *finder, const uint16_t *ranks, size_t n_ranks, double n, double s,
                           double rest)
{
        for (size_t i = 0; i < n_ranks; i++) {
                size_t index = finder->index_of[ranks[i]];

                finder->sums.apps[index].s += s;
                finder->sums.apps[index].rest += rest;
                for (size_t j = 0; j < n_ranks; j++)
                        finder->sums.both[index * finder->n_bits + finder->index_of[ranks[j]]] += n;
        }
}

/*
 * Ends a stratum, or the @part of it that is near in the time of day, of @n rates with sum @s and @rest other apps.
 * @rows: the client's overlaps.
 */
static void end_stratum(struct finder *finder, double part, double n, double s, double rest, float *rows)
{
        size_t apps = finder->n_bits;
        double *both = finder->sums.both;

        for (size_t i = 0; i < apps; i++) {
                struct sums_of_app *app = &finder->sums.apps[i];
                double app_n = both[i * apps + i], weight = 0;

                drop_stratum(app_n, app->rest, n, rest, &weight, &app->more_rest);
                app->part += weight * part;
                weight = 0;
                drop_stratum(app_n, app->s, n, s, &app->weight, &app->more);
                app->n += app_n;
                app->all_s += app->s;
                app->s = app->rest = 0;
                for (size_t j = 0; app_n > 0 && j < apps; j++) {
                        double more = 0;

                        if (j != i && both[j * apps + j] > 0)
                                drop_stratum(app_n, both[i * apps + j], n, both[j * apps + j], &weight, &more);
                        rows[i * apps + j] += (float)more;
                }
        }
        memset(both, 0, apps * apps * sizeof(*both));
}

static void begin_sums(struct finder *finder)
{
        struct stratum_sums *sums = &finder->sums;

        memset(sums->both, 0, finder->n_bits * finder->n_bits * sizeof(*sums->both));
        memset(sums->apps, 0, finder->n_bits * sizeof(*sums->apps));
}

static void keep_sums(struct finder *finder, const struct joint_client *client, int kind)
{
        const struct sums_of_app *app = finder->sums.apps;
        struct one_use *use = finder->part->uses + client->first_app;

        for (size_t i = 0; i < finder->n_bits && client->mean > 0; i++, app++, use++) {
                use->sums[kind] = (struct use_sums){ (float)app->weight, (float)(app->more / client->mean),
                                                     (float)app->more_rest };
                use->n = (float)app->n;
                use->s = (float)(app->all_s / client->mean);
                use->part = (float)(app->weight > 0 ? app->part / app->weight : 0);
        }
}

/* Sums up the cells by stratum. */
static void sum_all(struct finder *finder, struct joint_client *client)
{
        const struct joint_part *part = finder->part;
        double n = 0, s = 0, rest = 0;

        begin_sums(finder);
        for (size_t i = client->first; i < client->end; i++) {
                const struct cell *cell = &part->cells[i];
                size_t end = i + 1 < part->n_cells ? cell[1].first : part->n_ranks;

                n += (double)cell->n;
                s += cell->s;
                rest += (double)cell->rest;
                add_to_stratum(finder, part->ranks + cell->first, end - cell->first, (double)cell->n, cell->s,
                               (double)cell->rest);
                if (i + 1 < client->end && !cell[1].begins)
                        continue;
                end_stratum(finder, 1, n, s, rest, part->overlaps + client->first_overlap);
                client->n += n;
                n = s = rest = 0;
        }
        keep_sums(finder, client, JOINT_ALL);
}

/* The end of those that are near the rate at @first in the time of day. @end: that of its stratum. */
static size_t end_of_near(size_t first, size_t end)
{
        return end - first < 2 * NEAR_RATES ? end : first + NEAR_RATES;
}

/* Sums up the rates by stratum and hours. */
static void sum_near(struct finder *finder, const struct client_rates *rates, const struct joint_client *client)
{
        const struct joint_part *part = finder->part;
        float *rows = part->overlaps + client->first_overlap + client->n_apps * client->n_apps;

        begin_sums(finder);
        for (size_t i = 0, first = 0, end = 0, near; i < rates->n; i = near) {
                double n = 0, s = 0, rest = 0;

                if (i == end)
                        first = i;
                while (end < rates->n && (end <= i || rates->list[end].stratum == rates->list[i].stratum))
                        end++;
                near = end_of_near(i, end);
                for (size_t j = i; j < near; j++) {
                        const struct client_rate *rate = &rates->list[j];
                        size_t n_ranks = list_ranks(finder, rate);
                        double span = (double)rate->span, others = span * (double)(apps_in_use(rates, rate) - n_ranks);

                        n += span;
                        s += span * rate->rate;
                        rest += others;
                        add_to_stratum(finder, finder->ranks, n_ranks, span, span * rate->rate, others);
                }
                end_stratum(finder, (double)(near - i) / (double)(end - first), n, s, rest, rows);
        }
        keep_sums(finder, client, JOINT_NEAR);
}

/* Makes the sums for drop_use_of() of each of the client's apps, and how they overlap. */
static int sum_apps(struct finder *finder, const struct client_rates *rates, struct joint_client *client)
{
        struct joint_part *part = finder->part;
        struct stratum_sums *sums = &finder->sums;
        size_t apps = finder->n_bits, squares = JOINT_KINDS * apps * apps;

        if (util_grow(&sums->both, &sums->both_capacity, apps * apps, sizeof(*sums->both)) < 0 ||
            util_grow(&sums->apps, &sums->apps_capacity, apps, sizeof(*sums->apps)) < 0 ||
            util_grow(&part->overlaps, &part->overlaps_capacity, part->n_overlaps + squares,
                      sizeof(*part->overlaps)) < 0)
                return -ENOMEM;
        client->first_app = part->n_apps - apps;
        client->n_apps = apps;
        client->first_overlap = part->n_overlaps;
        part->n_overlaps += squares;
        memset(part->overlaps + client->first_overlap, 0, squares * sizeof(*part->overlaps));
        sum_all(finder, client);
        sum_near(finder, rates, client);
        return 0;
}

/* How the client's rates and the number of its other apps in use vary together, within strata. */
static void sum_rest(const struct finder *finder, const struct client_rates *rates, struct joint_client *client)
{
        double n = 0, s = 0, rest = 0, squares = 0, products = 0;

        for (size_t i = 0; i < rates->n; i++) {
                const struct client_rate *rate = &rates->list[i];
                double others = (double)apps_in_use(rates, rate), span = (double)rate->span;

                for (size_t bit = 0; bit < finder->n_bits; bit++)
                        others -= rate->apps[finder->bits[bit].bit / 8] >> finder->bits[bit].bit % 8 & 1;
                n += span;
                s += span * rate->rate;
                rest += span * others;
                squares += span * others * others;
                products += span * others * rate->rate;
                if (i + 1 < rates->n && rate[1].stratum == rate->stratum)
                        continue;
                client->rest_weight += squares - rest * rest / n;
                client->rest_more += (products - rest * s / n) / client->mean;
                n = s = rest = squares = products = 0;
        }
}

/* Collects the client's rates with and without the app that was asked for, if the client has it. */
static int add_asked(struct joint_part *part, const struct client_rates *rates, int64_t asked)
{
        size_t app = 0;

        while (app < rates->n_apps && rates->apps[app].app != asked)
                app++;
        if (app == rates->n_apps)
                return 0;
        if (util_grow(&part->with, &part->with_capacity, part->n_with + rates->n, sizeof(*part->with)) < 0 ||
            util_grow(&part->without, &part->without_capacity, part->n_without + rates->n, sizeof(*part->without)) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < rates->n; i++)
                if (rates->list[i].apps[app / 8] >> app % 8 & 1)
                        part->with[part->n_with++] = rates->list[i].rate;
                else
                        part->without[part->n_without++] = rates->list[i].rate;
        return 0;
}

static int add_client(void *state, size_t client, struct client_rates *rates)
{
        struct finder *finder = state;
        struct joint_part *part = finder->part;
        struct joint *joint = part->joint;
        const struct rates_noise noise = client_rates_noise(rates);
        int err = list_bits(finder, rates, (uint32_t)client);

        if (err < 0 || !finder->n_bits)
                return err;
        err = strata_set(&finder->strata, finder->features, joint->clients[client].id, rates);
        if (!err)
                err = clear_slots(finder, rates->n);
        joint->clients[client].mean = noise.mean;
        joint->clients[client].discount = noise.discount;
        joint->clients[client].part = part;
        joint->clients[client].first = part->n_cells;
        for (size_t i = 0; !err && i < rates->n; i++)
                err = add_rate(finder, rates, &rates->list[i],
                               i == 0 || rates->list[i].stratum != rates->list[i - 1].stratum);
        joint->clients[client].end = part->n_cells;
        if (!err)
                err = sum_apps(finder, rates, &joint->clients[client]);
        if (joint->clients[client].mean > 0)
                sum_rest(finder, rates, &joint->clients[client]);
        if (!err && joint->report->asked >= 0)
                err = add_asked(part, rates, joint->report->apps[joint->report->asked].id);
        return err;
}

/* In sixteenths of a rate, as a coarse gauge's rates have parts. */
static void count_pairs(struct joint *joint, const struct joint_part *part)
{
        for (size_t cell = 0; cell < part->n_cells; cell++) {
                uint32_t n = (uint32_t)lround(16 * (double)part->cells[cell].n);

                for (size_t i = part->cells[cell].first; i < part->cells[cell + 1].first; i++)
                        for (size_t j = part->cells[cell].first; j <= i; j++)
                                joint->pairs[part->ranks[i] * joint->n + part->ranks[j]] += n;
        }
}

/* Each pair was counted once, in either order. */
static void add_orders(struct joint *joint)
{
        for (size_t a = 0; a < joint->n; a++)
                for (size_t b = 0; b < a; b++) {
                        uint32_t *one = &joint->pairs[a * joint->n + b], *other = &joint->pairs[b * joint->n + a];

                        *one = *other = *one + *other;
                }
}

/* Lists the clients of each app. A rank's place is first the start of its clients, and moves to their end. */
static int list_uses(struct joint *joint)
{
        size_t *place = joint->first_use = calloc(joint->n + 2, sizeof(*place));

        if (!place)
                return -ENOMEM;
        for (size_t i = 0; i < joint->n_parts; i++)
                for (size_t app = 0; app < joint->parts[i].n_apps; app++)
                        place[joint->parts[i].apps[app] + 2]++;
        for (size_t rank = 0; rank < joint->n; rank++)
                place[rank + 2] += place[rank + 1];
        joint->uses = malloc((place[joint->n + 1] + 1) * sizeof(*joint->uses));
        if (!joint->uses)
                return -ENOMEM;
        for (uint32_t i = 0; i < joint->n_clients; i++) {
                const struct joint_client *client = &joint->clients[i];

                for (uint32_t app = 0; app < client->n_apps; app++) {
                        size_t at = client->first_app + app;

                        joint->uses[place[client->part->apps[at] + 1]++] =
                                (struct app_use){ i, app, client->part->uses[at].sums[JOINT_ALL].rest };
                }
        }
        return 0;
}

static int make_room(struct joint *joint, const struct rates *rates)
{
        joint->clients = calloc(rates->n + 1, sizeof(*joint->clients));
        joint->parts = calloc(threads_count(), sizeof(*joint->parts));
        if (!joint->clients || !joint->parts)
                return -ENOMEM;
        joint->n_parts = threads_count();
        joint->n_clients = rates->n;
        for (size_t i = 0; i < rates->n; i++)
                joint->clients[i].id = rates->clients[i];
        for (size_t i = 0; i < joint->n_parts; i++) {
                struct joint_part *part = &joint->parts[i];

                part->joint = joint;
                if (util_grow(&part->cells, &part->cells_capacity, 1, sizeof(*part->cells)) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int read_parts(struct joint *joint, const struct features *features, const struct rates *rates)
{
        struct finder finders[THREADS_MAX] = { { .part = NULL } };
        void *states[THREADS_MAX];
        int err = 0;

        for (size_t i = 0; i < joint->n_parts; i++) {
                finders[i].part = &joint->parts[i];
                finders[i].features = features;
                finders[i].index_of = calloc(joint->n, sizeof(*finders[i].index_of));
                states[i] = &finders[i];
                err = finders[i].index_of ? err : -ENOMEM;
        }
        if (!err)
                err = rates_each(rates, add_client, states, joint->n_parts);
        for (size_t i = 0; i < joint->n_parts; i++)
                free_finder(&finders[i]);
        return err;
}

int joint_read(struct database *database, const struct features *features, int64_t limit, struct joint *joint)
{
        _cleanup_(rates_close) struct rates rates;
        int err = rates_open(database, limit, joint->report->samples, &rates);

        if (!err)
                err = make_room(joint, &rates);
        if (!err)
                err = read_parts(joint, features, &rates);
        for (size_t i = 0; !err && i < joint->n_parts; i++) {
                struct joint_part *part = &joint->parts[i];

                part->cells[part->n_cells] = (struct cell){ .first = (uint32_t)part->n_ranks };
                count_pairs(joint, part);
        }
        add_orders(joint);
        return err ? err : list_uses(joint);
}
