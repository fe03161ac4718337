/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dry-run.h"

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <string.h>

#include "model/json-print.h"
#include "touched.h"
#include "util/text.h"
#include "util/util.h"

#define LOAD_COLUMN 49

struct phrase {
        char *text;
        size_t size, length;
};

static void say(struct phrase *phrase, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct phrase *phrase, const char *format, ...)
{
        va_list arguments;
        int n;

        if (phrase->length > 0 && phrase->length + 2 < phrase->size)
                phrase->length += (size_t)snprintf(phrase->text + phrase->length,
                                                   phrase->size - phrase->length, ", ");
        va_start(arguments, format);
        n = vsnprintf(phrase->text + phrase->length, phrase->size - phrase->length, format, arguments);
        va_end(arguments);
        phrase->length = MIN(phrase->length + (size_t)MAX(n, 0), phrase->size - 1);
}

static void say_rate(struct phrase *phrase, const char *verb, double mb_per_s)
{
        if (mb_per_s > 0)
                say(phrase, "%s %g MB/s", verb, mb_per_s);
}

static void describe_load(const struct prospect *prospect, const struct mode *mode, char *buf, size_t size)
{
        const struct hardware_description *description = prospect->description;
        struct phrase phrase = { .text = buf, .size = size };

        for (size_t i = 0; i < description->n_policies; i++) {
                uint32_t khz = mode->policy_khz[i], cores = mode->policy_cores[i];

                if (cores && khz)
                        say(&phrase, "%u core%s at %u MHz", cores, cores > 1 ? "s" : "", (khz + 500) / 1000);
                else if (cores)
                        say(&phrase, "%u core%s", cores, cores > 1 ? "s" : "");
                else if (khz)
                        say(&phrase, "idle at %u MHz", (khz + 500) / 1000);
        }
        if (mode->screen_on)
                say(&phrase, "screen at %u%s", mode->brightness,
                    mode->dark >= 1 ? ", black" : mode->dark > 0 ? ", grey" : "");
        if (mode->wifi_on)
                say(&phrase, "WiFi on");
        if (mode->air == AIR_CELLULAR)
                say(&phrase, "over the modem");
        say_rate(&phrase, "read", mode->read_mb_per_s);
        say_rate(&phrase, "write", mode->write_mb_per_s);
        if (mode->operations)
                say(&phrase, "%u x %u bytes a pass", mode->operations, mode->operation_bytes);
        say_rate(&phrase, "receive", mode->rx_mb_per_s);
        say_rate(&phrase, "send", mode->tx_mb_per_s);
        if (mode->wakes_per_s > 0)
                say(&phrase, "%g bursts/s", mode->wakes_per_s);
        if (mode->packets_per_s > 0)
                say(&phrase, "%g %spackets/s", mode->packets_per_s, mode->large_packets ? "large " : "");
        if (mode->burst_packets > 1)
                say(&phrase, "%u at a time", mode->burst_packets);
        if (mode->gpu > 0)
                say(&phrase, "GPU at %.0f %%", 100 * mode->gpu);
        if (phrase.length == 0)
                say(&phrase, "nothing");
}

static const char *when(const struct prospect *prospect, const struct planned_mode *mode)
{
        bool gauge = prospect->method == METHOD_GAUGE;

        if (prospect->plan->sapp)
                return mode->role == ROLE_BURN ? "first" : "three times";
        switch (mode->role) {
        case ROLE_BLOCK:
                return gauge ? "every pass" : "first block";
        case ROLE_EXTRA:
                return gauge ? "some passes" : "if most informative";
        case ROLE_FINE:
                return gauge ? "every pass" : "never";
        case ROLE_LATER:
                return gauge ? "all passes but the first" : "never";
        case ROLE_CANDIDATE:
                return gauge ? "never" : "if most informative";
        case ROLE_HELD_BACK:
                return "once, to check";
        case ROLE_BURN:
                return gauge ? "first, to learn the gauge" : "the partial first step";
        }
        return "";
}

static void print_policy(const struct hardware_policy *policy)
{
        if (policy->n_members > 1)
                printf("  %zu policies of a kind, measured as one: CPUs %s", policy->n_members, policy->cpus);
        else
                printf("  policy %u: CPUs %s", policy->policy, policy->cpus);
        if (policy->n_khz == 0 || policy->khz[0] == 0)
                printf(", no frequencies to pin");
        else
                printf(", %zu frequencies of %u to %u MHz", policy->n_khz, policy->khz[0] / 1000,
                       policy->khz[policy->n_khz - 1] / 1000);
        printf("%s%s\n", policy->governor[0] ? ", governor " : "", policy->governor);
}

static void print_policies(const struct hardware_description *description)
{
        if (description->n_policies == 0)
                printf("  none\n");
        for (size_t i = 0; i < description->n_policies; i++)
                print_policy(&description->policies[i]);
}

static void print_modes(const struct prospect *prospect)
{
        int column;

        printf("\n  %-20s %-25s %s\n", "state", "when", "load");
        for (size_t i = 0; i < prospect->plan->n; i++) {
                const struct planned_mode *mode = &prospect->plan->modes[i];
                char load[160] = "";

                if (mode->role == ROLE_CANDIDATE && prospect->method == METHOD_GAUGE)
                        continue;
                describe_load(prospect, &mode->mode, load, sizeof(load));
                column = printf("  %-20s %-25s ", mode->mode.name, when(prospect, mode));
                text_wrap(stdout, load, (size_t)column, LOAD_COLUMN, TEXT_COLUMNS);
                putchar('\n');
        }
}

static void print_text(const struct prospect *prospect, const struct run_estimate *estimate)
{
        struct touched touched = { 0 };
        char plan[PLAN_NAME_MAX];

        touched_list(prospect, &touched);
        plan_name(prospect->plan, plan);
        printf("A calibration of %s by %s%s%s, not started:\n", prospect->description->device,
               observation_method_names[prospect->method], *plan ? ", " : "", prospect->plan->sapp ? "SApp's plan" : plan);
        print_modes(prospect);
        printf("\nExpected: about %zu observations, %.1f hours, %.1f %% of the battery.\n",
               estimate->observations, estimate->hours, estimate->percent);
        if (!prospect->battery)
                printf("Missing: this machine has no battery, so it cannot be calibrated.\n");
        printf("\nFrequency policies%s\n",
               prospect->options->device ? "" : " (pinned through libcpupower)");
        print_policies(prospect->description);
        printf("\nChanged while it runs, and restored\n");
        touched_print_back(stdout, &touched);
        printf("\nUsed or written permanently\n");
        touched_print_staying(stdout, &touched);
}

static cJSON *policies_json(const struct hardware_description *description)
{
        cJSON *list = cJSON_CreateArray();

        for (size_t i = 0; i < description->n_policies; i++) {
                const struct hardware_policy *policy = &description->policies[i];
                cJSON *item = cJSON_CreateObject(), *numbers;

                cJSON_AddNumberToObject(item, "policy", policy->policy);
                cJSON_AddStringToObject(item, "cpus", policy->cpus);
                cJSON_AddStringToObject(item, "governor", policy->governor);
                numbers = cJSON_AddArrayToObject(item, "khz");
                for (size_t k = 0; k < policy->n_khz; k++)
                        cJSON_AddItemToArray(numbers, cJSON_CreateNumber(policy->khz[k]));
                numbers = cJSON_AddArrayToObject(item, "members");
                for (size_t k = 0; k < policy->n_members; k++)
                        cJSON_AddItemToArray(numbers, cJSON_CreateNumber(policy->members[k].policy));
                cJSON_AddItemToArray(list, item);
        }
        return list;
}

static cJSON *modes_json(const struct prospect *prospect)
{
        cJSON *list = cJSON_CreateArray();

        for (size_t i = 0; i < prospect->plan->n; i++) {
                const struct planned_mode *mode = &prospect->plan->modes[i];
                char load[160] = "";
                cJSON *item = cJSON_CreateObject();

                describe_load(prospect, &mode->mode, load, sizeof(load));
                cJSON_AddStringToObject(item, "name", mode->mode.name);
                cJSON_AddStringToObject(item, "kind", mode->mode.kind);
                cJSON_AddStringToObject(item, "role", plan_role_names[mode->role]);
                cJSON_AddBoolToObject(item, "held_back", mode->mode.held_back);
                cJSON_AddStringToObject(item, "load", load);
                cJSON_AddItemToArray(list, item);
        }
        return list;
}

static void print_json(const struct prospect *prospect, const struct run_estimate *estimate)
{
        cJSON *json = cJSON_CreateObject(), *list;
        struct touched touched = { 0 };
        char plan[PLAN_NAME_MAX], *text;

        touched_list(prospect, &touched);
        cJSON_AddBoolToObject(json, "dry_run", true);
        cJSON_AddStringToObject(json, "device", prospect->description->device);
        cJSON_AddStringToObject(json, "method", observation_method_names[prospect->method]);
        cJSON_AddStringToObject(json, "plan", plan_name(prospect->plan, plan));
        cJSON_AddItemToObject(json, "modes", modes_json(prospect));
        cJSON_AddNumberToObject(json, "expected_observations", (double)estimate->observations);
        cJSON_AddNumberToObject(json, "expected_hours", estimate->hours);
        cJSON_AddNumberToObject(json, "expected_percent", estimate->percent);
        cJSON_AddBoolToObject(json, "battery", prospect->battery);
        cJSON_AddItemToObject(json, "policies", policies_json(prospect->description));
        list = cJSON_AddArrayToObject(json, "touched");
        for (size_t i = 0; i < touched.n; i++)
                cJSON_AddItemToArray(list, cJSON_CreateString(touched.list[i]));
        json_add_schema(json);
        text = json_print(json, JSON_LINE);
        if (text)
                puts(text);
        free(text);
}

void dry_run_print(const struct prospect *prospect)
{
        struct run_estimate estimate = run_estimate(prospect->description, prospect->plan, prospect->method,
                                                        prospect->request);

        if (prospect->options->json)
                print_json(prospect, &estimate);
        else
                print_text(prospect, &estimate);
}
