/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "estimator.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "hardware/group.h"
#include "hold/program.h"
#include "model/json-print.h"
#include "util/util.h"

/* A fit takes milliseconds, seconds on a busy phone; more means that it hangs. */
#define ANSWER_MS 60000
#define ANSWER_MAX (4 << 20)     /* bytes */

struct estimator {
        struct program program;
        const struct log *log;
};

/* Sends one line and reads the answer. */
static int exchange(struct estimator *child, cJSON *request, cJSON **ret)
{
        _cleanup_free_ char *text = json_print(request, JSON_LINE);
        char line[sizeof(child->program.line)];
        const char *error;
        cJSON *answer;

        if (!text)
                return -ENOMEM;
        if (program_say(&child->program, text) < 0 ||
            program_hear(&child->program, ANSWER_MS, line, sizeof(line)) < 0)
                return -EPIPE;
        answer = cJSON_Parse(line);
        if (!answer)
                return json_failed() ? -ENOMEM : -EPROTO;
        error = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "error"));
        if (error) {
                char printable[256];

                log_warning(child->log, "joulecast-fit: %s",
                            util_printable(error, printable, sizeof(printable)));
                cJSON_Delete(answer);
                return -EPROTO;
        }
        *ret = answer;
        return 0;
}

static void members_to_json(const struct hardware_policy *policy, cJSON *item)
{
        cJSON *list;

        if (policy->n_members < 2)
                return;
        cJSON_AddNumberToObject(item, "sharing", group_sharing(policy));
        list = cJSON_AddArrayToObject(item, "members");
        for (size_t i = 0; i < policy->n_members; i++) {
                cJSON *member = cJSON_CreateObject();

                cJSON_AddNumberToObject(member, "policy", policy->members[i].policy);
                cJSON_AddStringToObject(member, "cpus", policy->members[i].cpus);
                cJSON_AddItemToArray(list, member);
        }
}

struct cJSON *estimator_description_json(const struct hardware_description *description, const struct plan *plan)
{
        cJSON *json = cJSON_CreateObject(), *policies = cJSON_AddArrayToObject(json, "policies");

        for (size_t i = 0; i < description->n_policies; i++) {
                const struct hardware_policy *policy = &description->policies[i];
                cJSON *item = cJSON_CreateObject(), *khz;

                cJSON_AddNumberToObject(item, "policy", policy->policy);
                cJSON_AddStringToObject(item, "cpus", policy->cpus);
                cJSON_AddNumberToObject(item, "n_cpus", policy->n_cpus);
                khz = cJSON_AddArrayToObject(item, "khz");
                for (size_t k = 0; k < policy->n_khz; k++)
                        cJSON_AddItemToArray(khz, cJSON_CreateNumber(policy->khz[k]));
                members_to_json(policy, item);
                cJSON_AddItemToArray(policies, item);
        }
        cJSON_AddNumberToObject(json, "max_brightness", description->max_brightness);
        cJSON_AddNumberToObject(json, "disks", (double)description->n_disks);
        cJSON_AddBoolToObject(json, "wifi", description->wifi);
        cJSON_AddBoolToObject(json, "gpu", description->gpu);
        cJSON_AddBoolToObject(json, "voltage", description->voltage);
        cJSON_AddBoolToObject(json, "current_sensor", description->current_sensor);
        if (description->counters)
                cJSON_AddStringToObject(json, "miss_event", description->miss_event);
        if (description->idle_states != IDLE_STATES_UNKNOWN)
                cJSON_AddStringToObject(json, "idle_states",
                                        description->idle_states == IDLE_STATES_DEEP ? "deep" : "shallow");
        if (plan->only) {
                cJSON *only = cJSON_AddArrayToObject(json, "only");

                for (unsigned c = 0; c < COMPONENT_COUNT; c++)
                        if (plan->only & 1u << c)
                                cJSON_AddItemToArray(only, cJSON_CreateString(component_names[c]));
                cJSON_AddStringToObject(json, "before", plan->before);
        }
        return json;
}

static int modes_to_json(const struct hardware_description *description, const struct plan *plan, cJSON *list)
{
        for (size_t i = 0; i < plan->n; i++) {
                const struct mode *mode = &plan->modes[i].mode;
                struct usage usage;
                cJSON *item;
                int err;

                if (plan->modes[i].role == ROLE_BURN)
                        continue;
                err = plan_usage(description, mode, &usage);
                if (err)
                        return err;
                item = cJSON_CreateObject();
                cJSON_AddStringToObject(item, "name", mode->name);
                cJSON_AddStringToObject(item, "kind", mode->kind);
                /* Neither is fitted, nor chosen for its gain. */
                cJSON_AddBoolToObject(item, "held_back",
                                      mode->held_back || mode->dark > 0 || mode->air == AIR_CELLULAR ||
                                              mode->kernel != KERNEL_SPIN);
                cJSON_AddItemToObject(item, "usage", usage_to_json(&usage));
                cJSON_AddItemToArray(list, item);
                usage_clear(&usage);
        }
        return 0;
}

bool estimator_is_there(void)
{
        char *const arguments[] = { (char *)"joulecast-fit", (char *)"--version", NULL };
        struct program program;

        return program_start(arguments, &program) == 0 && program_end(&program) != 127;
}

static cJSON *start_line(const struct observation_run *run, const struct hardware_description *description,
                         const struct plan *plan, const char *database, double stop_percent)
{
        cJSON *line = cJSON_CreateObject(), *start = estimator_description_json(description, plan);

        cJSON_AddItemToObject(line, "start", start);
        cJSON_AddStringToObject(start, "device", run->device);
        cJSON_AddStringToObject(start, "method", run->method);
        cJSON_AddNumberToObject(start, "energy_full_mwh", run->energy_full_mwh); /* NaN is printed as null */
        cJSON_AddItemToObject(start, "database",
                              database ? cJSON_CreateString(database) : cJSON_CreateNull());
        cJSON_AddNumberToObject(start, "stop_percent", stop_percent);
        if (modes_to_json(description, plan, cJSON_AddArrayToObject(start, "modes")) < 0) {
                cJSON_Delete(line);
                return NULL;
        }
        return line;
}

int estimator_open(const struct observation_run *run, const struct hardware_description *description,
                   const struct plan *plan, const char *database, double stop_percent, const struct log *log,
                   struct estimator **ret)
{
        char *const arguments[] = { (char *)"joulecast-fit", (char *)"--follow", NULL };
        cJSON *answer = NULL, *start = start_line(run, description, plan, database, stop_percent);
        struct estimator *child = calloc(1, sizeof(*child));
        int err = child && start ? 0 : -ENOMEM;

        if (!err)
                err = program_start(arguments, &child->program);
        if (err) {
                cJSON_Delete(start);
                free(child);
                return err;
        }
        child->log = log;
        err = exchange(child, start, &answer);
        if (!err && !cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "ready")))
                err = -EPROTO;
        cJSON_Delete(answer);
        if (err) {
                estimator_close(child);
                return err == -EPIPE ? -ENOENT : err;
        }
        *ret = child;
        return 0;
}

void estimator_close(struct estimator *child)
{
        if (!child)
                return;
        program_say(&child->program, "{\"end\": true}");
        program_end(&child->program);
        free(child);
}

static double number(const cJSON *json, const char *name)
{
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);

        return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

int estimator_keep(struct estimator *child, const struct observation *observation)
{
        cJSON *line = cJSON_CreateObject(), *answer = NULL;
        int err;

        cJSON_AddItemToObject(line, "observation", observation_to_json(observation));
        cJSON_AddBoolToObject(line, "keep", true);
        err = exchange(child, line, &answer);
        cJSON_Delete(answer);
        return err;
}

int estimator_observe(struct estimator *child, const struct observation *observation,
                      const struct estimator_remaining *remaining, struct estimator_judgement *ret)
{
        cJSON *line = cJSON_CreateObject(), *object = cJSON_CreateObject(), *left_out, *answer = NULL;
        struct estimator_judgement judgement = { 0 };
        const char *next, *doubted;
        int err;

        cJSON_AddItemToObject(line, "observation", observation_to_json(observation));
        cJSON_AddItemToObject(line, "remaining", object);
        /* Infinite is printed as null: no limit. */
        cJSON_AddNumberToObject(object, "percent", remaining->percent);
        cJSON_AddNumberToObject(object, "hours", remaining->hours);
        left_out = cJSON_AddArrayToObject(line, "left_out");
        for (size_t i = 0; i < remaining->n_left_out; i++)
                cJSON_AddItemToArray(left_out, cJSON_CreateString(remaining->left_out[i]));
        err = exchange(child, line, &answer);
        if (err)
                return err;
        next = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "next"));
        snprintf(judgement.next, sizeof(judgement.next), "%s", next ? next : "");
        doubted = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "doubted"));
        snprintf(judgement.doubted, sizeof(judgement.doubted), "%s", doubted ? doubted : "");
        judgement.half_width_percent = number(answer, "half_width_percent");
        judgement.expected_hours = number(answer, "expected_hours");
        judgement.expected_percent = number(answer, "expected_percent");
        cJSON_Delete(answer);
        *ret = judgement;
        return 0;
}

static int read_all(int fd, char **ret)
{
        _cleanup_free_ char *text = NULL;
        size_t length = 0, capacity = 0;

        while (length < ANSWER_MAX) {
                ssize_t n;

                if (util_grow(&text, &capacity, length + 4096, 1) < 0)
                        return -ENOMEM;
                n = program_wait_readable(fd, ANSWER_MS) < 0 ? -1 : read(fd, text + length, 4095);
                if (n < 0)
                        return -ENODATA;
                length += (size_t)n;
                text[length] = '\0';
                if (n > 0)
                        continue;
                *ret = TAKE_PTR(text);
                return 0;
        }
        return -E2BIG;
}

/* In half-widths of the prediction. */
static double how_far_off(const struct estimator_result *result)
{
        return fabs(result->off.measured_mw - result->off.predicted_mw) / result->off.half_width_mw;
}

static void read_held_back(const cJSON *check, struct estimator_result *result)
{
        const cJSON *mode = cJSON_GetObjectItemCaseSensitive(check, "mode");
        struct estimator_result this = *result;

        if (!cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(check, "inside")) || !cJSON_IsString(mode))
                return;
        util_printable(mode->valuestring, this.off.mode, sizeof(this.off.mode));
        this.off.measured_mw = number(check, "measured_mw");
        this.off.predicted_mw = number(check, "predicted_mw");
        this.off.half_width_mw = number(check, "half_width_mw");
        if (!result->off.mode[0] || how_far_off(&this) > how_far_off(result))
                *result = this;
}

/* Reads a text of the answer. An answer without the name of a profile means that there is none. */
static void read_text(const cJSON *json, const char *name, char *buf, size_t size)
{
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));

        util_printable(text ? text : "", buf, size);
}

static int read_result(const char *text, struct estimator_result *ret)
{
        cJSON *json = cJSON_Parse(text);
        const cJSON *check;
        bool written = cJSON_IsString(cJSON_GetObjectItemCaseSensitive(json, "profile"));

        if (written) {
                *ret = (struct estimator_result){
                        .validated = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "validated")),
                };
                read_text(json, "profile", ret->profile, sizeof(ret->profile));
                read_text(json, "kept", ret->kept, sizeof(ret->kept));
                read_text(json, "worse", ret->worse, sizeof(ret->worse));
                read_text(json, "doubt", ret->doubt, sizeof(ret->doubt));
                read_text(json, "stale", ret->stale, sizeof(ret->stale));
                cJSON_ArrayForEach(check, cJSON_GetObjectItemCaseSensitive(json, "held_back"))
                        read_held_back(check, ret);
        }
        cJSON_Delete(json);
        if (json_failed())
                return -ENOMEM;
        return written ? 0 : -EIO;
}

int estimator_run(const struct estimator_request *request, struct estimator_result *ret)
{
        _cleanup_free_ char *text = NULL;
        char run[24];
        char *const arguments[] = {
                (char *)"joulecast-fit", (char *)"--json",
                (char *)"--observations", (char *)request->observations,
                (char *)"--run", run,
                (char *)"--estimator", (char *)request->estimator,
                (char *)"--profile", (char *)request->profile,
                NULL,
        };
        struct program program;
        int status, err;

        snprintf(run, sizeof(run), "%lld", (long long)request->run);
        err = program_start(arguments, &program);
        if (err)
                return err;
        close(take_fd(&program.to_fd));
        err = read_all(program.from_fd, &text);
        status = program_end(&program);
        if (status == 127)
                return -ENOENT;
        if (err || status != 0)
                return -EIO;
        return read_result(text, ret);
}
