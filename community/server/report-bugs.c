/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Finds bugs: apps that take much more energy on one client than on others.
 *
 * Method: compare the app's own power, as each device's model attributes it, with the app's median over all
 * clients, on a logarithmic scale; the spread is the median absolute deviation. An excess of BUG_RATIO times
 * that is no chance is a bug, unless many clients have it: that is a kind of device. The battery's
 * rate is no use for this: only 1 to 8 of 100 bugs found with it were real (community/METHOD.md).
 *
 * A client with a bug of an app says nothing of that app on others. So bugs are found first, and each app is then
 * compared on the other clients.
 */

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

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
#define BUG_SHARE 0.1 /* if more than this part of all clients have it, it is a kind of use and no bug */
#define BUG_SHARE_P 0.05 /* level of the binomial test that it is more */
#define NORMAL_95 1.96
#define WATTS_MIN 1e-3

/* Findings of one thread. */
struct finds {
        struct bug_report *bugs;
        size_t n, capacity, pairs;
        double *chances; /* that a client differs so much by chance, of each pair that may be a bug */
        size_t n_chances, chances_capacity, tests;
        double *logs; /* scratch: logarithms of an app's power on each client */
        size_t logs_capacity;
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

static double median(double *list, size_t n)
{
        qsort(list, n, sizeof(*list), compare_doubles);
        return n % 2 ? list[n / 2] : (list[n / 2 - 1] + list[n / 2]) / 2;
}

static double log_of(const struct own_use *own)
{
        return log(MAX((double)own->watts, WATTS_MIN));
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
 * are, but is itself as uncertain as a standard deviation of a third of the clients.
 */
static double deviation_of(double *distances, size_t n)
{
        double limit = WITHIN * MAD_TO_SIGMA * median(distances, n), sum = 0;
        size_t kept = 0;

        for (; kept < n && distances[kept] <= limit; kept++)
                sum += distances[kept] * distances[kept];
        return sqrt(sum / (double)kept / WITHIN_VARIANCE);
}

/* Measures the part that @list begins with. @usual: deviation of the middle app; 0: unknown. */
static int measure(struct finds *finds, const struct own_use *list, size_t n, double usual, struct powers *ret)
{
        struct powers powers = { .list = list };
        int err;

        while (powers.n < n && list[powers.n].part == list->part)
                powers.n++;
        err = util_grow(&finds->logs, &finds->logs_capacity, powers.n, sizeof(*finds->logs));
        if (err < 0)
                return err;
        for (size_t i = 0; i < powers.n; i++)
                finds->logs[i] = log_of(&list[i]);
        powers.middle = median(finds->logs, powers.n);
        for (size_t i = 0; i < powers.n; i++)
                finds->logs[i] = fabs(finds->logs[i] - powers.middle);
        powers.deviation = MAX(deviation_of(finds->logs, powers.n), DEVIATION_MIN);
        powers.deviation = at_least_usual(powers.deviation, (double)powers.n, usual);
        powers.degrees = (double)powers.n - 1 + (usual > 0 ? USUAL_CLIENTS : 0);
        *ret = powers;
        return 0;
}

/*
 * Can it be a bug? The excess of a component alone must make the app take BUG_RATIO times its power elsewhere.
 * Otherwise a component that is a small part of the app would count, too.
 */
static bool is_large(const struct own_use *own, const struct powers *powers, const struct powers *whole)
{
        if (!(log_of(own) - powers->middle > log(BUG_RATIO)) || own->contradicted)
                return false;
        return own->part == OWN_WHOLE || (double)own->watts - exp(powers->middle) > (BUG_RATIO - 1) *
               exp(whole->middle);
}

static double chance_of(const struct own_use *own, const struct powers *powers)
{
        return drop_student_upper((log_of(own) - powers->middle) / powers->deviation, powers->degrees);
}

static int add_chances(const struct judging *judging, struct finds *finds, const struct app_report *app,
                       const struct powers *powers, const struct powers *whole)
{
        finds->tests += powers->n;
        for (size_t i = 0; i < powers->n; i++) {
                if (!is_large(&powers->list[i], powers, whole))
                        continue;
                if (util_grow(&finds->chances, &finds->chances_capacity, finds->n_chances + 1,
                              sizeof(*finds->chances)) < 0)
                        return -ENOMEM;
                finds->chances[finds->n_chances++] = chance_of(&powers->list[i], powers);
        }
        return 0;
}

static int add_bugs(const struct judging *judging, struct finds *finds, const struct app_report *app,
                    const struct powers *powers, const struct powers *whole)
{
        for (size_t i = 0; i < powers->n; i++) {
                if (!is_large(&powers->list[i], powers, whole) ||
                    chance_of(&powers->list[i], powers) > judging->chance_max)
                        continue;
                if (util_grow(&finds->bugs, &finds->capacity, finds->n + 1, sizeof(*finds->bugs)) < 0)
                        return -ENOMEM;
                finds->bugs[finds->n++] = (struct bug_report){
                        .app = app->id, .client = powers->list[i].client, .others_watts = exp(whole->middle),
                        .others_low = exp(whole->middle - NORMAL_95 * whole->deviation),
                        .others_high = exp(whole->middle + NORMAL_95 * whole->deviation), .clients = whole->n - 1,
                        .confirmed = powers->list[i].confirmed, .of_part = powers != whole,
                };
        }
        return 0;
}

static int compare_clients(const void *a, const void *b)
{
        int64_t x = ((const struct bug_report *)a)->client, y = ((const struct bug_report *)b)->client;

        return x < y ? -1 : x > y;
}

/* The same client may have been found by the whole app and by some components; keeps one finding of them. */
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

static int compare_number(const void *key, const void *element)
{
        uint32_t number = *(const uint32_t *)key, other = ((const struct kind_power *)element)->number;

        return number < other ? -1 : number > other;
}

/* Lists the powers of all clients by kind. */
static void list_kinds(const struct report *report, const struct powers *powers, bool by_model, struct kind_power *list)
{
        for (size_t i = 0; i < powers->n; i++) {
                const struct client_kind kind = kind_of(report, powers->list[i].client);

                list[i] = (struct kind_power){ by_model ? kind.model : kind.os, log_of(&powers->list[i]) };
        }
        qsort(list, powers->n, sizeof(*list), compare_powers);
}

/* Is that power usual among clients of the same kind? It may be theirs, then, and no bug. */
static bool is_usual(const struct kind_power *list, size_t n, uint32_t number, double log_here)
{
        size_t first = util_lower_bound(&number, list, n, sizeof(*list), compare_number), end = first;

        while (end < n && list[end].number == number)
                end++;
        return number && end - first > BUG_CLIENTS_MIN && log_here - list[(first + end) / 2].log < log(BUG_RATIO);
}

static int compare_own(const void *key, const void *element)
{
        int64_t client = *(const int64_t *)key, other = ((const struct own_use *)element)->client;

        return client < other ? -1 : client > other;
}

/* Drops findings that the OS or the model of the client explains, and those that too many clients have. */
static int keep_rare(struct finds *finds, const struct report *report, const struct powers *whole, size_t first)
{
        _cleanup_free_ struct kind_power *list = NULL;

        if (finds->n == first)
                return 0;
        list = malloc((whole->n + 1) * sizeof(*list));
        if (!list)
                return -ENOMEM;
        for (int by_model = 0; by_model < 2; by_model++) {
                size_t kept = first;

                list_kinds(report, whole, by_model, list);
                for (size_t i = first; i < finds->n; i++) {
                        const struct bug_report *bug = &finds->bugs[i];
                        const struct client_kind kind = kind_of(report, bug->client);
                        const struct own_use *own = bsearch(&bug->client, whole->list, whole->n, sizeof(*own),
                                                            compare_own);

                        if (bug->of_part || !own ||
                            !is_usual(list, whole->n, by_model ? kind.model : kind.os, log_of(own)))
                                finds->bugs[kept++] = *bug;
                }
                finds->n = kept;
        }
        if (drop_binomial_upper(finds->n - first, whole->n, BUG_SHARE) < BUG_SHARE_P)
                finds->n = first;
        return 0;
}

typedef int visit_powers(const struct judging *judging, struct finds *finds, const struct app_report *app,
                         const struct powers *powers, const struct powers *whole);

/* Visits the powers of an app, as a whole and by component. @whole: gets those as a whole; n is 0 if they are few. */
static int each_part(const struct judging *judging, struct finds *finds, const struct app_report *app,
                     struct powers *whole, visit_powers *visit)
{
        struct powers part;
        int err = 0;

        *whole = (struct powers){ .n = 0 };
        if (app->n_own > BUG_CLIENTS_MIN)
                err = measure(finds, app->own, app->n_own, judging->usual, whole);
        if (err < 0 || whole->n <= BUG_CLIENTS_MIN) {
                whole->n = 0;
                return err;
        }
        err = visit(judging, finds, app, whole, whole);
        for (size_t i = whole->n; !err && i < app->n_own; i += part.n) {
                err = measure(finds, app->own + i, app->n_own - i, judging->usual, &part);
                if (!err && part.n > BUG_CLIENTS_MIN)
                        err = visit(judging, finds, app, &part, whole);
        }
        return err;
}

/* Judges all clients of one app. */
static int find_bugs_of(const struct judging *judging, struct finds *finds, const struct app_report *app)
{
        struct powers whole;
        size_t first = finds->n;
        int err = each_part(judging, finds, app, &whole, add_bugs);

        finds->pairs += whole.n;
        keep_once(finds, first);
        return err ? err : keep_rare(finds, judging->report, &whole, first);
}

static int compare_found(const void *key, const void *element)
{
        int64_t client = *(const int64_t *)key, other = ((const struct bug_report *)element)->client;

        return client < other ? -1 : client > other;
}

/* Takes the clients of the bugs away, and compares the app on the others. */
static int judge_app(const struct judging *judging, struct finds *finds, struct app_report *app)
{
        const struct report *report = judging->report;
        size_t first = finds->n, kept = 0;
        int err = find_bugs_of(judging, finds, app);

        if (err < 0)
                return err;
        for (size_t i = 0; i < app->n_uses; i++) {
                int64_t client = report->clients_used[app->uses[i].client];

                if (finds->n == first || !bsearch(&client, finds->bugs + first, finds->n - first, sizeof(*finds->bugs),
                                                  compare_found))
                        app->uses[kept++] = app->uses[i];
        }
        return drop_compare(app->uses, kept, report->middle_rate, &report->groups, &app->drop);
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

static int find_chances(void *data, size_t thread)
{
        struct judging *judging = data;
        int err = 0;

        for (size_t i; !err && (i = atomic_fetch_add(&judging->next, 1)) < judging->report->n_apps;) {
                struct powers whole;

                err = each_part(judging, &judging->finds[thread], &judging->report->apps[i], &whole, add_chances);
        }
        return err;
}

/*
 * Finds the largest chance with which a pair is a bug: the k-th least of n is at most BUG_Q k / n (Benjamini and
 * Hochberg). A part of the app counts as a pair, too.
 */
static int find_chance_max(struct judging *judging, size_t n_threads)
{
        _cleanup_free_ double *all = NULL;
        size_t n = 0, tests = 0;
        int err = threads_run(find_chances, judging, n_threads);

        for (size_t i = 0; i < n_threads; i++)
                n += judging->finds[i].n_chances;
        all = malloc((n + 1) * sizeof(*all));
        if (err < 0 || !all)
                return err < 0 ? err : -ENOMEM;
        n = 0;
        for (size_t i = 0; i < n_threads; i++) {
                tests += judging->finds[i].tests;
                for (size_t k = 0; k < judging->finds[i].n_chances; k++)
                        all[n++] = judging->finds[i].chances[k];
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
                free(finds[i].chances);
        }
        free(finds);
        return err;
}
