/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan-undo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/paths.h"
#include "util/util.h"

#define UNDO_TRIES 3 /* tries every 200 ms, for a busy bus */

/*
 * Returns 0 if the change is made or was not necessary; a negative errno if it failed. @journal_err: the
 * journal could not be written.
 */
static int make_one(struct plan_settings *settings, const char *path, struct plan_file *plan,
                    struct plan_change *change, int *journal_err)
{
        char value[PLAN_VALUE_MAX];
        int err = plan_setting_read(settings, change, change->old);

        if (!err)
                err = plan_setting_value(settings, change, value);
        if (err)
                return err;
        snprintf(change->value, sizeof(change->value), "%s", value);
        change->state = strcmp(value, change->old) == 0 ? PLAN_SAME : PLAN_MAKING;
        if (change->state == PLAN_SAME)
                return 0;
        *journal_err = plan_file_write(path, plan);
        err = *journal_err ? *journal_err : plan_setting_set(settings, change, value);
        if (!err)
                change->state = PLAN_MADE;
        return err;
}

int plan_make(struct plan_settings *settings, const char *path, struct plan_file *plan)
{
        int journal_err = 0;

        for (size_t i = 0; i < plan->n && !journal_err; i++) {
                struct plan_change *change = &plan->list[i];
                int err = make_one(settings, path, plan, change, &journal_err);

                if (!err)
                        continue;
                change->state = PLAN_FAILED;
                snprintf(change->old, sizeof(change->old), "-");
                log_warning(settings->log, "%s cannot be changed: %s", endure_words[change->kind], strerror(-err));
        }
        return journal_err ? journal_err : plan_file_write(path, plan);
}

/* Returns 0, also if somebody else has changed the setting, or it does not exist any more. */
static int undo_one(struct plan_settings *settings, const struct plan_change *change)
{
        char now[PLAN_VALUE_MAX];
        int err = plan_setting_read(settings, change, now);

        if (err == -ENODEV || err == -EOPNOTSUPP)
                return 0;
        if (err)
                return err;
        if (strcmp(now, change->value) != 0) {
                log_info(settings->log, "%s is kept as it is: it was changed since", endure_words[change->kind]);
                return 0;
        }
        return plan_setting_set(settings, change, change->old);
}

static int undo(struct plan_settings *settings, struct plan_file *plan)
{
        int first = 0;

        for (size_t i = plan->n; i-- > 0;) {
                bool ours = plan->list[i].state == PLAN_MADE || plan->list[i].state == PLAN_MAKING;
                int err = ours ? undo_one(settings, &plan->list[i]) : 0;

                if (err) {
                        first = first ? first : err;
                        continue;
                }
                plan->n--;
                memmove(&plan->list[i], &plan->list[i + 1], (plan->n - i) * sizeof(*plan->list));
        }
        return first;
}

int plan_undo(struct plan_settings *settings, const char *path)
{
        struct plan_file plan = { 0 };
        int err = plan_file_read(path, &plan);

        if (err)
                return err == -ENOENT ? 0 : err;
        for (int i = 0; i < UNDO_TRIES && (i == 0 || plan.n > 0); i++) {
                if (i > 0)
                        usleep(200000);
                err = undo(settings, &plan);
                if (err)
                        plan_settings_close(settings); /* the bus may have been restarted */
        }
        if (plan.n > 0) {
                log_error(settings->log, "%s cannot be restored to %s: %s; joulecast advise --undo tries again",
                          endure_words[plan.list[0].kind], plan.list[0].old, strerror(-err));
                plan_file_write(path, &plan);
                return err;
        }
        return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

int plan_undo_all(const struct log *log)
{
        _cleanup_free_ char *wish = NULL, *made = NULL;
        _cleanup_close_ int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct plan_settings settings = { .log = log, .root_fd = root_fd };
        int err = paths_plan(&wish);

        if (!err)
                err = paths_plan_made(&made);
        if (err)
                return err == -ENOENT ? 0 : err;
        if (access(made, F_OK) < 0 && access(wish, F_OK) < 0)
                return 0;
        unlink(wish);
        err = plan_undo(&settings, made);
        plan_settings_close(&settings);
        return err;
}
