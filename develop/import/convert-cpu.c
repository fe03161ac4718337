/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convert-private.h"
#include "util/util.h"
#include "util/words.h"

#define CLUSTERS_MAX CONVERT_CLUSTERS_MAX
#define CORES_MAX 64
#define KHZ_MIN 10000
#define KHZ_MAX 10000000
#define LEAST_MA 10 /* the fastest core at its highest frequency takes more; else nobody measured it */

/* Currents of one core, by its frequency. */
struct cluster {
        const struct power_item *speeds, *currents;
        double shared_ma;
        unsigned first, cores;
};

static const struct power_item *find(const struct power_profile *from, const char *name, bool numbered, size_t number)
{
        char whole[POWER_NAME_MAX];

        if (numbered)
                snprintf(whole, sizeof(whole), "%s.cluster%zu", name, number);
        else
                snprintf(whole, sizeof(whole), "%s", name);
        return power_profile_find(from, whole);
}

/* Finds a cluster by the names of Android 8 and later, those of 6 and 7, and those before there were clusters. */
static bool find_cluster(const struct conversion *conversion, size_t number, struct cluster *cluster)
{
        static const struct {
                const char *speeds, *currents;
                bool numbered;
        } names[] = { { "cpu.core_speeds", "cpu.core_power", true }, { "cpu.speeds", "cpu.active", true },
                      { "cpu.speeds", "cpu.active", false } };
        char shared[POWER_NAME_MAX];

        snprintf(shared, sizeof(shared), "cpu.cluster_power.cluster%zu", number);
        cluster->shared_ma = convert_or_zero(convert_current(conversion, shared)) +
                             convert_or_zero(convert_current(conversion, "cpu.active"));
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                cluster->speeds = find(conversion->from, names[i].speeds, names[i].numbered, number);
                cluster->currents = find(conversion->from, names[i].currents, names[i].numbered, number);
                if (cluster->speeds && cluster->currents)
                        return names[i].numbered || number == 0;
        }
        return false;
}

/* Counts clusters by the names of their speeds, where the file does not list them. */
static size_t count_clusters(const struct conversion *conversion)
{
        struct cluster cluster;
        size_t n = 0;

        while (n < CLUSTERS_MAX && find_cluster(conversion, n, &cluster))
                n++;
        return MAX(n, (size_t)1);
}

/* Does --cpus name another number of clusters than @n? */
static bool is_other(const struct convert_plan *plan, size_t n)
{
        return plan->n_cores > 0 && plan->n_cores != n;
}

/* Reads the cores of each cluster: the user's, else the file's, else one. False: impossible numbers. */
static bool read_cores(const struct conversion *conversion, struct cluster *clusters, size_t *ret_n)
{
        const struct power_item *item = power_profile_find(conversion->from, "cpu.clusters.cores");
        const unsigned *given = conversion->plan->cores;
        size_t n = item ? item->n : count_clusters(conversion), n_given = conversion->plan->n_cores;
        unsigned first = 0;

        *ret_n = n;
        if (n < 1 || n > CLUSTERS_MAX || is_other(conversion->plan, n))
                return false;
        for (size_t i = 0; i < n; i++) {
                double cores = n_given ? given[i] : item ? item->values[i] : 1;

                if (!(cores >= 1 && cores <= CORES_MAX) || cores > floor(cores))
                        return false;
                clusters[i].first = first;
                clusters[i].cores = (unsigned)cores;
                first += clusters[i].cores;
        }
        return first <= CORES_MAX;
}

static bool speeds_are_possible(const struct power_item *speeds)
{
        for (size_t i = 0; i < speeds->n; i++) {
                if (!(speeds->values[i] >= KHZ_MIN && speeds->values[i] <= KHZ_MAX))
                        return false;
                for (size_t j = 0; j < i; j++)
                        if (lround(speeds->values[i]) == lround(speeds->values[j]))
                                return false;
        }
        return speeds->n > 0;
}

/* Are these the currents of the example in Android's documentation? */
static bool is_example(const struct power_item *currents)
{
        bool first = false, second = false;

        for (size_t i = 0; i < currents->n; i++) {
                first |= fabs(currents->values[i] - 1.11) < 1e-9;
                second |= fabs(currents->values[i] - 2.55) < 1e-9;
        }
        return first && second;
}

static double most_of(const struct power_item *currents)
{
        double most = 0;

        for (size_t i = 0; i < currents->n; i++)
                most = fmax(most, currents->values[i]);
        return most;
}

/* NULL, or why this cluster is not to be believed. */
static const char *fault_of(const struct cluster *cluster)
{
        if (cluster->speeds->n != cluster->currents->n)
                return N_("a cluster has another number of speeds than of currents");
        if (!speeds_are_possible(cluster->speeds))
                return N_("its speeds are not in kHz, or one is there twice");
        if (most_of(cluster->currents) > CONVERT_MOST_MA)
                return N_("its currents are not in mA");
        return is_example(cluster->currents) ? N_("its currents are those of Android's example") : NULL;
}

/* Does a higher frequency take less? */
static bool falls(const struct cluster *cluster)
{
        const double *khz = cluster->speeds->values, *ma = cluster->currents->values;

        for (size_t i = 0; i < cluster->speeds->n; i++)
                for (size_t j = 0; j < cluster->speeds->n; j++)
                        if (khz[i] < khz[j] && ma[i] > ma[j])
                                return true;
        return false;
}

static void write_cluster(struct conversion *conversion, const struct cluster *cluster)
{
        size_t lowest = 0;

        fprintf(conversion->to, "; %s and %s, in mA at %g V\n[cpu %u]\ncpus = ", cluster->speeds->name,
                cluster->currents->name, CONVERT_VOLTS, cluster->first);
        if (cluster->cores > 1)
                fprintf(conversion->to, "%u-%u\n", cluster->first, cluster->first + cluster->cores - 1);
        else
                fprintf(conversion->to, "%u\n", cluster->first);
        for (size_t i = 0; i < cluster->speeds->n; i++) {
                fprintf(conversion->to, "active_mw.%ld = %.6g\n", lround(cluster->speeds->values[i]),
                        cluster->currents->values[i] * CONVERT_VOLTS);
                lowest = cluster->speeds->values[i] < cluster->speeds->values[lowest] ? i : lowest;
        }
        /* The power while any core runs, at whatever frequency. */
        if (cluster->shared_ma > 0)
                fprintf(conversion->to, "; cpu.active and cpu.cluster_power: %g mA\nshared_mw.%ld = %.6g\n",
                        cluster->shared_ma, lround(cluster->speeds->values[lowest]),
                        cluster->shared_ma * CONVERT_VOLTS);
}

int convert_cpu(struct conversion *conversion)
{
        const struct convert_plan *plan = conversion->plan;
        struct cluster clusters[CLUSTERS_MAX] = { 0 };
        const char *fault = NULL;
        double most = 0;
        bool fall = false;
        size_t n;

        if (!read_cores(conversion, clusters, &n)) {
                if (is_other(plan, n)) {
                        log_error(plan->log,
                                  "%s has currents of %zu clusters of cores, and --cpus says %zu; give as many "
                                  "numbers, as in 4+4",
                                  plan->source, n, plan->n_cores);
                        return -EINVAL;
                }
                fault = N_("cpu.clusters.cores are no numbers of cores");
        }
        for (size_t i = 0; !fault && i < n; i++) {
                if (!find_cluster(conversion, i, &clusters[i])) {
                        fault = N_("a cluster has no speeds, or no currents by speed");
                        break;
                }
                fault = fault_of(&clusters[i]);
                most = fmax(most, most_of(clusters[i].currents));
                fall |= !fault && falls(&clusters[i]);
        }
        if (!fault && most <= LEAST_MA)
                fault = N_("no core takes more than 10 mA");
        if (fault) {
                convert_leave_out(conversion, N_("the CPU"), fault);
                return 0;
        }
        if (plan->n_cores == 0 && !power_profile_find(conversion->from, "cpu.clusters.cores"))
                log_warning(plan->log, "%s does not say how many cores there are: one is assumed; say it with --cpus",
                            plan->source);
        if (fall)
                log_warning(plan->log, "%s: a core takes less at a higher frequency than at a "
                            "lower one; the numbers are taken as they are", plan->source);
        for (size_t i = 0; i < n; i++)
                write_cluster(conversion, &clusters[i]);
        conversion->kept++;
        return 0;
}
