/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Output of joulecast doctor. */

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "doctor.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"

static const char *const status_words[] = { /* the kernel's */
        [BATTERY_UNKNOWN] = N_("Unknown"),
        [BATTERY_DISCHARGING] = N_("Discharging"),
        [BATTERY_CHARGING] = N_("Charging"),
        [BATTERY_NOT_CHARGING] = N_("Not charging"),
        [BATTERY_FULL] = N_("Full"),
};

/* As the last calibration tested it; NULL: none did. */
static const char *gauge_of(const struct findings *findings)
{
        return findings->model ? profile_extra(findings->model, "profile", "x-gauge") : NULL;
}

static double if_known(bool known, uint64_t value)
{
        return known ? (double)value : NAN;
}

static struct cJSON *battery_json(const struct battery_unit *unit)
{
        struct cJSON *json = cJSON_CreateObject(), *quirks;

        cJSON_AddItemToObject(json, "name", answer_text(unit->name));
        cJSON_AddStringToObject(json, "status", status_words[unit->battery.status]);
        cJSON_AddNumberToObject(json, "percent", battery_percent(&unit->battery));
        cJSON_AddNumberToObject(json, "energy_now_uwh",
                                if_known(unit->energy_have & BATTERY_ENERGY_NOW, unit->energy_now_uwh));
        cJSON_AddNumberToObject(json, "energy_full_uwh",
                                if_known(unit->energy_have & BATTERY_ENERGY_FULL, unit->energy_full_uwh));
        cJSON_AddNumberToObject(json, "power_uw",
                                if_known(unit->battery.have & BATTERY_POWER, unit->battery.power_uw));
        quirks = cJSON_AddArrayToObject(json, "quirks");
        for (size_t i = 0; i < unit->n_quirks; i++)
                cJSON_AddItemToArray(quirks, answer_text(unit->quirks[i]));
        return json;
}

static const char *const supply_words[ROLE_LEFT_OUT] = {
        [ROLE_MAINS] = "mains", [ROLE_USB] = "usb", [ROLE_WIRELESS] = "wireless",
};

/* Adds the units that do not count as a battery, and why; and the supplies beside the batteries. */
static void add_units(struct cJSON *json, const struct findings *findings)
{
        enum supply_state supply = findings->n_units > 0 ? findings->batteries[0].supply : SUPPLY_UNKNOWN;
        struct cJSON *left_out = cJSON_AddArrayToObject(json, "left_out"),
                     *supplies = cJSON_AddArrayToObject(json, "supplies"), *item;

        for (size_t i = findings->n_batteries; i < findings->n_units; i++) {
                const struct battery_unit *unit = &findings->batteries[i];

                if (unit->role == ROLE_LEFT_OUT && !unit->why)
                        continue;
                item = cJSON_CreateObject();
                cJSON_AddItemToObject(item, "name", answer_text(unit->name));
                if (unit->why) {
                        cJSON_AddItemToObject(item, "why", answer_text(_(unit->why)));
                } else {
                        cJSON_AddStringToObject(item, "type", supply_words[unit->role]);
                        cJSON_AddBoolToObject(item, "online", unit->online);
                }
                cJSON_AddItemToArray(unit->why ? left_out : supplies, item);
        }
        answer_add_known(json, "external_power", supply == SUPPLY_UNKNOWN ? -1 : supply == SUPPLY_ONLINE);
}

static struct cJSON *policy_json(const struct cpu_policy *policy)
{
        struct cJSON *json = cJSON_CreateObject(), *list;
        char cpus[256];

        cpu_print_list(policy->cpus, policy->n_cpus, cpus, sizeof(cpus));
        cJSON_AddNumberToObject(json, "policy", policy->policy);
        cJSON_AddStringToObject(json, "cpus", cpus);
        list = cJSON_AddArrayToObject(json, "khz");
        for (size_t i = 0; i < policy->n_khz; i++)
                cJSON_AddItemToArray(list, cJSON_CreateNumber(policy->khz[i]));
        list = cJSON_AddArrayToObject(json, "governors");
        for (size_t i = 0; i < policy->n_governors; i++)
                cJSON_AddItemToArray(list, answer_text(policy->governors[i]));
        return json;
}

static struct cJSON *display_json(const struct findings *findings)
{
        const struct display_state *display = &findings->display;
        const struct backlight_choice *choice = &findings->backlights;
        struct cJSON *json, *others, *other;

        if (!findings->has_display)
                return cJSON_CreateNull();
        json = cJSON_CreateObject();
        cJSON_AddItemToObject(json, "backlight",
                              answer_text(display->backlight[0] ? display->backlight : NULL));
        cJSON_AddNumberToObject(json, "max_brightness",
                                if_known(display->max_brightness > 0, display->max_brightness));
        if (display->screen_known)
                cJSON_AddBoolToObject(json, "on", display->screen_on);
        else
                cJSON_AddNullToObject(json, "on");
        cJSON_AddBoolToObject(json, "monitor", display->monitor_on);
        cJSON_AddItemToObject(json, "why", answer_text(choice->taken ? choice->list[0].why : NULL));
        cJSON_AddBoolToObject(json, "certain", choice->certain);
        others = cJSON_AddArrayToObject(json, "others");
        for (size_t i = choice->taken; i < choice->n; i++) {
                other = cJSON_CreateObject();
                cJSON_AddItemToObject(other, "backlight", answer_text(choice->list[i].name));
                cJSON_AddItemToObject(other, "why", answer_text(choice->list[i].why));
                cJSON_AddItemToArray(others, other);
        }
        return json;
}

static const struct {
        uint32_t counts;
        const char *name;
} count_names[] = {
        { COUNTS_CPU, N_("CPU") },       { COUNTS_DISK, N_("disk") },   { COUNTS_NET, N_("network") },
        { COUNTS_OPPS, N_("frequency") }, { COUNTS_CYCLES, N_("cycles") }, { COUNTS_EXITS, N_("exits") },
        { COUNTS_BURSTS, N_("bursts of packets") }, { COUNTS_KINDS, N_("instructions") },
        { COUNTS_MISSES, N_("cache events") },
};

static struct cJSON *overhead_json(const struct overhead *overhead)
{
        struct cJSON *json;

        if (overhead->pid == 0)
                return cJSON_CreateNull();
        json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "pid", overhead->pid);
        cJSON_AddNumberToObject(json, "running_s", overhead->running_s);
        cJSON_AddNumberToObject(json, "cpu_s_per_day", overhead->cpu_s_per_day);
        cJSON_AddNumberToObject(json, "wakeups_per_hour", overhead->wakeups_per_hour);
        cJSON_AddNumberToObject(json, "written_mb_per_day", overhead->written_mb_per_day);
        cJSON_AddNumberToObject(json, "rss_mb", overhead->rss_mb);
        cJSON_AddNumberToObject(json, "anonymous_mb", overhead->anonymous_mb);
        cJSON_AddNumberToObject(json, "percent_per_day", overhead->percent_per_day);
        cJSON_AddNumberToObject(json, "lost", overhead->lost);
        return json;
}

static const char *const net_by_names[NET_BY_COUNT] = {
        [NET_BY_CALLS] = N_(" by calls"), [NET_BY_PACKETS] = N_(" by packets"), [NET_BY_SOCKETS] = N_(" by sockets"),
};

/* "CPU, disk, network by calls" */
static const char *counts_text(uint32_t counts, uint32_t net_by, char *buf, size_t size)
{
        size_t length = 0;

        buf[0] = '\0';
        for (size_t i = 0; i < ARRAY_SIZE(count_names); i++)
                if ((counts & count_names[i].counts) && length < size)
                        length += (size_t)snprintf(buf + length, size - length, "%s%s%s", length ? ", " : "",
                                                   _(count_names[i].name),
                                                   count_names[i].counts == COUNTS_NET && net_by < NET_BY_COUNT &&
                                                   net_by_names[net_by] ? _(net_by_names[net_by]) : "");
        return buf;
}

static struct cJSON *counters_json(const struct counters *counters)
{
        struct cJSON *json, *list;

        if (!counters->known)
                return cJSON_CreateNull();
        json = cJSON_CreateObject();
        cJSON_AddBoolToObject(json, "allowed", counters->allowed);
        list = cJSON_AddArrayToObject(json, "available");
        for (int i = 0; i < counters->n && i < COUNTED_COUNT; i++)
                cJSON_AddItemToArray(list, cJSON_CreateString(counted_words[i]));
        cJSON_AddItemToObject(json, "cache_event", answer_text(counters->misses[0] ? counters->misses : NULL));
        cJSON_AddItemToObject(json, "held_by", answer_text(counters->holders[0] ? counters->holders : NULL));
        return json;
}

static struct cJSON *recorded_json(const struct recorded *recorded)
{
        struct cJSON *json;

        if (!(recorded->recorded_s > 0))
                return cJSON_CreateNull();
        json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "recorded_s", recorded->recorded_s);
        cJSON_AddNumberToObject(json, "cpu_by_frequency_counted_s", recorded->counted_s);
        cJSON_AddNumberToObject(json, "cpu_by_frequency_shared_s", recorded->shared_s);
        cJSON_AddNumberToObject(json, "sleeps", (double)recorded->n_sleeps);
        cJSON_AddNumberToObject(json, "suspend_mw", recorded->n_sleeps > 0 ? recorded->suspend_mw : NAN);
        cJSON_AddNumberToObject(json, "suspend_error_mw",
                                recorded->n_sleeps > 0 ? recorded->suspend_error_mw : NAN);
        cJSON_AddNumberToObject(json, "wifi_signal_dbm", recorded->wifi_signal_dbm);
        cJSON_AddNumberToObject(json, "cellular_signal_percent", recorded->cellular_signal_percent);
        return json;
}

static void add_score(struct cJSON *json, const struct profile_score *score)
{
        cJSON_AddNumberToObject(json, "stretches", score->scored);
        cJSON_AddNumberToObject(json, "held", score->held);
        cJSON_AddNumberToObject(json, "width", score->width);
}

/* How often answers held, by kind; the keys beside "kinds" are those of costs. */
static struct cJSON *coverage_json(const struct profile *profile)
{
        const struct profile_score *score = profile ? profile->learned.score : NULL;
        struct cJSON *json, *kinds, *kind;

        if (!score || isnan(score[ANSWER_COST].scored))
                return cJSON_CreateNull();
        json = cJSON_CreateObject();
        add_score(json, &score[ANSWER_COST]);
        kinds = cJSON_AddObjectToObject(json, "kinds");
        for (size_t i = 0; i < ANSWER_COUNT; i++) {
                kind = cJSON_AddObjectToObject(kinds, answer_kinds[i]);
                add_score(kind, &score[i]);
                if (i == ANSWER_BUDGET)
                        cJSON_AddNumberToObject(kind, "likely", score[i].likely);
        }
        return json;
}

int doctor_json(const struct findings *findings)
{
        struct cJSON *json = cJSON_CreateObject(), *list, *item;

        list = cJSON_AddArrayToObject(json, "batteries");
        for (size_t i = 0; i < findings->n_batteries; i++)
                cJSON_AddItemToArray(list, battery_json(&findings->batteries[i]));
        add_units(json, findings);
        list = cJSON_AddArrayToObject(json, "policies");
        for (size_t i = 0; i < findings->n_policies; i++)
                cJSON_AddItemToArray(list, policy_json(&findings->policies[i]));
        list = cJSON_AddArrayToObject(json, "collectors");
        for (size_t i = 0; i < findings->n_collectors; i++)
                cJSON_AddItemToArray(list, cJSON_CreateString(findings->collectors[i]->name));
        list = cJSON_AddArrayToObject(json, "missing");
        for (size_t i = 0; i < findings->n_missing; i++) {
                item = cJSON_CreateObject();
                cJSON_AddStringToObject(item, "what", findings->missing[i].what);
                cJSON_AddItemToObject(item, "why", answer_text(findings->missing[i].why));
                cJSON_AddItemToArray(list, item);
        }
        if (findings->with_overhead)
                cJSON_AddItemToObject(json, "overhead", overhead_json(&findings->overhead));
        list = cJSON_AddObjectToObject(json, "collector_counts");
        for (size_t i = 0; i < findings->n_collectors; i++) {
                char text[128];

                cJSON_AddStringToObject(list, findings->collectors[i]->name,
                                        counts_text(findings->counts[i], findings->net_by[i], text, sizeof(text)));
        }
        cJSON_AddItemToObject(json, "counters", counters_json(&findings->counters));
        cJSON_AddItemToObject(json, "display", display_json(findings));
        cJSON_AddBoolToObject(json, "disk", findings->has_disk);
        cJSON_AddBoolToObject(json, "network", findings->has_net);
        cJSON_AddNumberToObject(json, "wifi_signal_dbm",
                                findings->signal.have & SIGNAL_WIFI ? findings->signal.wifi_signal_dbm : NAN);
        cJSON_AddItemToObject(json, "profile", answer_text(findings->profile[0] ? findings->profile : NULL));
        cJSON_AddItemToObject(json, "profile_basis",
                              answer_text(findings->model ? profile_basis(findings->model) : NULL));
        cJSON_AddItemToObject(json, "profile_device", answer_text(findings->model ? findings->model->device : NULL));
        cJSON_AddItemToObject(json, "gauge", answer_text(gauge_of(findings)));
        cJSON_AddItemToObject(json, "coverage", coverage_json(findings->model));
        cJSON_AddItemToObject(json, "profile_why", answer_text(findings->model_why[0] ? findings->model_why : NULL));
        cJSON_AddItemToObject(json, "database",
                              answer_text(findings->database[0] ? findings->database : NULL));
        cJSON_AddItemToObject(json, "recorded", recorded_json(&findings->recorded));
        return answer_print_json(json);
}

static void print_batteries(const struct findings *findings)
{
        _cleanup_(table_freep) struct table *table = table_new("llrrr");

        table_heads(table, N_("Battery"), N_("Status"), N_("Charge"), N_("Full"), N_("Power"), NULL);
        for (size_t i = 0; i < findings->n_batteries; i++) {
                const struct battery_unit *unit = &findings->batteries[i];
                double percent = battery_percent(&unit->battery);

                table_row(table, TABLE_PLAIN);
                table_cell(table, "%s", unit->name);
                table_cell(table, "%s", _(status_words[unit->battery.status]));
                table_cell(table, isnan(percent) ? "?" : "%.0f %%", percent);
                if (unit->energy_have & BATTERY_ENERGY_FULL)
                        table_cell(table, unit->battery.have & BATTERY_ENERGY_FULL ? "%.1f Wh" : _("about %.0f Wh"),
                                   (double)unit->energy_full_uwh * 1e-6);
                else
                        table_cell(table, "?");
                if (unit->battery.have & BATTERY_POWER)
                        table_cell(table, "%.2f W", (double)unit->battery.power_uw * 1e-6);
                else
                        table_cell(table, "?");
        }
        table_print(table);
        for (size_t i = 0; i < findings->n_batteries; i++) {
                if (findings->batteries[i].charge_limit_percent)
                        table_note("%s: charging ends at %u %% (its setting)", findings->batteries[i].name,
                                   findings->batteries[i].charge_limit_percent);
                if (findings->batteries[i].force_discharge)
                        table_note("%s: can be discharged on its charger (calibrate --force-discharge)",
                                   findings->batteries[i].name);
                for (size_t q = 0; q < findings->batteries[i].n_quirks; q++)
                        table_note("%s: %s", findings->batteries[i].name, _(findings->batteries[i].quirks[q]));
        }
        putchar('\n');
}

/* Beside a supply that is online a battery's own word may be wrong. */
static bool doubts_supply(const struct findings *findings)
{
        for (size_t i = 0; i < findings->n_batteries; i++)
                if (findings->batteries[i].battery.status == BATTERY_DISCHARGING ||
                    findings->batteries[i].battery.status == BATTERY_UNKNOWN)
                        return true;
        return false;
}

static void print_units(const struct findings *findings)
{
        bool doubts = doubts_supply(findings), told = false;

        for (size_t i = findings->n_batteries; i < findings->n_units; i++) {
                const struct battery_unit *unit = &findings->batteries[i];

                if (unit->why)
                        table_note("%s is left out: %s", unit->name, _(unit->why));
                else if (unit->role == ROLE_LEFT_OUT || !unit->online || unit->of_device || !doubts)
                        continue;
                else if (unit->supply == SUPPLY_ONLINE)
                        table_note("%s is online: the machine is plugged in, whatever its batteries say", unit->name);
                else
                        table_note("%s says that it is online, but the mains supply is not: the batteries' "
                                   "own words count",
                                   unit->name);
                told = true;
        }
        if (told)
                putchar('\n');
}

static void print_policies(const struct findings *findings)
{
        _cleanup_(table_freep) struct table *table = table_new("rlrrl");

        table_heads(table, N_("Policy"), N_("CPUs"), N_("Points"), N_("MHz"), N_("Governors"), NULL);
        for (size_t i = 0; i < findings->n_policies; i++) {
                const struct cpu_policy *policy = &findings->policies[i];
                char text[256], *at = text;

                table_row(table, TABLE_PLAIN);
                table_cell(table, "%u", policy->policy);
                cpu_print_list(policy->cpus, policy->n_cpus, text, sizeof(text));
                table_cell(table, "%s", text);
                table_cell(table, "%zu", policy->n_khz);
                if (policy->n_khz > 0)
                        table_cell(table, "%.0f .. %.0f", policy->khz[0] / 1e3,
                                   policy->khz[policy->n_khz - 1] / 1e3);
                else
                        table_cell(table, "?");
                text[0] = '\0';
                for (size_t g = 0; g < policy->n_governors; g++)
                        at += snprintf(at, sizeof(text) - (size_t)(at - text), "%s%.19s", g ? " " : "",
                                       policy->governors[g]);
                table_cell(table, "%s", text);
        }
        table_print(table);
        putchar('\n');
}

static void add_known(struct table *table, const char *what, double value, const char *unit)
{
        char number[32] = "?";

        if (!isnan(value))
                snprintf(number, sizeof(number), fabs(value) < 100 ? "%.3g" : "%.0f", value);
        table_texts(table, TABLE_PLAIN, what, number, unit, NULL);
}

/* Loading BPF programs and naming all processes once takes some 50 ms of CPU: as much as the polls of an hour. */
#define START_FADES_S (6 * 3600)

static void print_overhead(const struct overhead *overhead)
{
        _cleanup_(table_freep) struct table *table = table_new("lrl");
        bool short_run = !(overhead->running_s >= OVERHEAD_LEAST_S);
        char duration[32];

        if (overhead->pid == 0) {
                table_text(TABLE_PLAIN, "No joulecastd is running; start it to see what it costs.");
                putchar('\n');
                return;
        }
        table_text(TABLE_PLAIN, "joulecastd (pid %d) itself, in the %s since its start:", overhead->pid,
               answer_print_duration(overhead->running_s, duration));
        if (!short_run) {
                add_known(table, _("CPU"), overhead->cpu_s_per_day, _("s a day"));
                add_known(table, _("wakeups"), overhead->wakeups_per_hour, _("an hour"));
                add_known(table, _("written"), overhead->written_mb_per_day, _("MB a day"));
        }
        add_known(table, _("memory"), overhead->rss_mb, "MB");
        add_known(table, _("private"), overhead->anonymous_mb, "MB");
        if (!short_run)
                add_known(table, _("battery"), overhead->percent_per_day, _("% a day"));
        add_known(table, _("lost ends"), overhead->lost,
                  isnan(overhead->lost) ? _("(it does not answer at the service's socket)")
                                        : _("ends of processes that the kernel could not keep"));
        table_print(table);
        if (overhead->n_running > 1)
                table_note("Several are running; this is the one that answers queries, else the first.");
        if (short_run)
                table_note(
                        "It has run for too short a time to say what a day costs: look again after %d minutes, or "
                        "better some hours, since its start costs as much as an hour of polls.",
                        OVERHEAD_LEAST_S / 60);
        else if (overhead->running_s < START_FADES_S)
                table_note("This includes its start, which costs as much as an hour of polls: look again later for "
                           "what a day costs.");
        putchar('\n');
}

static void print_recorded(const struct recorded *recorded)
{
        double split_s = recorded->counted_s + recorded->shared_s;

        if (!(recorded->recorded_s > 0))
                return;
        putchar('\n');
        if (split_s > 0)
                table_note("Recorded in the last week: %.1f h. CPU time by frequency: %.0f %% counted by the kernel, "
                           "%.0f %% estimated from the time at each frequency.", recorded->recorded_s / 3600,
                           100 * recorded->counted_s / split_s, 100 * recorded->shared_s / split_s);
        else
                table_note("Recorded in the last week: %.1f h, without CPU time by frequency.",
                           recorded->recorded_s / 3600);
        if (recorded->n_sleeps > 0)
                table_note(words_counted("Power while suspended: %.3g mW (standard error %.2g mW), from %zu sleep; "
                                         "forecasts of standby use it.",
                                         "Power while suspended: %.3g mW (standard error %.2g mW), from %zu sleeps; "
                                         "forecasts of standby use it.", recorded->n_sleeps),
                           recorded->suspend_mw, recorded->suspend_error_mw, recorded->n_sleeps);
        if (!isnan(recorded->wifi_signal_dbm))
                table_note("The signal of WiFi was %.0f dBm on average.", recorded->wifi_signal_dbm);
        if (!isnan(recorded->cellular_signal_percent))
                table_note("The signal of the mobile network was %.0f %% on average.",
                           recorded->cellular_signal_percent);
}

static void print_backlights(const struct backlight_choice *choice)
{
        _cleanup_(table_freep) struct table *table = table_new("lll");

        table_heads(table, N_("Backlight"), N_("Taken"), N_("Why"), NULL);
        for (size_t i = 0; i < choice->n; i++)
                table_texts(table, TABLE_PLAIN, choice->list[i].name, i == 0 && choice->taken ? _("yes") : _("no"),
                            *choice->list[i].why ? _(choice->list[i].why) : "", NULL);
        table_print(table);
        putchar('\n');
}

int doctor_table(const struct findings *findings)
{
        _cleanup_(table_freep) struct table *table = table_new("ll");
        char text[128];

        if (findings->with_overhead)
                print_overhead(&findings->overhead);
        if (findings->n_batteries > 0)
                print_batteries(findings);
        print_units(findings);
        if (findings->n_policies > 0)
                print_policies(findings);
        if (findings->backlights.n > 0)
                print_backlights(&findings->backlights);
        if (findings->n_collectors > 0)
                table_heads(table, N_("Collector"), N_("How, and what it counts"), NULL);
        for (size_t i = 0; i < findings->n_collectors; i++) {
                table_row(table, TABLE_PLAIN);
                table_cell(table, "%s", findings->collectors[i]->name);
                table_cell(table, "%s (%s)", _(findings->collectors[i]->what),
                           counts_text(findings->counts[i], findings->net_by[i], text, sizeof(text)));
        }
        if (findings->n_missing > 0 && findings->n_collectors > 0)
                table_row(table, TABLE_PLAIN);
        if (findings->n_missing > 0)
                table_heads(table, N_("Missing"), N_("Why"), NULL);
        for (size_t i = 0; i < findings->n_missing; i++)
                table_texts(table, TABLE_PLAIN, _(findings->missing[i].what), findings->missing[i].why, NULL);
        table_print(table);
        if (findings->signal.have & SIGNAL_WIFI)
                table_note("The signal of WiFi is %d dBm.", findings->signal.wifi_signal_dbm);
        if (findings->counters.misses[0])
                table_note("The cache event that tells kinds of work apart is %s.", findings->counters.misses);
        if (gauge_of(findings))
                table_note("The battery's gauge, as the calibration found it: %s.", gauge_of(findings));
        print_recorded(&findings->recorded);
        return CODE_OK;
}
