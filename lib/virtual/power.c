/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "power.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"

/* A calibration's load without spin_ipc: four instructions in 3.9 to 4.1 cycles on an AMD. */
#define USUAL_SPIN_IPC 1.0

/* Parses the CPUs of a policy as sysfs writes them, "0-3,6". profile_parse() has checked the text. */
static void parse_cpus(struct power_policy *policy, const char *text, unsigned room)
{
        while (*text && policy->n_cpus < room) {
                char *end;
                unsigned long first = strtoul(text, &end, 10), last = first;

                if (end == text)
                        return;
                if (*end == '-')
                        last = strtoul(end + 1, &end, 10);
                for (; first <= last && policy->n_cpus < room; first++)
                        policy->cpu[policy->n_cpus++] = (uint32_t)first;
                text = end + strspn(end, ", ");
        }
}

static bool is_cpu_term(enum term term)
{
        return term == TERM_CPU_ACTIVE || term == TERM_CPU_SHARED || term == TERM_CPU_IDLE;
}

static double *opp_field(struct power_opp *opp, enum term term)
{
        return term == TERM_CPU_ACTIVE ? &opp->active_w : term == TERM_CPU_SHARED ? &opp->shared_w : &opp->idle_w;
}

static int by_khz(const void *a, const void *b)
{
        const struct power_opp *left = a, *right = b;

        return (left->khz > right->khz) - (left->khz < right->khz);
}

/* Lists the frequencies of all three terms, each once, ascending. */
static int list_opps(struct power_policy *policy, const struct profile *truth)
{
        uint32_t as = profile_as(truth, policy->policy);

        policy->opps = calloc(truth->n_coefficients + 1, sizeof(*policy->opps));
        if (!policy->opps)
                return -ENOMEM;
        for (size_t i = 0; i < truth->n_coefficients; i++) {
                const struct coefficient *c = &truth->coefficients[i];

                if (is_cpu_term(c->term) && c->policy == as && power_find_opp(policy, c->point) < 0)
                        policy->opps[policy->n_opps++].khz = c->point;
        }
        qsort(policy->opps, policy->n_opps, sizeof(*policy->opps), by_khz);
        if (policy->n_opps == 0)
                policy->n_opps = 1; /* no frequencies: one operating point of unknown kHz and no power */
        return 0;
}

/*
 * Linear between the points of the file, constant outside, 0 without any; the model reads a profile in the
 * same way.
 */
static void fill_term(struct power_policy *policy, const struct profile *truth, enum term term)
{
        uint32_t as = profile_as(truth, policy->policy);

        for (size_t i = 0; i < policy->n_opps; i++) {
                const struct coefficient *below = NULL, *above = NULL;
                struct power_opp *opp = &policy->opps[i];

                for (size_t j = 0; j < truth->n_coefficients; j++) {
                        const struct coefficient *c = &truth->coefficients[j];

                        if (c->term != term || c->policy != as)
                                continue;
                        if (c->point <= opp->khz)
                                below = c;
                        if (c->point >= opp->khz && !above)
                                above = c;
                }
                if (!below)
                        below = above;
                if (!above)
                        above = below;
                if (!below)
                        continue;
                *opp_field(opp, term) = below->value / 1e3;
                if (above->point > below->point)
                        *opp_field(opp, term) += (above->value - below->value) / 1e3 *
                                                 (opp->khz - below->point) / (above->point - below->point);
        }
}

/* Idling takes a part of A at its frequency; what it takes at the lowest is in the base. */
static void fill_idle(struct power_policy *policy, double share)
{
        for (size_t i = 0; share > 0 && i < policy->n_opps; i++)
                policy->opps[i].idle_w = share * (policy->opps[i].active_w - policy->opps[0].active_w);
}

static const struct profile_policy *find_work(const struct profile *truth, uint32_t policy)
{
        uint32_t as = profile_as(truth, policy);
        size_t i = 0;

        while (i + 1 < truth->n_policies && truth->policies[i].policy != as)
                i++;
        return &truth->policies[i];
}

static void fill_work(struct power_policy *policy, const struct profile *truth)
{
        const struct profile_policy *work = find_work(truth, policy->policy);
        ssize_t misses = profile_find(truth, TERM_CPU_MISSES, work->policy, 0, "");

        policy->spin_ipc = work->spin_ipc > 0 ? work->spin_ipc : USUAL_SPIN_IPC;
        policy->instruction_cycles = work->instruction_cycles;
        policy->miss_cycles = misses < 0 ? 0 : truth->coefficients[misses].value;
        fill_idle(policy, work->idle_share);
}

double power_kind(const struct power_policy *policy, double instructions, double misses)
{
        return (1 + policy->instruction_cycles * instructions) / (1 + policy->instruction_cycles * policy->spin_ipc) +
               policy->miss_cycles * misses;
}

static int add_policy(struct power_model *model, const struct profile *truth,
                      const struct profile_policy *from, const struct log *log)
{
        struct power_policy *policy = &model->policies[model->n_policies];
        int err;

        *policy = (struct power_policy){
                .policy = from->policy,
                .first_cpu = model->n_cpus,
                .first_opp = model->n_opps,
        };
        if (model->n_policies == POWER_MAX_POLICIES || from->n_cpus > POWER_MAX_CPUS - model->n_cpus ||
            model->n_cpus == POWER_MAX_CPUS) {
                log_error(log, "%s: a virtual device has at most %d policies and %d CPUs", truth->device,
                          POWER_MAX_POLICIES, POWER_MAX_CPUS);
                return -EINVAL;
        }
        parse_cpus(policy, from->cpus, POWER_MAX_CPUS - model->n_cpus);
        if (policy->n_cpus == 0)
                policy->cpu[policy->n_cpus++] = from->policy; /* the kernel names a policy by its first CPU */
        model->n_policies++; /* power_model_clear() frees it from here on */
        err = list_opps(policy, truth);
        if (err < 0)
                return err;
        fill_term(policy, truth, TERM_CPU_ACTIVE);
        fill_term(policy, truth, TERM_CPU_SHARED);
        fill_term(policy, truth, TERM_CPU_IDLE);
        fill_work(policy, truth);
        model->n_cpus += policy->n_cpus;
        model->n_opps += policy->n_opps;
        return 0;
}

/*
 * CPUs with one clock each and equal coefficients form a package. Its number is that of its first policy plus
 * one.
 */
static void find_packages(struct power_model *model, const struct profile *truth)
{
        for (size_t i = 0; i < model->n_policies; i++) {
                struct power_policy *policy = &model->policies[i];
                uint32_t as = profile_as(truth, policy->policy);

                for (size_t k = 0; k < model->n_policies && policy->n_cpus == 1 && !policy->package; k++) {
                        struct power_policy *other = &model->policies[k];

                        if (k == i || other->n_cpus != 1 || profile_as(truth, other->policy) != as)
                                continue;
                        policy->package = MIN(policy->policy, other->policy) + 1;
                }
        }
}

static void add_coefficient(struct power_model *model, const struct coefficient *c)
{
        switch (c->term) {
        case TERM_BASE:
                model->base_w = c->value / 1e3;
                break;
        case TERM_DISPLAY:
                model->display[model->n_display++] = (struct power_level){ c->point, c->value / 1e3 };
                break;
        case TERM_DISK_READ: /* with several storages, the first does the work */
        case TERM_DISK_WRITE:
                if (model->j_per_byte[c->term == TERM_DISK_READ ? RATE_READ : RATE_WRITE] == 0)
                        model->j_per_byte[c->term == TERM_DISK_READ ? RATE_READ : RATE_WRITE] =
                                c->value / 1e3 / BYTES_PER_MB;
                break;
        case TERM_WIFI_ON:
                model->wifi_on_w = c->value / 1e3;
                break;
        case TERM_WIFI_RX:
                model->j_per_byte[RATE_RX] = c->value / 1e3 / BYTES_PER_MB;
                break;
        case TERM_WIFI_TX:
                model->j_per_byte[RATE_TX] = c->value / 1e3 / BYTES_PER_MB;
                break;
        case TERM_WIFI_WAKE:
                model->wake_j = c->value / 1e3;
                break;
        case TERM_GPU:
                model->gpu_w = c->value / 1e3;
                break;
        case TERM_GPS:
                model->gps_on_w = c->value / 1e3;
                break;
        case TERM_GPS_SLEEP:
                model->gps_sleep_w = c->value / 1e3;
                break;
        case TERM_AUDIO:
                model->audio_on_w = c->value / 1e3;
                break;
        case TERM_CAMERA:
                model->camera_on_w = c->value / 1e3;
                break;
        case TERM_SUSPEND:
                model->suspend_w = c->value / 1e3;
                break;
        default: /* CPU terms are handled elsewhere */
                break;
        }
        if (model_term_component(c->term) == COMPONENT_WIFI)
                model->wifi = true;
}

int power_model_init(struct power_model *model, const struct profile *truth, const struct log *log)
{
        int err;

        *model = (struct power_model){
                .sub_additivity = truth->virtual_device.sub_additivity_percent / 100,
                .max_brightness = truth->max_brightness ? truth->max_brightness : UINT32_MAX,
        };
        model->display = calloc(truth->n_coefficients + 1, sizeof(*model->display));
        if (!model->display)
                return -ENOMEM;
        for (size_t i = 0; i < truth->n_policies; i++) {
                err = add_policy(model, truth, &truth->policies[i], log);
                if (err < 0)
                        return err;
        }
        find_packages(model, truth);
        for (size_t i = 0; i < truth->n_coefficients; i++)
                add_coefficient(model, &truth->coefficients[i]);
        return 0;
}

void power_model_clear(struct power_model *model)
{
        for (size_t i = 0; i < model->n_policies; i++)
                free(model->policies[i].opps);
        free(model->display);
        *model = (struct power_model){ 0 };
}

double power_display_w(const struct power_model *model, uint32_t brightness)
{
        const struct power_level *level = model->display;
        size_t n = model->n_display;

        if (n == 0)
                return 0;
        if (brightness <= level[0].brightness)
                return level[0].power_w;
        for (; n > 1; n--, level++) {
                if (brightness > level[1].brightness)
                        continue;
                return level[0].power_w + (level[1].power_w - level[0].power_w) *
                                                  (brightness - level[0].brightness) /
                                                  (level[1].brightness - level[0].brightness);
        }
        return level[0].power_w;
}

int power_find_opp(const struct power_policy *policy, uint32_t khz)
{
        for (size_t i = 0; i < policy->n_opps; i++)
                if (policy->opps[i].khz == khz)
                        return (int)i;
        return -EINVAL;
}

int power_find_policy(const struct power_model *model, uint32_t policy)
{
        for (size_t i = 0; i < model->n_policies; i++)
                if (model->policies[i].policy == policy)
                        return (int)i;
        return -EINVAL;
}

struct load {
        double busy;     /* summed utilisation */
        double idle;     /* share of time in which none works */
        unsigned n_cpus;
};

static void add_load(struct load *load, const struct power_policy *policy, const double *utilisation)
{
        load->n_cpus += policy->n_cpus;
        for (unsigned i = 0; i < policy->n_cpus; i++) {
                load->busy += utilisation[policy->first_cpu + i];
                load->idle *= 1 - utilisation[policy->first_cpu + i];
        }
}

/* Load of the cores that share S with the policy: its package, or the policy itself. */
static struct load load_beside(const struct power_model *model, const struct power_policy *policy,
                               const double *utilisation)
{
        struct load load = { .idle = 1 };

        for (size_t i = 0; i < model->n_policies; i++)
                if (&model->policies[i] == policy ||
                    (policy->package && model->policies[i].package == policy->package))
                        add_load(&load, &model->policies[i], utilisation);
        return load;
}

void power_cpu(const struct power_model *model, unsigned policy, size_t opp, size_t idle_opp,
               const double *utilisation, struct power_cpu *ret)
{
        const struct power_policy *cpus = &model->policies[policy];
        const struct power_opp *point = &cpus->opps[opp];
        struct load own = { .idle = 1 }, all = load_beside(model, cpus, utilisation);
        double together = 1;

        add_load(&own, cpus, utilisation);
        if (all.n_cpus > 1 && all.busy > 1)
                together -= model->sub_additivity * (all.busy - 1) / (all.n_cpus - 1);
        *ret = (struct power_cpu){
                .busy = own.busy,
                .any = 1 - own.idle,
                .nobody_w = cpus->opps[idle_opp].idle_w * own.idle,
                .per_busy_w = point->active_w * together,
        };
        ret->kind_w = ret->per_busy_w;
        if (own.busy == 0)
                return;
        ret->kind_w += point->shared_w * (1 - all.idle) / all.busy;
        ret->per_busy_w += point->shared_w * (1 - all.idle) / all.busy + point->idle_w * (1 - own.idle) / own.busy;
}
