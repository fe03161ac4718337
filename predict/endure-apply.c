/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lets joulecast-focus follow a plan: it writes the wish, and waits for the journal. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "api/joulecast-private.h"
#include "endure.h"
#include "limit/limit-state.h"
#include "limit/plan-file.h"
#include "program.h"
#include "util/agree.h"
#include "util/paths.h"
#include "util/table.h"
#include "util/util.h"

#define TRIES 500 /* waits of 20 ms: the agent is quick, but each of its bus calls may take two seconds */

struct paths {
        char *wish, *made;
};

static void paths_clear(struct paths *paths)
{
        free(paths->wish);
        free(paths->made);
}

static int paths_find(struct paths *paths)
{
        int err = paths_plan(&paths->wish);

        if (!err)
                err = paths_plan_made(&paths->made);
        if (err == -ENOENT)
                log_error(&program_log, "a plan belongs to a user's session: run it there, where HOME is set, without "
                                        "sudo");
        return err ? CODE_FAILED : CODE_OK;
}

static bool agent_runs(void)
{
        _cleanup_close_ int fd = limit_state_lock();

        return fd == -EBUSY;
}

/* ---- apply ---- */

static void add(struct plan_file *file, enum endure_kind kind, const char *value, const char *app)
{
        struct plan_change *change = &file->list[file->n++];

        *change = (struct plan_change){ .kind = kind, .old = "-" };
        snprintf(change->value, sizeof(change->value), "%s", value);
        snprintf(change->app, sizeof(change->app), "%s", app);
}

static void make_file(const struct endure_plan *plan, struct plan_file *ret)
{
        *ret = (struct plan_file){ .until_ns = plan->until_ns };
        for (size_t i = 0; i < plan->endurance.n; i++) {
                const struct endure_change *change = &plan->endurance.list[i];
                char number[32] = "-";

                if (!isnan(change->brightness_percent))
                        util_print_double(change->brightness_percent, number, sizeof(number));
                if (endure_applies(change->kind))
                        add(ret, change->kind, number, change->app);
        }
        if (plan->profile)
                add(ret, ENDURE_POWER_PROFILE, plan->profile, "");
}

/* An exit code, after its sentence. */
static int check(const struct ask *ask, const struct endure_plan *plan, const struct plan_file *file)
{
        const struct forecast_battery *battery;

        if (!plan->here) {
                log_error(&program_log, "--apply is for this device alone; without it, a plan of another one is shown");
                return CODE_USAGE;
        }
        if (api_usage_battery(ask->usage, ask->profile, &battery) == 0 && api_usage_plugged(battery) > 0) {
                log_error(&program_log, "external power is connected, so nothing has to be changed; unplug it first");
                return CODE_FAILED;
        }
        if (file->n == 0)
                return CODE_OK;
        if (!agent_runs()) {
                log_error(&program_log, "joulecast-focus does not run in this session, and it is what undoes a "
                                        "plan; systemctl --user enable "
                          "--now joulecast-focus starts it");
                return CODE_FAILED;
        }
        return CODE_OK;
}

static int ask_user(const struct options *options, const struct endure_plan *plan)
{
        char local[32], question[160];

        if (options->yes)
                return CODE_OK;
        if (!isatty(STDIN_FILENO)) {
                log_error(&program_log, "no terminal to ask on; use --yes to change the settings");
                return CODE_FAILED;
        }
        values_print_local(plan->until_ns, local, sizeof(local));
        snprintf(question, sizeof(question), _("Change what can be undone, until %.16s?"), local);
        if (agree_ask(stdout, question))
                return CODE_OK;
        table_text(TABLE_PLAIN, "Nothing was changed.");
        return CODE_FAILED;
}

/* All changes were tried. */
static bool is_done(const struct paths *paths, int64_t until_ns, struct plan_file *ret)
{
        if (plan_file_read(paths->made, ret) < 0 || ret->until_ns != until_ns)
                return false;
        for (size_t i = 0; i < ret->n; i++)
                if (ret->list[i].state == PLAN_WISHED || ret->list[i].state == PLAN_MAKING)
                        return false;
        return true;
}

static int print_made(const struct options *options, const struct endure_plan *plan, const struct plan_file *made)
{
        static const char *const words[PLAN_STATES] = {
                [PLAN_WISHED] = N_("not done"),
                [PLAN_MAKING] = N_("not done"),
                [PLAN_MADE] = N_("done"),
                [PLAN_SAME] = N_("it was so already"),
                [PLAN_FAILED] = N_("it cannot be changed here; see the log of joulecast-focus"),
        };
        char action[300], local[32];
        int code = CODE_OK;

        for (size_t i = 0; i < made->n; i++) {
                struct endure_change change = { .kind = made->list[i].kind, .brightness_percent = NAN };

                snprintf(change.app, sizeof(change.app), "%s", made->list[i].app);
                for (size_t k = 0; k < plan->endurance.n && change.kind == ENDURE_BRIGHTNESS; k++)
                        if (plan->endurance.list[k].kind == ENDURE_BRIGHTNESS)
                                change.brightness_percent = plan->endurance.list[k].brightness_percent;
                table_text(TABLE_PLAIN, "%s: %s", endure_action(options, &change, action, sizeof(action)),
                           _(words[made->list[i].state]));
                if (made->list[i].state == PLAN_FAILED && change.kind != ENDURE_POWER_PROFILE)
                        code = CODE_FAILED;
        }
        for (size_t i = 0; i < plan->endurance.n; i++)
                if (!endure_applies(plan->endurance.list[i].kind))
                        table_text(TABLE_PLAIN, "%s: do it yourself%s%s",
                                   endure_action(options, &plan->endurance.list[i], action,
                                                 sizeof(action)), plan->commands[i] ? ": " : "",
                                   plan->commands[i] ? plan->commands[i] : "");
        values_print_local(made->until_ns, local, sizeof(local));
        if (made->n > 0)
                table_note("It is undone at %.16s, when external power comes, at logout, or by joulecast advise "
                           "--undo.", local);
        return code;
}

static struct cJSON *made_json(const struct endure_plan *plan, const struct plan_file *made,
                               const struct profile *profile)
{
        struct cJSON *json = endure_plan_json(plan, profile), *list = cJSON_AddArrayToObject(json, "made");

        for (size_t i = 0; i < made->n; i++) {
                const struct plan_change *change = &made->list[i];
                struct cJSON *one = cJSON_CreateObject();

                cJSON_AddStringToObject(one, "action", endure_words[change->kind]);
                cJSON_AddItemToObject(one, "app", answer_text(*change->app ? change->app : NULL));
                cJSON_AddStringToObject(one, "state", plan_states[change->state]);
                cJSON_AddItemToObject(one, "value", answer_text(change->value));
                cJSON_AddItemToObject(one, "old", answer_text(change->old));
                cJSON_AddItemToArray(list, one);
        }
        return json;
}

/* Makes it, and waits until it is done. */
static int follow(const struct paths *paths, const struct plan_file *file, struct plan_file *made)
{
        int err = util_make_parent(paths->wish, 0700);

        if (!err)
                err = plan_file_write(paths->wish, file);
        if (err) {
                log_error(&program_log, "%s: %s", paths->wish, util_reason(err));
                return CODE_FAILED;
        }
        for (int i = 0; i < TRIES; i++) {
                if (is_done(paths, file->until_ns, made))
                        return CODE_OK;
                if (i > 50 && access(paths->wish, F_OK) < 0)
                        break; /* it has ended already */
                usleep(20000);
        }
        log_error(&program_log, "joulecast-focus did not follow the plan; see its log");
        unlink(paths->wish);
        return CODE_FAILED;
}

int endure_apply(const struct options *options, const struct ask *ask, const struct endure_plan *plan)
{
        _cleanup_(paths_clear) struct paths paths = { 0 };
        struct plan_file file, made = { 0 };
        int code;

        make_file(plan, &file);
        code = check(ask, plan, &file);
        if (code == CODE_OK)
                code = paths_find(&paths);
        if (code == CODE_OK && !options->json)
                code = endure_print(options, plan);
        if (code == CODE_OK && file.n > 0)
                code = ask_user(options, plan);
        if (code == CODE_OK && file.n > 0)
                code = follow(&paths, &file, &made);
        if (code != CODE_OK)
                return code;
        if (options->json)
                return answer_print_json(made_json(plan, &made, ask->profile->profile));
        return print_made(options, plan, &made);
}

/* ---- undo ---- */

/* Without an agent this program becomes the one that undoes the plan (joulecast-focus --restore). */
static int undo_alone(void)
{
        char name[] = "focus", restore[] = "--restore";
        char *arguments[] = { name, restore, NULL };
        _cleanup_close_ int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

        if (null_fd >= 0)
                dup2(null_fd, STDIN_FILENO); /* it waits for the end of the input */
        return program_become("focus", "poller/focus", "joulecast-focus", NULL, arguments);
}

int endure_undo(const struct options *options)
{
        _cleanup_(paths_clear) struct paths paths = { 0 };
        int code = paths_find(&paths);

        if (code != CODE_OK)
                return code;
        if (access(paths.wish, F_OK) < 0 && access(paths.made, F_OK) < 0) {
                table_text(TABLE_PLAIN, "No plan is followed.");
                return CODE_OK;
        }
        unlink(paths.wish);
        if (!agent_runs())
                return undo_alone();
        for (int i = 0; i < TRIES && access(paths.made, F_OK) == 0; i++)
                usleep(20000);
        if (access(paths.made, F_OK) == 0) {
                log_error(&program_log, "not all settings could be restored; see the log of joulecast-focus");
                return CODE_FAILED;
        }
        table_text(TABLE_PLAIN, "All settings are as before the plan, except those that were changed since.");
        return CODE_OK;
}
