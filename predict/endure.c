/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "endure.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "action.h"
#include "answer.h"
#include "answer/program.h"
#include "api/joulecast-private.h"
#include "app/app-units.h"
#include "live.h"
#include "util/paths.h"
#include "util/units.h"
#include "util/util.h"


int endure_check(const struct endure_asked *asked, bool *wants)
{
        bool until = asked->until_ns != 0, span = !isnan(asked->for_minutes);

        *wants = until || span || asked->undo;
        if (until && span) {
                log_error(&program_log, "--until and --for say the same; give one of them");
                return CODE_USAGE;
        }
        if (asked->undo && (until || span || asked->apply || asked->app || asked->n_without > 0)) {
                log_error(&program_log, "--undo goes with no other option of a plan; see joulecast advise --help");
                return CODE_USAGE;
        }
        if (!*wants && (asked->app || asked->apply || asked->n_without > 0)) {
                log_error(&program_log, "how long must the charge last? give --until 18:00 or --for 3h");
                return CODE_USAGE;
        }
        if (span && !(asked->for_minutes > 0)) {
                log_error(&program_log, "--for may be 1s to 1000000 minutes");
                return CODE_USAGE;
        }
        return CODE_OK;
}

static void endure_plan_clear(struct endure_plan *plan)
{
        for (size_t i = 0; i < ARRAY_SIZE(plan->commands); i++)
                free(plan->commands[i]);
        *plan = (struct endure_plan){ 0 };
}

/* State of the user's session. */
struct here {
        struct user_apps *apps;
        struct app_units units;
};

static void here_clear(struct here *here)
{
        user_apps_freep(&here->apps);
        app_units_clear(&here->units);
}

static int here_read(struct here *here)
{
        _cleanup_close_ int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        _cleanup_(apps_freep) struct apps *apps = NULL;
        int err = root_fd < 0 ? -errno : user_apps_read(&here->apps);

        if (!err)
                err = apps_new(root_fd, NULL, &apps);
        return err ? err : app_units_read(apps, root_fd, getuid(), &here->units);
}

static bool has_unit(const struct here *here, const char *app)
{
        bool found = false;

        for (size_t i = 0; i < here->units.n; i++) {
                if (strcmp(here->units.list[i].app, app) != 0)
                        continue;
                if (here->units.list[i].trouble != UNIT_FINE)
                        return false;
                found = true;
        }
        return found;
}

static struct advice advice_of(const struct endure_change *change)
{
        static const enum advice_kind kinds[ENDURE_KINDS] = {
                [ENDURE_BRIGHTNESS] = ADVICE_BRIGHTNESS, [ENDURE_CELLULAR] = ADVICE_CELLULAR,
                [ENDURE_WIFI] = ADVICE_WIFI,             [ENDURE_CLOSE] = ADVICE_CLOSE,
        };
        struct advice advice = { .kind = kinds[change->kind], .brightness_percent = change->brightness_percent };

        snprintf(advice.app, sizeof(advice.app), "%s", change->app);
        return advice;
}

/* 0; -ENOENT: it cannot be done here; -ENOMEM. */
static int find_command(const struct here *here, const struct endure_change *change, char **ret)
{
        _cleanup_(program_words_clear) struct program_words words = { 0 };
        const char *const limit[] = { "joulecast", "limit", "--freeze-after", "10s", "--", change->app, NULL };
        struct advice advice;
        int err;

        if (change->kind == ENDURE_LIMIT) {
                if (!has_unit(here, change->app))
                        return -ENOENT;
                err = program_words_add_all(&words, limit);
                *ret = err ? NULL : program_words_line(&words);
                return *ret ? 0 : -ENOMEM;
        }
        advice = advice_of(change);
        return action_find(here->apps, &advice, ret);
}

static int make_goal(const struct endure_asked *asked, double minutes, struct joulecast_goal **ret)
{
        struct joulecast_goal *goal = NULL;
        int err = joulecast_goal_new(minutes, &goal);

        if (!err && asked->app)
                err = joulecast_goal_app(goal, asked->app);
        for (size_t i = 0; !err && i < asked->n_without; i++)
                err = joulecast_goal_without(goal, asked->without[i]);
        if (err)
                joulecast_goal_free(goal);
        else
                *ret = goal;
        return err;
}

static int find_plan(const struct ask *ask, const struct joulecast_goal *goal, struct endurance *ret)
{
        struct joulecast_endurance *endurance = NULL;
        int err = joulecast_endurance_new(ask->profile, ask->usage, goal, &endurance);

        if (!err)
                *ret = endurance->endurance;
        joulecast_endurance_free(endurance);
        return err;
}

/* 1: something was left out, so that another plan is needed; 0: all can be done; -errno. */
static int find_commands(const struct here *here, struct joulecast_goal *goal, struct endure_plan *plan)
{
        bool left_out = false;
        int err = 0;

        for (size_t i = 0; !err && i < plan->endurance.n; i++) {
                const struct endure_change *change = &plan->endurance.list[i];
                char without[APP_ID_MAX + 16];

                err = find_command(here, change, &plan->commands[i]);
                if (err != -ENOENT)
                        continue;
                snprintf(without, sizeof(without), "%s%s%s", endure_words[change->kind], *change->app ? ":" : "",
                         change->app);
                err = joulecast_goal_without(goal, without);
                left_out = true;
        }
        for (size_t i = 0; left_out && i < plan->endurance.n; i++) {
                free(plan->commands[i]);
                plan->commands[i] = NULL;
        }
        return err ? err : left_out;
}

/* The refresh rate that joulecast-focus told joulecastd. 0: unknown, or about 60 Hz or less, the least of screens. */
static double find_refresh_hz(void)
{
        char text[32];
        double mhz;

        if (util_read_at(AT_FDCWD, PATHS_REFRESH_RATE, text, sizeof(text)) < 0)
                return 0;
        text[strcspn(text, "\n")] = '\0';
        return util_parse_double(text, &mhz) == 0 && mhz > 61000 && mhz < 1e6 ? mhz / 1000 : 0;
}

static bool wants_profile(const struct endure_asked *asked)
{
        for (size_t i = 0; i < asked->n_without; i++)
                if (strcmp(asked->without[i], endure_words[ENDURE_POWER_PROFILE]) == 0)
                        return false;
        return true;
}

static int endure_find(const struct ask *ask, const struct endure_asked *asked, struct endure_plan *ret)
{
        _cleanup_(endure_plan_clear) struct endure_plan plan = {
                .here = (ask->usage->live || ask->usage->service) && !ask->context->device && !ask->context->machine,
        };
        _cleanup_(here_clear) struct here here = { 0 };
        struct joulecast_goal *goal = NULL;
        int64_t now_ns = values_now_ns();
        double minutes = isnan(asked->for_minutes) ? (double)(asked->until_ns - now_ns) / 60e9 : asked->for_minutes;
        int err = make_goal(asked, minutes, &goal), again = 1;

        plan.until_ns = asked->until_ns ? asked->until_ns : now_ns + (int64_t)(minutes * 60e9);
        if (!err && plan.here)
                err = here_read(&here);
        while (!err && again == 1) { /* each round leaves out more, of which a goal takes a limited number */
                err = find_plan(ask, goal, &plan.endurance);
                again = !err && plan.here ? find_commands(&here, goal, &plan) : 0;
                err = err ? err : MIN(again, 0);
        }
        joulecast_goal_free(goal);
        if (err == -E2BIG)
                log_error(&program_log, "there are too many changes that --without names or that cannot be made here");
        if (err)
                return err;
        if (plan.here && plan.endurance.short_minutes != 0 && wants_profile(asked))
                plan.profile = live.thrifty_profile();
        if (plan.here && plan.endurance.short_minutes != 0)
                plan.refresh_hz = find_refresh_hz();
        *ret = plan;
        plan = (struct endure_plan){ 0 };
        return 0;
}

int endure_answer(const struct options *options, const struct endure_asked *asked)
{
        _cleanup_(endure_plan_clear) struct endure_plan plan = { 0 };
        _cleanup_(ask_close) struct ask ask = { 0 };
        int code, err;

        if (asked->undo)
                return endure_undo(options);
        code = ask_open(options, &ask);
        if (code != CODE_OK)
                return code;
        err = endure_find(&ask, asked, &plan);
        if (err < 0)
                return ask_failed(err);
        if (asked->apply)
                return endure_apply(options, &ask, &plan);
        if (options->json)
                return answer_print_json(endure_plan_json(&plan, ask.profile->profile));
        code = endure_print(options, &plan);
        if (code == CODE_OK)
                answer_note_basis(ask.profile->profile);
        return code;
}
