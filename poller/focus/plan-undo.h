/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Makes the changes of a plan, and restores settings that still have the plan's value. The caller has the
 * lock of limit-state.h.
 */

#include "desktop/plan-bus.h"
#include "limit/plan-file.h"
#include "util/log.h"

/* The settings that a plan can change and restore: one table with functions to read and to set each. */

struct plan_settings {
        const struct log *log;
        int root_fd;
        struct plan_bus *bus; /* NULL: not opened yet */
};

void plan_settings_close(struct plan_settings *settings); /* does not close root_fd */

/*
 * Reads the present value. Returns 0; -ENODEV or -ENOENT: this machine has no such setting; another negative
 * errno.
 */
int plan_setting_read(struct plan_settings *settings, const struct plan_change *change, char *ret);
/* Converts the wished value to the form that plan_setting_read() returns. Returns 0 or a negative errno. */
int plan_setting_value(struct plan_settings *settings, const struct plan_change *change, char *ret);
int plan_setting_set(struct plan_settings *settings, const struct plan_change *change, const char *value);

/*
 * Makes each change of @plan, which becomes the journal @path: each entry is on disk before the change is
 * made. A change that fails is no error; its state shows it. Returns 0; a negative errno: the journal cannot
 * be written, and no further change is made.
 */
int plan_make(struct plan_settings *settings, const char *path, struct plan_file *plan);
/*
 * Restores the settings in the journal @path, the last first, except those that somebody has changed since.
 * Entries that fail stay in it. Returns 0, also without a journal; or the first error.
 */
int plan_undo(struct plan_settings *settings, const char *path);
/*
 * Restores the settings and removes the plan; for a process that starts or guards, to undo an earlier
 * process's changes. Returns 0 or a negative errno.
 */
int plan_undo_all(const struct log *log);
