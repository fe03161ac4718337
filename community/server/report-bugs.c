/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Finds bugs: apps that take much more energy on one client than on others.
 *
 * Method: compare the app's own power, as each device's model attributes it, with the app's median over all
 * clients, on a logarithmic scale; those far off do not count for the spread. An excess of BUG_RATIO times that is no
 * chance, among all and among those of the same OS or model, is a bug, unless many clients have it: that is a kind of
 * device. The battery's rate is no use for this: only 1 to 8 of 100 bugs found with it were real
 * (community/METHOD.md).
 *
 * A client with a bug of an app says nothing of that app on others. So bugs are found first, and each app is then
 * compared on the other clients.
 */

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "shared/median.h"
#include "shared/order.h"
#include "report.h"
#include "threads.h"
#include "util/util.h"

#define BUG_CLIENTS_MIN 5     /* least number of other clients with the app */
#define BUG_RATIO 2.0         /* least ratio to the median of all clients */
#define BUG_Q 0.02            /* false discovery rate of the pairs of an app and a client, if no client lies */
/* lower bound for the standard deviation of the logarithm, as devices differ more than a small set of them may show */
#define DEVIATION_MIN 0.05
/* where clients are few, so many more with the middle app's deviation are assumed */
#define USUAL_CLIENTS 20.0
#define MAD_TO_SIGMA 1.4826
/* Only values within so many deviations of the median count. A normal distribution cut there has this variance. */
#define WITHIN 2.5
#define WITHIN_VARIANCE 0.911
/* A deviation that is found so is as uncertain as a standard deviation of so large a part of the clients. */
#define WITHIN_SHARE 0.5
#define BUG_SHARE 0.1 /* if more than this part of all clients have it, it is a kind of use and no bug */
#define BUG_SHARE_P 0.05 /* level of the binomial test that it is more */
#define NORMAL_95 1.96
#define WATTS_MIN 1e-3

/* Findings of one thread. */
struct finds {
        struct bug_report *bugs;
        size_t n, capacity, pairs, tests; /* tests: pairs, and parts of apps on clients */
        double *logs;             /* scratch: logarithms of an app's power on each client */
        struct kind_power *kinds; /* scratch: the same by kind */
        size_t logs_capacity, kinds_capacity;
};

struct judging {
        const struct report *report;
        struct finds *finds; /* one per thread */
        double *deviations;  /* each app's deviation as a whole; 0: too few clients */
        double usual;        /* that of the middle app */
        double chance_max;   /* a bug's chance is at most this */
        atomic_size_t next;  /* next app to process */
};

static int compare_doubles(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return x < y ? -1 : x > y;
}

static double log_of(double watts)
{
        return log(MAX(watts, WATTS_MIN));
}

/* Power of the app, or of one of its components, on all clients that report it. */
struct powers {
        const struct own_use *list;
        size_t n;
        double middle, deviation; /* median and deviation of the logarithms */
        double degrees;           /* Student's t needs them, as the deviation is estimated */
};

/* Sorts by part, with the whole app first. */
static int compare_parts(const void *a, const void *b)
{
        const struct own_use *x = a, *y = b;

        return x->part != y->part ? y->part - x->part : x->client < y->client ? -1 : x->client > y->client;
}

/* Few clients can agree by chance; then every client that differs as clients usually do would have a bug. */
static double at_least_usual(double deviation, double clients, double usual)
{
        double both = (clients * deviation * deviation + USUAL_CLIENTS * usual * usual) / (clients + USUAL_CLIENTS);

        return MAX(deviation, sqrt(both));
}

/*
 * Standard deviation, without those that are far off: they may be bugs. The median absolute deviation says which these
 * are.
 */
static double deviation_of(double *distances, size_t n)
{
        double limit = WITHIN * MAD_TO_SIGMA * median(distances, n), sum = 0;
        size_t kept = 0;

        for (size_t i = 0; i < n; i++) {
                if (distances[i] > limit)
                        continue;
                sum += distances[i] * distances[i];
                kept++;
        }
        return sqrt(sum / (double)kept / WITHIN_VARIANCE);
}

/* Measures the @n logarithms in finds->logs. @usual: deviation of the middle app; 0: unknown. */
static void measure_logs(struct finds *finds, size_t n, double usual, struct powers *ret)
{
        double certain = WITHIN_SHARE * (double)n;

        ret->n = n;
        ret->middle = median(finds->logs, n);
        for (size_t i = 0; i < n; i++)
                finds->logs[i] = fabs(finds->logs[i] - ret->middle);
        ret->deviation = MAX(deviation_of(finds->logs, n), DEVIATION_MIN);
        ret->deviation = at_least_usual(ret->deviation, certain, usual);
        ret->degrees = certain - 1 + (usual > 0 ? USUAL_CLIENTS : 0);
}

/* Measures the part that @list begins with. */
static int measure(struct finds *finds, const struct own_use *list, size_t n, double usual, struct powers *ret)
{
        size_t end = 0;
        int err;

        while (end < n && list[end].part == list->part)
                end++;
        err = util_grow(&finds->logs, &finds->logs_capacity, end, sizeof(*finds->logs));
        if (err < 0)
                return err;
        for (size_t i = 0; i < end; i++)
                finds->logs[i] = log_of((double)list[i].watts);
        *ret = (struct powers){ .list = list };
        measure_logs(finds, end, usual, ret);
        return 0;
}

/*
 * Can it be a bug? The excess of a component alone must make the app take BUG_RATIO times its power elsewhere.
 * Otherwise a component that is a small part of the app would count, too.
 */
static bool is_large(const struct own_use *own, const struct powers *powers, const struct powers *whole)
{
        if (!(log_of((double)own->watts) - powers->middle > log(BUG_RATIO)) || own->contradicted)
                return false;
        return own->part == OWN_WHOLE || (double)own->watts - exp(powers->middle) > (BUG_RATIO - 1) *
               exp(whole->middle);
}

static double chance_of(double log_here, const struct powers *powers)
{
        return drop_student_upper((log_here - powers->middle) / powers->deviation, powers->degrees);
}

static int compare_kind(const void *key, const void *element)
{
        int64_t id = *(const int64_t *)key, other = ((const struct client_kind *)element)->id;

        return id < other ? -1 : id > other;
}

static struct client_kind kind_of(const struct report *report, int64_t client)
{
        const struct client_kind *kind = report->n_kinds ? bsearch(&client, report->kinds, report->n_kinds,
                                                                   sizeof(*kind), compare_kind) : NULL;

        return kind ? *kind : (struct client_kind){ .id = client };
}

/* A client's power of an app, by its OS or by its model. */
struct kind_power {
        uint32_t number;
        double log;
};

static int compare_powers(const void *a, const void *b)
{
        const struct kind_power *x = a, *y = b;

        return ORDER_TWO(x->number, y->number, x->log, y->log);
}

/* Lists the powers of all clients by kind. */
static void list_kinds(const struct report *report, const struct powers *powers, bool by_model, struct kind_power *list)
{
        for (size_t i = 0; i < powers->n; i++) {
                const struct client_kind kind = kind_of(report, powers->list[i].client);

                list[i] = (struct kind_power){ by_model ? kind.model : kind.os, log_of((double)powers->list[i].watts) };
        }
        qsort(list, powers->n, sizeof(*list), compare_powers);
}

/*
 * Compares findings with the clients of one kind, from @start to @end of finds->kinds: the chance of one becomes that
 * to differ so much from its kind; 1: it does not differ by BUG_RATIO, so the power is that of its kind. finds->logs
 * has room for all clients.
 */
static void compare_with_kind(const struct judging *judging, struct finds *finds, size_t first, size_t start,
                              size_t end)
{
        struct powers kind = { .n = 0 };

        for (size_t i = first; i < finds->n; i++) {
                struct bug_report *bug = &finds->bugs[i];
                double log_here = log_of(bug->watts);

                if (bug->kind != finds->kinds[start].number)
                        continue;
                for (size_t k = start; !kind.n && k < end; k++)
                        finds->logs[k - start] = finds->kinds[k].log;
                if (!kind.n)
                        measure_logs(finds, end - start, judging->usual, &kind);
                bug->chance = log_here - kind.middle < log(BUG_RATIO) ? 1 :
                              MAX(bug->chance, chance_of(log_here, &kind));
        }
}

/* Drops findings that the OS or the model of the client explains. */
static int leave_kinds(const struct judging *judging, struct finds *finds, const struct powers *powers, size_t first,
                       bool by_model)
{
        size_t kept = first;

        if (finds->n == first)
                return 0;
        if (util_grow(&finds->kinds, &finds->kinds_capacity, powers->n, sizeof(*finds->kinds)) < 0)
                return -ENOMEM;
        list_kinds(judging->report, powers, by_model, finds->kinds);
        for (size_t i = first; i < finds->n; i++) {
                const struct client_kind kind = kind_of(judging->report, finds->bugs[i].client);

                finds->bugs[i].kind = by_model ? kind.model : kind.os;
        }
        for (size_t start = 0, end; start < powers->n; start = end) {
                for (end = start; end < powers->n && finds->kinds[end].number == finds->kinds[start].number;)
                        end++;
                if (finds->kinds[start].number && end - start > BUG_CLIENTS_MIN)
                        compare_with_kind(judging, finds, first, start, end);
        }
        for (size_t i = first; i < finds->n; i++)
                if (finds->bugs[i].chance <= judging->chance_max)
                        finds->bugs[kept++] = finds->bugs[i];
        finds->n = kept;
        return 0;
}

static int add_bugs(const struct judging *judging, struct finds *finds, const struct app_report *app,
                    const struct powers *powers, const struct powers *whole)
{
        size_t first = finds->n;
        int err;

        finds->tests += powers->n;
        for (size_t i = 0; i < powers->n; i++) {
                double chance;

                if (!is_large(&powers->list[i], powers, whole))
                        continue;
                chance = chance_of(log_of((double)powers->list[i].watts), powers);
                if (chance > judging->chance_max)
                        continue;
                if (util_grow(&finds->bugs, &finds->capacity, finds->n + 1, sizeof(*finds->bugs)) < 0)
                        return -ENOMEM;
                finds->bugs[finds->n++] = (struct bug_report){
                        .app = app->id, .client = powers->list[i].client, .others_watts = exp(whole->middle),
                        .others_low = exp(whole->middle - NORMAL_95 * whole->deviation),
                        .others_high = exp(whole->middle + NORMAL_95 * whole->deviation), .clients = whole->n - 1,
                        .confirmed = powers->list[i].confirmed, .chance = chance,
                        .watts = (double)powers->list[i].watts,
                };
        }
        err = leave_kinds(judging, finds, powers, first, false);
        return err ? err : leave_kinds(judging, finds, powers, first, true);
}

static int compare_clients(const void *a, const void *b)
{
        const struct bug_report *x = a, *y = b;

        return ORDER_TWO(x->client, y->client, x->chance, y->chance);
}

/* The same client may have been found by the whole app and by some components; keeps the surest. */
static void keep_once(struct finds *finds, size_t first)
{
        size_t kept = first;

        if (finds->n > first)
                qsort(finds->bugs + first, finds->n - first, sizeof(*finds->bugs), compare_clients);
        for (size_t i = first; i < finds->n; i++)
                if (kept == first || finds->bugs[kept - 1].client != finds->bugs[i].client)
                        finds->bugs[kept++] = finds->bugs[i];
        finds->n = kept;
}

/* Judges all clients of one app. Too many of them have no bug: it is a kind of use. */
static int find_bugs_of(const struct judging *judging, struct finds *finds, const struct app_report *app)
{
        struct powers whole, part;
        size_t first = finds->n;
        int err;

        if (app->n_own <= BUG_CLIENTS_MIN)
                return 0;
        err = measure(finds, app->own, app->n_own, judging->usual, &whole);
        if (err < 0 || whole.n <= BUG_CLIENTS_MIN)
                return err;
        err = add_bugs(judging, finds, app, &whole, &whole);
        for (size_t i = whole.n; !err && i < app->n_own; i += part.n) {
                err = measure(finds, app->own + i, app->n_own - i, judging->usual, &part);
                if (!err && part.n > BUG_CLIENTS_MIN)
                        err = add_bugs(judging, finds, app, &part, &whole);
        }
        finds->pairs += whole.n;
        keep_once(finds, first);
        if (drop_binomial_upper(finds->n - first, whole.n, BUG_SHARE) < BUG_SHARE_P)
                finds->n = first;
        return err;
}

static int compare_found(const void *key, const void *element)
{
        int64_t client = *(const int64_t *)key, other = ((const struct bug_report *)element)->client;

        return client < other ? -1 : client > other;
}

static int compare_uses(const void *a, const void *b)
{
        uint32_t x = ((const struct drop_use *)a)->client, y = ((const struct drop_use *)b)->client;

        return x < y ? -1 : x > y;
}

/* Takes the clients of the bugs away, and compares the app on the others, in an order that no thread changes. */
static int judge_app(const struct judging *judging, struct finds *finds, struct app_report *app)
{
        const struct report *report = judging->report;
        size_t first = finds->n, kept = 0;
        int err = find_bugs_of(judging, finds, app);

        if (err < 0)
                return err;
        if (app->n_uses)
                qsort(app->uses, app->n_uses, sizeof(*app->uses), compare_uses);
        for (size_t i = 0; i < app->n_uses; i++) {
                int64_t client = report->clients_used[app->uses[i].client];

                if (finds->n == first || !bsearch(&client, finds->bugs + first, finds->n - first, sizeof(*finds->bugs),
                                                  compare_found))
                        app->uses[kept++] = app->uses[i];
        }
        return drop_compare(app->uses, kept, report->middle_rate, &report->groups, false, &app->drop);
}

static int judge_apps(void *data, size_t thread)
{
        struct judging *judging = data;
        int err = 0;

        for (size_t app; !err && (app = atomic_fetch_add(&judging->next, 1)) < judging->report->n_apps;)
                err = judge_app(judging, &judging->finds[thread], &judging->report->apps[app]);
        return err;
}

/* Sorts the powers of all apps, and measures each as a whole. */
static int measure_apps(void *data, size_t thread)
{
        struct judging *judging = data;
        int err = 0;

        for (size_t i; !err && (i = atomic_fetch_add(&judging->next, 1)) < judging->report->n_apps;) {
                struct app_report *app = &judging->report->apps[i];
                struct powers whole;

                if (app->n_own <= BUG_CLIENTS_MIN)
                        continue;
                qsort(app->own, app->n_own, sizeof(*app->own), compare_parts);
                err = measure(&judging->finds[thread], app->own, app->n_own, 0, &whole);
                judging->deviations[i] = !err && whole.n > BUG_CLIENTS_MIN ? whole.deviation : 0;
        }
        return err;
}

static int find_usual(struct judging *judging, size_t n_threads)
{
        size_t n = judging->report->n_apps, kept = 0;
        int err;

        judging->deviations = calloc(n + 1, sizeof(*judging->deviations));
        if (!judging->deviations)
                return -ENOMEM;
        err = threads_run(measure_apps, judging, n_threads);
        for (size_t i = 0; i < n; i++)
                if (judging->deviations[i] > 0)
                        judging->deviations[kept++] = judging->deviations[i];
        judging->usual = kept ? median(judging->deviations, kept) : 0;
        judging->next = 0;
        free(TAKE_PTR(judging->deviations));
        return err;
}

static int find_candidates(void *data, size_t thread)
{
        struct judging *judging = data;
        int err = 0;

        for (size_t i; !err && (i = atomic_fetch_add(&judging->next, 1)) < judging->report->n_apps;)
                err = find_bugs_of(judging, &judging->finds[thread], &judging->report->apps[i]);
        return err;
}

/*
 * Finds the largest chance with which a pair is a bug: the k-th least of n is at most BUG_Q k / n (Benjamini and
 * Hochberg). A part of the app counts as a test, too; no pair counts among the k that another reason explains.
 */
static int find_chance_max(struct judging *judging, size_t n_threads)
{
        _cleanup_free_ double *all = NULL;
        size_t n = 0, tests = 0;
        int err;

        judging->chance_max = BUG_Q;
        err = threads_run(find_candidates, judging, n_threads);
        for (size_t i = 0; i < n_threads; i++)
                n += judging->finds[i].n;
        all = malloc((n + 1) * sizeof(*all));
        if (err < 0 || !all)
                return err < 0 ? err : -ENOMEM;
        n = 0;
        for (size_t i = 0; i < n_threads; i++) {
                struct finds *finds = &judging->finds[i];

                tests += finds->tests;
                for (size_t k = 0; k < finds->n; k++)
                        all[n++] = finds->bugs[k].chance;
                finds->n = finds->pairs = 0;
        }
        if (n)
                qsort(all, n, sizeof(*all), compare_doubles);
        while (n > 0 && all[n - 1] * (double)tests > BUG_Q * (double)n)
                n--;
        judging->chance_max = n > 0 ? all[n - 1] : -1;
        judging->next = 0;
        return 0;
}

static int take_finds(struct report *report, struct finds *finds, size_t n)
{
        size_t all = 0;

        for (size_t i = 0; i < n; i++)
                all += finds[i].n;
        report->bugs = calloc(all + 1, sizeof(*report->bugs));
        if (!report->bugs)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                if (finds[i].n)
                        memcpy(report->bugs + report->n_bugs, finds[i].bugs, finds[i].n * sizeof(*report->bugs));
                report->n_bugs += finds[i].n;
                report->own_pairs += finds[i].pairs;
        }
        return 0;
}

int report_find_bugs(struct report *report)
{
        size_t n = threads_count();
        struct finds *finds = calloc(n, sizeof(*finds));
        struct judging judging = { .report = report, .finds = finds };
        int err = finds ? find_usual(&judging, n) : -ENOMEM;

        if (!err)
                err = find_chance_max(&judging, n);
        if (!err)
                err = threads_run(judge_apps, &judging, n);
        if (!err)
                err = take_finds(report, finds, n);
        for (size_t i = 0; finds && i < n; i++) {
                free(finds[i].bugs);
                free(finds[i].logs);
                free(finds[i].kinds);
        }
        free(finds);
        return err;
}
