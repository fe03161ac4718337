/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The settings that a plan can change and restore: one table with functions to read and to set each. */

#include "limit/plan-file.h"
#include "desktop/plan-bus.h"
#include "util/log.h"

struct plan_settings {
        const struct log *log;
        int root_fd;
        struct plan_bus *bus; /* NULL: not opened yet */
};

void plan_settings_close(struct plan_settings *settings); /* does not close root_fd */

/* Can a change of this kind be made and undone? A closed app cannot be reopened in its old state. */
bool plan_setting_has(enum endure_kind kind);
/*
 * Reads the present value. Returns 0; -ENODEV or -ENOENT: this machine has no such setting; another negative
 * errno.
 */
int plan_setting_read(struct plan_settings *settings, const struct plan_change *change, char *ret);
/* Converts the wished value to the form that plan_setting_read() returns. Returns 0 or a negative errno. */
int plan_setting_value(struct plan_settings *settings, const struct plan_change *change, char *ret);
int plan_setting_set(struct plan_settings *settings, const struct plan_change *change, const char *value);
