/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * All changes to this machine go through here, so that they can be undone. The original value and ours are in
 * the restore journal, on disk, before the machine is changed. Only listed settings can be changed, within
 * their range; the list also checks the journal when it is read again, perhaps by root after a power cut.
 *
 * A setting is named by its sysfs path. One that is not a file has a similar name,
 * "nl80211:wlan0/power_save"; it is in the list (attribute.c) like the others and has a struct setting_medium
 * (attribute.h, attribute-io.c) to read and write it.
 */

#include <stdbool.h>
#include <stddef.h>

#include "attribute.h"
#include "util/log.h"

struct settings;

/**
 * settings_open() - a new, empty journal
 * @root_fd: of the machine; "/" except in tests
 * @journal: path of restore.ini; its folder is created, 0700
 *
 * Return: 0; -EBUSY: another calibration runs; -EEXIST: a journal is waiting to be restored.
 */
int settings_open(int root_fd, const char *journal, const struct log *log, struct settings **ret);
void settings_close(struct settings *settings); /* restores nothing */

/*
 * Adds a setting that will be changed and records its value; before settings_commit(). -EPERM: not listed;
 * -ENOENT: this machine has none; -errno of reading it.
 */
int settings_add(struct settings *settings, const char *name);
/* A file that we will create: restoring removes it. */
int settings_add_file(struct settings *settings, const char *path);

/* Writes the journal; from here on changes may begin. */
int settings_commit(struct settings *settings);

/*
 * Records the intent, writes, reads back the value that the driver set, and records that. -ERANGE: out of range.
 */
int settings_write(struct settings *settings, const char *name, const char *value);
/* The same in two halves, around a write by libcpupower. */
int settings_before(struct settings *settings, const char *name, const char *value);
int settings_after(struct settings *settings, const char *name);

/*
 * Around all writes of a change of mode: the journal is written once at the begin and once at the end instead
 * of at each write. If interrupted between them, every setting that differs from its original counts as ours.
 * Called by machine.c; parts need not.
 */
int settings_begin_changes(struct settings *settings);
int settings_end_changes(struct settings *settings);

/**
 * settings_repeat() - set settings again that somebody else changed since they were set (or recorded, if we did not)
 * @changed: gets the name of the first such setting; "": none
 *
 * Brightness, the screen and radios are not checked: their parts watch them all the time. Nor is a clock that heat or
 * the firmware limits. Return: 0; -EIO: one of them does not take its value any more; another negative errno.
 */
int settings_repeat(struct settings *settings, char changed[SETTING_NAME_MAX + 1]);

/* Its original value; NULL: not added. */
const char *settings_original(const struct settings *settings, const char *name);
/* Does the machine show @value now? */
bool settings_show(const struct settings *settings, const char *name, const char *value);

/*
 * One calibration at a time: held by the watchdog and the worker from before the first look at the journal.
 * Counts holders in this process, so open and restore may take it again. 0; -EBUSY, logged: another one runs.
 */
int settings_lock(const char *journal, const struct log *log);
void settings_unlock(void);

struct restore_report {
        size_t restored; /* restored now */
        size_t kept;     /* already original */
        size_t left;     /* changed by somebody else since, or the device is gone; logged */
        size_t failed;
};

/**
 * settings_restore() - restore everything, and remove the journal if nothing failed
 *
 * Touches a setting only if its value is still ours; after a reboot (another boot id) only those that survive
 * one. Safe to repeat. Return: 0, also without a journal; -EBUSY: a calibration is running; -EBADMSG, logged:
 * not a journal of ours; -EIO: a setting could not be restored; -EAGAIN: all is restored, but so soon after a
 * boot systemd may change some once more, so the journal is kept for another look.
 */
int settings_restore(int root_fd, const char *journal, const struct log *log, struct restore_report *ret);
