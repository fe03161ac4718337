/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Observations that would spoil the profile are kept, and marked as rejected. */

#include "runner-private.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hardware/group.h"
#include "model/radio-usage.h"
#include "plan.h"
#include "util/units.h"

#define PAUSED "paused: "
#define AWAY "WiFi was associated only "

/*
 * Thresholds. The background, spikes, leakage and variation of an ordinary phone stay far below them, because
 * the fit can handle those. Small differences from the requested rates do not matter: the fit uses the counters.
 */
#define SHARE_AT_TARGET 0.98    /* least part of the busy time at the requested frequency; less is throttling */
#define FOREIGN_CORES 0.25      /* most CPU load of other programs, in cores */
#define MOVING_CORES 1.5        /* most load of our own transfers and pictures, in cores: see own_cores() */
#define OWN_LOAD_SHARE 0.9      /* least part of the requested load */
#define RAN_SHARE 0.1           /* least part of the requested bytes */
#define MODEM_MIN_BYTES 500     /* fewer bytes may pass before or after the counted time */
#define ASSOCIATED_SHARE 0.9    /* least part of a mode's time with WiFi associated */
#define JUMP_REFRESHES 3        /* two steps within this number of refreshes are no jump */
#define REFRESH_UNKNOWN_S 60.0
#define REJECTED_SHARE 0.25
#define REJECTED_MIN 4

static void reject(struct observation *observation, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
static void reject(struct observation *observation, const char *format, ...)
{
        va_list arguments;

        if (observation->rejected[0])
                return; /* the first reason is enough */
        va_start(arguments, format);
        vsnprintf(observation->rejected, sizeof(observation->rejected), format, arguments);
        va_end(arguments);
}

/* Is the load of a mode on this policy? In a group, members without load are at their lowest frequency. */
static bool has_load(const struct hardware_policy *group, uint32_t policy, uint32_t cores)
{
        for (size_t i = 0; i < group->n_members; i++)
                if (group->members[i].policy == policy)
                        return group_busy(group, i, cores) > 0;
        return group->policy == policy;
}

static uint64_t busy_at(const struct usage *usage, const struct hardware_policy *policy, uint32_t khz,
                        uint32_t cores, uint64_t *total)
{
        uint64_t at = 0;

        *total = 0;
        for (size_t i = 0; i < usage->cpu.n; i++) {
                if (!has_load(policy, usage->cpu.list[i].policy, cores))
                        continue;
                *total += usage->cpu.list[i].busy_ns;
                if (usage->cpu.list[i].khz == khz)
                        at += usage->cpu.list[i].busy_ns;
        }
        return at;
}

/*
 * Cores that may be busy without spinning. Transfers and pictures cost CPU time in softirqs and kernel threads
 * (encryption, too), which cannot be distinguished from the work of other programs; counters see it and the fit
 * includes it. A slow CPU at its lowest frequency needs more than a core for it: 1.26 were measured in the virtual
 * phone of tests/phone.
 */
static double own_cores(const struct mode *mode)
{
        bool moves = mode->read_mb_per_s > 0 || mode->write_mb_per_s > 0 || mode->rx_mb_per_s > 0 ||
                     mode->tx_mb_per_s > 0 || mode->gpu > 0;

        return moves ? MOVING_CORES : 0;
}

/*
 * The most busy time that can be at the requested frequency. If cycle counters give the frequencies, policies of a kind
 * are counted as one; other programs on a member at rest run at that member's frequency and are not our load.
 */
static double at_most(const struct hardware_policy *policy, uint64_t total, double asked_ns)
{
        return policy->n_members > 1 ? fmin((double)total, asked_ns) : (double)total;
}

static void check_cpu(const struct runner *runner, const struct mode *mode, struct observation *observation)
{
        double elapsed = (double)observation->elapsed_ns, asked = 0;

        for (size_t i = 0; i < runner->description->n_policies; i++) {
                const struct hardware_policy *policy = &runner->description->policies[i];
                uint32_t khz = mode->policy_khz[i];
                uint64_t total, at = busy_at(&observation->usage, policy, khz, mode->policy_cores[i], &total);

                asked += mode->policy_cores[i] * elapsed;
                if (!mode->policy_cores[i])
                        continue;
                if ((double)total < OWN_LOAD_SHARE * mode->policy_cores[i] * elapsed)
                        reject(observation, "policy %u was busy only %.0f %% of the time asked",
                               policy->policy, 100 * (double)total / (mode->policy_cores[i] * elapsed));
                else if (khz && (double)at < SHARE_AT_TARGET * at_most(policy, total, mode->policy_cores[i] * elapsed))
                        reject(observation, "policy %u ran at %u kHz only %.0f %% of the time",
                               policy->policy, khz, 100 * (double)at / (double)total);
        }
        if ((double)usage_busy_ns(&observation->usage) > asked + (FOREIGN_CORES + own_cores(mode)) * elapsed)
                reject(observation, "other programs kept %.2f cores busy",
                       ((double)usage_busy_ns(&observation->usage) - asked) / elapsed);
}

static void check_rate(const char *what, uint64_t bytes, double mb_per_s, struct observation *observation)
{
        double asked = mb_per_s * BYTES_PER_MB * (double)observation->elapsed_ns / (double)NS_PER_S;

        if ((double)bytes < RAN_SHARE * asked)
                reject(observation, "%s %.1f of the %.1f MB asked for", what, (double)bytes / BYTES_PER_MB,
                       asked / BYTES_PER_MB);
}

/* Both ways together; with the packets of other programs. */
static void check_modem(const struct mode *mode, struct observation *observation)
{
        double asked = plan_air_bytes_per_s(mode, AIR_CELLULAR) * (double)observation->elapsed_ns / (double)NS_PER_S;

        if (asked < MODEM_MIN_BYTES)
                return;
        if (!(observation->usage.have & USAGE_RADIO))
                reject(observation, "the modem's packets were not counted");
        check_rate("moved over the modem", radio_usage_bytes(&observation->usage, AIR_CELLULAR),
                   plan_air_bytes_per_s(mode, AIR_CELLULAR) / BYTES_PER_MB, observation);
}

/* A storage or network may be slower than asked: the counters show by how much. */
static void check_moved(const struct mode *mode, struct observation *observation)
{
        const struct usage *usage = &observation->usage;
        double elapsed = (double)observation->elapsed_ns;

        if (usage->have & USAGE_DISK) {
                check_rate("read", usage->read_bytes, mode->read_mb_per_s, observation);
                check_rate("wrote", usage->write_bytes, mode->write_mb_per_s, observation);
        }
        if (mode->air == AIR_CELLULAR) {
                check_modem(mode, observation);
                return;
        }
        if (!(usage->have & USAGE_WIFI))
                return;
        if (mode->wifi_on && (double)usage->wifi_on_ns < ASSOCIATED_SHARE * elapsed)
                reject(observation, AWAY "%.0f %% of the time",
                       100 * (double)usage->wifi_on_ns / elapsed);
        check_rate("received", usage->wifi_rx_bytes, mode->rx_mb_per_s, observation);
        check_rate("sent", usage->wifi_tx_bytes, mode->tx_mb_per_s, observation);
        /* If bursts are not counted, their energy would be attributed to another component. */
        if ((double)usage->wifi_wakes < RAN_SHARE * mode->wakes_per_s * elapsed / (double)NS_PER_S)
                reject(observation, "only %" PRIu64 " of the %.0f wake-ups asked for were counted",
                       usage->wifi_wakes, mode->wakes_per_s * elapsed / (double)NS_PER_S);
}

static void reject_hindered(const struct runner *runner, struct observation *observation)
{
        if (runner->hindrance)
                reject(observation, "%s%s", runner->hindrance == -EAGAIN ? PAUSED : "",
                       runner->reason);
}

void runner_reject(const struct runner *runner, const struct mode *mode, struct observation *observation)
{
        reject_hindered(runner, observation);
        if (runner->changed[0])
                reject(observation, "%s", runner->changed);
        if (runner->span.disturbed)
                reject(observation, "the charger was plugged in");
        if (runner->span.suspend_ns)
                reject(observation, "the machine slept for %.0f s",
                       (double)runner->span.suspend_ns / (double)NS_PER_S);
        if (observation->usage.have & USAGE_CPU && observation->elapsed_ns)
                check_cpu(runner, mode, observation);
        check_moved(mode, observation);
}

void runner_reject_gauge(const struct runner *runner, struct observation *observation)
{
        reject_hindered(runner, observation);
        if (isnan(observation->power_mw))
                reject(observation, "the battery stopped showing its power");
}

void runner_reject_steps(const struct runner *runner, double jump, double biggest, double n,
                         struct observation *observation)
{
        double refresh_s = isnan(runner->refresh.period_s) ? REFRESH_UNKNOWN_S : runner->refresh.period_s;
        double seconds = (double)observation->elapsed_ns / (double)NS_PER_S;

        if (isnan(jump))
                reject(observation, "the battery stopped showing its level");
        else if (jump < 0)
                reject(observation, "the level rose by %.2f %%", -jump);
        /* A fine level may make several steps in one refresh; a jump is more than the time explains. */
        else if (biggest > 1.5 * runner->step_percent &&
                 seconds > JUMP_REFRESHES * refresh_s * n && !runner->fine)
                reject(observation, "the level jumped by %.2f %% at once", biggest);
}

bool runner_rejected_pause(const struct observation *observation)
{
        return strncmp(observation->rejected, PAUSED, sizeof(PAUSED) - 1) == 0;
}

bool runner_rejected_away(const struct observation *observation)
{
        return strncmp(observation->rejected, AWAY, sizeof(AWAY) - 1) == 0;
}

bool runner_rejected_too_many(size_t n_rejected, size_t n)
{
        return n_rejected >= REJECTED_MIN && (double)n_rejected > REJECTED_SHARE * (double)n;
}
