/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A plan's file and its journal, and the changes made and undone by them. The only setting here is limits.ini: it needs
 * no bus.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "focus/plan-undo.h"
#include "limit/limit-wish.h"
#include "limit/plan-file.h"
#include "util/paths.h"
#include "util/util.h"

static char folder[64], *limits, *made, *wish;

static void begin(void)
{
        snprintf(folder, sizeof(folder), "/tmp/joulecast-plan-%d", (int)getpid());
        check_int(mkdir(folder, 0700), 0);
        setenv("XDG_CONFIG_HOME", folder, 1);
        setenv("XDG_STATE_HOME", folder, 1);
        setenv("HOME", folder, 1);
        check_int(paths_limits(&limits), 0);
        check_int(paths_plan(&wish), 0);
        check_int(paths_plan_made(&made), 0);
        check_int(util_make_parent(limits, 0700), 0);
}

static void end(void)
{
        char path[96];

        unlink(limits);
        unlink(made);
        unlink(wish);
        snprintf(path, sizeof(path), "%s/joulecast", folder);
        rmdir(path);
        check_int(rmdir(folder), 0);
        free(limits);
        free(made);
        free(wish);
}

static void lines(void)
{
        static const struct {
                const char *text;
                size_t n;
        } rows[] = {
                { "until 5\nbrightness wished 40 - \n", 1 },
                { "brightness wished 40 -\nlimit made 0,10,7 none my app\n", 2 },
                { "limit made 0,10,7 none \n", 0 },          /* lacks its app */
                { "brightness made 40 80 firefox\n", 0 },    /* has an app */
                { "brightness\nbrightness wished\nbrightness wished 40\n", 0 },
                { "volume wished 40 - \n", 0 },
                { "brightness asked 40 - \n", 0 },
                { "brightness wished \x01 - \n", 0 },
                { "", 0 },
                { "until 99999999999999999999999\n\n\n", 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct plan_file plan;
                char *text = strdup(rows[i].text);

                plan_file_parse(text, &plan);
                check_int((int)plan.n, (int)rows[i].n);
                free(text);
        }
}

static void kept(void)
{
        struct plan_file plan = { .until_ns = 1234567890123456789 }, again;

        for (size_t i = 0; i < PLAN_CHANGES_MAX; i++) {
                plan.list[i] = (struct plan_change){ .kind = ENDURE_LIMIT,
                                                    .state = (enum plan_state)(i % PLAN_STATES), .old = "-" };
                snprintf(plan.list[i].value, PLAN_VALUE_MAX, "%zu", i);
                snprintf(plan.list[i].app, APP_ID_MAX, "an app %zu", i);
        }
        plan.n = PLAN_CHANGES_MAX;
        check_int(plan_file_write(made, &plan), 0);
        check_int(plan_file_read(made, &again), 0);
        check(again.until_ns == plan.until_ns && again.n == plan.n);
        for (size_t i = 0; i < plan.n; i++) {
                check_text(again.list[i].app, plan.list[i].app);
                check_text(again.list[i].value, plan.list[i].value);
                check_int((int)again.list[i].state, (int)plan.list[i].state);
        }
        check_int(unlink(made), 0);
        check_int(plan_file_read(made, &again), -ENOENT);
}

static struct limit_wishes read_limits(void)
{
        static struct limit_wishes wishes;

        wishes.n = 0;
        check_int(limit_wishes_read(limits, NULL, &wishes), 0);
        return wishes;
}

static void set_limit(const char *app, double cpu_percent, double freeze_after_s)
{
        struct limit_wishes wishes = read_limits();
        struct limit_wish one = { .cpu_percent = cpu_percent, .freeze_after_s = freeze_after_s,
                                 .since_ns = 1000000000 };

        snprintf(one.app, sizeof(one.app), "%s", app);
        check_int(limit_wish_set(&wishes, &one), 0);
        check_int(limit_wishes_write(limits, &wishes), 0);
}

static struct plan_file two_apps(void)
{
        struct plan_file plan = { .until_ns = 1, .n = 2 };

        for (size_t i = 0; i < plan.n; i++) {
                plan.list[i] = (struct plan_change){ .kind = ENDURE_LIMIT, .value = "-", .old = "-" };
                snprintf(plan.list[i].app, APP_ID_MAX, "%s", i ? "mail" : "sync");
        }
        return plan;
}

/* Old values come back, but for those that the user has changed since. */
static void undone(void)
{
        struct plan_settings settings = { .root_fd = -1 };
        struct plan_file plan = two_apps(), journal;
        struct limit_wishes wishes;

        set_limit("mail", 25, 0);
        check_int(plan_make(&settings, made, &plan), 0);
        check_int(plan_file_read(made, &journal), 0);
        check_int((int)journal.n, 2);
        check_int((int)journal.list[0].state, (int)PLAN_MADE);
        check_text(journal.list[0].old, "none");
        check_text(journal.list[1].old, "25,0,1");
        wishes = read_limits();
        check_int((int)wishes.n, 2);
        check(limit_wish_find(&wishes, "sync")->freeze_after_s == 10 && limit_wish_find(&wishes,
                                                                                        "mail")->freeze_after_s == 10);
        check_int(plan_undo(&settings, made), 0);
        check_int(access(made, F_OK), -1);
        wishes = read_limits();
        check_int((int)wishes.n, 1);
        check(wishes.list[0].cpu_percent == 25 && wishes.list[0].freeze_after_s == 0 &&
              wishes.list[0].since_ns == 1000000000);

        plan = two_apps();
        check_int(plan_make(&settings, made, &plan), 0);
        set_limit("sync", 50, 0);
        check_int(plan_undo(&settings, made), 0);
        wishes = read_limits();
        check_int((int)wishes.n, 2);
        check(limit_wish_find(&wishes, "sync")->cpu_percent == 50 && limit_wish_find(&wishes,
                                                                                     "mail")->cpu_percent == 25);
        check_int(plan_undo(&settings, made), 0); /* without a journal there is nothing to do */
}

/*
 * The journal is on the disk before the change: killed in between, there is nothing to undo; killed after it, there
 * is.
 */
static void crashed(void)
{
        struct plan_file plan = two_apps();
        struct limit_wishes wishes;

        unlink(limits);
        snprintf(plan.list[0].old, PLAN_VALUE_MAX, "none");
        snprintf(plan.list[0].value, PLAN_VALUE_MAX, "0,10,7");
        plan.list[0].state = PLAN_MADE;
        check_int(plan_file_write(made, &plan), 0);
        check_int(plan_file_write(wish, &plan), 0);
        check_int(plan_undo_all(NULL), 0);
        check(access(made, F_OK) < 0 && access(wish, F_OK) < 0 && access(limits, F_OK) < 0);

        set_limit("sync", 0, 10);
        snprintf(plan.list[0].value, PLAN_VALUE_MAX, "0,10,1");
        check_int(plan_file_write(made, &plan), 0);
        check_int(plan_undo_all(NULL), 0);
        wishes = read_limits();
        check_int((int)wishes.n, 0);
        check(access(made, F_OK) < 0);
}

/* A journal that somebody else has written: values that limits.ini could not have are refused. */
static void hostile(void)
{
        static const char *const olds[] = { "1e99,0,0", "0,0,0", "nan,nan,nan", "-5,10,0", "0,10", "0,10,1e30", "x" };
        struct plan_settings settings = { .root_fd = -1 };

        for (size_t i = 0; i < ARRAY_SIZE(olds); i++) {
                struct plan_file plan = two_apps();
                struct limit_wishes wishes;

                set_limit("sync", 0, 10);
                plan.list[0].state = PLAN_MADE;
                snprintf(plan.list[0].value, PLAN_VALUE_MAX, "0,10,1");
                snprintf(plan.list[0].old, PLAN_VALUE_MAX, "%s", olds[i]);
                check_int(plan_file_write(made, &plan), 0);
                check(plan_undo(&settings, made) < 0);
                wishes = read_limits();
                check_int((int)wishes.n, 1);
                unlink(made);
        }
}

int main(void)
{
        begin();
        lines();
        kept();
        undone();
        crashed();
        hostile();
        end();
        return check_result();
}
