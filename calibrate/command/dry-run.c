/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dry-run.h"

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <string.h>

#include "consent.h"
#include "model/json-print.h"
#include "touched.h"
#include "util/text.h"
#include "util/util.h"
#include "util/words.h"

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
                        say(&phrase, words_counted("%u core at %u MHz", "%u cores at %u MHz", cores), cores,
                            (khz + 500) / 1000);
                else if (cores)
                        say(&phrase, words_counted("%u core", "%u cores", cores), cores);
                else if (khz)
                        say(&phrase, _("idle at %u MHz"), (khz + 500) / 1000);
        }
        if (mode->kernel != KERNEL_SPIN)
                say(&phrase, "%s",
                    mode->kernel == KERNEL_ILP ? _("many instructions per cycle") : _("streaming memory"));
        if (mode->screen_on)
                say(&phrase,
                    mode->dark >= 1 ? _("screen at %u, black") :
                    mode->dark > 0  ? _("screen at %u, "
                                         "grey") :
                                      _("screen at %u"),
                    mode->brightness);
        if (mode->wifi_on)
                say(&phrase, "%s", _("WiFi on"));
        if (mode->air == AIR_CELLULAR)
                say(&phrase, "%s", _("over the modem"));
        say_rate(&phrase, _("read"), mode->read_mb_per_s);
        say_rate(&phrase, _("write"), mode->write_mb_per_s);
        if (mode->operations)
                say(&phrase, _("%u x %u bytes a pass"), mode->operations, mode->operation_bytes);
        say_rate(&phrase, _("receive"), mode->rx_mb_per_s);
        say_rate(&phrase, _("send"), mode->tx_mb_per_s);
        if (mode->wakes_per_s > 0)
                say(&phrase, _("%g bursts/s"), mode->wakes_per_s);
        if (mode->packets_per_s > 0)
                say(&phrase, mode->large_packets ? _("%g large packets/s") : _("%g packets/s"), mode->packets_per_s);
        if (mode->burst_packets > 1)
                say(&phrase, _("%u at a time"), mode->burst_packets);
        if (mode->gpu > 0)
                say(&phrase, _("GPU at %.0f %%"), 100 * mode->gpu);
        if (phrase.length == 0)
                say(&phrase, "%s", _("nothing"));
}

static const char *when(const struct prospect *prospect, const struct planned_mode *mode)
{
        bool gauge = prospect->method == METHOD_GAUGE;

        if (prospect->plan->sapp)
                return mode->role == ROLE_BURN ? _("first") : _("three times");
        switch (mode->role) {
        case ROLE_BLOCK:
                return gauge ? _("every pass") : _("first block");
        case ROLE_LEVEL:
                return gauge ? _("never") : _("first block");
        case ROLE_EXTRA:
                return gauge ? _("some passes") : _("if most informative");
        case ROLE_FINE:
                return gauge ? _("every pass") : _("never");
        case ROLE_LATER:
                return gauge ? _("all passes but the first") : _("never");
        case ROLE_CANDIDATE:
                return gauge ? _("never") : _("if most informative");
        case ROLE_HELD_BACK:
                return _("once, to check");
        case ROLE_BURN:
                return gauge ? _("first, to learn the gauge") : _("the partial first step");
        }
        return "";
}

static void print_policy(const struct hardware_policy *policy)
{
        if (policy->n_members > 1)
                printf(_("  %zu policies of a kind, measured as one: CPUs %s"), policy->n_members, policy->cpus);
        else
                printf(_("  policy %u: CPUs %s"), policy->policy, policy->cpus);
        if (policy->n_khz == 0 || policy->khz[0] == 0)
                fputs(_(", no frequencies to pin"), stdout);
        else
                printf(words_counted(", %zu frequency of %u to %u MHz", ", %zu frequencies of %u to %u MHz",
                                     policy->n_khz),
                       policy->n_khz, policy->khz[0] / 1000, policy->khz[policy->n_khz - 1] / 1000);
        if (policy->governor[0])
                printf(_(", governor %s"), policy->governor);
        putchar('\n');
}

static void print_policies(const struct hardware_description *description)
{
        if (description->n_policies == 0)
                printf("  %s\n", _("none"));
        for (size_t i = 0; i < description->n_policies; i++)
                print_policy(&description->policies[i]);
}

static void print_modes(const struct prospect *prospect)
{
        size_t name = MAX(text_width(_("state")), (size_t)20) + 1, time = MAX(text_width(_("when")), (size_t)25) + 1;

        for (size_t i = 0; i < prospect->plan->n; i++)
                time = MAX(time, text_width(when(prospect, &prospect->plan->modes[i])) + 1);
        fputs("\n  ", stdout);
        text_column(stdout, _("state"), name, false);
        text_column(stdout, _("when"), time, false);
        puts(_("load"));
        for (size_t i = 0; i < prospect->plan->n; i++) {
                const struct planned_mode *mode = &prospect->plan->modes[i];
                char load[256] = "";

                if (mode->role == ROLE_CANDIDATE && prospect->method == METHOD_GAUGE)
                        continue;
                describe_load(prospect, &mode->mode, load, sizeof(load));
                fputs("  ", stdout);
                text_column(stdout, mode->mode.name, name - 1, false);
                putchar(' ');
                text_column(stdout, when(prospect, mode), time, false);
                text_wrap(stdout, load, 2 + MAX(text_width(mode->mode.name) + 1, name) + time,
                          2 + name + time, TEXT_COLUMNS);
                putchar('\n');
        }
}

static void print_text(const struct prospect *prospect, const struct run_estimate *estimate)
{
        struct touched touched = { 0 };
        char plan[PLAN_NAME_MAX], expected[ESTIMATE_TEXT_MAX];

        touched_list(prospect, &touched);
        plan_name(prospect->plan, plan);
        printf(_("A calibration of %s by %s%s%s, not started:\n"), prospect->description->device,
               observation_method_names[prospect->method], *plan ? ", " : "",
               prospect->plan->sapp ? _("SApp's plan") : plan);
        print_modes(prospect);
        putchar('\n');
        text_print(stdout, _("Expected: about %zu observations, %s. %s"), estimate->observations,
                   estimate_text(estimate, expected), consent_basis(prospect));
        if (!prospect->battery)
                fputs(_("Missing: this machine has no battery, so it cannot be calibrated.\n"), stdout);
        printf("\n%s\n", prospect->options->device ? _("Frequency policies") :
               _("Frequency policies (pinned through libcpupower)"));
        print_policies(prospect->description);
        printf("\n%s\n", _("Changed while it runs, and restored"));
        touched_print_back(stdout, &touched);
        printf("\n%s\n", _("Used or written permanently"));
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
                char load[256] = "";
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
        estimate_to_json(estimate, json);
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

int dry_run_print(const struct prospect *prospect)
{
        struct run_estimate estimate;
        int err = run_estimate(prospect->description, prospect->plan, prospect->method, prospect->request, &estimate);

        if (err)
                return err;
        if (prospect->options->json)
                print_json(prospect, &estimate);
        else
                print_text(prospect, &estimate);
        return 0;
}
