/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * CPU time over operating points. If the kernel counted it by frequency
 * (cpu_opp_ns, opps_counted) it is exact. Else it is split: among policies by
 * their busy time, as it is not known on which one a process ran, and within a
 * policy by the time it spent at each frequency.
 */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "interval-private.h"
#include "util/units.h"
#include "util/util.h"

/*
 * Splits @total over @n weights so that the parts sum to @total exactly: each part is the difference of two
 * rounded running sums, so an error of one unit never adds up. All weights 0: everything goes to the first.
 */
static void interval_split_by_weight(uint64_t total, const uint64_t *weight, size_t n, uint64_t *part)
{
        uint64_t sum = 0, running = 0, given = 0;

        for (size_t i = 0; i < n; i++)
                sum += weight[i];
        for (size_t i = 0; i < n; i++) {
                uint64_t until;

                running += weight[i];
                until = sum ? mul_div(total, running, sum) : total;
                part[i] = until - given;
                given = until;
        }
}

void cpu_split_clear(struct cpu_split *split)
{
        free(split->points);
        free(split->weights);
        free(split->parts);
        free(split->rest);
        free(split->shares.list);
        *split = (struct cpu_split){ 0 };
}

static int make_room(struct cpu_split *split, size_t n)
{
        int err = util_grow(&split->points, &split->capacity, n, sizeof(*split->points));

        if (!err)
                err = util_grow(&split->weights, &split->weights_capacity, n, sizeof(*split->weights));
        if (!err)
                err = util_grow(&split->parts, &split->parts_capacity, n, sizeof(*split->parts));
        if (!err)
                err = util_grow(&split->rest, &split->rest_capacity, n, sizeof(*split->rest));
        if (err)
                return err;
        split->n = n;
        split->excess_ns = 0;
        split->shares.n = 0;
        memset(split->points, 0, n * sizeof(*split->points));
        memset(split->weights, 0, n * sizeof(*split->weights));
        return 0;
}

/* The list stays the same as long as the machine runs, except when a policy comes with its first CPU. */
static const struct opp *same_opp(const struct sample *sample, size_t guess, const struct opp *opp)
{
        for (size_t i = 0; i < sample->n_opps; i++) {
                const struct opp *other = &sample->opps[(guess + i) % sample->n_opps];

                if (other->policy == opp->policy && other->khz == opp->khz)
                        return other;
        }
        return NULL;
}

static void read_points(const struct sample *before, const struct sample *now, bool counted, uint64_t most_ns,
                        struct cpu_split *split)
{
        for (size_t i = 0; i < now->n_opps; i++) {
                const struct opp *opp = &now->opps[i], *old = same_opp(before, i, opp);
                struct cpu_point *point = &split->points[i];

                point->policy = opp->policy;
                point->khz = opp->khz;
                if (!old)
                        continue;
                point->time_ns = growth(old->time_ns, opp->time_ns, most_ns);
                if (counted) {
                        point->busy_ns = growth(old->busy_ns, opp->busy_ns, most_ns * MOST_CPUS);
                        point->any_ns = growth(old->any_ns, opp->any_ns, most_ns);
                }
        }
}

/* Busy time of the cores of a policy, and the share of the time in which none of them was busy. */
struct policy_load {
        uint64_t busy_ns;
        double all_idle;
};

static struct policy_load load_of(const struct sample *before, const struct sample *now, uint32_t policy,
                                  uint64_t awake_ns)
{
        struct policy_load load = { .all_idle = 1 };
        size_t old = 0;

        for (size_t i = 0; i < now->n_cores; i++) {
                const struct core *core = &now->cores[i];
                uint64_t busy_ns;

                while (old < before->n_cores && before->cores[old].cpu < core->cpu)
                        old++;
                if (core->policy != policy || old == before->n_cores || before->cores[old].cpu != core->cpu)
                        continue;
                busy_ns = growth(before->cores[old].busy_ns, core->busy_ns, awake_ns + NS_PER_S);
                busy_ns = MIN(busy_ns, awake_ns); /* ticks may count one more than the clock */
                load.busy_ns += busy_ns;
                if (awake_ns > 0)
                        load.all_idle *= 1 - (double)busy_ns / (double)awake_ns;
        }
        return load;
}

/* One policy's points [from, to): busy time by time at each frequency, any = T * (1 - prod(1 - u_c)). */
static void estimate_policy(struct cpu_split *split, size_t from, size_t to, const struct policy_load *load)
{
        uint64_t *weights = split->weights + from, *parts = split->parts + from;

        for (size_t i = from; i < to; i++)
                split->weights[i] = split->points[i].time_ns;
        interval_split_by_weight(load->busy_ns, weights, to - from, parts);
        for (size_t i = from; i < to; i++) {
                struct cpu_point *point = &split->points[i];

                point->busy_ns = split->parts[i];
                point->any_ns = MIN((uint64_t)llround((double)point->time_ns * (1 - load->all_idle)),
                                    point->busy_ns);
        }
}

static void estimate_busy(const struct sample *before, const struct sample *now, uint64_t awake_ns,
                          struct cpu_split *split)
{
        for (size_t from = 0, to; from < split->n; from = to) {
                struct policy_load load = load_of(before, now, split->points[from].policy, awake_ns);

                for (to = from; to < split->n && split->points[to].policy == split->points[from].policy;)
                        to++;
                estimate_policy(split, from, to, &load);
        }
}

/* Time in which the CPUs of a policy were not idle. False: one of them does not show it. */
static bool awake_of(const struct sample *before, const struct sample *now, uint32_t policy, uint64_t awake_ns,
                     uint64_t *ret)
{
        size_t old = 0;

        *ret = 0;
        for (size_t i = 0; i < now->n_cores; i++) {
                const struct core *core = &now->cores[i];

                while (old < before->n_cores && before->cores[old].cpu < core->cpu)
                        old++;
                if (core->policy != policy)
                        continue;
                if (old == before->n_cores || before->cores[old].cpu != core->cpu || before->cores[old].idle_ns == 0 ||
                    core->idle_ns < before->cores[old].idle_ns)
                        return false;
                *ret += awake_ns - MIN(awake_ns, core->idle_ns - before->cores[old].idle_ns);
        }
        return *ret > 0;
}

/* Interrupts of a CPU that was idle are nobody's time, and at the frequencies that its policy had. */
static void add_interrupts(struct cpu_split *split, size_t from, size_t to, uint64_t not_idle_ns)
{
        uint64_t busy_ns = 0;

        for (size_t i = from; i < to; i++) {
                busy_ns += split->points[i].busy_ns;
                split->weights[i] = split->points[i].time_ns;
        }
        split->excess_ns += busy_ns - MIN(busy_ns, not_idle_ns);
        if (not_idle_ns <= busy_ns)
                return;
        interval_split_by_weight(not_idle_ns - busy_ns, split->weights + from, to - from, split->parts + from);
        for (size_t i = from; i < to; i++) {
                struct cpu_point *point = &split->points[i];

                point->busy_ns += split->parts[i];
                point->any_ns = MAX(point->any_ns, MIN(point->any_ns + split->parts[i], point->time_ns));
        }
}

/*
 * Adds the time of interrupts. Task switches give the time of tasks, and the kernel also shows the idle time of each
 * CPU; interrupts are in neither, and are a large part of the work of storage and network.
 */
static void count_interrupts(const struct sample *before, const struct sample *now, uint64_t awake_ns,
                             struct cpu_split *split)
{
        uint64_t not_idle_ns;

        for (size_t from = 0, to; from < split->n; from = to) {
                for (to = from; to < split->n && split->points[to].policy == split->points[from].policy;)
                        to++;
                if (awake_of(before, now, split->points[from].policy, awake_ns, &not_idle_ns))
                        add_interrupts(split, from, to, not_idle_ns);
        }
}

static uint32_t package_of(const struct sample *now, uint32_t policy)
{
        for (size_t i = 0; i < now->n_cores; i++)
                if (now->cores[i].policy == policy)
                        return now->cores[i].package;
        return 0;
}

/*
 * How long any of the policies of a package was busy,
 * if they are busy independently of each other; the sum over all of them.
 */
static uint64_t package_any(const struct sample *now, uint32_t package, uint64_t awake_ns,
                            const struct cpu_split *split, uint64_t *sum_ns)
{
        double all_idle = 1;

        *sum_ns = 0;
        for (size_t from = 0, to; from < split->n; from = to) {
                uint64_t any_ns = 0;

                for (to = from; to < split->n && split->points[to].policy == split->points[from].policy; to++)
                        any_ns += split->points[to].any_ns;
                if (package_of(now, split->points[from].policy) != package)
                        continue;
                *sum_ns += any_ns;
                all_idle *= 1 - fmin((double)any_ns / (double)awake_ns, 1);
        }
        return (uint64_t)llround((double)awake_ns * (1 - all_idle));
}

/*
 * CPUs with a clock each: their shared units, whose coefficient is S, are the package's (its caches, its memory
 * controller), and one busy CPU keeps these awake for all. So the time with any CPU busy counts once for the package,
 * and is split among its operating points by their busy time.
 */
static void share_package(const struct sample *now, uint32_t package, uint64_t awake_ns,
                          struct cpu_split *split)
{
        uint64_t sum_ns, any_ns = package_any(now, package, awake_ns, split, &sum_ns);

        for (size_t i = 0; i < split->n && sum_ns > 0; i++)
                if (split->points[i].any_ns > 0 && package_of(now, split->points[i].policy) == package)
                        split->points[i].any_ns = mul_div(split->points[i].any_ns, MIN(any_ns, sum_ns),
                                                          sum_ns);
}

static void share_packages(const struct sample *now, uint64_t awake_ns, struct cpu_split *split)
{
        uint32_t done = 0; /* packages are numbered by their first policy, so they begin in that order */

        for (size_t i = 0; i < now->n_cores && awake_ns > 0; i++) {
                if (now->cores[i].package <= done)
                        continue;
                done = now->cores[i].package;
                share_package(now, done, awake_ns, split);
        }
}

/*
 * Nothing was busy by the machine's clock, and yet a process ran:
 * by time, else by all the time since boot.
 */
static void choose_weights(const struct sample *now, struct cpu_split *split)
{
        uint64_t busy = 0, time = 0;

        for (size_t i = 0; i < split->n; i++) {
                busy += split->points[i].busy_ns;
                time += split->points[i].time_ns;
        }
        for (size_t i = 0; i < split->n; i++)
                split->weights[i] = busy   ? split->points[i].busy_ns
                                    : time ? split->points[i].time_ns
                                           : (now->have & SAMPLE_OPPS ? now->opps[i].time_ns >> 8 : 1);
}

static enum cpu_split_by split_by(const struct sample *now, bool counted)
{
        bool known = false;

        for (size_t i = 0; (now->have & SAMPLE_OPPS) && i < now->n_opps; i++)
                known = known || now->opps[i].khz != KHZ_UNKNOWN;
        if (!known)
                return SPLIT_UNKNOWN;
        if (now->n_opps == 1)
                return SPLIT_NONE;
        return counted ? SPLIT_COUNTED : SPLIT_SHARED;
}

int cpu_split_make(const struct sample *before, const struct sample *now, uint64_t awake_ns,
                   struct cpu_split *ret)
{
        uint32_t have = before->have & now->have;
        uint64_t most_ns = awake_ns + 60 * NS_PER_S; /* kernels refresh time_in_state when the frequency changes */
        bool opps = (now->have & SAMPLE_OPPS) && now->n_opps > 0;
        bool counted = (have & SAMPLE_OPPS) && opps && before->opps_counted && now->opps_counted;
        int err = make_room(ret, opps ? now->n_opps : 1);

        if (err)
                return err;
        ret->n_cpus = now->have & SAMPLE_CORES ? (uint32_t)now->n_cores : 0;
        ret->by = split_by(now, counted);
        ret->counted = counted || (have & SAMPLE_CORES);
        if (opps)
                read_points(before, now, counted, most_ns, ret);
        else
                ret->points[0] = (struct cpu_point){ .khz = KHZ_UNKNOWN, .time_ns = awake_ns };
        if (counted && (have & SAMPLE_CORES))
                count_interrupts(before, now, awake_ns, ret);
        else if (have & SAMPLE_CORES)
                estimate_busy(before, now, awake_ns, ret);
        share_packages(now, awake_ns, ret);
        choose_weights(now, ret);
        return 0;
}

/* The list of points with the CPU time of each; zeros are left out. */
static int make_points(const struct cpu_split *split, const uint64_t *part, struct points *ret)
{
        struct points points = { 0 };
        size_t n = 0;

        for (size_t i = 0; i < split->n; i++)
                n += part[i] > 0;
        points.list = n ? calloc(n, sizeof(*points.list)) : NULL;
        if (n && !points.list)
                return -ENOMEM;
        for (size_t i = 0; i < split->n; i++)
                if (part[i] > 0)
                        points.list[points.n++] = (struct point){ .policy = split->points[i].policy,
                                                                  .khz = split->points[i].khz,
                                                                  .busy_ns = part[i] };
        *ret = points;
        return 0;
}

bool cpu_split_process(const struct cpu_split *split, const struct process *before, const struct process *now,
                       const size_t *opp_of, uint64_t most_ns, uint64_t *opp_ns, uint64_t *cpu_ns)
{
        bool exact = (now->have & PROCESS_CPU_OPPS) && now->cpu_opp_ns &&
                     (!before || ((before->have & PROCESS_CPU_OPPS) && before->cpu_opp_ns));
        bool ran = false;

        if (!exact) {
                *cpu_ns = growth(before ? before->cpu_ns : 0, now->cpu_ns, most_ns);
                return *cpu_ns > 0;
        }
        for (size_t i = 0; i < split->n; i++) {
                opp_ns[i] = growth(before ? before->cpu_opp_ns[opp_of[i]] : 0, now->cpu_opp_ns[i], most_ns);
                ran = ran || opp_ns[i] > 0;
        }
        return ran;
}

int cpu_split_owner(struct cpu_split *split, const struct tally *tally, struct points *ret)
{
        interval_split_by_weight(tally->cpu_ns, split->weights, split->n, split->parts);
        for (size_t i = 0; i < split->n; i++) {
                split->parts[i] += tally->opp_ns ? tally->opp_ns[i] : 0;
                split->points[i].owned_ns += split->parts[i];
        }
        return make_points(split, split->parts, ret);
}

int cpu_split_finish(struct cpu_split *split, struct points *shape)
{
        bool shared = split->by != SPLIT_COUNTED && split->n > 1;
        struct point *list = reallocarray(split->shares.list, split->n, sizeof(*list));

        if (!list)
                return -ENOMEM;
        split->shares = (struct points){ list, 0 };
        for (size_t i = 0; i < split->n; i++) {
                const struct cpu_point *point = &split->points[i];
                uint64_t whole = MAX(point->busy_ns, point->owned_ns), any = MIN(point->any_ns, point->busy_ns);
                uint64_t weight = shared ? split->weights[i] : whole;

                if (weight > 0)
                        list[split->shares.n++] = (struct point){ .policy = point->policy, .khz = point->khz,
                                                                  .busy_ns = weight,
                                                                  .any_ns = mul_div(any, weight, whole) };
        }
        if (!shared)
                return 0;
        shape->list = reallocarray(NULL, MAX(split->shares.n, (size_t)1), sizeof(*list));
        if (!shape->list)
                return -ENOMEM;
        shape->n = split->shares.n;
        memcpy(shape->list, list, shape->n * sizeof(*list));
        return 0;
}

void cpu_split_any(const struct cpu_split *split, struct points *points)
{
        const struct point *share = split->shares.list, *end = share + split->shares.n;

        for (size_t i = 0; i < points->n; i++) {
                struct point *point = &points->list[i];

                while (share < end && (share->policy != point->policy || share->khz != point->khz))
                        share++;
                point->any_ns = share < end ? mul_div(share->any_ns, point->busy_ns, share->busy_ns) : 0;
        }
}

/* Without a count of the machine's own it was as busy as its processes, and never two of them at once. */
static void follow_owners(struct cpu_split *split)
{
        for (size_t i = 0; i < split->n; i++) {
                split->points[i].busy_ns = split->points[i].owned_ns;
                split->points[i].any_ns = MIN(split->points[i].owned_ns, split->points[i].time_ns);
        }
}

int cpu_split_rest(struct cpu_split *split, uint64_t *debt_ns, uint64_t most_debt_ns, struct points *ret)
{
        uint64_t rest = 0, debt = *debt_ns + split->excess_ns, paid;

        if (!split->counted)
                follow_owners(split);
        for (size_t i = 0; i < split->n; i++) {
                const struct cpu_point *point = &split->points[i];

                split->rest[i] = point->busy_ns - MIN(point->busy_ns, point->owned_ns);
                rest += split->rest[i];
                debt += point->owned_ns - MIN(point->busy_ns, point->owned_ns);
        }
        paid = MIN(rest, debt);
        *debt_ns = MIN(debt - paid, most_debt_ns);
        interval_split_by_weight(rest - paid, split->rest, split->n, split->parts);
        return make_points(split, split->parts, ret);
}

/*
 * Time with no core busy of points [from, to), which are one policy's. If the time by frequency is not known, the
 * policy's total.
 */
static int idle_of(const struct cpu_split *split, size_t from, size_t to, uint64_t awake_ns, struct points *points)
{
        uint64_t time_ns = 0, any_ns = 0;
        int err = 0;

        for (size_t i = from; i < to; i++) {
                const struct cpu_point *point = &split->points[i];

                time_ns += point->khz != KHZ_UNKNOWN ? point->time_ns : 0;
                any_ns += MIN(point->any_ns, point->busy_ns);
        }
        if (time_ns == 0)
                return usage_points_add(points, &(struct point){ .policy = split->points[from].policy,
                                                                 .khz = KHZ_UNKNOWN,
                                                                 .idle_ns = awake_ns - MIN(awake_ns, any_ns) });
        for (size_t i = from + 1; !err && i < to; i++) {
                const struct cpu_point *point = &split->points[i];
                uint64_t busy_ns = MIN(point->any_ns, point->busy_ns);
                uint64_t idle_ns = point->time_ns - MIN(point->time_ns, busy_ns);

                if (idle_ns > 0)
                        err = usage_points_add(points, &(struct point){ .policy = point->policy, .khz = point->khz,
                                                                        .idle_ns = idle_ns });
        }
        return err;
}

int cpu_split_idle(const struct cpu_split *split, uint64_t awake_ns, struct points *points)
{
        int err = 0;

        for (size_t from = 0, to; !err && from < split->n; from = to) {
                for (to = from; to < split->n && split->points[to].policy == split->points[from].policy;)
                        to++;
                err = idle_of(split, from, to, awake_ns, points);
        }
        return err;
}
