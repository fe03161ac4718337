/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "convert.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"
#include "util/words.h"

#define WIFI_VOLTS 3.7        /* voltage of the controllers, where the file names none */
#define WIFI_KBPS 20000.0     /* rate on the air: assumed, as in data/radios/wifi.ini */
#define WIFI_TAIL_MS 250      /* AT&T ARO's WiFi.conf */
#define CELLULAR_TAIL_MS 10000 /* tail of LTE, as in data/radios/lte.ini */
#define SIGNALS 3             /* high, medium, low */
/*
 * Power of a radio at rest in mW, where a file does not have it: as in data/radios/wifi.ini and lte.ini, with a
 * standard error of as much.
 */
#define WIFI_REST_MW 15
#define CELLULAR_REST_MW 20

/* Currents up to these are placeholders (docs/emulation.md). */
#define SCREEN_ON_LEAST_MA 1
#define SCREEN_FULL_LEAST_MA 10
#define RADIO_LEAST_MA 1

#define CONVERT_VOLTS 3.8     /* nominal voltage of a lithium battery */
#define CONVERT_MOST_MA 50000 /* no part of a device takes more, and sums of these are below a profile's bounds */

struct conversion {
        const struct power_profile *from;
        const struct convert_plan *plan;
        FILE *to;
        size_t kept, left_out; /* numbers of components */
};

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

/* A current in mA, above 0 and possible; else NaN, because 0 in these files means that nobody measured it. */
static double convert_current(const struct conversion *conversion, const char *name)
{
        double value = power_profile_value(conversion->from, name);

        return value > 0 && value <= CONVERT_MOST_MA ? value : NAN;
}

static double convert_or_zero(double value)
{
        return isnan(value) ? 0 : value;
}

static void convert_leave_out(struct conversion *conversion, const char *component, const char *why)
{
        conversion->left_out++;
        log_warning(conversion->plan->log, "%s: %s is left out: %s", conversion->plan->source, _(component), _(why));
}

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

/* 0; -EINVAL after its sentence: --cpus does not fit the file. */
static int convert_cpu(struct conversion *conversion)
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
                log_warning(plan->log, "%s does not say how many cores there are: one is assumed; give the number "
                                       "with --cpus",
                            plan->source);
        if (fall)
                log_warning(plan->log, "%s: a core takes less at a higher frequency than at a "
                            "lower one; the numbers are taken as they are", plan->source);
        for (size_t i = 0; i < n; i++)
                write_cluster(conversion, &clusters[i]);
        conversion->kept++;
        return 0;
}

static bool is_placeholder(double value)
{
        static const double usual[] = { 0, 0.1, 0.2, 1, 10 };

        for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
                if (fabs(value - usual[i]) < 1e-9)
                        return true;
        return false;
}

static bool is_mostly_placeholders(const struct power_profile *from)
{
        size_t placeholders = 0, items = 0;

        for (size_t i = 0; i < from->n; i++)
                if (!from->items[i].array && strcmp(from->items[i].name, "none") != 0) {
                        items++;
                        placeholders += is_placeholder(from->items[i].values[0]);
                }
        return 2 * placeholders > items;
}

/* 0; -EINVAL after its sentence. */
static int write_battery(struct conversion *conversion)
{
        double mah = power_profile_value(conversion->from, "battery.capacity"), mwh = conversion->plan->battery_mwh;
        const char *source = conversion->plan->source;

        if (isnan(mwh) && (isnan(mah) || mah < 10 || mah > 1e6)) {
                log_error(conversion->plan->log, "%s has no battery.capacity in mAh; give the energy with --battery "
                                                 "MWH", source);
                return -EINVAL;
        }
        if (isnan(mwh) && (fabs(mah - 1000) < 0.5 || (fabs(mah - 3000) < 0.5 && conversion->left_out))) {
                log_error(conversion->plan->log, "%s: battery.capacity = %g is the value of a file that nobody filled "
                                                 "in; give the battery's energy with --battery MWH", source, mah);
                return -EINVAL;
        }
        fprintf(conversion->to, "[battery]\nenergy_full_mwh = %.6g\n", isnan(mwh) ? mah * CONVERT_VOLTS : mwh);
        return 0;
}

/* Writes the power while awake and no CPU runs. Older files have no cpu.suspend, and cpu.awake on top of cpu.idle. */
static void write_base(struct conversion *conversion)
{
        static const char *const names[] = { "cpu.suspend", "cpu.idle", "cpu.awake" };
        double ma = 0;

        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                ma += convert_or_zero(convert_current(conversion, names[i]));

        if (!(ma > 0)) {
                convert_leave_out(conversion, N_("the base"), N_("cpu.idle and cpu.suspend are missing or 0"));
                return;
        }
        fprintf(conversion->to, "; cpu.suspend, cpu.idle and cpu.awake: %g mA at %g V\n[base]\npower_mw = %.6g\n", ma,
                CONVERT_VOLTS, ma * CONVERT_VOLTS);
        conversion->kept++;
}

/*
 * Writes the display. screen.full is the current of the highest brightness beyond screen.on. Where there are several
 * displays, the first counts.
 */
static void write_display(struct conversion *conversion)
{
        double on = convert_current(conversion, "screen.on"), full = convert_current(conversion, "screen.full");

        on = isnan(on) ? convert_current(conversion, "screen.on.display0") : on;
        full = isnan(full) ? convert_current(conversion, "screen.full.display0") : full;
        if (!(on > SCREEN_ON_LEAST_MA) || !(full > SCREEN_FULL_LEAST_MA)) {
                convert_leave_out(conversion, N_("the display"),
                                  N_("screen.on is at most 1 mA, or screen.full at most 10 mA, or one is missing"));
                return;
        }
        fprintf(conversion->to, "; screen.on: %g mA at brightness 0; screen.full: %g mA more at the highest; "
                "at %g V; colours are not known\n[display]\nmax_brightness = 255\npower_mw.0 = %.6g\n"
                "power_mw.255 = %.6g\n", on, full, CONVERT_VOLTS,
                on * CONVERT_VOLTS, (on + full) * CONVERT_VOLTS);
        conversion->kept++;
}

/* The voltage of a controller in V; some files have mV, and some V, as the value tells. */
static double controller_volts(const struct conversion *conversion, const char *name, double usual)
{
        double volts = convert_current(conversion, name);

        volts = volts > 100 ? volts / 1e3 : volts;
        return volts >= 2.5 && volts <= 5.5 ? volts : usual;
}

/* The power at rest as a number, with its standard error if it is assumed. @mw: NaN if the file does not have it. */
static const char *rest_power(double mw, double assumed_mw, char *buf, size_t size)
{
        if (isnan(mw))
                snprintf(buf, size, "%.6g %.6g", assumed_mw, assumed_mw);
        else
                snprintf(buf, size, "%.6g", mw);
        return buf;
}

static void say_assumed(const struct conversion *conversion, const char *radio, double assumed_mw)
{
        log_warning(conversion->plan->log,
                    "%s does not say what %s takes at rest: %g mW are assumed, with a standard error of as much",
                    conversion->plan->source, _(radio), assumed_mw);
}

/*
 * Writes WiFi, by currents of the controller or by those of older files, whose wifi.active is on top of wifi.on. The
 * controller's idle is a listening receiver, not a radio at rest.
 */
static void write_wifi(struct conversion *conversion)
{
        double idle = convert_or_zero(convert_current(conversion, "wifi.controller.idle")),
               on = convert_current(conversion, "wifi.on");
        double rx = convert_current(conversion, "wifi.controller.rx"),
               tx = convert_current(conversion, "wifi.controller.tx");
        double volts = controller_volts(conversion, "wifi.controller.voltage", WIFI_VOLTS), awake;
        bool controller = rx > RADIO_LEAST_MA && tx > RADIO_LEAST_MA;
        char rest[64];

        if (!controller) {
                rx = tx = convert_or_zero(on) + convert_current(conversion, "wifi.active");
                volts = CONVERT_VOLTS;
                idle = 0;
        }
        awake = fmax(rx, idle);
        if (!(rx > RADIO_LEAST_MA) || !(tx > RADIO_LEAST_MA)) {
                convert_leave_out(conversion, N_("WiFi"),
                                  N_("neither wifi.controller.rx and tx nor wifi.active say what traffic takes"));
                return;
        }
        if (isnan(on))
                say_assumed(conversion, N_("WiFi"), WIFI_REST_MW);
        fprintf(conversion->to,
                "; %s: listening %g, receiving %g, sending %g mA at %g V\n[radio wifi]\ninitial = idle\n"
                "phy_kbps_up = %.0f\nphy_kbps_down = %.0f\nverified = no\n"
                "source = currents of power_profile.xml; %d ms of listening after a packet and %.0f Mbit/s are "
                "assumed%s\n"
                "[radio wifi idle]\npower_mw = %s\non_tx = awake\non_rx = awake\n"
                "[radio wifi awake]\npower_mw = %.6g\ntx_nj_per_byte = %.6g\nafter = %d idle\n",
                controller ? "wifi.controller" : "wifi.on and wifi.active", idle, rx, tx, volts, WIFI_KBPS,
                WIFI_KBPS, WIFI_TAIL_MS, WIFI_KBPS / 1e3, isnan(on) ? ", and the power at rest" : "",
                rest_power(on * CONVERT_VOLTS, WIFI_REST_MW, rest, sizeof(rest)), awake * volts,
                fmax(0, tx - awake) * volts * 8e3 / WIFI_KBPS, WIFI_TAIL_MS);
        conversion->kept++;
}

/* The value of radio.on for a signal: its first is without a signal, its last with the best. NaN: there is none. */
static double bin(const struct power_item *item, int signal)
{
        size_t n = item ? item->n : 0;
        double ma = n ? item->values[signal == 0 ? n - 1 : signal == 1 ? n / 2 : MIN((size_t)1, n - 1)] : NAN;

        return ma <= CONVERT_MOST_MA ? ma : NAN;
}

/* A current of the modem, by its item, else by <modem>; @item: "modem.controller." and what <modem> calls it. */
static double modem_current(const struct conversion *conversion, const char *item)
{
        double current = convert_current(conversion, item);
        char name[POWER_NAME_MAX];

        snprintf(name, sizeof(name), "modem%s", strrchr(item, '.'));
        return isnan(current) ? convert_current(conversion, name) : current;
}

/* The power at rest in mW, by modem.controller.sleep, else by radio.on; NaN: neither is there. */
static double cellular_rest(const struct conversion *conversion, int signal, double volts)
{
        double sleep = modem_current(conversion, "modem.controller.sleep");
        double on = bin(power_profile_find(conversion->from, "radio.on"), signal);

        return !isnan(sleep) ? sleep * volts : on > 0 ? on * CONVERT_VOLTS : NAN;
}

/*
 * Writes the mobile network. radio.active is on top of radio.on; modem.controller.idle and rx are the whole current of
 * a modem that is awake.
 */
static void write_cellular(struct conversion *conversion)
{
        static const char *const names[SIGNALS] = { "high", "medium", "low" };
        double rx = modem_current(conversion, "modem.controller.rx"),
               active = convert_current(conversion, "radio.active");
        double idle = convert_or_zero(modem_current(conversion, "modem.controller.idle"));
        bool controller = rx > RADIO_LEAST_MA, assumed = false;
        double volts = controller ? controller_volts(conversion, "modem.controller.voltage", CONVERT_VOLTS) :
                                    CONVERT_VOLTS;
        char rest[64];

        if (!controller && !(active > RADIO_LEAST_MA)) {
                convert_leave_out(conversion, N_("the mobile network"),
                                  N_("neither modem.controller.rx nor radio.active say what traffic takes"));
                return;
        }
        for (int s = 0; s < SIGNALS; s++)
                assumed |= isnan(cellular_rest(conversion, s, volts));
        if (assumed)
                say_assumed(conversion, N_("the mobile network"), CELLULAR_REST_MW);
        fprintf(conversion->to,
                "; %s at %g V. What sending takes beyond receiving is left out, as the rate is not known\n"
                "[radio cellular]\ninitial = idle\nverified = no\n"
                "source = currents of power_profile.xml; %d s of tail, as of LTE, are assumed%s\n",
                controller ? "modem.controller and radio.on" : "radio.active and radio.on", volts,
                CELLULAR_TAIL_MS / 1000, assumed ? ", and the power at rest" : "");
        fprintf(conversion->to, "[radio cellular idle]\non_tx = connected\non_rx = connected\n");
        for (int s = 0; s < SIGNALS; s++)
                fprintf(conversion->to, "power_mw.%s = %s\n", names[s],
                        rest_power(cellular_rest(conversion, s, volts), CELLULAR_REST_MW, rest, sizeof(rest)));
        fprintf(conversion->to, "[radio cellular connected]\nafter = %d idle\n", CELLULAR_TAIL_MS);
        for (int s = 0; s < SIGNALS; s++) {
                double mw = controller ? fmax(rx, idle) * volts
                                       : active * volts + convert_or_zero(cellular_rest(conversion, s, volts));

                fprintf(conversion->to, "power_mw.%s = %.6g\n", names[s],
                        fmax(mw, convert_or_zero(cellular_rest(conversion, s, volts))));
        }
        conversion->kept++;
}

/* Writes components that emulations do not use yet, without a warning for missing ones. */
static void write_others(struct conversion *conversion)
{
        static const char *const sections[][2] = { { "gps.on", "gps" }, { "camera.avg", "camera" } };

        for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
                double ma = convert_current(conversion, sections[i][0]);

                if (ma > RADIO_LEAST_MA)
                        fprintf(conversion->to, "; %s: %g mA at %g V\n[%s]\non_mw = %.6g\n", sections[i][0],
                                ma, CONVERT_VOLTS, sections[i][1], ma * CONVERT_VOLTS);
        }
}

static void write_head(struct conversion *conversion)
{
        double video = convert_current(conversion, "video"), gpu = convert_current(conversion, "gpu.active");

        video = isnan(video) ? convert_current(conversion, "dsp.video") : video;
        fprintf(conversion->to, "; From a power_profile.xml, by joulecast profile import. Nobody measured "
                "this device for this file: without\n; standard errors each component counts as wrong by up "
                "to half.\n\n"
                "[profile]\nversion = 1\ndevice = %s\nmethod = import\n", conversion->plan->device);
        if (video > RADIO_LEAST_MA)
                fprintf(conversion->to, "x-video_mw = %.6g\n", video * CONVERT_VOLTS);
        if (gpu > RADIO_LEAST_MA)
                fprintf(conversion->to, "x-gpu_mw = %.6g\n", gpu * CONVERT_VOLTS);
}

/* Writes the components first, because the battery's capacity is trusted less where some were left out. */
static int write_all(struct conversion *conversion, FILE *to, FILE *components)
{
        int err;

        conversion->to = components;
        write_base(conversion);
        err = convert_cpu(conversion);
        if (err < 0)
                return err;
        write_display(conversion);
        write_wifi(conversion);
        write_cellular(conversion);
        write_others(conversion);
        conversion->to = to;
        if (conversion->kept == 0) {
                log_error(conversion->plan->log, "%s has nothing from which a profile could be made",
                          conversion->plan->source);
                return -EINVAL;
        }
        write_head(conversion);
        return write_battery(conversion);
}

int convert_power_profile(const struct power_profile *from, const struct convert_plan *plan, char **ret)
{
        struct conversion conversion = { .from = from, .plan = plan };
        _cleanup_free_ char *head = NULL, *parts = NULL;
        size_t head_length, parts_length;
        _cleanup_fclose_ FILE *to = open_memstream(&head, &head_length),
                              *components = open_memstream(&parts, &parts_length);
        int err;

        if (!to || !components)
                return -ENOMEM;
        if (is_mostly_placeholders(from)) {
                log_error(plan->log, "%s: more than half of its values are 0, 0.1, 0.2, 1 or 10, as in "
                          "Android's example; nobody measured this device", plan->source);
                return -EINVAL;
        }
        err = write_all(&conversion, to, components);
        if (!err && (fflush(to) != 0 || fflush(components) != 0 || asprintf(ret, "%s%s", head, parts) < 0))
                err = -ENOMEM;
        return err;
}
